// SPDX-License-Identifier: Apache-2.0
//
// Phases of mbarrier objects; see the header.
#include "runtime/ptxsim/MBarrier.h"

#include "runtime/ptxsim/Access.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hjx::ptxsim {

MBarrier *findMBarrier(Warp &w, unsigned lane, Block &block, uint64_t offset) {
  for (MBarrier &barrier : block.mbarriers) {
    if (barrier.offset != offset)
      continue;
    if (&block == w.block && w.block->launch->checks &&
        reportConflict(w, lane, offset, 8, AccessKind::Atomic,
                       block.shared.useMBarrier(offset, w.index * 32 + lane)))
      return nullptr;
    return &barrier;
  }
  w.fail(Finding::Kind::LaunchFailed, lane,
         absl::StrFormat("expected an mbarrier at 0x%x of shared memory: mbarrier.init makes one",
                         offset));
  return nullptr;
}

static void endPhase(Block &block, MBarrier &barrier) {
  if (barrier.pending || barrier.tx)
    return;
  block.shared.publishWorker(barrier.clock, barrier.joined);
  barrier.completed = barrier.joined;
  barrier.pending = barrier.expected;
  ++barrier.phase;
  ++block.events;
}

bool arriveOn(Warp &w, unsigned lane, Block &block, MBarrier &barrier, uint32_t count) {
  if (count > barrier.pending) {
    w.fail(Finding::Kind::LaunchFailed, lane,
           absl::StrFormat("an arrival too many: phase %d of the mbarrier at 0x%x expects %d, and %d "
                           "are there", barrier.phase, barrier.offset, barrier.expected,
                           barrier.expected - barrier.pending));
    return false;
  }
  barrier.pending -= count;
  ++block.events;
  endPhase(block, barrier);
  return true;
}

void addBytes(Block &block, MBarrier &barrier, int64_t bytes) {
  barrier.tx += bytes;
  ++block.events;
  endPhase(block, barrier);
}

bool checkInitFence(Warp &w, unsigned lane, Block &block, const MBarrier &barrier) {
  if (!w.block->launch->checks || block.warps[barrier.initWarp].initFence > barrier.initTime ||
      block.shared.isFenced(barrier.initWarp, barrier.initTime))
    return true;
  w.fail(Finding::Kind::LaunchFailed, lane,
         absl::StrFormat("a copy reports to the mbarrier at 0x%x, whose mbarrier.init has no "
                         "fence.mbarrier_init or fence.proxy.async behind it", barrier.offset));
  return false;
}

bool lacksBytes(const Block &block, uint32_t offset) {
  for (const MBarrier &barrier : block.mbarriers)
    if (barrier.offset == offset)
      return barrier.tx != 0;
  return false;
}

std::string describeWait(const Block &block, uint32_t offset) {
  for (const MBarrier &barrier : block.mbarriers)
    if (barrier.offset == offset)
      return absl::StrFormat("waits for phase %d of the mbarrier at 0x%x, which never ends: %d of %d "
                             "arrivals and %d bytes are missing", barrier.phase, offset,
                             barrier.pending, barrier.expected, barrier.tx);
  return offset == Warp::kWarpgroup
             ? "waits for the other warps of its warpgroup, which never commit this wgmma group"
             : "waits at the cluster's barrier for warps that never arrive";
}

} // namespace hjx::ptxsim
