// SPDX-License-Identifier: Apache-2.0
//
// The code of a product kernel: see the header.
#include "lib/Codegen/Gpu/ProductKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

/// Elements that lie together in registers and shared memory: a vector of 4.
static constexpr int64_t kGroup = 4;

namespace {

using Values = SmallVector<Value>;

/// One of the factors, as tiles that walk along k. `side` is m for A and n for B.
struct Factor {
  Value buffer;              // Flat.
  Value sideStride, sumStride, sideSize;
  Value first;               // Where this block's tile begins, in elements.
  Value firstSide;           // Its first row or column.
  int64_t tileSide, lanes;
  bool alongSum, raggedSide;
  Value shared;              // Two tiles, k-major, a row of tileSide elements and some padding.
  int64_t pitch() const { return tileSide + kGroup; }
};

class ProductEmitter {
public:
  ProductEmitter(gpu::GPUFuncOp kernel, const ProductKernelConfig &config)
      : config(config), tile(config.tile), kernel(kernel),
        k(kernel, /*numBlocks=*/0, config.tile.blockSize()), b(k.b) {}

  void emit();

private:
  Value argument(unsigned index) { return kernel.getArgument(index); }
  Value index(int64_t value) { return k.index(value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value lessThan(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y);
  }
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : arith::AndIOp::create(b, x, y).getResult();
  }
  Type vectorOf(Type type, int64_t lanes) { return VectorType::get({lanes}, type); }
  Value zero(Type type) { return arith::ConstantOp::create(b, b.getZeroAttr(type)); }

  /// number % radix and number / radix in 32 bits: 64 would take a hundred instructions.
  Value takeDigit(Value &number, Value radix);

  Values emitSum(unsigned depth, Values accumulators);
  Values emitTiles(Values accumulators);
  Values load(const Factor &factor, Value step, Value isStep);
  void store(const Factor &factor, ArrayRef<Value> loaded, Value half);
  Values multiply(Value half, ValueRange accumulators);
  void writeBack(ArrayRef<Value> accumulators);
  Value extend(Value value);
  Value convertResult(Value value);
  /// Position along the side, and along k, of a thread's `chunk`-th vector of a tile.
  std::pair<Value, Value> place(const Factor &factor, int64_t chunk);

  const ProductKernelConfig &config;
  const ProductTile &tile;
  gpu::GPUFuncOp kernel;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  Factor lhs, rhs;
  Value m, n, sum, resultRow, resultCol, resultFirst, firstRow, firstCol, threadRow, threadCol;
  unsigned firstSumArgument = 0;
};

} // namespace

Value ProductEmitter::takeDigit(Value &number, Value radix) {
  Type i32 = b.getI32Type(), indexType = b.getIndexType();
  Value dividend = arith::IndexCastOp::create(b, i32, number);
  Value divisor = arith::IndexCastOp::create(b, i32, radix);
  Value digit = arith::RemUIOp::create(b, dividend, divisor);
  number = arith::IndexCastUIOp::create(b, indexType,
                                        arith::DivUIOp::create(b, dividend, divisor).getResult());
  return arith::IndexCastUIOp::create(b, indexType, digit);
}

void ProductEmitter::emit() {
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
  unsigned position = 14;
  for (unsigned loop = 0; loop < config.numBatchLoops; ++loop, position += 4) {
    Value digit = loop + 1 == config.numBatchLoops ? number : takeDigit(number, argument(position));
    lhs.first = add(lhs.first, mul(digit, argument(position + 1)));
    rhs.first = add(rhs.first, mul(digit, argument(position + 2)));
    resultFirst = add(resultFirst, mul(digit, argument(position + 3)));
  }
  firstSumArgument = position;

  lhs.tileSide = tile.m, lhs.lanes = config.lhsLanes;
  rhs.tileSide = tile.n, rhs.lanes = config.rhsLanes;
  lhs.alongSum = config.lhsAlongSum, lhs.raggedSide = config.raggedM;
  rhs.alongSum = config.rhsAlongSum, rhs.raggedSide = config.raggedN;
  for (Factor *factor : {&lhs, &rhs})
    factor->shared = k.sharedMemory(config.accumulatorType, 2 * tile.k * factor->pitch());
  int64_t threadsN = tile.n / tile.threadN;
  Value thread = k.blockTeam().thread;
  threadCol = mul(arith::RemUIOp::create(b, thread, index(threadsN)), index(kGroup));
  threadRow = mul(arith::DivUIOp::create(b, thread, index(threadsN)), index(kGroup));

  Values accumulators(tile.threadM * tile.threadN / kGroup,
                      zero(vectorOf(config.accumulatorType, kGroup)));
  writeBack(emitSum(0, accumulators));
}

/// The loops over summed axes beside k.
Values ProductEmitter::emitSum(unsigned depth, Values accumulators) {
  if (depth == config.numSumLoops)
    return emitTiles(accumulators);
  unsigned position = firstSumArgument + 3 * depth;
  auto loop = scf::ForOp::create(b, index(0), argument(position), index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value outerLhs = lhs.first, outerRhs = rhs.first;
  lhs.first = add(lhs.first, mul(loop.getInductionVar(), argument(position + 1)));
  rhs.first = add(rhs.first, mul(loop.getInductionVar(), argument(position + 2)));
  scf::YieldOp::create(b, emitSum(depth + 1, Values(loop.getRegionIterArgs())));
  lhs.first = outerLhs;
  rhs.first = outerRhs;
  return Values(loop.getResults());
}

/// The loop along k. Tile t is multiplied from one half of shared memory while tile t + 1 is
/// loaded into registers and stored into the other half.
Values ProductEmitter::emitTiles(Values accumulators) {
  Value numSteps =
      arith::DivUIOp::create(b, add(sum, index(tile.k - 1)), index(tile.k));
  Value firstHalf = index(0);
  Values loadedLhs = load(lhs, index(0), Value()), loadedRhs = load(rhs, index(0), Value());
  store(lhs, loadedLhs, firstHalf);
  store(rhs, loadedRhs, firstHalf);
  k.barrier();
  auto loop = scf::ForOp::create(b, index(0), numSteps, index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar(), next = add(step, index(1));
  Value hasNext = lessThan(next, numSteps);
  Value half = arith::AndIOp::create(b, step, index(1));
  Value otherHalf = arith::XOrIOp::create(b, half, index(1));
  Values nextLhs = load(lhs, next, hasNext), nextRhs = load(rhs, next, hasNext);
  Values products = multiply(half, loop.getRegionIterArgs());
  store(lhs, nextLhs, otherHalf);
  store(rhs, nextRhs, otherHalf);
  k.barrier();
  scf::YieldOp::create(b, products);
  return Values(loop.getResults());
}

std::pair<Value, Value> ProductEmitter::place(const Factor &factor, int64_t chunk) {
  Value number = add(k.blockTeam().thread, index(chunk * k.blockSize));
  int64_t fastest = (factor.alongSum ? tile.k : factor.tileSide) / factor.lanes;
  Value fast = mul(arith::RemUIOp::create(b, number, index(fastest)), index(factor.lanes));
  Value slow = arith::DivUIOp::create(b, number, index(fastest));
  return factor.alongSum ? std::make_pair(slow, fast) : std::make_pair(fast, slow);
}

/// This thread's part of tile `step`. What lies outside of the matrix is read from its first
/// element, which is always there, and counts as 0; so does everything unless `isStep`.
Values ProductEmitter::load(const Factor &factor, Value step, Value isStep) {
  Values loaded;
  int64_t numChunks = factor.tileSide * tile.k / factor.lanes / k.blockSize;
  Value firstSum = mul(step, index(tile.k));
  Type type = config.operandType;
  if (factor.lanes > 1)
    type = vectorOf(type, factor.lanes);
  for (int64_t chunk = 0; chunk < numChunks; ++chunk) {
    auto [side, position] = place(factor, chunk);
    position = add(firstSum, position);
    Value isInside;
    if (factor.raggedSide)
      isInside = lessThan(add(factor.firstSide, side), factor.sideSize);
    if (config.raggedK)
      isInside = both(isInside, lessThan(position, sum));
    Value isRead = both(isInside, isStep);
    Value at = add(factor.first,
                   add(mul(side, factor.sideStride), mul(position, factor.sumStride)));
    if (isRead)
      at = arith::SelectOp::create(b, isRead, at, index(0));
    Value value;
    if (factor.lanes > 1) {
      int64_t bytes = factor.lanes * config.operandType.getIntOrFloatBitWidth() / 8;
      value = vector::LoadOp::create(b, cast<VectorType>(type), factor.buffer, at,
                                     /*nontemporal=*/false, llvm::MaybeAlign(bytes));
    } else {
      value = memref::LoadOp::create(b, factor.buffer, at);
    }
    if (isInside)
      value = arith::SelectOp::create(b, isInside, value, zero(type));
    loaded.push_back(value);
  }
  return loaded;
}

Value ProductEmitter::extend(Value value) {
  Type type = value.getType(), to = config.accumulatorType;
  if (config.operandType == to)
    return value;
  if (auto vector = dyn_cast<VectorType>(type))
    to = vector.clone(to);
  if (isa<FloatType>(config.operandType))
    return arith::ExtFOp::create(b, to, value);
  if (config.unsignedOperands)
    return arith::ExtUIOp::create(b, to, value);
  return arith::ExtSIOp::create(b, to, value);
}

void ProductEmitter::store(const Factor &factor, ArrayRef<Value> loaded, Value half) {
  Value first = mul(half, index(tile.k * factor.pitch()));
  for (size_t chunk = 0; chunk < loaded.size(); ++chunk) {
    auto [side, position] = place(factor, chunk);
    Value at = add(first, add(mul(position, index(factor.pitch())), side));
    Value value = extend(loaded[chunk]);
    if (factor.lanes == 1) {
      memref::StoreOp::create(b, value, factor.shared, at);
    } else if (!factor.alongSum) {
      int64_t bytes = factor.lanes * config.accumulatorType.getIntOrFloatBitWidth() / 8;
      vector::StoreOp::create(b, value, factor.shared, at, /*nontemporal=*/false,
                              llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
    } else {
      for (int64_t lane = 0; lane < factor.lanes; ++lane) {
        Value element = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{lane});
        memref::StoreOp::create(b, element, factor.shared,
                                add(at, index(lane * factor.pitch())));
      }
    }
  }
}

/// accumulators + A tile * B tile, both in half `half` of shared memory.
Values ProductEmitter::multiply(Value half, ValueRange accumulators) {
  Values sums(accumulators);
  auto group = cast<VectorType>(vectorOf(config.accumulatorType, kGroup));
  int64_t groupsM = tile.threadM / kGroup, groupsN = tile.threadN / kGroup;
  auto loadGroups = [&](const Factor &factor, Value thread, int64_t position, int64_t numGroups) {
    Values groups;
    Value first = add(mul(half, index(tile.k * factor.pitch())), thread);
    for (int64_t g = 0; g < numGroups; ++g) {
      Value at = add(first, index(position * factor.pitch() + g * factor.tileSide / numGroups));
      groups.push_back(vector::LoadOp::create(b, group, factor.shared, at, /*nontemporal=*/false,
                                              llvm::MaybeAlign(16)));
    }
    return groups;
  };
  for (int64_t position = 0; position < tile.k; ++position) {
    Values rows = loadGroups(lhs, threadRow, position, groupsM);
    Values columns = loadGroups(rhs, threadCol, position, groupsN);
    for (int64_t row = 0; row < tile.threadM; ++row) {
      Value element =
          vector::ExtractOp::create(b, rows[row / kGroup], ArrayRef<int64_t>{row % kGroup});
      Value factor = vector::BroadcastOp::create(b, group, element);
      for (int64_t g = 0; g < groupsN; ++g) {
        Value &total = sums[row * groupsN + g];
        if (isa<FloatType>(config.accumulatorType))
          total = math::FmaOp::create(b, factor, columns[g], total);
        else
          total = arith::AddIOp::create(b, arith::MulIOp::create(b, factor, columns[g]), total);
      }
    }
  }
  return sums;
}

Value ProductEmitter::convertResult(Value value) {
  Type to = config.resultType;
  if (config.accumulatorType == to)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(to);
  return arith::TruncFOp::create(b, to, value);
}

void ProductEmitter::writeBack(ArrayRef<Value> accumulators) {
  int64_t groupsM = tile.threadM / kGroup, groupsN = tile.threadN / kGroup;
  auto total = [&](Value old, Value value) {
    if (config.accumulatorType != config.resultType) {
      Type wide = config.accumulatorType;
      if (auto vector = dyn_cast<VectorType>(old.getType()))
        wide = vector.clone(wide);
      old = arith::ExtFOp::create(b, wide, old);
    }
    if (isa<FloatType>(config.accumulatorType))
      return arith::AddFOp::create(b, old, value).getResult();
    return arith::AddIOp::create(b, old, value).getResult();
  };
  for (int64_t row = 0; row < tile.threadM; ++row) {
    Value inTile = add(threadRow, index(row / kGroup * (tile.m / groupsM) + row % kGroup));
    Value isRow = config.raggedM ? lessThan(add(firstRow, inTile), m) : Value();
    Value rowFirst = add(resultFirst, mul(inTile, resultRow));
    for (int64_t g = 0; g < groupsN; ++g) {
      Value value = accumulators[row * groupsN + g];
      for (int64_t lane = 0; lane < kGroup; lane += config.resultLanes) {
        Value column = add(threadCol, index(g * (tile.n / groupsN) + lane));
        Value isColumn = config.raggedN ? lessThan(add(firstCol, column), n) : Value();
        k.when(both(isRow, isColumn), [&] {
          Value at = add(rowFirst, mul(column, resultCol));
          Value result = argument(2);
          if (config.resultLanes == 1) {
            Value element = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{lane});
            if (config.accumulate)
              element = total(memref::LoadOp::create(b, result, at), element);
            memref::StoreOp::create(b, convertResult(element), result, at);
            return;
          }
          auto type = cast<VectorType>(vectorOf(config.resultType, kGroup));
          llvm::MaybeAlign align(kGroup * config.resultType.getIntOrFloatBitWidth() / 8);
          Value sums = value;
          if (config.accumulate)
            sums = total(vector::LoadOp::create(b, type, result, at, false, align), value);
          vector::StoreOp::create(b, convertResult(sums), result, at, false, align);
        });
      }
    }
  }
}

gpu::GPUFuncOp hjx::emitProductKernel(DeviceModule &device, Location loc,
                                      const ProductKernelConfig &config) {
  MLIRContext *context = loc.getContext();
  Builder b(context);
  auto layout = StridedLayoutAttr::get(context, ShapedType::kDynamic, {1});
  auto matrix = [&](Type type) { return MemRefType::get({ShapedType::kDynamic}, type, layout); };
  SmallVector<Type> types = {matrix(config.operandType), matrix(config.operandType),
                             matrix(config.resultType)};
  types.append(11 + 4 * config.numBatchLoops + 3 * config.numSumLoops, b.getIndexType());
  gpu::GPUFuncOp kernel = device.createKernel(loc, config.name(), types);
  for (unsigned matrix : {0, 1, 2}) {
    if (config.isAlone)
      kernel.setArgAttr(matrix, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (matrix < 2)
      kernel.setArgAttr(matrix, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  ProductEmitter(kernel, config).emit();
  return kernel;
}
