// SPDX-License-Identifier: Apache-2.0
//
// What the lanes of a warp do together (shfl, vote, match, redux), barriers and fences.
//
// A warp here is always converged within its mask, so an instruction that names lanes
// which do not execute it has found a fault: on a device they may or may not come.
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/KernelDecoder.h"
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx::ptxsim {

bool expectWholeWarp(Warp &w) {
  if (w.exec == ~Mask(0))
    return true;
  w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(~w.exec),
         absl::StrFormat("expected all lanes of the warp to execute this, got 0x%x", w.exec));
  return false;
}

namespace {

// src[3]: the member mask.
bool checkMembers(const Instruction &i, Warp &w) {
  if (!w.block->launch->checks)
    return true;
  unsigned first = __builtin_ctz(w.exec);
  Mask members = w.read<uint32_t>(i.src[3])[first];
  if (Mask strangers = w.exec & ~members) {
    w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(strangers),
           absl::StrFormat("the lane executes this but is not in its mask 0x%x", members));
    return false;
  }
  if (Mask missing = members & w.live & ~w.exec) {
    w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(missing),
           absl::StrFormat("the lane is in the mask 0x%x but has diverged from those that execute "
                           "this (0x%x)", members, w.exec));
    return false;
  }
  return true;
}

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

template <Shuffle mode> void shuffle(const Instruction &i, Warp &w) {
  if (!checkMembers(i, w))
    return;
  const auto *a = w.read<uint32_t>(i.src[0]), *b = w.read<uint32_t>(i.src[1]),
             *c = w.read<uint32_t>(i.src[2]);
  uint32_t out[32];
  Mask valid = 0, sources = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    int offset = b[lane] & 31, segment = c[lane] >> 8 & 31, clamp = c[lane] & 31;
    int low = int(lane) & segment, high = low | (clamp & ~segment);
    int from = mode == Shuffle::Up          ? int(lane) - offset
               : mode == Shuffle::Down      ? int(lane) + offset
               : mode == Shuffle::Butterfly ? int(lane) ^ offset
                                            : low | (offset & ~segment);
    bool inRange = mode == Shuffle::Up ? from >= high : from <= high;
    from = inRange ? from & 31 : int(lane);
    valid |= Mask(inRange) << lane;
    sources |= w.exec >> lane & 1 ? Mask(1) << from : 0;
    out[lane] = a[from];
  }
  if (Mask absent = sources & ~w.exec; absent && w.block->launch->checks)
    return w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(absent),
                  "another lane reads from this one, which does not execute the shuffle");
  w.write<uint32_t>(i.dst[0], out);
  if (i.dst[1] != kNoSlot)
    w.writePredicate(i.dst[1], valid);
}

Mask votes(const Instruction &i, const Warp &w) {
  Mask mask = w.predicate(i.src[0]);
  return (i.flags & 1 ? ~mask : mask) & w.exec;
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };
template <Vote mode> void vote(const Instruction &i, Warp &w) {
  if (!checkMembers(i, w))
    return;
  Mask yes = votes(i, w);
  if (mode == Vote::Ballot) {
    uint32_t out[32];
    std::fill(std::begin(out), std::end(out), yes);
    return w.write<uint32_t>(i.dst[0], out);
  }
  bool result = mode == Vote::All   ? yes == w.exec
                : mode == Vote::Any ? yes != 0
                                    : yes == 0 || yes == w.exec;
  w.writePredicate(i.dst[0], result ? ~Mask(0) : 0);
}

void activeMask(const Instruction &i, Warp &w) {
  uint32_t out[32];
  std::fill(std::begin(out), std::end(out), w.exec);
  w.write<uint32_t>(i.dst[0], out);
}

template <typename T, bool all> void match(const Instruction &i, Warp &w) {
  if (!checkMembers(i, w))
    return;
  const T *a = w.read<T>(i.src[0]);
  uint32_t out[32] = {};
  Mask same = 0;
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    for (Mask others = w.exec; others; others &= others - 1)
      if (a[__builtin_ctz(others)] == a[lane])
        out[lane] |= others & -others;
    same |= out[lane] == w.exec ? Mask(1) << lane : 0;
    if (all && out[lane] != w.exec)
      out[lane] = 0;
  }
  w.write<uint32_t>(i.dst[0], out);
  if (all && i.dst[1] != kNoSlot)
    w.writePredicate(i.dst[1], same);
}

template <typename T, auto f> void reduce(const Instruction &i, Warp &w) {
  if (!checkMembers(i, w))
    return;
  const T *a = w.read<T>(i.src[0]);
  T result = a[__builtin_ctz(w.exec)], out[32];
  for (Mask left = w.exec & (w.exec - 1); left; left &= left - 1)
    result = f(result, a[__builtin_ctz(left)]);
  std::fill(std::begin(out), std::end(out), result);
  w.write<T>(i.dst[0], out);
}

// elect.sync: the lowest member.
void elect(const Instruction &i, Warp &w) {
  if (!checkMembers(i, w))
    return;
  uint32_t out[32], leader = __builtin_ctz(w.exec);
  std::fill(std::begin(out), std::end(out), leader);
  w.write<uint32_t>(i.dst[0], out);
  w.writePredicate(i.dst[1], Mask(1) << leader);
}

void syncWarp(const Instruction &i, Warp &w) {
  if (checkMembers(i, w))
    w.block->shared.syncWarp(w.index);
}

void nothing(const Instruction &, Warp &) {}

// bar: src[0] barrier, src[1] threads or none, src[2] predicate; flags: which result, see below.
enum : uint8_t { kCount = 0, kAll = 1, kAny = 2, kNegatedInput = 4, kArrive = 8, kReduces = 16 };

void barrier(const Instruction &i, Warp &w) {
  unsigned first = __builtin_ctz(w.exec);
  if (w.exec != w.live)
    return w.fail(Finding::Kind::LaunchFailed, __builtin_ctz(w.live & ~w.exec),
                  absl::StrFormat("divergent barrier: the lane has diverged from those that wait "
                                  "here (0x%x)", w.exec));
  uint32_t index = w.read<uint32_t>(i.src[0])[first];
  uint32_t expected = i.src[1] == kNoSlot ? 0 : w.read<uint32_t>(i.src[1])[first];
  if (index > 15 || expected % 32)
    return w.fail(Finding::Kind::IllegalInstruction, first,
                  absl::StrFormat("expected a barrier below 16 and a multiple of 32 threads, got "
                                  "barrier %d and %d threads", index, expected));
  Barrier &at = w.block->barriers[index];
  if (at.arrivedThreads && at.expectedThreads != expected)
    return w.fail(Finding::Kind::LaunchFailed, first,
                  absl::StrFormat("barrier %d is used with %d and with %d threads at once", index,
                                  at.expectedThreads, expected));
  at.expectedThreads = expected;
  at.arrivedThreads += 32;
  bool goesOn = i.flags & kArrive;
  w.block->shared.arrive(w.index, at.joined, goesOn);
  if (i.flags & kReduces) {
    Mask yes = w.predicate(i.src[2]);
    yes = (i.flags & kNegatedInput ? ~yes : yes) & w.exec;
    at.count += __builtin_popcount(yes);
    at.all &= yes == w.exec;
    at.any |= yes != 0;
  }
  if (goesOn)
    return;
  at.waiting |= Mask(1) << w.index;
  w.state = Warp::State::AtBarrier;
}

void decodeBarrier(InstructionDecoder &d) {
  if (d.op.take("cluster"))
    return decodeClusterBarrier(d);
  if (d.op.take("warp")) {
    d.op.take("sync");
    if (!d.expectOperands(1))
      return;
    d.out.src[3] = d.source(0, Type::B32);
    d.out.run = syncWarp;
    return;
  }
  d.op.take("cta");
  d.op.take("aligned");
  absl::string_view what = d.op.takeOneOf({"sync", "arrive", "red"});
  size_t next = 0, count = d.operands().size();
  if (what == "red") {
    absl::string_view how = d.op.takeOneOf({"popc", "and", "or"});
    std::optional<Type> type = d.op.takeType();
    if (!type || !d.expectOperands(3, 4))
      return;
    bool negated = false;
    d.out.dst[0] = d.destination(next++, *type);
    d.out.src[2] = predicateSource(d, --count, negated);
    d.out.flags = (how == "and" ? kAll : how == "or" ? kAny : kCount) | kReduces |
                  (negated ? kNegatedInput : 0);
  } else if (!d.expectOperands(what == "arrive" ? 2 : 1, 2)) {
    return;
  }
  if (what == "arrive")
    d.out.flags = kArrive;
  d.out.src[0] = d.source(next++, Type::U32);
  if (next < count)
    d.out.src[1] = d.source(next, Type::U32);
  if (!what.empty())
    d.out.run = barrier;
}

void decodePair(InstructionDecoder &d, Type type) {
  const Operand &to = d.operands()[0];
  bool isPair = to.kind == Operand::Kind::Pair;
  d.out.dst[0] = d.destination(isPair ? to.parts[0] : to, type);
  if (isPair)
    d.out.dst[1] = to.parts[1].kind == Operand::Kind::Sink ? kNoSlot : d.destination(to.parts[1], Type::Pred);
}

void decodeShuffle(InstructionDecoder &d) {
  d.op.take("sync");
  absl::string_view mode = d.op.takeOneOf({"up", "down", "bfly", "idx"});
  d.op.takeType();
  if (!d.expectOperands(5))
    return;
  decodePair(d, Type::B32);
  for (unsigned index = 0; index < 4; ++index)
    d.out.src[index] = d.source(index + 1, Type::B32);
  d.out.run = mode == "up"     ? shuffle<Shuffle::Up>
              : mode == "down" ? shuffle<Shuffle::Down>
              : mode == "bfly" ? shuffle<Shuffle::Butterfly>
              : mode == "idx"  ? shuffle<Shuffle::Index>
                               : nullptr;
}

void decodeVote(InstructionDecoder &d) {
  d.op.take("sync");
  absl::string_view mode = d.op.takeOneOf({"all", "any", "uni", "ballot"});
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(3))
    return;
  bool negated = false;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = predicateSource(d, 1, negated);
  d.out.src[3] = d.source(2, Type::B32);
  d.out.flags = negated;
  d.out.run = mode == "all"      ? vote<Vote::All>
              : mode == "any"    ? vote<Vote::Any>
              : mode == "uni"    ? vote<Vote::Uniform>
              : mode == "ballot" ? vote<Vote::Ballot>
                                 : nullptr;
}

void decodeMatch(InstructionDecoder &d) {
  bool all = d.op.takeOneOf({"all", "any"}) == "all";
  d.op.take("sync");
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(3))
    return;
  decodePair(d, Type::B32);
  d.out.src[0] = d.source(1, *type);
  d.out.src[3] = d.source(2, Type::B32);
  bool isWide = sizeOf(*type) == 8;
  d.out.run = all ? (isWide ? match<uint64_t, true> : match<uint32_t, true>)
                  : (isWide ? match<uint64_t, false> : match<uint32_t, false>);
}

void decodeReduce(InstructionDecoder &d) {
  d.op.take("sync");
  absl::string_view op = d.op.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(3))
    return;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = d.source(1, *type);
  d.out.src[3] = d.source(2, Type::B32);
  using U = uint32_t;
  using S = int32_t;
  if (isFloat(*type) || sizeOf(*type) != 4)
    return;
  bool isS = isSigned(*type);
  d.out.run = op == "add"   ? reduce<U, [](U a, U b) { return a + b; }>
              : op == "and" ? reduce<U, [](U a, U b) { return a & b; }>
              : op == "or"  ? reduce<U, [](U a, U b) { return a | b; }>
              : op == "xor" ? reduce<U, [](U a, U b) { return a ^ b; }>
              : op == "min" ? (isS ? reduce<S, [](S a, S b) { return std::min(a, b); }>
                                   : reduce<U, [](U a, U b) { return std::min(a, b); }>)
                            : (isS ? reduce<S, [](S a, S b) { return std::max(a, b); }>
                                   : reduce<U, [](U a, U b) { return std::max(a, b); }>);
}

// Memory is sequentially consistent here: fences change no result. They count for checks: those of
// the device for what other blocks see, others for asynchronous work.
void decodeFence(InstructionDecoder &d) {
  bool isAsync = d.op.take("async"), isInit = d.op.take("mbarrier_init"), isProxy = d.op.take("proxy");
  bool isGlobal = d.op.take("global");
  bool isOfDevice = !d.op.takeOneOf({"gl", "gpu", "sys"}).empty() && !isProxy && !isInit;
  for (absl::string_view word : {"sc", "acq_rel", "acquire", "release", "cta", "cluster", "alias",
                                 "shared::cta", "shared::cluster", "tensormap::generic"})
    d.op.take(word);
  if (isAsync || isInit)
    d.expectTarget(90);
  d.kernel.kernel.ordersBlocks |= isOfDevice;
  d.out.run = nothing;
  if (isOfDevice)
    d.out.run = [](const Instruction &, Warp &w) {
      if (GlobalRaces *races = w.block->launch->races)
        races->fence(w);
    };
  if (isAsync && !isGlobal)
    d.out.run = [](const Instruction &, Warp &w) { w.block->shared.fence(w.index); };
  if (isInit)
    d.out.run = [](const Instruction &, Warp &w) { w.initFence = w.block->shared.moment(); };
}

// How many registers a thread has changes nothing here.
void decodeSetMaxRegisters(InstructionDecoder &d) {
  d.expectTarget(90, true);
  bool isForm = !d.op.takeOneOf({"inc", "dec"}).empty() && d.op.take("sync") && d.op.take("aligned");
  d.op.takeType();
  if (!isForm || !d.expectOperands(1))
    return;
  const Operand &count = d.operands()[0];
  if (count.kind != Operand::Kind::Integer || count.bits < 24 || count.bits > 256 || count.bits % 8)
    d.fail("expected a multiple of 8 registers from 24 to 256");
  d.out.run = [](const Instruction &, Warp &w) { expectWholeWarp(w); };
}

} // namespace

bool decodeWarp(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base == "shfl") {
    decodeShuffle(d);
  } else if (base == "vote") {
    decodeVote(d);
  } else if (base == "match") {
    decodeMatch(d);
  } else if (base == "redux") {
    decodeReduce(d);
  } else if (base == "activemask") {
    d.op.takeType();
    if (d.expectOperands(1))
      d.out.dst[0] = d.destination(0, Type::B32);
    d.out.run = activeMask;
  } else if (base == "elect") {
    d.op.take("sync");
    if (!d.expectOperands(2))
      return true;
    decodePair(d, Type::B32);
    if (d.out.dst[1] == kNoSlot)
      d.fail("expected two results");
    d.out.src[3] = d.source(1, Type::B32);
    d.out.run = elect;
  } else if (base == "bar" || base == "barrier") {
    decodeBarrier(d);
  } else if (base == "membar" || base == "fence") {
    decodeFence(d);
  } else if (base == "setmaxnreg") {
    decodeSetMaxRegisters(d);
  } else if (base == "nanosleep") {
    // Somebody else should run: what is waited for may be another warp's work.
    d.op.takeType();
    d.out.run = [](const Instruction &, Warp &w) { w.state = Warp::State::Yielded; };
  } else if (base == "griddepcontrol") {
    // Launches run one after the other: what they depend on is done.
    d.op.takeOneOf({"wait", "launch_dependents"});
    d.out.run = nothing;
  } else {
    return false;
  }
  if (!d.out.run && !d.failed())
    d.fail("unknown form of this instruction");
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
