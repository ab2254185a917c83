// SPDX-License-Identifier: Apache-2.0
//
// Races between the blocks of a launch; see the header.
//
// The word of an access, from the top: 24 bits of the block's number + 1, 5 of the warp, one that
// says atomic, one that says that another block has read, too, 16 of the moment, 17 of the instruction.
// Host threads read and write words without a lock: two blocks that touch a granule at the very same time
// may miss each other, and meet at the next one.
#include "runtime/ptxsim/GlobalRaces.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <bit>

namespace hjx::ptxsim {

static constexpr unsigned kInstructionBits = 17, kMomentBits = 16;
static constexpr unsigned kManyBit = kInstructionBits + kMomentBits, kAtomicBit = kManyBit + 1;
static constexpr unsigned kWarpShift = kAtomicBit + 1, kBlockShift = kWarpShift + 5;
static constexpr uint64_t kMany = uint64_t(1) << kManyBit, kAtomic = uint64_t(1) << kAtomicBit;
static constexpr uint32_t kLastMoment = (1u << kMomentBits) - 1;

static uint32_t blockOf(uint64_t word) { return uint32_t(word >> kBlockShift) - 1; }
static uint32_t warpOf(uint64_t word) { return uint32_t(word >> kWarpShift) % kMaxWarps; }
static uint32_t momentOf(uint64_t word) { return uint32_t(word >> kInstructionBits) & kLastMoment; }
static uint32_t instructionOf(uint64_t word) { return uint32_t(word) & ((1u << kInstructionBits) - 1); }

static uint64_t wordOf(const Warp &w, AccessKind kind) {
  const Block &block = *w.block;
  uint64_t moment = std::min(block.shared.now(), kLastMoment);
  return uint64_t(block.number + 1) << kBlockShift | uint64_t(w.index) << kWarpShift |
         (kind == AccessKind::Atomic ? kAtomic : 0) | moment << kInstructionBits | w.current;
}

static uint64_t load(uint64_t &word) { return std::atomic_ref(word).load(std::memory_order_relaxed); }
static void store(uint64_t &word, uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

bool GlobalRaces::canCheck(const Launch &launch) {
  uint64_t blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  return launch.checks && blocks > 1 && blocks < 1u << (64 - kBlockShift) && launch.clusterSize() == 1 &&
         launch.kernel.code.size() < 1u << kInstructionBits && !launch.kernel.ordersBlocksOtherwise;
}

GlobalRaces::GlobalRaces(const Kernel &kernel, AccessPages &pool)
    : ordersBlocks(kernel.ordersBlocks), granuleShift(std::countr_zero(kernel.globalGranule)), pool(pool) {}

GlobalRaces::~GlobalRaces() {
  constexpr size_t kMaxPool = 4096; // 64 MiB
  for (auto &[entry, page] : taken) {
    *entry = nullptr;
    if (pool.size() < kMaxPool)
      pool.push_back(std::move(page));
  }
}

AccessPage *GlobalRaces::takePage(std::atomic<AccessPage *> &entry) {
  std::lock_guard lock(pagesMutex);
  if (AccessPage *page = entry)
    return page;
  if (taken.size() == kMaxPages)
    return nullptr;
  std::unique_ptr<AccessPage> page;
  if (pool.empty()) {
    page = std::make_unique<AccessPage>();
  } else {
    page = std::move(pool.back());
    pool.pop_back();
    *page = AccessPage();
  }
  taken.emplace_back(&entry, std::move(page));
  return entry = taken.back().second.get();
}

bool GlobalRaces::isOrdered(const Warp &w, uint64_t other) const {
  const SharedMemory::Clock &seen = w.block->shared.seenBy(w.index);
  for (const Block::Acquired &acquired : w.block->acquired) {
    if (acquired.warp != w.index && acquired.when > seen[acquired.warp])
      continue;
    auto of = acquired.clocks.find(blockOf(other));
    if (of != acquired.clocks.end() && momentOf(other) <= std::min(of->second[warpOf(other)], kLastMoment))
      return true;
  }
  return false;
}

// Granules that the access covers in part are left out: the rest may be somebody else's.
template <AccessKind kKind, bool kOrders> bool GlobalRaces::noteRange(Warp &w, const Range &range) {
  const uint64_t self = wordOf(w, kKind);
  auto isOther = [&](uint64_t word) { return word && (word ^ self) >> kBlockShift; };
  auto orders = [&](uint64_t word) { return kOrders && isOrdered(w, word); };
  const uint64_t first = range.address - range.allocation->begin, granule = uint64_t(1) << granuleShift;
  uint64_t at = (first + granule - 1) >> granuleShift, end = (first + range.sizeBytes) >> granuleShift;
  while (at < end) {
    std::atomic<AccessPage *> &entry = range.allocation->accessPages[at / AccessPage::kNumRecords];
    uint64_t next = std::min(end, (at / AccessPage::kNumRecords + 1) * AccessPage::kNumRecords);
    AccessPage *page = entry.load(std::memory_order_acquire);
    if (!page && !(page = takePage(entry))) {
      at = next;
      continue;
    }
    for (; at < next; ++at) {
      AccessPage::Record &record = page->records[at % AccessPage::kNumRecords];
      const uint64_t writer = load(record.writer), reader = load(record.reader);
      auto refuse = [&](uint64_t other, bool otherWrote) {
        report(w, range, range.allocation->begin + (at << granuleShift), kKind, other, otherWrote);
        return false;
      };
      bool areAtomic = kKind == AccessKind::Atomic && writer & kAtomic;
      if (isOther(writer) && !areAtomic && !orders(writer))
        return refuse(writer, true);
      if (kKind == AccessKind::Read) {
        if (!isOther(reader) || orders(reader)) {
          if (kOrders || !reader)
            store(record.reader, self);
        } else if (!(reader & kMany)) {
          store(record.reader, reader | kMany);
        }
        continue;
      }
      if ((isOther(reader) && !orders(reader)) || (!kOrders && reader & kMany))
        return refuse(reader, false);
      if (kOrders || !writer)
        store(record.writer, self);
    }
  }
  return true;
}

bool GlobalRaces::note(Warp &w, const Range &range, AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return ordersBlocks ? noteRange<AccessKind::Read, true>(w, range) : noteRange<AccessKind::Read, false>(w, range);
  case AccessKind::Write:
    return ordersBlocks ? noteRange<AccessKind::Write, true>(w, range) : noteRange<AccessKind::Write, false>(w, range);
  case AccessKind::Atomic:
    return ordersBlocks ? noteRange<AccessKind::Atomic, true>(w, range)
                        : noteRange<AccessKind::Atomic, false>(w, range);
  }
  return true;
}

bool GlobalRaces::note(Warp &w, const Access &access, unsigned size, AccessKind kind) {
  unsigned first = __builtin_ctz(w.exec);
  if (access.isContiguous)
    return note(w, {access.allocation, access.lowest, uint64_t(size) * 32, first, size}, kind);
  if (access.isUniform)
    return note(w, {access.allocation, access.lowest, size, first, size}, kind);
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    if (!note(w, lane, access.allocationOf(*w.block->launch, lane), access.address[lane], size, kind))
      return false;
  }
  return true;
}

bool GlobalRaces::note(Warp &w, unsigned lane, const Allocation &allocation, uint64_t address, uint64_t size,
                       AccessKind kind) {
  return note(w, {&allocation, address, size, lane, unsigned(size)}, kind);
}

void GlobalRaces::report(Warp &w, const Range &range, uint64_t at, AccessKind kind, uint64_t other,
                         bool otherWrote) {
  const Launch &launch = *w.block->launch;
  std::string who = "another block";
  if (uint32_t number = blockOf(other); number != w.block->number)
    who = absl::StrFormat("block (%d,%d,%d)", number % launch.grid[0], number / launch.grid[0] % launch.grid[1],
                          number / launch.grid[0] / launch.grid[1]);
  const Kernel::Line &line = launch.kernel.lines[instructionOf(other)];
  w.fail(Finding::Kind::LaunchFailed, range.firstLane + (at - range.address) / range.laneBytes,
         absl::StrFormat("%s at 0x%x of global memory races with the %s by %s in ptx line %d `%s`: no barrier, fence "
                         "and atomic operation order them",
                         verb(kind), at, otherWrote ? "write" : "read", who, line.number, line.text));
}

static void join(BlockClocks &into, const BlockClocks &other) {
  for (const auto &[block, moments] : other) {
    auto &to = into[block];
    for (unsigned warp = 0; warp < kMaxWarps; ++warp)
      to[warp] = std::max(to[warp], moments[warp]);
  }
}

void GlobalRaces::fence(Warp &w) {
  if (!ordersBlocks)
    return;
  Block &block = *w.block;
  if (!w.found.empty())
    block.acquired.push_back({w.index, block.shared.moment(), std::exchange(w.found, {})});
  const SharedMemory::Clock &seen = block.shared.seenBy(w.index);
  for (const Block::Acquired &acquired : block.acquired)
    if (acquired.warp == w.index || acquired.when <= seen[acquired.warp])
      join(w.released, acquired.clocks);
  auto &own = w.released[block.number];
  std::copy_n(seen.begin(), kMaxWarps, own.begin());
  own[w.index] = block.shared.moment();
}

void GlobalRaces::handOver(Warp &w, uint64_t address) {
  auto before = handedOver.find(address);
  if (before != handedOver.end())
    join(w.found, before->second);
  if (!w.released.empty())
    join(handedOver[address], w.released);
}

} // namespace hjx::ptxsim
