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
  unsigned lhs = 0, rhs = 0; // Operands of the op.
  bool isUnsigned = false;
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None;
};

/// Operand behind `value`, through a widening conversion.
std::optional<unsigned> sourceOperand(Value value, bool &isUnsigned, Packing &packing) {
  if (Value byte = packedByte(value, packing)) {
    value = byte;
  } else if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) || !op->hasOneUse())
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  return argument.getArgNumber();
}

/// yield(accumulator + extend(lhs) * extend(rhs)), the operands of + and * in any order.
std::optional<ProductBody> matchBody(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBody();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value accumulator = body->getArgument(2);
  if (!accumulator.hasOneUse() || *accumulator.getUsers().begin() != add)
    return std::nullopt;
  Value product = add->getOperand(add->getOperand(0) == accumulator ? 1 : 0);
  Operation *multiply = product.getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(multiply) || !multiply->hasOneUse())
    return std::nullopt;
  bool lhsUnsigned = false, rhsUnsigned = false;
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None;
  std::optional<unsigned> lhs = sourceOperand(multiply->getOperand(0), lhsUnsigned, lhsPacking);
  std::optional<unsigned> rhs = sourceOperand(multiply->getOperand(1), rhsUnsigned, rhsPacking);
  if (!lhs || !rhs || *lhs > 1 || *rhs > 1 || *lhs == *rhs || lhsUnsigned != rhsUnsigned)
    return std::nullopt;
  return ProductBody{*lhs, *rhs, lhsUnsigned, lhsPacking, rhsPacking};
}

std::optional<ProductTypes> typesFor(Type lhs, Type rhs, Type result, const ProductBody &body) {
  if (body.lhsPacking != Packing::None)
    lhs = result;
  if (body.rhsPacking != Packing::None)
    rhs = result;
  if (lhs != rhs)
    return std::nullopt;
  ProductTypes types;
  types.lhsPacking = body.lhsPacking;
  types.rhsPacking = body.rhsPacking;
  types.operandType = lhs;
  types.resultType = types.accumulatorType = result;
  types.unsignedOperands = body.isUnsigned;
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

} // namespace

/// Below this a kernel's packing costs more than it saves.
static constexpr int64_t kMinRowsOrColumns = 4, kMinMultiplications = 512;

std::optional<Product> Product::match(linalg::GenericOp op) {
  std::optional<ProductBody> body = matchBody(op);
  if (!body)
    return std::nullopt;
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest) || nest->isEmpty() || nest->accesses[0].byValue || nest->accesses[1].byValue)
    return std::nullopt;
  nest->collapseAll();
  const Access &result = nest->accesses[2];

  SmallVector<unsigned> batch, rows, columns, sums;
  for (auto [loop, info] : llvm::enumerate(nest->loops)) {
    bool inLhs = nest->accesses[body->lhs].strides[loop] != 0;
    bool inRhs = nest->accesses[body->rhs].strides[loop] != 0;
    bool inResult = result.strides[loop] != 0;
    if (info.isReduction == inResult)
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
    std::swap(body->lhsPacking, body->rhsPacking);
    std::swap(rows, columns);
  }
  const Access &lhs = nest->accesses[body->lhs], &rhs = nest->accesses[body->rhs];
  std::optional<ProductTypes> types = typesFor(
      getElementTypeOrSelf(lhs.operand.getType()), getElementTypeOrSelf(rhs.operand.getType()),
      getElementTypeOrSelf(result.operand.getType()), *body);
  if (!types)
    return std::nullopt;

  Product product;
  product.types = *types;
  product.lhsOperand = body->lhs;
  product.lhsOffset = lhs.offset;
  product.rhsOffset = rhs.offset;
  product.resultOffset = result.offset;
  auto size = [&](int loop) { return loop < 0 ? 1 : nest->loops[loop].size; };
  auto stride = [](const Access &access, int loop) { return loop < 0 ? 0 : access.strides[loop]; };
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
                               result.strides[loop], isSum});
  const ProductSizes &sizes = product.sizes;
  if (sizes.m < kMinRowsOrColumns || sizes.n < kMinRowsOrColumns ||
      sizes.m * sizes.n * sizes.k < kMinMultiplications)
    return std::nullopt;
  return product;
}

SmallVector<Product::BatchLoop> Product::batchLoops() const {
  SmallVector<BatchLoop> loops = {{sizes.batch1, lhs.batch1, rhs.batch1, result.batch1},
                                  {sizes.batch0, lhs.batch0, rhs.batch0, result.batch0}};
  for (const OuterLoop &loop : outer)
    if (!loop.isSum)
      loops.push_back({loop.size, loop.lhsStride, loop.rhsStride, loop.resultStride});
  llvm::erase_if(loops, [](const BatchLoop &loop) { return loop.size == 1; });
  return loops;
}

bool hjx::isMatrixProduct(linalg::GenericOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  return failed(dims) || !dims->m.empty() || !dims->n.empty();
}

Value hjx::packedByte(Value value, Packing &packing) {
  auto toFloat = value.getDefiningOp<arith::SIToFPOp>();
  if (!toFloat || !toFloat->hasOneUse() || !toFloat.getIn().getType().isInteger(8) || !toFloat.getType().isF32())
    return nullptr;
  auto isFour = [](Value amount) {
    llvm::APInt number;
    return matchPattern(amount, m_ConstantInt(&number)) && number == 4;
  };
  auto shiftedOut = [&](auto op) {
    return op && op->hasOneUse() && isFour(op.getRhs()) ? op.getLhs() : Value();
  };
  Value byte = toFloat.getIn();
  packing = Packing::Byte;
  if (Value high = shiftedOut(byte.getDefiningOp<arith::ShRSIOp>())) {
    packing = Packing::HighNibble;
    byte = high;
    if (Value low = shiftedOut(high.getDefiningOp<arith::ShLIOp>())) {
      packing = Packing::LowNibble;
      byte = low;
    }
  }
  return isa<BlockArgument>(byte) ? byte : Value();
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
