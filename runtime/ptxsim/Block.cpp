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

void Block::start(const Launch &newLaunch, uint64_t linearIndex) {
  launch = &newLaunch;
  const Kernel &kernel = launch->kernel;
  index = {uint32_t(linearIndex % launch->grid[0]),
           uint32_t(linearIndex / launch->grid[0] % launch->grid[1]),
           uint32_t(linearIndex / launch->grid[0] / launch->grid[1])};
  uint32_t numThreads = launch->numThreads(), numWarps = (numThreads + 31) / 32;
  shared.reset(launch->sharedBytes(), kernel.sharedGranule, numWarps);
  barriers = {};
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
      const std::array<uint32_t, 3> position = {thread % block[0], thread / block[0] % block[1],
                                                thread / block[0] / block[1]};
      uint32_t value = 0;
      if (absl::StartsWith(name, "%tid"))
        value = position[axis];
      else if (absl::StartsWith(name, "%ntid"))
        value = block[axis];
      else if (absl::StartsWith(name, "%ctaid"))
        value = index[axis];
      else if (absl::StartsWith(name, "%nctaid"))
        value = launch->grid[axis];
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

void Block::runWarp(Warp &warp) {
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
    instruction.run(instruction, warp);
    if (warp.state != Warp::State::Running || finding)
      return;
  }
  warp.state = Warp::State::Yielded;
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
}

void Block::run() {
  for (;;) {
    bool progress = false, all = true;
    for (Warp &warp : warps) {
      if (warp.state == Warp::State::Running || warp.state == Warp::State::Yielded) {
        runWarp(warp);
        progress = true;
        if (finding)
          return;
      }
      all &= warp.state == Warp::State::Exited;
    }
    if (all)
      return;
    if (!releaseBarriers() && !progress)
      return reportDeadlock();
  }
}

} // namespace hjx::ptxsim
