// SPDX-License-Identifier: Apache-2.0
//
// Shares and exchanges: see the header.
#include "lib/Codegen/Gpu/Threads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

KernelBuilder::KernelBuilder(gpu::GPUFuncOp function, int64_t numBlocks, int64_t blockSize)
    : b(ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &function.front())),
      numBlocks(numBlocks), blockSize(blockSize), function(function) {
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto extent = [&](int64_t size) {
    return b.getDenseI32ArrayAttr({static_cast<int32_t>(size), 1, 1});
  };
  function.setKnownBlockSizeAttr(extent(blockSize));
  if (numBlocks > 0)
    function.setKnownGridSizeAttr(extent(numBlocks));
  auto x = gpu::DimensionAttr::get(b.getContext(), gpu::Dimension::x);
  threadId = gpu::ThreadIdOp::create(b, x, b.getIndexAttr(blockSize));
  blockId =
      gpu::BlockIdOp::create(b, x, numBlocks > 0 ? b.getIndexAttr(numBlocks) : IntegerAttr());
}

Value KernelBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Team KernelBuilder::gridTeam() {
  Value first = arith::MulIOp::create(b, blockId, index(blockSize));
  return {arith::AddIOp::create(b, first, threadId), numBlocks * blockSize};
}

Value KernelBuilder::sharedMemory(Type elementType, int64_t numElements, int64_t alignment) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({numElements}, elementType, MemRefLayoutAttrInterface(), space);
  Value buffer = function.addWorkgroupAttribution(type, b.getLoc());
  if (alignment > 0)
    function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() - 1,
                                         LLVM::LLVMDialect::getAlignAttrName(),
                                         b.getI64IntegerAttr(alignment));
  return buffer;
}

void KernelBuilder::when(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

void KernelBuilder::forEachUnit(const Team &team, int64_t numUnits,
                                llvm::function_ref<void(Value unit)> body) {
  if (numUnits <= team.size) {
    Value mine;
    if (numUnits < team.size)
      mine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, team.thread, index(numUnits));
    return when(mine, [&] { body(team.thread); });
  }
  auto forOp = scf::ForOp::create(b, team.thread, index(numUnits), index(team.size));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

Value KernelBuilder::shuffleXor(Value value, int32_t mask) {
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  if (type.isIndex())
    return arith::IndexCastOp::create(
        b, type, shuffleXor(arith::IndexCastOp::create(b, i64, value), mask));
  if (auto floatType = dyn_cast<FloatType>(type)) {
    Value bits = arith::BitcastOp::create(b, b.getIntegerType(floatType.getWidth()), value);
    return arith::BitcastOp::create(b, type, shuffleXor(bits, mask));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 32)
    return arith::TruncIOp::create(b, type,
                                   shuffleXor(arith::ExtUIOp::create(b, i32, value), mask));
  if (width == 32)
    return gpu::ShuffleOp::create(b, value, mask, kWarpSize, gpu::ShuffleMode::XOR)
        .getShuffleResult();
  Value half = arith::ConstantIntOp::create(b, i64, 32);
  Value low = shuffleXor(arith::TruncIOp::create(b, i32, value), mask);
  Value shifted = arith::ShRUIOp::create(b, value, half);
  Value high = shuffleXor(arith::TruncIOp::create(b, i32, shifted), mask);
  high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, high), half);
  return arith::OrIOp::create(b, high, arith::ExtUIOp::create(b, i64, low));
}
