// SPDX-License-Identifier: Apache-2.0
//
// Kernels of loops around ops: a thread takes its round of the parallel loops, and its element of
// the ops in them. Single stores are here, too.
#include "lib/Codegen/Gpu/KernelGenerator.h"
#include "lib/Codegen/Gpu/Passes.h"

using namespace mlir;

namespace hjx {

/// Threads that run long are better spread over many blocks: of fewer than these a block has one
/// warp.
static constexpr int64_t kFewThreads = 16 * 1024;

/// `ops` with one element a row, if that is the same program.
static std::optional<SmallVector<LoopNest>> cutIntoElements(ArrayRef<linalg::GenericOp> ops) {
  SmallVector<LoopNest> nests;
  for (linalg::GenericOp op : ops) {
    FailureOr<LoopNest> nest = LoopNest::get(op);
    if (failed(nest) || nest->isEmpty() || op.getNumReductionLoops() > 0)
      return std::nullopt;
    nest->collapseAll();
    int64_t numResults = 1;
    for (const Loop &loop : nest->loops)
      numResults *= loop.size;
    if (!splitRows(*nest, numResults) || (!nests.empty() && numRowsOf(nests.front()) != numResults))
      return std::nullopt;
    nests.push_back(std::move(*nest));
  }
  if (nests.empty() || !rowsAgree(nests))
    return std::nullopt;
  return nests;
}

LogicalResult KernelGenerator::generateLoops() {
  scf::ForOp outermost = *function.getOps<scf::ForOp>().begin();
  SmallVector<scf::ForOp> parallelLoops;
  SmallVector<int64_t> sizes;
  SmallVector<linalg::GenericOp> ops;
  bool ownsRows = outermost->hasAttr(kParallelRowsAttr), isEmpty = false;
  WalkResult result = outermost->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr(kParallelAttr)) {
      std::optional<APInt> size = loop.getStaticTripCount();
      if (!size || !matchPattern(loop.getLowerBound(), m_Zero()) ||
          !matchPattern(loop.getStep(), m_One()))
        return loop.emitOpError("is parallel: expected constant bounds from 0 in steps of 1"),
               WalkResult::interrupt();
      parallelLoops.push_back(loop);
      sizes.push_back(size->getSExtValue());
      isEmpty |= sizes.back() == 0;
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      ops.push_back(generic);
      return WalkResult::skip();
    }
    ownsRows &= !isa<memref::StoreOp>(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (isEmpty || calls.empty())
    return success();
  std::optional<SmallVector<LoopNest>> nests;
  if (ownsRows)
    nests = cutIntoElements(ops);
  int64_t numRows = nests ? numRowsOf(nests->front()) : 1;
  if (!nests) {
    nests.emplace();
    for (linalg::GenericOp op : ops) {
      FailureOr<LoopNest> nest = LoopNest::get(op);
      if (failed(nest))
        return op.emitOpError("in a loop of a kernel: expected linear addresses");
      nests->push_back(*nest);
    }
  }
  int64_t numThreads = numRows;
  for (int64_t size : sizes)
    numThreads *= size;

  kernel = device.takeKernel(function, facts);
  int64_t blockSize = numThreads < kFewThreads ? kWarpSize : kBlockSize;
  Launch launch{kernel, llvm::divideCeilSigned(numThreads, blockSize), blockSize};
  KernelBuilder k = begin(launch);
  placeBuffers(k, outermost, *nests, numRows > 1);
  k.forEachUnit(k.gridTeam(), numThreads, [&](Value unit) {
    Value row = takeDigit(k.b, unit, numRows, !sizes.empty());
    SmallVector<Value> ivs(sizes.size());
    for (int64_t loop = sizes.size() - 1; loop >= 0; --loop)
      ivs[loop] = takeDigit(k.b, unit, sizes[loop], loop > 0);
    outermost->moveBefore(k.b.getInsertionBlock(), k.b.getInsertionPoint());
    for (LoopNest &nest : *nests)
      emitInLoops(k, nest, numRows > 1 ? row : Value());
    for (auto [loop, iv] : llvm::zip(parallelLoops, ivs)) {
      loop.getInductionVar().replaceAllUsesWith(iv);
      loop.getBody()->getTerminator()->erase();
      loop->getBlock()->getOperations().splice(loop->getIterator(),
                                               loop.getBody()->getOperations());
      loop.erase();
    }
  });
  kernel.walk([](memref::AllocOp buffer) {
    if (buffer.use_empty()) // Its row has another place.
      buffer.erase();
  });
  launchAll(launch);
  return success();
}

void KernelGenerator::placeBuffers(KernelBuilder &k, scf::ForOp loops, SmallVector<LoopNest> &nests,
                                   bool ofRows) {
  SmallVector<memref::AllocOp> buffers;
  loops->walk([&](memref::AllocOp buffer) { buffers.push_back(buffer); });
  for (memref::AllocOp buffer : buffers) {
    if (!ofRows) {
      buffer.replaceAllUsesWith(memref::AllocaOp::create(k.b, buffer.getType()).getResult());
      buffer.erase();
      continue;
    }
    keepOneRow(buffer, nests, flatBuffers, [&](Type type, int64_t size) -> Value {
      return memref::AllocaOp::create(k.b, MemRefType::get({size}, type));
    });
  }
}

void KernelGenerator::emitInLoops(KernelBuilder &k, LoopNest &nest, Value row) {
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPoint(nest.op);
  // Since the nest was read, the kernel has arguments and buffers of its own.
  for (auto [access, operand] : llvm::zip_equal(nest.accesses, nest.op->getOperands()))
    access.operand = operand;
  for (const Access &access : nest.accesses)
    if (!access.byValue && !flatBuffers.contains(access.operand))
      flatBuffers.map(access.operand, flatten(k.b, access.operand));
  ThreadSchedule schedule = ThreadSchedule::choose(nest, [](Value) { return 1; });
  schedule.keepReductionOrder(nest);
  SmallVector<Value> rowIvs;
  if (row)
    rowIvs = digitsOf(k, nest, row);
  if (!nest.isEmpty())
    ThreadNestEmitter(k, nest, schedule, flatBuffers, rowIvs).emitUnits({k.index(0), 1});
  nest.op.erase();
}

LogicalResult KernelGenerator::generateStore() {
  kernel = device.takeKernel(function, facts);
  Launch launch{kernel, 1, 1};
  KernelBuilder(kernel, 1, 1);
  launchAll(launch);
  return success();
}

} // namespace hjx
