// SPDX-License-Identifier: Apache-2.0
//
// Recognition of matrix products by strides: see the header.
#include "lib/Codegen/Structured/Product.h"

#include "lib/Codegen/Structured/RowLoops.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace hjx;

namespace {

/// What the body multiplies and adds.
struct ProductBody {
  struct Factor {
    unsigned operand; // Of the op, as the next.
    std::optional<unsigned> scales;
    Packing packing = Packing::None;
    bool isUnsigned = false;
  };
  Factor lhs, rhs;

  std::optional<unsigned> scales() const { return lhs.scales ? lhs.scales : rhs.scales; }
};

/// Operand behind `value`, through a widening conversion.
std::optional<ProductBody::Factor> matchFactor(Value value) {
  if (auto number = PackedNumber::match(value)) {
    ProductBody::Factor factor{number->byte.getArgNumber(), std::nullopt, number->packing};
    if (number->scale)
      factor.scales = number->scale.getArgNumber();
    return factor;
  }
  bool isUnsigned = false;
  if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) || !op->hasOneUse())
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  return ProductBody::Factor{argument.getArgNumber(), std::nullopt, Packing::None, isUnsigned};
}

/// yield(accumulator + factor(lhs) * factor(rhs)), the operands of + and * in any order.
std::optional<ProductBody> matchBody(linalg::GenericOp op) {
  unsigned numInputs = op.getNumDpsInputs();
  if (numInputs < 2 || numInputs > 3 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBody();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value accumulator = body->getArgument(numInputs);
  if (!accumulator.hasOneUse() || *accumulator.getUsers().begin() != add)
    return std::nullopt;
  Value product = add->getOperand(add->getOperand(0) == accumulator ? 1 : 0);
  Operation *multiply = product.getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(multiply) || !multiply->hasOneUse())
    return std::nullopt;
  auto lhs = matchFactor(multiply->getOperand(0)), rhs = matchFactor(multiply->getOperand(1));
  if (!lhs || !rhs || lhs->isUnsigned != rhs->isUnsigned)
    return std::nullopt;
  // Each input is one of them.
  ProductBody matched{*lhs, *rhs};
  llvm::SmallDenseSet<unsigned> operands = {lhs->operand, rhs->operand};
  for (auto scales : {lhs->scales, rhs->scales})
    if (scales)
      operands.insert(*scales);
  if (operands.contains(numInputs) || operands.size() != numInputs || (lhs->scales && rhs->scales))
    return std::nullopt;
  return matched;
}

std::optional<ProductTypes> typesFor(Type lhs, Type rhs, Type result, const ProductBody &body) {
  if (body.lhs.packing != Packing::None)
    lhs = result;
  if (body.rhs.packing != Packing::None)
    rhs = result;
  if (lhs != rhs)
    return std::nullopt;
  ProductTypes types;
  types.lhsPacking = body.lhs.packing;
  types.rhsPacking = body.rhs.packing;
  types.lhsIsScaled = body.lhs.scales.has_value();
  types.rhsIsScaled = body.rhs.scales.has_value();
  types.operandType = lhs;
  types.resultType = types.accumulatorType = result;
  types.unsignedOperands = body.lhs.isUnsigned;
  Builder b(lhs.getContext());
  // Sums are kept in single precision at least and rounded once.
  if (result.isF16() || result.isBF16())
    types.accumulatorType = b.getF32Type();
  auto isKnown = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
           type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
  };
  if (!isKnown(lhs) || !isKnown(result) || isa<FloatType>(lhs) != isa<FloatType>(result) ||
      result.getIntOrFloatBitWidth() < lhs.getIntOrFloatBitWidth())
    return std::nullopt;
  return types;
}

/// Takes the loop of the largest size out of `loops`; size 1 if there is none.
int takeLargest(SmallVectorImpl<unsigned> &loops, const LoopNest &nest) {
  if (loops.empty())
    return -1;
  auto *it = llvm::max_element(loops, [&](unsigned a, unsigned b) {
    return nest.loops[a].size < nest.loops[b].size;
  });
  unsigned loop = *it;
  loops.erase(it);
  return loop;
}

/// How the loops of a nest reach scales, which an element may share with its neighbours:
/// address = sum over loops of stride * (iv / group).
struct ScaleAccess {
  SmallVector<int64_t> strides, groups;

  /// Makes one loop of `outer` and `inner`, of a size, if that reaches the same.
  bool collapse(unsigned outer, unsigned inner, int64_t innerSize) {
    if (strides[inner] == 0) {
      strides[inner] = strides[outer];
      groups[inner] = groups[outer] * innerSize;
    } else if (groups[outer] != 1 || strides[outer] != innerSize / groups[inner] * strides[inner]) {
      return false;
    }
    strides.erase(strides.begin() + outer);
    groups.erase(groups.begin() + outer);
    return true;
  }
};

} // namespace

/// Below this a kernel's packing costs more than it saves.
static constexpr int64_t kMinRowsOrColumns = 4, kMinMultiplications = 512;

std::optional<Product> Product::match(linalg::GenericOp op) {
  std::optional<ProductBody> body = matchBody(op);
  if (!body)
    return std::nullopt;
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest) || nest->isEmpty() || llvm::any_of(nest->accesses, [](const Access &access) { return access.byValue; }))
    return std::nullopt;
  Access lhs = nest->accesses[body->lhs.operand], rhs = nest->accesses[body->rhs.operand], result = nest->accesses.back();
  std::optional<unsigned> scalesOperand = body->scales();
  int64_t scalesOffset = 0;
  ScaleAccess scales{SmallVector<int64_t>(nest->loops.size(), 0), SmallVector<int64_t>(nest->loops.size(), 1)};
  if (scalesOperand) {
    scales.strides = nest->accesses[*scalesOperand].strides;
    scalesOffset = nest->accesses[*scalesOperand].offset;
  }
  nest->accesses = {lhs, rhs, result};
  nest->collapseAll([&](unsigned outer, unsigned inner) { return scales.collapse(outer, inner, nest->loops[inner].size); });
  lhs = nest->accesses[0], rhs = nest->accesses[1], result = nest->accesses[2];

  SmallVector<unsigned> batch, rows, columns, sums;
  for (auto [loop, info] : llvm::enumerate(nest->loops)) {
    bool inLhs = lhs.strides[loop] != 0, inRhs = rhs.strides[loop] != 0, inResult = result.strides[loop] != 0;
    bool inScaled = body->lhs.scales ? inLhs : inRhs;
    if (info.isReduction == inResult || (scales.strides[loop] != 0 && !inScaled))
      return std::nullopt;
    if (inLhs && inRhs)
      (inResult ? batch : sums).push_back(loop);
    else if (inLhs && inResult)
      rows.push_back(loop);
    else if (inRhs && inResult)
      columns.push_back(loop);
    else
      return std::nullopt;
  }
  int row = takeLargest(rows, *nest), column = takeLargest(columns, *nest);
  int sum = takeLargest(sums, *nest);
  // Rows of the result should be contiguous: exchange the factors if its columns are.
  if (row >= 0 && column >= 0 && result.strides[row] == 1 && result.strides[column] != 1) {
    std::swap(row, column);
    std::swap(body->lhs, body->rhs);
    std::swap(lhs, rhs);
    std::swap(rows, columns);
  }
  std::optional<ProductTypes> types = typesFor(
      getElementTypeOrSelf(lhs.operand.getType()), getElementTypeOrSelf(rhs.operand.getType()),
      getElementTypeOrSelf(result.operand.getType()), *body);
  if (!types)
    return std::nullopt;

  Product product;
  product.types = *types;
  product.lhsOperand = body->lhs.operand;
  product.rhsOperand = body->rhs.operand;
  product.lhsOffset = lhs.offset;
  product.rhsOffset = rhs.offset;
  product.resultOffset = result.offset;
  auto size = [&](int loop) { return loop < 0 ? 1 : nest->loops[loop].size; };
  auto stride = [](const auto &access, int loop) { return loop < 0 ? 0 : access.strides[loop]; };
  // Rows and columns that did not collapse with the others are batch axes that leave one of the
  // factors where it is.
  batch.append(rows);
  batch.append(columns);
  llvm::sort(batch, [&](unsigned a, unsigned b) { return size(a) < size(b); });
  int batch1 = batch.empty() ? -1 : static_cast<int>(batch.pop_back_val());
  int batch0 = batch.empty() ? -1 : static_cast<int>(batch.pop_back_val());
  product.sizes = {size(batch0), size(batch1), size(row), size(column), size(sum)};
  product.lhs = {stride(lhs, batch0), stride(lhs, batch1), stride(lhs, row), stride(lhs, sum)};
  product.rhs = {stride(rhs, batch0), stride(rhs, batch1), stride(rhs, sum), stride(rhs, column)};
  product.result = {stride(result, batch0), stride(result, batch1), stride(result, row),
                    stride(result, column)};
  for (auto [isSum, loops] : {std::make_pair(false, &batch), std::make_pair(true, &sums)})
    for (unsigned loop : *loops)
      product.outer.push_back({size(loop), lhs.strides[loop], rhs.strides[loop],
                               result.strides[loop], scales.strides[loop], isSum});
  if (scalesOperand) {
    int inRows = body->lhs.scales ? row : sum, inCols = body->lhs.scales ? sum : column;
    product.scalesOperand = *scalesOperand;
    product.scalesOffset = scalesOffset;
    product.scales = {stride(scales, batch0), stride(scales, batch1), stride(scales, inRows), stride(scales, inCols)};
    auto group = [&](int loop) { return stride(scales, loop) == 0 ? 1 : scales.groups[loop]; };
    product.rowGroup = group(inRows);
    product.colGroup = group(inCols);
    for (int loop = 0; loop < static_cast<int>(nest->loops.size()); ++loop)
      if (loop != inRows && loop != inCols && group(loop) != 1)
        return std::nullopt;
  }
  const ProductSizes &sizes = product.sizes;
  if (sizes.m < kMinRowsOrColumns || sizes.n < kMinRowsOrColumns ||
      sizes.m * sizes.n * sizes.k < kMinMultiplications)
    return std::nullopt;
  return product;
}

SmallVector<Product::BatchLoop> Product::batchLoops() const {
  SmallVector<BatchLoop> loops = {{sizes.batch1, lhs.batch1, rhs.batch1, result.batch1, scales.batch1},
                                  {sizes.batch0, lhs.batch0, rhs.batch0, result.batch0, scales.batch0}};
  for (const OuterLoop &loop : outer)
    if (!loop.isSum)
      loops.push_back({loop.size, loop.lhsStride, loop.rhsStride, loop.resultStride, loop.scalesStride});
  llvm::erase_if(loops, [](const BatchLoop &loop) { return loop.size == 1; });
  return loops;
}

bool hjx::isMatrixProduct(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (std::optional<ProductBody> body = matchBody(op))
    maps = {maps[body->lhs.operand], maps[body->rhs.operand], maps.back()};
  else if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(maps);
  return failed(dims) || !dims->m.empty() || !dims->n.empty();
}

std::optional<PackedNumber> PackedNumber::match(Value value) {
  PackedNumber number;
  if (auto product = value.getDefiningOp<arith::MulFOp>(); product && product->hasOneUse()) {
    Value factors[] = {product.getLhs(), product.getRhs()};
    number.scale = dyn_cast<BlockArgument>(factors[0]);
    if (!number.scale)
      number.scale = dyn_cast<BlockArgument>(factors[1]);
    if (!number.scale)
      return std::nullopt;
    value = factors[number.scale == factors[0] ? 1 : 0];
  }
  auto toFloat = value.getDefiningOp<arith::SIToFPOp>();
  if (!toFloat || !toFloat->hasOneUse() || !toFloat.getIn().getType().isInteger(8) || !toFloat.getType().isF32())
    return std::nullopt;
  auto isFour = [](Value amount) {
    llvm::APInt number;
    return matchPattern(amount, m_ConstantInt(&number)) && number == 4;
  };
  auto shiftedOut = [&](auto op) {
    return op && op->hasOneUse() && isFour(op.getRhs()) ? op.getLhs() : Value();
  };
  Value byte = toFloat.getIn();
  number.packing = Packing::Byte;
  if (Value high = shiftedOut(byte.getDefiningOp<arith::ShRSIOp>())) {
    number.packing = Packing::HighNibble;
    byte = high;
    if (Value low = shiftedOut(high.getDefiningOp<arith::ShLIOp>())) {
      number.packing = Packing::LowNibble;
      byte = low;
    }
  }
  number.byte = dyn_cast<BlockArgument>(byte);
  return number.byte ? std::optional(number) : std::nullopt;
}

/// Whether `op` sets every element of `buffer` to zero and does nothing else.
static bool fillsWithZero(linalg::GenericOp op, Value buffer) {
  if (op.getNumDpsInits() != 1 || op.getDpsInits()[0] != buffer ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBody())
    value = op->getOperand(argument.getArgNumber());
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

linalg::GenericOp hjx::zeroFillBefore(Operation *before, Value buffer) {
  Value root = rootBuffer(buffer);
  for (Operation *op = before->getPrevNode(); op; op = op->getPrevNode()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && fillsWithZero(generic, buffer))
      return generic;
    bool touches = (op->getNumRegions() > 0 && !generic) ||
                   (!isa<ViewLikeOpInterface>(op) && llvm::any_of(op->getOperands(), [&](Value value) {
                      return isa<MemRefType>(value.getType()) && rootBuffer(value) == root;
                    }));
    if (touches)
      return nullptr;
  }
  return nullptr;
}
