// SPDX-License-Identifier: Apache-2.0
//
// Arguments, blocks and outer sums of product kernels: see the header.
#include "lib/Codegen/Gpu/ProductFrame.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

/// `elementType`, or a vector of as many as `value` has.
static Type likeType(Value value, Type elementType) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(elementType)) : elementType;
}

ProductFrame::ProductFrame(gpu::GPUFuncOp kernel, const ProductKernelConfig &config)
    : config(config), tile(config.tile), kernel(kernel),
      k(kernel, /*numBlocks=*/0, config.tile.blockSize()), b(k.b) {
  m = argument(3), n = argument(4), sum = argument(5);
  Value tilesM = argument(6), tilesN = argument(7);
  Value one = index(1);
  auto stride = [&](unsigned position, bool isUnit) { return isUnit ? one : argument(position); };
  bool lhsUnit = config.lhsLanes > 1, rhsUnit = config.rhsLanes > 1;
  lhs = {argument(0), stride(8, lhsUnit && !config.lhsAlongSum),
         stride(9, lhsUnit && config.lhsAlongSum), m};
  rhs = {argument(1), stride(11, rhsUnit && !config.rhsAlongSum),
         stride(10, rhsUnit && config.rhsAlongSum), n};
  resultRow = argument(12);
  resultCol = stride(13, config.resultLanes > 1);

  Value number = k.block();
  Value tileM = takeDigit(number, tilesM), tileN = takeDigit(number, tilesN);
  firstRow = mul(tileM, index(tile.m));
  firstCol = mul(tileN, index(tile.n));
  lhs.firstSide = firstRow;
  rhs.firstSide = firstCol;
  lhs.first = mul(firstRow, lhs.sideStride);
  rhs.first = mul(firstCol, rhs.sideStride);
  resultFirst = add(mul(firstRow, resultRow), mul(firstCol, resultCol));
  unsigned position = kFirstBatchArgument;
  for (unsigned loop = 0; loop < config.numBatchLoops; ++loop, position += 4) {
    Value digit = loop + 1 == config.numBatchLoops ? number : takeDigit(number, argument(position));
    batchDigits.push_back(digit);
    lhs.first = add(lhs.first, mul(digit, argument(position + 1)));
    rhs.first = add(rhs.first, mul(digit, argument(position + 2)));
    resultFirst = add(resultFirst, mul(digit, argument(position + 3)));
  }
  firstSumArgument = position;

  lhs.tileSide = tile.m, lhs.lanes = config.lhsLanes;
  rhs.tileSide = tile.n, rhs.lanes = config.rhsLanes;
  lhs.alongSum = config.lhsAlongSum, lhs.raggedSide = config.raggedM;
  rhs.alongSum = config.rhsAlongSum, rhs.raggedSide = config.raggedN;
}

Value ProductFrame::takeDigit(Value &number, Value radix) {
  Type i32 = b.getI32Type(), indexType = b.getIndexType();
  Value dividend = arith::IndexCastOp::create(b, i32, number);
  Value divisor = arith::IndexCastOp::create(b, i32, radix);
  Value digit = arith::RemUIOp::create(b, dividend, divisor);
  number = arith::IndexCastUIOp::create(b, indexType,
                                        arith::DivUIOp::create(b, dividend, divisor).getResult());
  return arith::IndexCastUIOp::create(b, indexType, digit);
}

SmallVector<Value> ProductFrame::emitSum(Values accumulators,
                                         llvm::function_ref<Values(Values)> tiles, unsigned depth) {
  if (depth == config.numSumLoops)
    return tiles(accumulators);
  unsigned position = firstSumArgument + 3 * depth;
  auto loop = scf::ForOp::create(b, index(0), argument(position), index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value outerLhs = lhs.first, outerRhs = rhs.first;
  lhs.first = add(lhs.first, mul(loop.getInductionVar(), argument(position + 1)));
  rhs.first = add(rhs.first, mul(loop.getInductionVar(), argument(position + 2)));
  scf::YieldOp::create(b, emitSum(Values(loop.getRegionIterArgs()), tiles, depth + 1));
  lhs.first = outerLhs;
  rhs.first = outerRhs;
  return Values(loop.getResults());
}

Value ProductFrame::converted(Value sums) {
  if (config.accumulatorType == config.resultType)
    return sums;
  return arith::TruncFOp::create(b, likeType(sums, config.resultType), sums);
}

Value ProductFrame::total(Value elements, Value sums) {
  if (config.accumulatorType != config.resultType)
    elements = arith::ExtFOp::create(b, likeType(elements, config.accumulatorType), elements);
  if (isa<FloatType>(config.accumulatorType))
    return arith::AddFOp::create(b, elements, sums);
  return arith::AddIOp::create(b, elements, sums);
}

Value ProductFrame::addressOf(Value buffer, unsigned space) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  int64_t bytes = cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
  Value first = add(base, mul(metadata.getOffset(), index(bytes)));
  auto type = LLVM::LLVMPointerType::get(b.getContext(), space == kShared ? kShared : 0);
  Value address = LLVM::IntToPtrOp::create(b, type, toI64(first));
  if (space == kGlobal)
    address = LLVM::AddrSpaceCastOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kGlobal), address);
  return address;
}

/// Of an mma's 16x8 sums a lane has two neighbours in row lane / 4, and two 8 rows further on.
void ProductFrame::writeFragments(ArrayRef<Value> sums, Value warpRow, Value warpCol, int64_t numM) {
  int64_t numN = static_cast<int64_t>(sums.size()) / (4 * numM);
  Value lane = remainder(k.blockTeam().thread, kWarpSize);
  Value laneRow = add(warpRow, quotient(lane, 4));
  Value laneCol = add(warpCol, mul(remainder(lane, 4), index(2)));
  for (int64_t mma = 0; mma < numM; ++mma)
    for (int64_t half : {0, 1}) {
      Value row = add(laneRow, index(mma * 16 + half * 8));
      Value isRow = config.raggedM ? lessThan(add(firstRow, row), m) : Value();
      for (int64_t column = 0; column < numN; ++column)
        writePair(sums.slice(4 * (mma * numN + column) + 2 * half, 2), row,
                  add(laneCol, index(column * 8)), isRow);
    }
}

void ProductFrame::writePair(ArrayRef<Value> pair, Value row, Value column, Value isRow) {
  Value result = argument(2);
  int64_t bytes = config.resultType.getIntOrFloatBitWidth() / 8;
  for (int64_t lane = 0; lane < 2; lane += config.resultLanes) {
    Value place = add(column, index(lane));
    Value isColumn = config.raggedN ? lessThan(add(firstCol, place), n) : Value();
    k.when(both(isRow, isColumn), [&] {
      Value at = add(resultFirst, add(mul(row, resultRow), mul(place, resultCol)));
      Values values(pair.slice(lane, config.resultLanes));
      VectorType type = vectorOf(config.resultType, config.resultLanes);
      llvm::MaybeAlign align(config.resultLanes * bytes);
      if (config.accumulate) {
        Value old = vector::LoadOp::create(b, type, result, at, /*nontemporal=*/false, align);
        for (auto [index, value] : llvm::enumerate(values))
          value = total(vector::ExtractOp::create(b, old, ArrayRef<int64_t>(index)), value);
      }
      for (Value &value : values)
        value = converted(value);
      Value stored = vector::FromElementsOp::create(b, type, values);
      vector::StoreOp::create(b, stored, result, at, /*nontemporal=*/false, align);
    });
  }
}
