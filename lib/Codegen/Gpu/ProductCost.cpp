// SPDX-License-Identifier: Apache-2.0
//
// The model of a product's time: see the header.
#include "lib/Codegen/Gpu/ProductCost.h"

using namespace mlir;
using namespace hjx;

// Multiprocessors, shared memory and rates of arithmetic: NVIDIA's white papers on the A100 and the H100 (SXM),
// whose 312 and 989 TFLOP/s of bf16 are 1024 and 2048 multiplications of a multiprocessor and cycle; limits of blocks: the CUDA
// programming guide's table of compute capabilities. The rates of L2 and memory are their GB/s over all
// multiprocessors and cycles. Estimates: the share of mma.sync on an H100, latencies in cycles.
static constexpr ChipModel kA100{108, 164 * 1024, 2048, 1.0, 32, 1100};
static constexpr ChipModel kH100{132, 228 * 1024, 4096, 0.6, 32, 1900};
static constexpr int64_t kRegisters = 65536, kMostThreads = 2048, kMostBlocks = 32; // Of a multiprocessor.
static constexpr int64_t kReservedShared = 1024;                                    // Of each block.
static constexpr int64_t kOtherRegisters = 72; // Of a thread, beside its sums: as ptxas says of these kernels.
static constexpr double kScalarMultiplies = 128, kSharedBytes = 128;
static constexpr double kLatency = 600;     // From global memory.
static constexpr double kJoinCycles = 2500; // Two fences, an atomic and a round trip of sums that begins late.
static constexpr int64_t kMostSplits = 32;
static constexpr double kSplitMargin = 1.5; // What a split must gain: it moves more bytes than it needs.

const ChipModel &ChipModel::of(StringRef chip) { return chip.starts_with("sm_9") ? kH100 : kA100; }

int64_t ProductSchedule::numTiles(const ProductWork &work) const {
  return llvm::divideCeilSigned(work.sizes.m, tile.m) * llvm::divideCeilSigned(work.sizes.n, tile.n) * work.numBatches;
}

int64_t ProductSchedule::sumOfSplit(int64_t k) const {
  return llvm::divideCeilSigned(llvm::divideCeilSigned(k, tile.k), splits) * tile.k;
}

/// Blocks that a multiprocessor holds at the same time.
static int64_t residentBlocks(const ProductTile &tile, const ProductWork &work, const ChipModel &chip) {
  bool inThreads = tile.unit == ProductUnit::Thread;
  int64_t shared = inThreads ? 2 * (tile.m + tile.n) * tile.k * work.accumulatorBytes
                             : tile.stages * (tile.m + tile.n) * tile.k * work.operandBytes;
  int64_t threads = tile.unit == ProductUnit::WarpGroup ? 4 * kWarpSize : inThreads ? 1 : kWarpSize;
  int64_t registers = kOtherRegisters + tile.partM * tile.partN / threads * work.accumulatorBytes / 4;
  return std::max<int64_t>(1, std::min({chip.sharedBytes / (shared + kReservedShared),
                                        kRegisters / (tile.blockSize() * registers),
                                        kMostThreads / tile.blockSize(), kMostBlocks}));
}

double ProductSchedule::cycles(const ProductWork &work, const ChipModel &chip) const {
  auto tileM = static_cast<double>(tile.m), tileN = static_cast<double>(tile.n), tileK = static_cast<double>(tile.k);
  auto operand = static_cast<double>(work.operandBytes), accumulator = static_cast<double>(work.accumulatorBytes);
  bool inThreads = tile.unit == ProductUnit::Thread;

  double rate = chip.multiplyBytes / operand * (tile.unit == ProductUnit::Warp ? chip.mmaShare : 1);
  if (inThreads)
    rate = accumulator > 4 ? kScalarMultiplies / 4 : kScalarMultiplies;
  double parts = tileM / static_cast<double>(tile.partM) * tileN / static_cast<double>(tile.partN);
  double fragments = parts * static_cast<double>(tile.partM + tile.partN) * tileK * (inThreads ? accumulator : operand);
  double step = std::max({tileM * tileN * tileK / rate, fragments / kSharedBytes,
                          (tileM + tileN) * tileK * operand / chip.l2Bytes});

  int64_t tiles = numTiles(work);
  auto steps = static_cast<double>(sumOfSplit(work.sizes.k) / tile.k * work.numSums);
  auto busiest = static_cast<double>(llvm::divideCeilSigned(tiles * splits, chip.numProcessors));
  double waves = std::ceil(busiest / static_cast<double>(residentBlocks(tile, work, chip)));
  double underWay = static_cast<double>(std::max<int64_t>(1, tile.stages - 1));
  double sums = tileM * tileN * accumulator;
  double time = std::max(busiest * steps * step, waves * steps * kLatency / underWay) + waves * kLatency +
                busiest * sums / chip.l2Bytes;
  if (splits == 1)
    return time;
  auto numSums = static_cast<double>(splits);
  return time + kJoinCycles + numSums * sums / chip.l2Bytes +
         2 * static_cast<double>(tiles) * numSums * sums / chip.deviceBytes;
}

std::string ProductSchedule::text() const {
  std::string text = (Twine(tile.m) + "x" + Twine(tile.n)).str();
  return splits == 1 ? text : text + " split " + std::to_string(splits);
}

std::vector<ProductSchedule> ProductSchedule::rank(ArrayRef<ProductTile> tiles, bool maySplit, const ProductWork &work,
                                                   const ChipModel &chip) {
  std::vector<std::pair<double, ProductSchedule>> all;
  for (const ProductTile &tile : tiles)
    for (int64_t splits = 1; splits <= (maySplit ? kMostSplits : 1); ++splits) {
      ProductSchedule schedule{tile, splits};
      // Of those that give a block the same steps, the one that needs the fewest blocks.
      if (splits == 1 || llvm::divideCeilSigned(work.sizes.k, schedule.sumOfSplit(work.sizes.k)) == splits)
        all.emplace_back(schedule.cycles(work, chip) * (splits > 1 ? kSplitMargin : 1), schedule);
    }
  llvm::stable_sort(all, llvm::less_first());
  auto ranked = llvm::make_second_range(all);
  return {ranked.begin(), ranked.end()};
}
