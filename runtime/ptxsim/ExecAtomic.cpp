// SPDX-License-Identifier: Apache-2.0
//
// atom and red. In global memory they are atomic among the host threads that run
// blocks; sums of floats therefore come out in any order, as on a device.
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/KernelDecoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>
#include <atomic>

namespace hjx::ptxsim {
namespace {

enum class Op : uint8_t { Add, Min, Max, And, Or, Xor, Exchange, Swap, Increment, Decrement };

template <typename T> T number(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T> uint64_t pattern(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T> T ordered(Op op, T a, T b) {
  return op == Op::Min ? std::min(a, b) : std::max(a, b);
}

template <typename H> uint64_t addHalf(uint64_t a, uint64_t b) {
  return H::round(H::widen(uint16_t(a)) + H::widen(uint16_t(b)));
}
template <typename H> uint64_t addPair(uint64_t a, uint64_t b) {
  return addHalf<H>(a, b) | addHalf<H>(a >> 16, b >> 16) << 16;
}

uint64_t add(Type type, uint64_t a, uint64_t b) {
  switch (type) {
  case Type::F32: return pattern(number<float>(a) + number<float>(b));
  case Type::F64: return pattern(number<double>(a) + number<double>(b));
  case Type::F16: return addHalf<F16>(a, b);
  case Type::BF16: return addHalf<BF16>(a, b);
  case Type::F16x2: return addPair<F16>(a, b);
  case Type::BF16x2: return addPair<BF16>(a, b);
  default: return a + b;
  }
}

uint64_t apply(const Instruction &i, uint64_t old, uint64_t b, uint64_t c) {
  switch (Op(i.count)) {
  case Op::Add: return add(i.type, old, b);
  case Op::Min:
  case Op::Max:
    switch (i.type) {
    case Type::S32: return pattern(ordered(Op(i.count), int32_t(old), int32_t(b)));
    case Type::S64: return pattern(ordered(Op(i.count), int64_t(old), int64_t(b)));
    case Type::U32: return ordered(Op(i.count), uint32_t(old), uint32_t(b));
    default: return ordered(Op(i.count), old, b);
    }
  case Op::And: return old & b;
  case Op::Or: return old | b;
  case Op::Xor: return old ^ b;
  case Op::Exchange: return b;
  case Op::Swap: return old == b ? c : old;
  case Op::Increment: return old >= b ? 0 : old + 1;
  case Op::Decrement: return old == 0 || old > b ? b : old - 1;
  }
  return old;
}

template <typename T> uint64_t update(const Instruction &i, uint8_t *at, bool isShared, T b, T c) {
  auto *word = reinterpret_cast<T *>(at);
  if (isShared) {
    T old = *word;
    *word = T(apply(i, old, b, c));
    return old;
  }
  std::atomic_ref<T> atomic(*word);
  T old = atomic.load();
  while (!atomic.compare_exchange_weak(old, T(apply(i, old, b, c))))
    ;
  return old;
}

constexpr uint8_t kAcquires = 1, kReleases = 2, kOfBlock = 4; ///< flags

template <typename T> void runAtomic(const Instruction &i, Warp &w) {
  const T *b = w.read<T>(i.src[1]), *c = w.read<T>(i.src[2]);
  access(i, w, Space(i.registerBytes), sizeof(T), AccessKind::Atomic,
         [&](Space space, Access &access) {
    T out[32];
    bool checks = w.block->launch->checks;
    GlobalRaces *races = space == Space::Global ? w.block->launch->races : nullptr;
    if (races && i.flags & kReleases)
      races->fence(w);
    if (races && !races->note(w, access, sizeof(T), i.flags & kOfBlock ? AccessKind::Write : AccessKind::Atomic))
      return;
    GlobalRaces::Atomics order(i.flags & kOfBlock ? nullptr : races);
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      uint64_t address = access.address[lane];
      if (checks && space == Space::Shared) {
        if (reportConflict(
                w, lane, address, sizeof(T), AccessKind::Atomic,
                w.block->shared.atomic(address, sizeof(T), w.index * 32 + lane, w.current)))
          return;
      } else if (checks && space == Space::Global) {
        const Allocation &allocation = access.allocationOf(*w.block->launch, lane);
        if (Op(i.count) == Op::Exchange)
          allocation.setWritten(address, sizeof(T));
        else if (!allocation.isWritten(address, sizeof(T)))
          return reportUninitialized(w, lane, address, sizeof(T), "global memory");
      }
      out[lane] = T(update<T>(i, access.at[lane], space != Space::Global, b[lane], c[lane]));
      order.handOver(w, address);
    }
    if (races && i.flags & kAcquires)
      races->fence(w);
    if (i.dst[0] != kNoSlot)
      w.write<T>(i.dst[0], out);
  });
}

} // namespace

bool decodeAtomic(InstructionDecoder &d) {
  struct Entry {
    absl::string_view name;
    Op op;
  };
  static constexpr Entry entries[] = {
      {"add", Op::Add}, {"min", Op::Min}, {"max", Op::Max}, {"and", Op::And},
      {"or", Op::Or}, {"xor", Op::Xor}, {"exch", Op::Exchange}, {"cas", Op::Swap},
      {"inc", Op::Increment}, {"dec", Op::Decrement}};
  bool returns = d.op.base == "atom";
  if (!returns && d.op.base != "red")
    return false;
  MemoryOrder order = takeCacheModifiers(d.op);
  d.op.take("noftz");
  Space space = d.op.takeSpace().value_or(Space::Generic);
  const Entry *entry = std::find_if(std::begin(entries), std::end(entries),
                                    [&](const Entry &e) { return d.op.take(e.name); });
  std::optional<Type> type = d.op.takeType();
  if (entry == std::end(entries) || !type || sizeOf(*type) < 2 || sizeOf(*type) > 8) {
    d.fail("unknown atomic operation or type");
    return true;
  }
  bool hasThird = entry->op == Op::Swap;
  if (!d.expectOperands(2 + returns + hasThird))
    return true;
  if ((entry->op == Op::Min || entry->op == Op::Max) && isFloat(*type))
    d.fail("unknown atomic operation or type");
  if (returns)
    d.out.dst[0] = d.destination(0, *type);
  d.address(d.operands()[returns], space);
  d.out.src[1] = d.source(1 + returns, *type);
  d.out.src[2] = hasThird ? d.source(2 + returns, *type) : d.out.src[1];
  d.out.type = *type;
  d.out.count = uint8_t(entry->op);
  d.out.registerBytes = uint8_t(space);
  d.noteAccess(space, std::min(4u, sizeOf(*type)));
  d.out.flags |= (order.acquires ? kAcquires : 0) | (order.releases ? kReleases : 0) | (order.isOfBlock ? kOfBlock : 0);
  d.kernel.kernel.ordersBlocks |= order.acquires || order.releases;
  d.out.run = sizeOf(*type) == 2   ? runAtomic<uint16_t>
              : sizeOf(*type) == 4 ? runAtomic<uint32_t>
                                   : runAtomic<uint64_t>;
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
