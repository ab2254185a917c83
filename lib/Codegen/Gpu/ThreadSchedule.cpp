// SPDX-License-Identifier: Apache-2.0
//
// The choices: see the header.
#include "lib/Codegen/Gpu/ThreadSchedule.h"

#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/Combiner.h"
#include "lib/Codegen/Gpu/Threads.h"
#include "lib/Support/SizeBytes.h"

#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace hjx;

/// A thread loads and stores at most this much at once.
static constexpr int64_t kMaxVectorBytes = 16;
/// From about so many threads the memory system of a large device is busy.
static constexpr int64_t kEnoughThreads = 64 * 1024;
static constexpr int64_t kBlockSize = 256, kMaxBlockSize = 512;
/// Below, a thread spends more on joining than on its terms.
static constexpr int64_t kMinTermsPerThread = 4;
/// Columns of 4 bytes in a sector, the least that memory gives.
static constexpr int64_t kSectorColumns = 8;

/// How good `loop` is as the fastest: contiguous accesses win, strided ones waste cache lines.
static int64_t score(const LoopNest &nest, unsigned loop) {
  int64_t score = 0;
  for (auto [index, access] : llvm::enumerate(nest.accesses)) {
    int64_t stride = access.strides[loop];
    if (access.byValue || stride == 0)
      continue;
    int64_t weight = index >= nest.numInputs() ? 5 : 4;
    score += stride == 1 ? weight : -weight;
  }
  return score;
}

static std::optional<unsigned> takeBest(SmallVectorImpl<unsigned> &loops, const LoopNest &nest) {
  if (loops.empty())
    return std::nullopt;
  auto *best = llvm::max_element(loops, [&](unsigned a, unsigned b) {
    return std::make_pair(score(nest, a), nest.loops[a].size) <
           std::make_pair(score(nest, b), nest.loops[b].size);
  });
  unsigned loop = *best;
  loops.erase(best);
  return loop;
}

/// Bytes to which the address of `access` is aligned at each step of `lanes` along `vectorLoop`.
static int64_t alignmentOf(const LoopNest &nest, const Access &access, int64_t bufferAlignment,
                           unsigned vectorLoop, int64_t lanes) {
  int64_t bytes = elementBytes(access.operand.getType());
  int64_t alignment = std::gcd(bufferAlignment, access.offset * bytes);
  for (auto [loop, stride] : llvm::enumerate(access.strides))
    alignment = std::gcd(alignment, stride * bytes * (loop == vectorLoop ? lanes : 1));
  return alignment;
}

ThreadSchedule ThreadSchedule::choose(LoopNest &nest,
                                      llvm::function_ref<int64_t(Value)> bufferAlignment) {
  ThreadSchedule schedule;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.row < 0)
      (info.isReduction ? schedule.reductions : schedule.parallel).push_back(loop);
  schedule.splitsReductions = BodyEmitter::canVectorize(nest.op);
  for (unsigned output = 0; output < nest.numOutputs(); ++output)
    schedule.splitsReductions &= Combiner::match(nest.op, output).has_value();

  std::optional<unsigned> parallel = takeBest(schedule.parallel, nest);
  ArrayRef<int64_t> outputStrides = nest.outputs().front().strides;
  llvm::sort(schedule.parallel, [&](unsigned a, unsigned b) {
    return std::make_pair(-outputStrides[a], a) < std::make_pair(-outputStrides[b], b);
  });
  if (parallel)
    schedule.parallel.push_back(*parallel);
  std::optional<unsigned> vectorLoop = parallel;
  if (!schedule.reductions.empty()) {
    vectorLoop = std::nullopt;
    if (schedule.splitsReductions) {
      unsigned reduction = *takeBest(schedule.reductions, nest);
      schedule.reductions.push_back(reduction);
      schedule.reductionIsFastest = !parallel || score(nest, reduction) > score(nest, *parallel);
      if (schedule.reductionIsFastest)
        vectorLoop = reduction;
    }
  }
  if (!vectorLoop || !BodyEmitter::canVectorize(nest.op))
    return schedule;

  int64_t widest = 1;
  for (const Access &access : nest.accesses)
    if (!access.byValue && access.strides[*vectorLoop] == 1)
      widest = std::max(widest, elementBytes(access.operand.getType()));
  for (int64_t lanes = kMaxVectorBytes / widest; lanes > 1; lanes /= 2) {
    bool fits = nest.loops[*vectorLoop].size % lanes == 0;
    for (Access &access : nest.accesses) {
      if (access.byValue || access.strides[*vectorLoop] != 1)
        continue;
      access.alignment = alignmentOf(nest, access, bufferAlignment(access.operand), *vectorLoop, lanes);
      fits &= access.alignment % (lanes * elementBytes(access.operand.getType())) == 0;
      access.alignment = lanes * elementBytes(access.operand.getType());
    }
    if (!fits)
      continue;
    schedule.vectorLoop = *vectorLoop;
    schedule.lanes = lanes;
    return schedule;
  }
  return schedule;
}

void ThreadSchedule::keepReductionOrder(const LoopNest &nest) {
  if (vectorLoop < 0 || !nest.loops[vectorLoop].isReduction)
    return;
  vectorLoop = -1;
  lanes = 1;
}

int64_t ThreadSchedule::steps(const LoopNest &nest, ArrayRef<unsigned> loops) const {
  int64_t steps = 1;
  for (unsigned loop : loops)
    steps *= nest.loops[loop].size / (static_cast<int>(loop) == vectorLoop ? lanes : 1);
  return steps;
}

/// A tile of `width` neighbouring columns, or of rows.
static ReductionTile tileFor(int64_t numResults, int64_t numTerms, bool isRow, int64_t width) {
  ReductionTile tile;
  tile.isRow = isRow;
  // Neighbours of a column must stay together, or their loads fall apart into single elements.
  int64_t columns = isRow ? 1 : std::min<int64_t>(llvm::bit_ceil<uint64_t>(numResults), width);
  int64_t mostAcross = kMaxBlockSize / columns;
  auto threads = [&] { return numResults * tile.across; };
  while (tile.across < mostAcross && numTerms / tile.across >= 2 * kMinTermsPerThread &&
         ((isRow && tile.across < kWarpSize) || threads() < kEnoughThreads))
    tile.across *= 2;
  tile.along = std::max(columns, kBlockSize / tile.across);
  uint64_t wanted = llvm::bit_ceil<uint64_t>(std::max<int64_t>(numResults, 1));
  // Whole warps: lanes that are not there cannot be exchanged with.
  wanted = std::max<uint64_t>(wanted, llvm::divideCeil(kWarpSize, tile.across));
  tile.along = std::min<int64_t>(tile.along, wanted);
  int64_t terms = numTerms / tile.across;
  while (terms / tile.splits >= 8 * kMinTermsPerThread &&
         2 * threads() * tile.splits <= kEnoughThreads)
    tile.splits *= 2;
  return tile;
}

ReductionTile ReductionTile::forGrid(int64_t numResults, int64_t numTerms, bool isRow) {
  ReductionTile tile = tileFor(numResults, numTerms, isRow, kWarpSize);
  if (isRow || tile.splits == 1)
    return tile;
  // Narrower tiles, if they spare the second launch.
  ReductionTile narrow = tileFor(numResults, numTerms, isRow, kSectorColumns);
  return narrow.splits == 1 ? narrow : tile;
}

ReductionTile ReductionTile::forBlock(int64_t numResults, int64_t numTerms, bool isRow,
                                      int64_t blockSize) {
  ReductionTile tile;
  tile.isRow = isRow;
  while (tile.across < blockSize && tile.across < numTerms &&
         (numResults * tile.across < blockSize))
    tile.across *= 2;
  tile.along = blockSize / tile.across;
  return tile;
}
