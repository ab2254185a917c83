// SPDX-License-Identifier: Apache-2.0
//
// The code of a tensor core product: see the header. Fragments are those of the PTX manual's
// "matrix fragments for mma": in units of bytes they are the same for all types.
#include "lib/Codegen/Gpu/TensorProductKernel.h"

#include "lib/Codegen/Gpu/ProductFrame.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

namespace {

constexpr int64_t kMmaBytes = 32;       // Of k, in one mma.
constexpr int64_t kMmaM = 16, kMmaN = 8;
constexpr int64_t kFragmentSide = 16;   // One ldmatrix.x4: an A fragment, or two of B.

/// A factor and its ring of tiles.
struct Ring {
  ProductFactor &factor;
  int64_t pitch = 0;      ///< Bytes of a row: of a side if alongSum, of an element of k if not.
  int64_t stageBytes = 0;
  Value shared = {};      ///< Address of the ring.
  Value global = {};      ///< Address of this thread's first vector in tile 0.
  Value sumBytes = {}, slowBytes = {}; ///< From tile to tile; from vector to vector of a tile.
  Value copyTo = {};      ///< Where in a stage that vector goes.
  Value slow = {}, fast = {}; ///< Its place in the tile; the next one's is slowStep further on.
  int64_t slowStep = 0;
  Value fragment = {};    ///< Where in a stage this lane's part of the first fragment is.
};

class TensorProductEmitter : ProductFrame {
public:
  TensorProductEmitter(gpu::GPUFuncOp kernel, const ProductKernelConfig &config);
  void emit();

private:
  // The ring.
  void place(Ring &ring, Value warpSide);
  /// Along the side and along k: this thread's `chunk`-th vector of tile `step`.
  std::pair<Value, Value> place(const Ring &ring, int64_t chunk, Value step);
  bool copiesAsynchronously(const ProductFactor &factor) const {
    return factor.packing == Packing::None && factor.lanes * operandBytes() >= 4;
  }
  void beginTiles(Ring &ring);
  Value isInside(const Ring &ring, int64_t chunk, Value step);
  void copy(const Ring &ring, Value step, Value stage);
  Values load(const Ring &ring, Value step);
  void store(const Ring &ring, ArrayRef<Value> loaded, Value step, Value stage);
  Value stageOf(const Ring &ring, Value stage) {
    Value bytes = LLVM::MulOp::create(b, stage, constant(ring.stageBytes, 64));
    return offset(ring.shared, bytes);
  }
  /// Brings what is of tile `step`: by copies, or returns it loaded.
  Values bring(const Ring &ring, Value step, Value stage);

  // The product.
  Values emitTiles(Values sums);
  Values fragment(const Ring &ring, Value stage, int64_t step, int64_t number);
  Values multiplyFragments(ArrayRef<Value> lhs, ArrayRef<Value> rhs, ArrayRef<Value> sums);
  void multiply(Value stage, Values &sums);
  bool isTf32() const { return config.operandType.isF32(); }
  bool isInteger() const { return config.operandType.isInteger(); }
  /// Whether fragments come by ldmatrix.
  bool loadsMatrices(const ProductFactor &factor) const {
    return factor.alongSum || operandBytes() == 2;
  }

  Ring rings[2] = {{lhs}, {rhs}};
  int64_t mmaK;
  Value lane, warpRow, warpCol;
};

} // namespace

bool hjx::hasTensorProduct(const ProductKernelConfig &config, MatmulPrecision precision) {
  Type operand = config.operandType;
  if (operand.isF16() || operand.isBF16())
    return config.accumulatorType.isF32();
  if (operand.isF32())
    return precision == MatmulPrecision::Tf32 && config.accumulatorType.isF32();
  // Nothing transposes bytes.
  return operand.isInteger(8) && config.accumulatorType.isInteger(32) && config.lhsAlongSum &&
         config.rhsAlongSum;
}

TensorProductEmitter::TensorProductEmitter(gpu::GPUFuncOp kernel,
                                           const ProductKernelConfig &config)
    : ProductFrame(kernel, config), mmaK(kMmaBytes / operandBytes()) {
  Value thread = k.blockTeam().thread;
  lane = remainder(thread, kWarpSize);
  Value warp = quotient(thread, kWarpSize);
  int64_t warpsN = tile.n / tile.partN;
  warpRow = mul(quotient(warp, warpsN), index(tile.partM));
  warpCol = mul(remainder(warp, warpsN), index(tile.partN));
  place(rings[0], warpRow);
  place(rings[1], warpCol);
}

//===----------------------------------------------------------------------===//
// The ring of tiles
//===----------------------------------------------------------------------===//

/// Lays the ring out, and finds this lane's part of the fragments that begin at `warpSide`.
void TensorProductEmitter::place(Ring &ring, Value warpSide) {
  const ProductFactor &factor = ring.factor;
  int64_t bytes = operandBytes();
  bool byMatrices = loadsMatrices(factor);
  ring.pitch = (factor.alongSum ? tile.k : factor.tileSide) * bytes + (byMatrices ? 16 : 32);
  ring.stageBytes = (factor.alongSum ? factor.tileSide : tile.k) * ring.pitch;
  ring.shared = addressOf(k.sharedMemory(b.getI8Type(), tile.stages * ring.stageBytes), kShared);

  Value thread = k.blockTeam().thread;
  int64_t fastest = (factor.alongSum ? tile.k : factor.tileSide) / factor.lanes;
  ring.fast = mul(remainder(thread, fastest), index(factor.lanes));
  ring.slow = quotient(thread, fastest);
  ring.slowStep = k.blockSize / fastest;
  ring.copyTo = toI64(add(mul(ring.slow, index(ring.pitch)), mul(ring.fast, index(bytes))));

  // ldmatrix takes from lane i the address of row i % 8 of matrix i / 8. The matrices of A are
  // (side 0, k 0), (side 8, k 0), (side 0, k 16 bytes), (8, 16 bytes); of B in the order 0, 2, 1, 3.
  Value row = remainder(lane, 8), matrix = quotient(lane, 8);
  Value low = remainder(matrix, 2), high = quotient(matrix, 2);
  bool isLhs = &factor == &lhs;
  Value sideHalf = isLhs ? low : high, sumHalf = isLhs ? high : low;
  Value fragmentSide, fragmentSum; // In elements, and in bytes or elements.
  if (!byMatrices) {
    fragmentSide = quotient(lane, 4);
    fragmentSum = remainder(lane, 4);
  } else if (factor.alongSum) {
    fragmentSide = add(row, mul(sideHalf, index(8)));
    fragmentSum = mul(sumHalf, index(16 / bytes));
  } else {
    fragmentSide = mul(sideHalf, index(8));
    fragmentSum = add(row, mul(sumHalf, index(8)));
  }
  fragmentSide = add(fragmentSide, warpSide);
  Value outer = factor.alongSum ? fragmentSide : fragmentSum;
  Value inner = factor.alongSum ? fragmentSum : fragmentSide;
  ring.fragment = toI64(add(mul(outer, index(ring.pitch)), mul(inner, index(bytes))));
}

/// Where this thread's vectors are in global memory, once the outer sums are known.
void TensorProductEmitter::beginTiles(Ring &ring) {
  const ProductFactor &factor = ring.factor;
  if (!copiesAsynchronously(factor))
    return;
  int64_t bytes = operandBytes();
  auto [side, position] = place(ring, 0, index(0));
  Value at = add(factor.first,
                 add(mul(side, factor.sideStride), mul(position, factor.sumStride)));
  ring.global = offset(addressOf(factor.buffer, kGlobal), toI64(mul(at, index(bytes))));
  ring.sumBytes = toI64(mul(factor.sumStride, index(tile.k * bytes)));
  ring.slowBytes = toI64(mul(factor.alongSum ? factor.sideStride : factor.sumStride,
                             index(ring.slowStep * bytes)));
}

std::pair<Value, Value> TensorProductEmitter::place(const Ring &ring, int64_t chunk, Value step) {
  Value slow = add(ring.slow, index(chunk * ring.slowStep)), first = mul(step, index(tile.k));
  if (ring.factor.alongSum)
    return {slow, add(first, ring.fast)};
  return {ring.fast, add(first, slow)};
}

/// Whether this thread's `chunk`-th vector of tile `step` lies in the matrix.
Value TensorProductEmitter::isInside(const Ring &ring, int64_t chunk, Value step) {
  const ProductFactor &factor = ring.factor;
  auto [side, position] = place(ring, chunk, step);
  Value inside = lessThan(position, sum);
  if (factor.raggedSide)
    inside = both(inside, lessThan(add(factor.firstSide, side), factor.sideSize));
  return inside;
}

/// Asks for tile `step`; what is outside of the matrix becomes zeros.
void TensorProductEmitter::copy(const Ring &ring, Value step, Value stage) {
  const ProductFactor &factor = ring.factor;
  int64_t bytes = factor.lanes * operandBytes();
  Value from = offset(ring.global, LLVM::MulOp::create(b, toI64(step), ring.sumBytes).getResult());
  Value to = offset(stageOf(ring, stage), ring.copyTo);
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  for (int64_t chunk = 0; chunk < numChunks(factor); ++chunk) {
    Value size = LLVM::SelectOp::create(b, isInside(ring, chunk, step), constant(bytes), constant(0));
    NVVM::CpAsyncOp::create(b, offset(to, chunk * ring.slowStep * ring.pitch), from,
                            static_cast<uint32_t>(bytes), cache, size);
    from = offset(from, ring.slowBytes);
  }
}

/// The vectors of tile `step` that are too small for copies, or packed.
SmallVector<Value> TensorProductEmitter::load(const Ring &ring, Value step) {
  const ProductFactor &factor = ring.factor;
  Values loaded;
  for (int64_t chunk = 0; chunk < numChunks(factor); ++chunk) {
    auto [side, position] = place(ring, chunk, step);
    Value inside = isInside(ring, chunk, step);
    Value at = add(add(factor.first, mul(side, factor.sideStride)),
                   mul(position, factor.sumStride));
    at = arith::SelectOp::create(b, inside, at, index(0));
    Value value = loadLanes(factor, at);
    loaded.push_back(arith::SelectOp::create(b, inside, value, zero(value.getType())));
  }
  return loaded;
}

void TensorProductEmitter::store(const Ring &ring, ArrayRef<Value> loaded, Value step, Value stage) {
  Value to = offset(stageOf(ring, stage), ring.copyTo);
  for (auto [index, value] : llvm::enumerate(loaded)) {
    auto chunk = static_cast<int64_t>(index);
    auto [side, position] = place(ring, chunk, step);
    LLVM::StoreOp::create(b, unpack(ring.factor, value, side, position), offset(to, chunk * ring.slowStep * ring.pitch));
  }
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void TensorProductEmitter::emit() {
  int64_t numMmas = (tile.partM / kMmaM) * (tile.partN / kMmaN);
  Values sums(4 * numMmas, zero(config.accumulatorType));
  sums = emitSum(sums, [&](Values sums) { return emitTiles(sums); });
  whenSummed(sums, [&](ArrayRef<Value> sums) { finishFragments(sums, warpRow, warpCol, tile.partM / kMmaM); });
}

/// The loop along k: while tile t is multiplied, tiles up to t + stages - 1 are on their way.
SmallVector<Value> TensorProductEmitter::emitTiles(Values sums) {
  for (Ring &ring : rings)
    beginTiles(ring);
  Type i64 = b.getI64Type();
  int64_t ahead = tile.stages - 1;
  for (int64_t step = 0; step < ahead; ++step) {
    for (const Ring &ring : rings)
      store(ring, bring(ring, index(step), constant(step, 64)), index(step), constant(step, 64));
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  sums.push_back(constant(0, 64)); // The stage of the tile that is multiplied.
  auto loop = scf::ForOp::create(b, index(0), numSteps(), index(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    sums.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Value stage = sums.pop_back_val();
    auto isStage = [&](int64_t number) {
      return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, stage, constant(number, 64));
    };
    auto moved = [&](int64_t by) {
      return LLVM::AddOp::create(b, i64, stage, constant(by, 64)).getResult();
    };
    Value free = LLVM::SelectOp::create(b, isStage(0), constant(ahead, 64), moved(-1));
    NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(ahead - 1));
    k.barrier(); // All see this tile, and are done with the one before.
    Value next = add(loop.getInductionVar(), index(ahead));
    Values lhsLoaded = bring(rings[0], next, free), rhsLoaded = bring(rings[1], next, free);
    NVVM::CpAsyncCommitGroupOp::create(b);
    multiply(stage, sums);
    store(rings[0], lhsLoaded, next, free);
    store(rings[1], rhsLoaded, next, free);
    sums.push_back(LLVM::SelectOp::create(b, isStage(ahead), constant(0, 64), moved(1)));
    scf::YieldOp::create(b, sums);
  }
  NVVM::CpAsyncWaitGroupOp::create(b, 0u);
  if (config.numSumLoops > 0)
    k.barrier(); // Before the ring is filled again.
  return Values(loop.getResults().drop_back());
}

SmallVector<Value> TensorProductEmitter::bring(const Ring &ring, Value step, Value stage) {
  if (!copiesAsynchronously(ring.factor))
    return load(ring, step);
  copy(ring, step, stage);
  return {};
}

/// The four registers of fragment `number`: rows 16 number.. of A or columns of B, in the 32 bytes of
/// k at `step`.
SmallVector<Value> TensorProductEmitter::fragment(const Ring &ring, Value stage, int64_t step,
                                                  int64_t number) {
  const ProductFactor &factor = ring.factor;
  int64_t bytes = operandBytes(), first = number * kFragmentSide;
  int64_t at = factor.alongSum ? first * ring.pitch + step * kMmaBytes
                               : step * mmaK * ring.pitch + first * bytes;
  Value address = offset(offset(stage, ring.fragment), at);
  Type i32 = b.getI32Type();
  Values registers;
  if (loadsMatrices(factor)) {
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
    Value loaded = NVVM::LdMatrixOp::create(
        b, type, address, /*num=*/4,
        factor.alongSum ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < 4; ++i)
      registers.push_back(LLVM::ExtractValueOp::create(b, loaded, ArrayRef<int64_t>{i}));
  } else {
    bool isLhs = &factor == &lhs;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t sideHalf = isLhs ? i % 2 : i / 2, sumHalf = isLhs ? i / 2 : i % 2;
      registers.push_back(LLVM::LoadOp::create(
          b, i32, offset(address, sideHalf * 8 * bytes + sumHalf * 4 * ring.pitch)));
    }
  }
  if (isTf32())
    for (Value &value : registers) {
      Value wide = LLVM::BitcastOp::create(b, b.getF32Type(), value);
      value = NVVM::ConvertFloatToTF32Op::create(b, i32, wide, NVVM::FPRoundingMode::RNA);
    }
  return registers;
}

/// sums + the tile in `stage`, in the order of k.
void TensorProductEmitter::multiply(Value stage, Values &sums) {
  int64_t numM = tile.partM / kMmaM, numN = tile.partN / kMmaN;
  Value lhsStage = stageOf(rings[0], stage), rhsStage = stageOf(rings[1], stage);
  for (int64_t step = 0; step < tile.k / mmaK; ++step) {
    SmallVector<Values> rows, columns;
    for (int64_t row = 0; row < numM; ++row)
      rows.push_back(fragment(rings[0], lhsStage, step, row));
    for (int64_t column = 0; column < numN / 2; ++column)
      columns.push_back(fragment(rings[1], rhsStage, step, column));
    for (int64_t row = 0; row < numM; ++row)
      for (int64_t column = 0; column < numN; ++column) {
        MutableArrayRef<Value> mine = MutableArrayRef(sums).slice(4 * (row * numN + column), 4);
        auto half = ArrayRef<Value>(columns[column / 2]).slice(2 * (column % 2), 2);
        llvm::copy(multiplyFragments(rows[row], half, mine), mine.begin());
      }
  }
}

SmallVector<Value> TensorProductEmitter::multiplyFragments(ArrayRef<Value> lhs,
                                                           ArrayRef<Value> rhs,
                                                           ArrayRef<Value> sums) {
  NVVM::MMATypes type = config.operandType.isF16()    ? NVVM::MMATypes::f16
                        : config.operandType.isBF16() ? NVVM::MMATypes::bf16
                        : isTf32()                    ? NVVM::MMATypes::tf32
                        : config.unsignedOperands     ? NVVM::MMATypes::u8
                                                      : NVVM::MMATypes::s8;
  auto registers = [&](ArrayRef<Value> values) {
    Values result(values);
    if (config.operandType.isF16())
      for (Value &value : result)
        value = LLVM::BitcastOp::create(b, vectorOf(b.getF16Type(), 2), value);
    return result;
  };
  Type sumType = config.accumulatorType;
  auto resultType = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                     {sumType, sumType, sumType, sumType});
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (isInteger())
    overflow = NVVM::MMAIntOverflow::wrapped;
  Value result = NVVM::MmaOp::create(
      b, resultType, registers(lhs), registers(rhs), sums, ArrayRef<int64_t>{kMmaM, kMmaN, mmaK},
      /*b1Op=*/std::nullopt, overflow, std::array{type, type},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Values results;
  for (int64_t i = 0; i < 4; ++i)
    results.push_back(LLVM::ExtractValueOp::create(b, result, ArrayRef<int64_t>{i}));
  return results;
}

void hjx::emitTensorProduct(gpu::GPUFuncOp kernel, const ProductKernelConfig &config) {
  TensorProductEmitter(kernel, config).emit();
}
