// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops as functions of a product's coordinates: see the header.
#include "lib/Codegen/Gpu/ProductEpilogue.h"

#include "lib/Codegen/Structured/RowLoops.h"

using namespace mlir;
using namespace hjx;

namespace {

/// An axis along which addresses step evenly.
struct Axis {
  int64_t size, stride;
};

/// Whether `axes` reach each of the first elements of a buffer once, and how many these are.
std::optional<int64_t> denseSize(SmallVector<Axis> axes) {
  llvm::sort(axes, [](Axis a, Axis b) { return a.stride < b.stride; });
  int64_t size = 1;
  for (Axis axis : axes) {
    if (axis.stride != size)
      return std::nullopt;
    size *= axis.size;
  }
  return size;
}

class EpilogueMatcher {
public:
  EpilogueMatcher(linalg::GenericOp op, const Product &product)
      : op(op), product(product), batches(product.batchLoops()) {
    body = func::FuncOp::create(op.getLoc(), "epilogue", FunctionType::get(op.getContext(), {}, {}));
    body->addEntryBlock();
    b.setInsertionPointToEnd(&body->front());
    sum = body->front().addArgument(product.types.accumulatorType, op.getLoc());
  }

  void addProduct(bool accumulate);
  bool add(linalg::GenericOp follower);
  ProductEpilogue finish(llvm::function_ref<bool(Value)> isKept);

private:
  /// What a buffer holds once an op has written it.
  struct Written {
    EpilogueBuffer at;
    Value value;
  };

  SmallVector<Axis> axesOf(const EpilogueBuffer &at) const;
  std::optional<EpilogueBuffer> seen(const LoopNest &nest, const Access &anchor, const Access &access) const;
  /// What an op that reads at this place gets; null if that cannot be told.
  Value read(const EpilogueBuffer &at);
  bool write(const EpilogueBuffer &at, Value value);
  Written *writtenAt(Value root) {
    auto it = llvm::find_if(written, [&](const Written &w) { return rootBuffer(w.at.buffer) == root; });
    return it == written.end() ? nullptr : &*it;
  }

  linalg::GenericOp op;
  const Product &product;
  SmallVector<Product::BatchLoop> batches;
  OwningOpRef<func::FuncOp> body;
  ImplicitLocOpBuilder b{op.getLoc(), op.getContext()};
  Value sum;
  SmallVector<EpilogueBuffer> buffers;
  SmallVector<Written> written;
};

} // namespace

/// C's value is start + sum, or the sum, in C's type.
void EpilogueMatcher::addProduct(bool accumulate) {
  EpilogueBuffer c{withoutReshapes(op.getDpsInits()[0]), product.resultOffset, product.result.row, product.result.col, {}};
  for (const Product::BatchLoop &loop : batches)
    c.batches.push_back(loop.result);
  Type type = product.types.resultType, wide = product.types.accumulatorType;
  Value value = sum;
  if (accumulate) {
    Value start = read(c);
    if (type != wide)
      start = arith::ExtFOp::create(b, wide, start);
    value = isa<FloatType>(wide) ? arith::AddFOp::create(b, start, sum).getResult()
                                 : arith::AddIOp::create(b, start, sum).getResult();
  }
  if (type != wide)
    value = arith::TruncFOp::create(b, type, value);
  written.push_back({c, value});
}

SmallVector<Axis> EpilogueMatcher::axesOf(const EpilogueBuffer &at) const {
  SmallVector<Axis> axes = {{product.sizes.m, at.row}, {product.sizes.n, at.col}};
  for (auto [loop, stride] : llvm::zip(batches, at.batches))
    axes.push_back({loop.size, stride});
  return axes;
}

/// `access` as a function of the product's coordinates, where `anchor`, of the same nest, reads what
/// an op of the epilogue wrote. Both walk over all of that buffer, the nest along axes of its own: one of
/// them may be several of the product's, or a part of one.
std::optional<EpilogueBuffer> EpilogueMatcher::seen(const LoopNest &nest, const Access &anchor,
                                                    const Access &access) const {
  auto home = llvm::find_if(written, [&](const Written &w) { return w.at.buffer == withoutReshapes(anchor.operand); });
  SmallVector<Axis> own;
  for (auto [loop, stride] : llvm::zip(nest.loops, anchor.strides))
    own.push_back({loop.size, stride});
  std::optional<int64_t> size = denseSize(own);
  if (!size || size != denseSize(axesOf(home->at)) || anchor.offset != home->at.offset)
    return std::nullopt;
  EpilogueBuffer at{withoutReshapes(access.operand), access.offset, 0, 0, {}};
  auto strideAlong = [&](Axis axis) -> std::optional<int64_t> {
    if (axis.size == 1)
      return 0;
    std::optional<int64_t> along;
    for (auto [loop, stride] : llvm::zip(own, access.strides))
      if (loop.stride <= axis.stride && axis.stride < loop.stride * loop.size) {
        if (axis.stride % loop.stride != 0)
          return std::nullopt;
        along = stride * (axis.stride / loop.stride);
      }
    for (auto [loop, stride] : llvm::zip(own, access.strides))
      if (axis.stride < loop.stride && loop.stride < axis.stride * axis.size &&
          (loop.stride % axis.stride != 0 || stride != *along * (loop.stride / axis.stride)))
        return std::nullopt;
    return along;
  };
  SmallVector<Axis> axes = axesOf(home->at);
  for (auto [index, axis] : llvm::enumerate(axes)) {
    std::optional<int64_t> stride = strideAlong(axis);
    if (!stride)
      return std::nullopt;
    if (index < 2)
      (index == 0 ? at.row : at.col) = *stride;
    else
      at.batches.push_back(*stride);
  }
  return at;
}

Value EpilogueMatcher::read(const EpilogueBuffer &at) {
  if (Written *here = writtenAt(rootBuffer(at.buffer)))
    return here->at.isSamePlace(at) ? here->value : Value();
  unsigned argument = 1;
  for (EpilogueBuffer &buffer : buffers) {
    if (buffer.isSamePlace(at))
      return body->getArgument(argument);
    argument += buffer.isRead;
  }
  buffers.push_back(at);
  buffers.back().isRead = true;
  return body->front().addArgument(getElementTypeOrSelf(at.buffer.getType()), op.getLoc());
}

bool EpilogueMatcher::write(const EpilogueBuffer &at, Value value) {
  Value root = rootBuffer(at.buffer);
  // Other blocks read the factors while this one writes.
  for (Value factor : op.getDpsInputs())
    if (rootBuffer(factor) == root)
      return false;
  for (EpilogueBuffer &buffer : buffers)
    if (rootBuffer(buffer.buffer) == root && !buffer.isSamePlace(at))
      return false;
  if (Written *here = writtenAt(root)) {
    here->value = value;
    return here->at.isSamePlace(at);
  }
  written.push_back({at, value});
  return true;
}

bool EpilogueMatcher::add(linalg::GenericOp follower) {
  FailureOr<LoopNest> nest = LoopNest::get(follower);
  if (failed(nest) || nest->isEmpty() || follower.getNumReductionLoops() > 0)
    return false;
  for (Operation &nested : follower.getBody()->without_terminator())
    if (nested.getNumRegions() > 0 || isa<linalg::IndexOp>(nested) || !isMemoryEffectFree(&nested))
      return false;
  const Access *anchor = llvm::find_if(nest->accesses, [&](const Access &access) {
    return !access.byValue && llvm::any_of(written, [&](const Written &w) { return w.at.buffer == withoutReshapes(access.operand); });
  });
  if (anchor == nest->accesses.end())
    return false;
  for (Operation *user : {op.getOperation(), follower.getOperation()})
    for (Value operand : user->getOperands())
      if (isa<MemRefType>(operand.getType()) && !overlapsNoOther(rootBuffer(operand)))
        return false;

  IRMapping values;
  auto isConstant = [&](Value value) {
    if (!matchPattern(value, m_Constant()))
      return false;
    if (!values.contains(value))
      values.map(value, b.clone(*value.getDefiningOp())->getResult(0));
    return true;
  };
  SmallVector<EpilogueBuffer> outputs;
  for (auto [index, access] : llvm::enumerate(nest->accesses)) {
    BlockArgument argument = follower.getBody()->getArgument(index);
    bool isOutput = index >= nest->numInputs();
    if (access.byValue) {
      if (isOutput || !isConstant(access.operand))
        return false;
      values.map(argument, values.lookup(access.operand));
      continue;
    }
    std::optional<EpilogueBuffer> at = seen(*nest, *anchor, access);
    if (!at)
      return false;
    if (isOutput)
      outputs.push_back(*at);
    if (isOutput && argument.use_empty())
      continue;
    Value element = read(*at);
    if (!element)
      return false;
    values.map(argument, element);
  }
  for (Operation &nested : *follower.getBody()) {
    for (Value operand : nested.getOperands())
      if (!values.contains(operand) && !isConstant(operand))
        return false;
    if (!nested.hasTrait<OpTrait::IsTerminator>())
      b.clone(nested, values);
  }
  for (auto [at, value] : llvm::zip(outputs, follower.getBody()->getTerminator()->getOperands()))
    if (!write(at, values.lookup(value)))
      return false;
  return true;
}

ProductEpilogue EpilogueMatcher::finish(llvm::function_ref<bool(Value)> isKept) {
  for (const Written &result : written) {
    if (!isKept(rootBuffer(result.at.buffer)))
      continue;
    auto here = llvm::find_if(buffers, [&](const EpilogueBuffer &buffer) { return buffer.isSamePlace(result.at); });
    if (here == buffers.end())
      here = buffers.insert(here, result.at);
    here->isWritten = true;
  }
  SmallVector<Value> results;
  for (const EpilogueBuffer &buffer : buffers)
    if (buffer.isWritten)
      results.push_back(writtenAt(rootBuffer(buffer.buffer))->value);
  func::ReturnOp::create(b, results);
  body->setFunctionType(b.getFunctionType(body->front().getArgumentTypes(), ValueRange(results).getTypes()));
  return {std::move(buffers), std::move(body)};
}

std::optional<ProductEpilogue> ProductEpilogue::match(linalg::GenericOp op, const Product &product, bool accumulate,
                                                      ArrayRef<linalg::GenericOp> followers,
                                                      llvm::function_ref<bool(Value)> isKept) {
  EpilogueMatcher matcher(op, product);
  matcher.addProduct(accumulate);
  for (linalg::GenericOp follower : followers)
    if (!matcher.add(follower))
      return std::nullopt;
  return matcher.finish(isKept);
}
