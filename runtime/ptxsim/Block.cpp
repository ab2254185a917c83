// SPDX-License-Identifier: Apache-2.0
//
// Runs the warps of a block in turns on one host thread: each until it waits at a
// barrier, exits, or has had its share (what a spinning warp waits for may be another
// warp's work). The order is fixed, so a block's results are, too.
#include "runtime/ptxsim/Warp.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/match.h"

namespace hjx::ptxsim {

static constexpr uint64_t kTurn = 20000; ///< instructions

static std::array<uint32_t, 3> positionOf(uint64_t index, const std::array<uint32_t, 3> &shape) {
  return {uint32_t(index % shape[0]), uint32_t(index / shape[0] % shape[1]),
          uint32_t(index / shape[0] / shape[1])};
}

void Block::start(const Launch &newLaunch, uint64_t clusterIndex, uint32_t newRank, Block *blocks) {
  launch = &newLaunch;
  rank = newRank;
  cluster.clear();
  for (uint32_t other = 0; other < launch->clusterSize(); ++other)
    cluster.push_back(blocks + other);
  const Kernel &kernel = launch->kernel;
  std::array<uint32_t, 3> within = positionOf(rank, launch->cluster), clusters;
  for (unsigned axis = 0; axis < 3; ++axis)
    clusters[axis] = launch->grid[axis] / launch->cluster[axis];
  std::array<uint32_t, 3> position = positionOf(clusterIndex, clusters);
  for (unsigned axis = 0; axis < 3; ++axis)
    index[axis] = position[axis] * launch->cluster[axis] + within[axis];
  number = index[0] + launch->grid[0] * (index[1] + launch->grid[1] * index[2]);
  acquired.clear();
  uint32_t numThreads = launch->numThreads(), numWarps = (numThreads + 31) / 32;
  shared.reset(launch->sharedBytes(), kernel.sharedGranule, numWarps);
  barriers = {};
  mbarriers.clear();
  clusterJoined = {};
  finding.reset();
  // Rows are as wide as the widest vector unit.
  constexpr size_t kAlign = 64;
  registers.resize(uint64_t(kernel.registerFileBytes) * numWarps + kAlign);
  locals.assign(uint64_t(kernel.localBytes) * numWarps * 32, 0xFF);
  uint8_t *file = registers.data() + (-reinterpret_cast<uintptr_t>(registers.data()) % kAlign);
  warps.resize(numWarps);
  for (uint32_t w = 0; w < numWarps; ++w) {
    Warp &warp = warps[w];
    warp.base = {file + uint64_t(kernel.registerFileBytes) * w,
                 const_cast<uint8_t *>(kernel.constants.data())};
    uint32_t lanes = std::min(32u, numThreads - w * 32);
    warp.active = warp.live = lanes == 32 ? ~Mask(0) : (Mask(1) << lanes) - 1;
    warp.pc = 0;
    warp.reconverge = kNever;
    warp.state = Warp::State::Running;
    warp.index = w;
    warp.stack.clear();
    warp.frames.clear();
    warp.copies.clear();
    warp.copyGroups = {};
    warp.bulkGroups.clear();
    warp.openBulkCopy = warp.waitsFor = kNever;
    warp.initFence = warp.clusterArrivals = 0;
    warp.released.clear();
    warp.found.clear();
    warp.matrix = MatrixWork();
    if (kernel.usesWgmma) {
      warp.matrix.written.resize(kernel.registerFileBytes / 64);
      warp.matrix.inFlight.resize(kernel.registerFileBytes / 64);
      warp.matrix.sums.resize(kernel.registerFileBytes / 64);
    }
    warp.local = locals.data() + uint64_t(kernel.localBytes) * 32 * w;
    warp.block = this;
    warp.lastAllocations = {};
    initSpecials(warp);
  }
}

void Block::initSpecials(Warp &warp) {
  for (const SpecialRow &special : launch->kernel.specials) {
    absl::string_view name = special.name;
    unsigned axis = name.size() > 2 && name[name.size() - 2] == '.' ? name.back() - 'x' : 0;
    auto *row = warp.row<uint32_t>(special.slot);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t thread = warp.index * 32 + lane;
      const std::array<uint32_t, 3> &block = launch->block;
      const std::array<uint32_t, 3> position = positionOf(thread, block);
      const std::array<uint32_t, 3> within = positionOf(rank, launch->cluster);
      uint32_t value = 0;
      if (absl::StartsWith(name, "%tid"))
        value = position[axis];
      else if (absl::StartsWith(name, "%ntid"))
        value = block[axis];
      else if (absl::StartsWith(name, "%ctaid"))
        value = index[axis];
      else if (absl::StartsWith(name, "%nctaid"))
        value = launch->grid[axis];
      else if (absl::StartsWith(name, "%cluster_ctaid."))
        value = within[axis];
      else if (absl::StartsWith(name, "%cluster_nctaid."))
        value = launch->cluster[axis];
      else if (absl::StartsWith(name, "%clusterid"))
        value = index[axis] / launch->cluster[axis];
      else if (absl::StartsWith(name, "%nclusterid"))
        value = launch->grid[axis] / launch->cluster[axis];
      else if (name == "%cluster_ctarank")
        value = rank;
      else if (name == "%cluster_nctarank")
        value = launch->clusterSize();
      else if (name == "%laneid")
        value = lane;
      else if (name == "%warpid")
        value = warp.index;
      else if (name == "%nwarpid")
        value = warps.size();
      else if (name == "%lanemask_eq")
        value = 1u << lane;
      else if (name == "%lanemask_lt")
        value = (1u << lane) - 1;
      else if (name == "%lanemask_le")
        value = (2u << lane) - 1;
      else if (name == "%lanemask_gt")
        value = ~((2u << lane) - 1);
      else if (name == "%lanemask_ge")
        value = ~((1u << lane) - 1);
      else if (name == "%dynamic_smem_size")
        value = launch->dynamicSharedBytes;
      else if (name == "%total_smem_size")
        value = launch->sharedBytes();
      row[lane] = value;
    }
  }
}

// While wgmma works, the registers of its operands belong to it.
static bool trackRegisters(const Instruction &i, Warp &w) {
  MatrixWork &work = w.matrix;
  auto use = [&](Slot slot, bool writes) {
    if (slot == kNoSlot || slot & kConstantBit)
      return true;
    if (work.inFlight[slot / 64] > work.groupsDone) {
      w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(w.exec),
             absl::StrCat(writes ? "writes" : "reads", " a register that a wgmma.mma_async in flight uses: "
                          "wgmma.commit_group and wait_group come first"));
      return false;
    }
    if (writes)
      work.written[slot / 64] = work.numFences + 1;
    return true;
  };
  bool good = true;
  for (Slot slot : i.dst)
    good = good && use(slot, true);
  for (Slot slot : i.src)
    good = good && use(slot, false);
  const Slot *list = w.list(i);
  for (unsigned k = 0; k < i.numListed; ++k)
    good = good && use(list[k], k < i.numListedResults);
  return good;
}

template <bool tracksRegisters> void Block::runWarp(Warp &warp) {
  const Instruction *code = launch->kernel.code.data();
  warp.state = Warp::State::Running;
  for (uint64_t step = 0; step < kTurn; ++step) {
    while (warp.pc == warp.reconverge)
      warp.pop();
    const Instruction &instruction = code[warp.pc];
    warp.current = warp.pc++;
    warp.exec = warp.active;
    if (instruction.guard != kNoSlot) {
      Mask guard = warp.predicate(instruction.guard);
      warp.exec &= instruction.guardNegated ? ~guard : guard;
      if (!warp.exec)
        continue;
    }
    if (tracksRegisters && !instruction.isWgmma && !trackRegisters(instruction, warp))
      return;
    instruction.run(instruction, warp);
    if (warp.state != Warp::State::Running || finding)
      return;
  }
  warp.state = Warp::State::Yielded;
  warp.waitsFor = kNever;
}

bool Block::releaseBarriers() {
  uint32_t liveThreads = 0;
  for (const Warp &warp : warps)
    liveThreads += warp.state == Warp::State::Exited ? 0 : 32;
  bool released = false;
  for (Barrier &barrier : barriers) {
    uint32_t expected = barrier.expectedThreads ? barrier.expectedThreads : liveThreads;
    if (!barrier.waiting || barrier.arrivedThreads < expected)
      continue;
    for (Mask waiting = barrier.waiting; waiting; waiting &= waiting - 1) {
      Warp &warp = warps[__builtin_ctz(waiting)];
      const Instruction &instruction = launch->kernel.code[warp.current];
      shared.resume(warp.index, barrier.joined);
      // bar.red: one value for everybody.
      if (instruction.dst[0] != kNoSlot) {
        if ((instruction.flags & 3) == 0)
          for (unsigned lane = 0; lane < 32; ++lane)
            warp.row<uint32_t>(instruction.dst[0])[lane] = barrier.count;
        else
          *warp.row<Mask>(instruction.dst[0]) =
              ((instruction.flags & 3) == 1 ? barrier.all : barrier.any) ? ~Mask(0) : 0;
      }
      warp.state = Warp::State::Running;
    }
    shared.release();
    ++events;
    barrier = Barrier();
    released = true;
  }
  return released;
}

void Block::reportDeadlock() {
  for (Warp &warp : warps)
    if (warp.state == Warp::State::AtBarrier)
      return warp.fail(Finding::Kind::LaunchFailed, -1,
                       "waits at this barrier for threads that never arrive");
  // Others may wait for a warp that waits for bytes: that one is nearest to the cause.
  Warp *chosen = nullptr;
  for (Warp &warp : warps)
    if (warp.state != Warp::State::Exited && warp.waitsFor != kNever &&
        (!chosen || (lacksBytes(*this, warp.waitsFor) && !lacksBytes(*this, chosen->waitsFor))))
      chosen = &warp;
  if (chosen)
    chosen->fail(Finding::Kind::LaunchFailed, -1, describeWait(*this, chosen->waitsFor));
}

// Shared memory goes to another block when the last warp ends, whoever still reads it; and four
// warps that do wgmma together do the same.
void Block::checkEnd() {
  if (!launch->checks)
    return;
  for (Warp &warp : warps) {
    if (warp.openBulkCopy != kNever) {
      warp.current = warp.openBulkCopy;
      return warp.fail(Finding::Kind::LaunchFailed, -1,
                       "the block ends and nothing has waited for this copy to read its source: "
                       "cp.async.bulk.commit_group and wait_group.read do");
    }
    if (Warp &first = warps[warp.index / 4 * 4]; warp.matrix.numStarted != first.matrix.numStarted) {
      warp.current = std::max(warp.matrix.lastInstruction, first.matrix.lastInstruction);
      return warp.fail(Finding::Kind::LaunchFailed, -1,
                       absl::StrCat("of a warpgroup, this warp executed ", warp.matrix.numStarted,
                                    " wgmma.mma_async and warp ", first.index, " ",
                                    first.matrix.numStarted));
    }
  }
}

void Block::runRound(Round &round) {
  for (Warp &warp : warps) {
    if (warp.state == Warp::State::Running || warp.state == Warp::State::Yielded) {
      launch->kernel.usesWgmma && launch->checks ? runWarp<true>(warp) : runWarp<false>(warp);
      round.progress = true;
      if (finding)
        return;
    }
    round.allEnded &= warp.state == Warp::State::Exited;
    round.allWait &= warp.state == Warp::State::Exited || warp.state == Warp::State::AtBarrier ||
                     warp.waitsFor != kNever;
  }
  round.progress |= releaseBarriers();
}

// A warp that asks an mbarrier in vain has had its turn. When nobody does anything else, and
// nothing happens for this many rounds, nothing will.
static constexpr unsigned kRoundsInVain = 1000;

void Block::run(std::vector<Block> &cluster) {
  auto countEvents = [&] {
    uint64_t sum = 0;
    for (const Block &block : cluster)
      sum += block.events;
    return sum;
  };
  uint64_t lastEvents = countEvents();
  unsigned inVain = 0;
  for (;;) {
    Round round;
    for (Block &block : cluster) {
      block.runRound(round);
      if (block.finding)
        return;
    }
    if (round.allEnded)
      break;
    uint64_t events = countEvents();
    inVain = round.allWait && events == lastEvents ? inVain + 1 : 0;
    lastEvents = events;
    if (round.progress && inVain <= kRoundsInVain)
      continue;
    for (Block &block : cluster)
      if (!block.finding)
        block.reportDeadlock();
    return;
  }
  for (Block &block : cluster)
    block.checkEnd();
}

} // namespace hjx::ptxsim
