// SPDX-License-Identifier: Apache-2.0
//
// The stack of diverged lanes, and the words of a finding; see the header.
#include "runtime/ptxsim/Warp.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hjx::ptxsim {

void Warp::branch(Mask taken, uint32_t target, uint32_t meet) {
  if (taken == active) {
    pc = target;
    return;
  }
  uint32_t next = pc;
  Mask others = active & ~taken;
  // A branch that never meets (both sides return) stays within the region it is in. Where it
  // meets with the region itself, the entry below already waits there: loops need no more room.
  if (meet == kNever)
    meet = reconverge;
  if (meet != reconverge)
    stack.push_back({meet, reconverge, active});
  if (next != meet)
    stack.push_back({next, meet, others});
  if (target != meet) {
    pc = target;
    active = taken;
    reconverge = meet;
  } else {
    pop();
  }
}

void Warp::pop() {
  while (!stack.empty()) {
    Entry top = stack.back();
    stack.pop_back();
    while (!frames.empty() && frames.back() > stack.size())
      frames.pop_back();
    pc = top.pc;
    reconverge = top.reconverge;
    active = top.mask;
    if (active)
      return;
  }
  active = 0;
  state = State::Exited;
}

void Warp::call(uint32_t target) {
  stack.push_back({pc, reconverge, active});
  frames.push_back(stack.size());
  pc = target;
  reconverge = kNever;
  active = exec;
}

void Warp::leave(Mask lanes, bool exit) {
  size_t base = frames.empty() || exit ? 0 : frames.back();
  if (exit || frames.empty())
    live &= ~lanes;
  for (size_t entry = base; entry < stack.size(); ++entry)
    stack[entry].mask &= ~lanes;
  active &= ~lanes;
  if (!active)
    pop();
}

std::string describeThread(const Launch &launch, uint32_t thread) {
  if (thread == SharedMemory::kMany)
    return "several threads";
  if (unsigned clock = thread / 32; clock >= kMaxWarps)
    return clock < kBulkClock     ? absl::StrCat("wgmma of warp ", clock - kMatrixClock)
           : clock < kMBarrierClock ? absl::StrCat("a bulk copy of warp ", clock - kBulkClock)
                                    : std::string("a copy that reports to an mbarrier");
  const std::array<uint32_t, 3> &block = launch.block;
  return absl::StrFormat("thread (%d,%d,%d)", thread % block[0], thread / block[0] % block[1],
                         thread / block[0] / block[1]);
}

void Warp::fail(Finding::Kind kind, int lane, absl::string_view what) {
  if (block->finding)
    return;
  const Launch &launch = *block->launch;
  const Kernel::Line &line = launch.kernel.lines[current];
  std::string text(line.text);
  for (size_t at = 0; (at = text.find_first_of("\n\t", at)) != text.npos;)
    text[at] = ' ';
  block->finding =
      Finding{kind, absl::StrFormat("kernel '%s', ptx line %d `%s`: block (%d,%d,%d), %s: %s",
                                    launch.kernel.name, line.number, text, block->index[0],
                                    block->index[1], block->index[2],
                                    lane < 0 ? absl::StrCat("warp ", index)
                                             : describeThread(launch, index * 32 + lane),
                                    what)};
}

} // namespace hjx::ptxsim
