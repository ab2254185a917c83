// SPDX-License-Identifier: Apache-2.0
//
// mbarrier.*, and cp.async.mbarrier.arrive.
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/AsyncCopy.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace hjx::ptxsim {
namespace {

using U32 = uint32_t;
using U64 = uint64_t;

constexpr U32 kLargestCount = (1 << 20) - 1;
constexpr uint8_t kExpects = 1, kDrops = 2, kParity = 4, kRelaxed = 8, kNoIncrement = 16;

// What arrive returns: the phase, and how many arrivals it still expects.
U64 tokenOf(const MBarrier &barrier) { return barrier.phase << 20 | barrier.pending; }

/// Calls `body(lane, block, offset)` until a finding. i.sizeBytes: the space.
template <typename Body> void forLanes(const Instruction &i, Warp &w, Body body) {
  Access access;
  loadAddresses(i, w, access);
  for (Mask left = w.exec; left && !w.block->finding; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    U64 offset = access.address[lane];
    Block *block = locateShared(w, lane, Space(i.sizeBytes), 8, AccessKind::Atomic, offset);
    if (block && checkAlignment(w, lane, offset, 8, AccessKind::Atomic))
      body(lane, *block, offset);
  }
}

bool checkCount(Warp &w, unsigned lane, U32 count, U32 least) {
  if (count >= least && count <= kLargestCount)
    return true;
  w.fail(Finding::Kind::LaunchFailed, lane,
         absl::StrCat("expected a count from ", least, " to ", kLargestCount, ", got ", count));
  return false;
}

void init(const Instruction &i, Warp &w) {
  const U32 *count = w.read<U32>(i.src[1]);
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    if (!checkCount(w, lane, count[lane], 1) ||
        reportConflict(w, lane, offset, 8, AccessKind::Write,
                       block.shared.beginMBarrier(offset, w.index * 32 + lane, w.current)))
      return;
    unsigned clock = kMBarrierClock + block.mbarriers.size() % (kNumClocks - kMBarrierClock);
    block.mbarriers.push_back(
        {U32(offset), count[lane], count[lane], clock, w.index, block.shared.moment()});
  });
}

void invalidate(const Instruction &i, Warp &w) {
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    if (!findMBarrier(w, lane, block, offset))
      return;
    block.shared.endMBarrier(offset);
    std::erase_if(block.mbarriers, [&](const MBarrier &b) { return b.offset == offset; });
  });
}

// src[1]: bytes that are announced, or done.
template <int sign> void countBytes(const Instruction &i, Warp &w) {
  const U32 *bytes = w.read<U32>(i.src[1]);
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    if (MBarrier *barrier = findMBarrier(w, lane, block, offset))
      addBytes(block, *barrier, sign * int64_t(bytes[lane]));
  });
}

// src[1]: arrivals, or with kExpects bytes.
void arrive(const Instruction &i, Warp &w) {
  const U32 *number = w.read<U32>(i.src[1]);
  U64 out[32] = {};
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    MBarrier *barrier = findMBarrier(w, lane, block, offset);
    if (!barrier)
      return;
    U32 count = i.flags & kExpects ? 1 : number[lane];
    if (!checkCount(w, lane, count, 1))
      return;
    out[lane] = tokenOf(*barrier);
    if (&block == w.block && !(i.flags & kRelaxed))
      block.shared.publish(w.index, barrier->joined);
    if (i.flags & kExpects)
      barrier->tx += number[lane];
    if (i.flags & kDrops)
      barrier->expected -= std::min(count, barrier->expected);
    arriveOn(w, lane, block, *barrier, count);
  });
  if (i.dst[0] != kNoSlot)
    w.write<U64>(i.dst[0], out);
}

// src[1]: parity or token. A warp that asks in vain lets the others go on.
void testWait(const Instruction &i, Warp &w) {
  Mask done = 0;
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    MBarrier *barrier = findMBarrier(w, lane, block, offset);
    if (!barrier)
      return;
    bool isDone = i.flags & kParity
                      ? (barrier->phase & 1) != (w.read<U32>(i.src[1])[lane] & 1)
                      : w.read<U64>(i.src[1])[lane] >> 20 != barrier->phase;
    if (isDone) {
      done |= Mask(1) << lane;
      if (&block == w.block)
        block.shared.resume(w.index, barrier->completed);
    } else {
      w.waitsFor = offset;
    }
  });
  w.writePredicate(i.dst[0], done);
  if (done == w.exec)
    w.waitsFor = kNever;
  else
    w.state = Warp::State::Yielded;
}

void pendingCount(const Instruction &i, Warp &w) {
  const U64 *token = w.read<U64>(i.src[0]);
  U32 out[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = token[lane] & kLargestCount;
  w.write<U32>(i.dst[0], out);
}

// The lane's copies arrive, for those who wait for the mbarrier. Without .noinc the arrival comes
// on top of those that are expected.
void arriveWithCopies(const Instruction &i, Warp &w) {
  forLanes(i, w, [&](unsigned lane, Block &block, U64 offset) {
    MBarrier *barrier = findMBarrier(w, lane, block, offset);
    if (!barrier)
      return;
    finishCopies(w, Mask(1) << lane, 0, true, SharedMemory::worker(barrier->clock));
    if (i.flags & kNoIncrement)
      arriveOn(w, lane, block, *barrier, 1);
  });
}

void decodeArrive(InstructionDecoder &d, bool drops) {
  bool expects = d.op.take("expect_tx");
  bool hasState = d.operands()[0].kind != Operand::Kind::Address;
  if (!d.expectOperands(1 + hasState, 2 + hasState))
    return;
  bool hasNumber = d.operands().size() == 2u + hasState;
  if (expects && !hasNumber)
    return d.fail("expected the bytes that will come");
  if (hasState && d.operands()[0].kind != Operand::Kind::Sink)
    d.out.dst[0] = d.destination(0, Type::B64);
  d.out.src[1] = hasNumber ? d.source(1 + hasState, Type::U32) : d.constant(1, 4);
  d.out.flags |= (expects ? kExpects : 0) | (drops ? kDrops : 0);
  d.out.run = arrive;
}

} // namespace

bool decodeMBarrier(InstructionDecoder &d) {
  bool isCopyArrive = false;
  if (d.op.base == "cp") {
    Opcode before = d.op;
    isCopyArrive = d.op.take("async") && d.op.take("mbarrier") && d.op.take("arrive");
    if (!isCopyArrive)
      d.op = before;
  }
  if (d.op.base != "mbarrier" && !isCopyArrive)
    return false;
  bool isRelaxed = d.op.take("relaxed");
  takeCacheModifiers(d.op);
  Space space = d.op.takeSpace().value_or(Space::Generic);
  bool isRemote = space == Space::Cluster;
  if (d.op.takeType() != Type::B64)
    d.fail("expected .b64");
  if (d.failed() || !d.expectOperands(1, 4))
    return true;
  absl::string_view what =
      isCopyArrive ? "copy" : d.op.takeOneOf({"init", "inval", "complete_tx", "arrive_drop", "arrive", "expect_tx",
                                              "test_wait", "try_wait", "pending_count"});
  d.out.flags = isRelaxed ? kRelaxed : 0;
  size_t addressAt = 0;
  if (what == "init") {
    if (!d.expectOperands(2))
      return true;
    d.out.src[1] = d.source(1, Type::U32);
    d.out.run = init;
  } else if (what == "inval") {
    d.expectOperands(1);
    d.out.run = invalidate;
  } else if (what == "expect_tx" || what == "complete_tx") {
    d.expectTarget(90);
    if (!d.expectOperands(2))
      return true;
    d.out.src[1] = d.source(1, Type::U32);
    d.out.run = what == "expect_tx" ? countBytes<1> : countBytes<-1>;
  } else if (what == "arrive" || what == "arrive_drop") {
    addressAt = d.operands()[0].kind == Operand::Kind::Address ? 0 : 1;
    decodeArrive(d, what == "arrive_drop");
    if (d.out.flags & kExpects || isRemote)
      d.expectTarget(90);
  } else if (what == "test_wait" || what == "try_wait") {
    bool parity = d.op.take("parity");
    if (what == "try_wait" || parity)
      d.expectTarget(what == "try_wait" ? 90 : 80);
    if (!d.expectOperands(3, what == "try_wait" ? 4 : 3)) // the last: a time, which here is none
      return true;
    d.out.dst[0] = d.destination(0, Type::Pred);
    d.out.src[1] = d.source(2, parity ? Type::B32 : Type::B64);
    d.out.flags |= parity ? kParity : 0;
    d.out.run = testWait;
    addressAt = 1;
  } else if (what == "pending_count") {
    if (!d.expectOperands(2))
      return true;
    d.out.dst[0] = d.destination(0, Type::B32);
    d.out.src[0] = d.source(1, Type::B64);
    d.out.run = pendingCount;
    d.emit();
    return true;
  } else if (what == "copy") {
    d.expectOperands(1);
    d.out.flags |= d.op.take("noinc") ? kNoIncrement : 0;
    d.out.run = arriveWithCopies;
  } else {
    d.fail("unknown form of this instruction");
  }
  if (d.failed())
    return true;
  uint8_t flags = d.out.flags;
  d.address(d.operands()[addressAt], space);
  d.out.flags |= flags;
  d.out.sizeBytes = uint8_t(space);
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
