// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a group of ops that hjx-fuse-rows made; they share a loop over rows:
//
//   short rows   a thread runs all ops for its own row: what one op leaves for the next stays in
//                registers. A group without reductions is cut into rows of one vector for this.
//   long rows    a block runs them one after the other, with a barrier between two; buffers that
//                live within a row are shared memory
#include "lib/Codegen/Gpu/KernelGenerator.h"
#include "lib/Support/SizeBytes.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace hjx {

static constexpr int64_t kMaxRowBlockSize = 512;
/// Of shared memory, for rows; a little is left for reductions to join in.
static constexpr int64_t kMaxSharedBytes = 40 * 1024;
/// Results of a row up to which one thread runs it alone.
static constexpr int64_t kMaxThreadRow = 8;

/// Iterations of the longest row.
static int64_t largestRow(ArrayRef<LoopNest> nests) {
  int64_t largest = 1;
  for (const LoopNest &nest : nests) {
    int64_t size = 1;
    for (const Loop &loop : nest.loops)
      size *= loop.row >= 0 ? 1 : loop.size;
    largest = std::max(largest, size);
  }
  return largest;
}

/// A group without reductions as rows of one vector each, if that is the same program.
static std::optional<SmallVector<LoopNest>> cutIntoVectors(ArrayRef<linalg::GenericOp> ops) {
  if (llvm::any_of(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }))
    return std::nullopt;
  for (int64_t lanes : {4, 2, 1}) {
    SmallVector<LoopNest> nests;
    bool fits = true;
    for (linalg::GenericOp op : ops) {
      LoopNest nest = *LoopNest::get(op);
      nest.collapseAll();
      int64_t numResults = 1;
      for (const Loop &loop : nest.loops)
        numResults *= loop.size;
      fits = fits && numResults % lanes == 0 && splitRows(nest, numResults / lanes) &&
             (nests.empty() || numRowsOf(nest) == numRowsOf(nests.front()));
      if (!fits)
        break;
      nests.push_back(std::move(nest));
    }
    if (fits && rowsAgree(nests))
      return nests;
  }
  return std::nullopt;
}

LogicalResult KernelGenerator::generateGroup(ArrayRef<linalg::GenericOp> ops, int64_t numRows) {
  FailureOr<SmallVector<LoopNest>> nests = rowNests(ops, numRows);
  if (failed(nests))
    return failure();
  int64_t rowSize = largestRow(*nests);
  if (std::optional<SmallVector<LoopNest>> vectors = cutIntoVectors(ops)) {
    *nests = std::move(*vectors);
    rowSize = 1;
  }
  if (rowSize <= kMaxThreadRow)
    generateThreadRows(*nests);
  else
    generateBlockRows(*nests, rowSize);
  eraseWithBuffers(ops, kernel.front());
  return success();
}

void KernelGenerator::generateThreadRows(SmallVector<LoopNest> &nests) {
  int64_t numRows = numRowsOf(nests.front());
  int64_t blockSize = std::min<int64_t>(kBlockSize, llvm::alignTo(numRows, kWarpSize));
  Launch launch{kernel, llvm::divideCeilSigned(numRows, blockSize), blockSize};
  KernelBuilder k = begin(launch);
  keepRows(nests, [&](Type type, int64_t size) -> Value {
    return memref::AllocaOp::create(k.b, MemRefType::get({size}, type), k.b.getI64IntegerAttr(16));
  });
  k.forEachUnit(k.gridTeam(), numRows, [&](Value row) {
    for (LoopNest &nest : nests) {
      ThreadSchedule schedule = ThreadSchedule::choose(nest, alignments());
      schedule.keepReductionOrder(nest);
      ThreadNestEmitter(k, nest, schedule, flatBuffers, digitsOf(k, nest, row))
          .emitUnits({k.index(0), 1});
    }
  });
  launchAll(launch);
}

void KernelGenerator::generateBlockRows(SmallVector<LoopNest> &nests, int64_t rowSize) {
  auto wanted = static_cast<int64_t>(llvm::bit_ceil<uint64_t>(llvm::divideCeil(rowSize, 4)));
  int64_t blockSize = std::clamp(wanted, kWarpSize, kMaxRowBlockSize);
  Launch launch{kernel, numRowsOf(nests.front()), blockSize};
  moveLargeRowsToArena(nests);
  KernelBuilder k = begin(launch);
  keepRows(nests, [&](Type type, int64_t size) { return k.sharedMemory(type, size); });
  for (auto [index, nest] : llvm::enumerate(nests)) {
    if (index > 0)
      k.barrier();
    ThreadSchedule schedule = ThreadSchedule::choose(nest, alignments());
    SmallVector<Value> rowIvs = digitsOf(k, nest, k.block());
    if (schedule.reductions.empty() || !schedule.splitsReductions) {
      ThreadNestEmitter(k, nest, schedule, flatBuffers, rowIvs).emitUnits(k.blockTeam());
      continue;
    }
    int64_t numResults = schedule.numUnits(nest);
    ReductionTile tile = ReductionTile::forBlock(numResults, schedule.numTerms(nest),
                                                 schedule.reductionIsFastest, blockSize);
    ThreadNestEmitter emitter(k, nest, schedule, flatBuffers, rowIvs);
    emitter.emitTiles(tile);
  }
  launchAll(launch);
}

void KernelGenerator::moveLargeRowsToArena(MutableArrayRef<LoopNest> nests) {
  int64_t numRows = numRowsOf(nests.front()), bytes = 0;
  for (memref::AllocaOp buffer : llvm::to_vector(kernel.getOps<memref::AllocaOp>())) {
    MemRefType type = buffer.getType();
    int64_t row = llvm::divideCeil(type.getNumElements(), numRows) * elementBytes(type);
    bytes += row;
    if (bytes <= kMaxSharedBytes)
      continue;
    bytes -= row;
    Value scratch = addScratch(type);
    for (LoopNest &nest : nests)
      for (Access &access : nest.accesses)
        if (access.operand == buffer)
          access.operand = scratch;
    buffer.replaceAllUsesWith(scratch);
    buffer.erase();
  }
}

void KernelGenerator::keepRows(SmallVector<LoopNest> &nests,
                               llvm::function_ref<Value(Type, int64_t)> make) {
  for (memref::AllocaOp buffer : llvm::to_vector(kernel.getOps<memref::AllocaOp>()))
    keepOneRow(buffer, nests, flatBuffers, make);
}

} // namespace hjx
