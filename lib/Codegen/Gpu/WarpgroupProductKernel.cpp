// SPDX-License-Identifier: Apache-2.0
//
// The code of a product by warp groups: see the header. Descriptors of matrices in shared memory are
// those of the PTX manual's "matrix descriptor format", in CUTLASS's canonical layouts.
#include "lib/Codegen/Gpu/WarpgroupProductKernel.h"

#include "lib/Codegen/Gpu/ProductFrame.h"
#include "lib/Codegen/Gpu/TensorProductKernel.h"
#include "lib/Codegen/Structured/FlatBuffers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

namespace {

constexpr int64_t kSwizzleBytes = 1024;   // It repeats every 8 rows.
constexpr int64_t kGroupRows = 64;        // Of C, by one warp group.
constexpr int64_t kWgmmaBytes = 32;       // Of k, in one wgmma.
constexpr int64_t kGroupThreads = 128;
constexpr unsigned kCluster = 7; // Shared memory of all blocks of a cluster.

/// Registers of a thread where a tile's sums take more than an even share of them: all of the groups
/// together have 65536.
constexpr uint32_t kProducerRegisters = 40, kConsumerRegisters = 232;
constexpr int64_t kManySums = 128;

/// A factor and its ring of tiles.
struct Ring {
  ProductFactor &factor;
  unsigned argument;      ///< Of its tensor map.
  int64_t stageBytes = 0;
  Value shared = {};      ///< Address of the ring.
  Value descriptor = {};  ///< Of this warp group's part of its first tile.
};

class WarpgroupProductEmitter : ProductFrame {
public:
  WarpgroupProductEmitter(gpu::GPUFuncOp kernel, const ProductKernelConfig &config);
  void emit();

private:
  /// Where a loop over the ring is: the stage, and the parity of the barriers' phase there.
  struct Position {
    Value stage, parity;
  };

  void place(Ring &ring);
  void initializeBarriers();
  /// Runs `body` for each tile of k and each combination of the other summed axes; it takes and
  /// gives the value that is carried along.
  Value forTiles(Value carried,
                 llvm::function_ref<Value(Value tile, Position at, Value carried)> body);
  void produce();
  void copy(const Ring &ring, Value step, ArrayRef<Value> sumDigits, Position at);
  Value consume();
  Value multiply(Value stage, Value sums);
  Value describe(const Ring &ring);

  // Barriers.
  Value full(Value stage) { return barrierAt(stage, 0); }
  Value empty(Value stage) { return barrierAt(stage, tile.stages); }
  Value barrierAt(Value stage, int64_t first) {
    return offset(barriers, mul(add(stage, index(first)), index(8)));
  }
  void wait(Value barrier, Value parity);

  Value isEqual(Value x, int64_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, index(y));
  }
  int64_t numGroups() const { return tile.m / tile.partM; }
  int64_t numSums() const { return tile.partM * tile.partN / kGroupThreads; } // Of a thread.
  bool movesRegisters() const { return numSums() >= kManySums; }
  LLVM::LLVMStructType sumsType() {
    SmallVector<Type> types(numSums(), config.accumulatorType);
    return LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  }

  Ring rings[2] = {{lhs, 0}, {rhs, 1}};
  Value barriers;
  Value group, threadOfGroup;
};

} // namespace

bool hjx::hasWarpgroupProduct(const ProductKernelConfig &config, MatmulPrecision precision) {
  // wgmma takes operands along the side of 16-bit types alone.
  return hasTensorProduct(config, precision) &&
         (config.operandType.getIntOrFloatBitWidth() == 16 || (config.lhsAlongSum && config.rhsAlongSum));
}

WarpgroupProductEmitter::WarpgroupProductEmitter(gpu::GPUFuncOp kernel,
                                                 const ProductKernelConfig &config)
    : ProductFrame(kernel, config) {
  Value thread = k.blockTeam().thread;
  // The same in all lanes, which the assembler cannot see of a thread's number.
  Value warp = NVVM::ShflOp::create(b, b.getI32Type(), constant(-1),
                                    toI32(quotient(thread, kWarpSize)), constant(0), constant(31),
                                    NVVM::ShflKind::idx, UnitAttr());
  group = quotient(arith::IndexCastOp::create(b, b.getIndexType(), warp), kGroupThreads / kWarpSize);
  threadOfGroup = remainder(thread, kGroupThreads);
  for (Ring &ring : rings)
    place(ring);
  barriers = addressOf(k.sharedMemory(b.getI64Type(), 2 * tile.stages), kShared);
}

/// A stage is a box of 128 bytes of k for each side, or, along the side, a box for every 128 bytes of it.
void WarpgroupProductEmitter::place(Ring &ring) {
  ring.stageBytes = ring.factor.tileSide * kTileBytes;
  ring.shared = addressOf(
      k.sharedMemory(b.getI8Type(), tile.stages * ring.stageBytes, kSwizzleBytes), kShared);
}

void WarpgroupProductEmitter::emit() {
  initializeBarriers();
  auto isProducer = scf::IfOp::create(b, isEqual(group, numGroups()), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isProducer.thenBlock());
    if (movesRegisters())
      NVVM::SetMaxRegisterOp::create(b, kProducerRegisters, NVVM::SetMaxRegisterAction::decrease);
    k.when(isEqual(threadOfGroup, 0), [&] { produce(); });
    b.setInsertionPointToStart(isProducer.elseBlock());
    if (movesRegisters())
      NVVM::SetMaxRegisterOp::create(b, kConsumerRegisters, NVVM::SetMaxRegisterAction::increase);
    Value sums = consume();
    Values elements;
    for (int64_t i = 0; i < numSums(); ++i)
      elements.push_back(LLVM::ExtractValueOp::create(b, sums, ArrayRef<int64_t>{i}));
    Value row = add(mul(group, index(kGroupRows)), mul(quotient(threadOfGroup, kWarpSize), index(16)));
    whenSummed(elements, [&](ArrayRef<Value> sums) { finishFragments(sums, row, index(0), /*numM=*/1); });
  }
  eraseWithBuffers({}, kernel.front()); // What this kind does not use of the frame.
}

void WarpgroupProductEmitter::initializeBarriers() {
  k.when(isEqual(k.blockTeam().thread, 0), [&] {
    for (int64_t stage = 0; stage < tile.stages; ++stage) {
      NVVM::MBarrierInitOp::create(b, full(index(stage)), constant(1), Value());
      NVVM::MBarrierInitOp::create(b, empty(index(stage)), constant(numGroups()), Value());
    }
    NVVM::FenceMbarrierInitOp::create(b); // Copies see them.
  });
  k.barrier();
}

void WarpgroupProductEmitter::wait(Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value isOver = NVVM::MBarrierTryWaitOp::create(b, b.getI1Type(), barrier, parity, Value());
  Value isOpen = arith::XOrIOp::create(b, isOver, arith::ConstantIntOp::create(b, 1, 1));
  scf::ConditionOp::create(b, isOpen, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b);
}

Value WarpgroupProductEmitter::forTiles(
    Value carried, llvm::function_ref<Value(Value, Position, Value)> body) {
  Value numTiles = numSteps();
  for (unsigned loop = 0; loop < config.numSumLoops; ++loop)
    numTiles = mul(numTiles, sumArgument(loop, 0));
  Values start = {index(0), constant(0)};
  if (carried)
    start.push_back(carried);
  auto loop = scf::ForOp::create(b, index(0), numTiles, index(1), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value stage = loop.getRegionIterArg(0), parity = loop.getRegionIterArg(1);
  Value next = body(loop.getInductionVar(), {stage, parity},
                    carried ? loop.getRegionIterArg(2) : Value());
  Value isLast = isEqual(stage, tile.stages - 1);
  Value flip = arith::ExtUIOp::create(b, b.getI32Type(), isLast);
  Values yielded = {
      arith::SelectOp::create(b, isLast, index(0), add(stage, index(1))),
      arith::XOrIOp::create(b, parity, flip)};
  if (carried)
    yielded.push_back(next);
  scf::YieldOp::create(b, yielded);
  return carried ? loop.getResult(2) : Value();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void WarpgroupProductEmitter::produce() {
  forTiles(Value(), [&](Value number, Position at, Value) {
    // All stages are empty at first: the phase before the first counts as over.
    wait(empty(at.stage), arith::XOrIOp::create(b, at.parity, constant(1)));
    NVVM::MBarrierArriveExpectTxOp::create(
        b, Type(), full(at.stage), constant(rings[0].stageBytes + rings[1].stageBytes),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    Value step = config.numSumLoops ? takeDigit(number, numSteps()) : number;
    Values digits;
    for (unsigned loop = 0; loop < config.numSumLoops; ++loop)
      digits.push_back(loop + 1 == config.numSumLoops
                           ? number
                           : takeDigit(number, sumArgument(loop, 0)));
    for (const Ring &ring : rings)
      copy(ring, step, digits, at);
    return Value();
  });
}

/// Asks for the boxes of tile `step`. Axes that the factor does not have are of size 1 in its map.
void WarpgroupProductEmitter::copy(const Ring &ring, Value step, ArrayRef<Value> sumDigits,
                                   Position at) {
  const ProductFactor &factor = ring.factor;
  Values outer; // The fastest first.
  for (auto [loop, digit] : llvm::enumerate(batchDigits))
    outer.push_back(toI32(mul(digit, batchArgument(loop, 1 + ring.argument))));
  for (auto [loop, digit] : llvm::enumerate(sumDigits))
    outer.push_back(toI32(mul(digit, sumArgument(loop, 1 + ring.argument))));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value map =
      UnrealizedConversionCastOp::create(b, pointer, argument(ring.argument)).getResult(0);
  Value stage = offset(ring.shared, mul(at.stage, index(ring.stageBytes)));
  Value sumFirst = mul(step, index(tile.k));
  if (firstSum)
    sumFirst = add(sumFirst, firstSum);
  int64_t rowElements = kTileBytes / operandBytes();
  int64_t numBoxes = factor.alongSum ? 1 : factor.tileSide / rowElements;
  for (int64_t box = 0; box < numBoxes; ++box) {
    Value side = add(factor.firstSide, index(box * rowElements));
    Values coordinates = {toI32(factor.alongSum ? sumFirst : side),
                          toI32(factor.alongSum ? side : sumFirst)};
    coordinates.append(outer);
    Value to = offset(stage, index(box * tile.k * kTileBytes));
    to = LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), kCluster), to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, to, map, coordinates, full(at.stage), /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
        /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value WarpgroupProductEmitter::consume() {
  for (Ring &ring : rings)
    ring.descriptor = describe(ring);
  Value sums = LLVM::ZeroOp::create(b, sumsType());
  Value isLeader = isEqual(threadOfGroup, 0);
  sums = forTiles(sums, [&](Value number, Position at, Value sums) {
    wait(full(at.stage), at.parity);
    sums = multiply(at.stage, sums);
    // The tile before is done with now. One is always under way.
    NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
    Value hasBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, number, index(0));
    Value before = arith::SelectOp::create(b, isEqual(at.stage, 0), index(tile.stages - 1),
                                           arith::SubIOp::create(b, at.stage, index(1)));
    k.when(both(isLeader, hasBefore),
           [&] { NVVM::MBarrierArriveOp::create(b, Type(), empty(before), Value()); });
    return sums;
  });
  NVVM::WgmmaWaitGroupSyncOp::create(b, 0);
  return sums;
}

/// Bits 0-13: address / 16. Along k, 8 rows are 1024 bytes from the next 8 (bits 32-45, by 16).
/// Along the side, so are 8 of k, and 128 bytes of the side a box from the next (bits 16-29). Bits
/// 62-63: swizzled by 128 bytes.
Value WarpgroupProductEmitter::describe(const Ring &ring) {
  const ProductFactor &factor = ring.factor;
  int64_t leading = factor.alongSum ? 1 : tile.k * kTileBytes / 16;
  int64_t bits = leading << 16 | (kSwizzleBytes / 16) << 32 | int64_t(1) << 62;
  Value address = ring.shared;
  if (&factor == &lhs) // 64 rows are 8 KiB in either layout.
    address = offset(address, mul(group, index(kGroupRows * kTileBytes)));
  Value number = LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
  number = LLVM::LShrOp::create(b, number, constant(4, 64));
  return LLVM::OrOp::create(b, number, constant(bits, 64));
}

/// sums + the tile in `stage`, asked for.
Value WarpgroupProductEmitter::multiply(Value stage, Value sums) {
  Type operand = config.operandType;
  bool isInteger = operand.isInteger();
  NVVM::WGMMATypes type = operand.isF16()            ? NVVM::WGMMATypes::f16
                          : operand.isBF16()         ? NVVM::WGMMATypes::bf16
                          : operand.isF32()          ? NVVM::WGMMATypes::tf32
                          : config.unsignedOperands ? NVVM::WGMMATypes::u8
                                                     : NVVM::WGMMATypes::s8;
  int64_t wgmmaK = kWgmmaBytes / operandBytes();
  MLIRContext *context = b.getContext();
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t part = 0; part < tile.k / wgmmaK; ++part) {
    Value descriptors[2];
    for (auto [ring, descriptor] : llvm::zip(rings, descriptors)) {
      int64_t partBytes = part * (ring.factor.alongSum ? kWgmmaBytes : wgmmaK * kTileBytes);
      Value bytes = add(mul(stage, index(ring.stageBytes / 16)), index(partBytes / 16));
      descriptor = LLVM::AddOp::create(b, ring.descriptor, toI64(bytes));
    }
    sums = NVVM::WgmmaMmaAsyncOp::create(
        b, sums.getType(), sums, descriptors[0], descriptors[1],
        NVVM::MMAShapeAttr::get(context, kGroupRows, tile.partN, wgmmaK), type, type,
        isInteger ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
        lhs.alongSum ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        rhs.alongSum ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        /*satfinite=*/NVVM::MMAIntOverflowAttr());
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  return sums;
}

void hjx::emitWarpgroupProduct(gpu::GPUFuncOp kernel, const ProductKernelConfig &config) {
  WarpgroupProductEmitter(kernel, config).emit();
}
