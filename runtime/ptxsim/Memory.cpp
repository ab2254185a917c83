// SPDX-License-Identifier: Apache-2.0
//
// Allocations and their shadow; see the header. Addresses are never used twice, so that
// a pointer kept after cuMemFree is caught however much was allocated since.
#include "runtime/ptxsim/Memory.h"

#include <cstring>
#include <new>

namespace hjx::ptxsim {

static uint8_t bitsOf(uint64_t from, uint64_t to) { return (1u << to) - (1u << from); }

bool Allocation::isWritten(uint64_t address, uint64_t size) const {
  uint64_t at = address - begin;
  while (size) {
    uint64_t inWord = at % 4, count = std::min<uint64_t>(4 - inWord, size);
    uint8_t bits = bitsOf(inWord, inWord + count);
    if ((written[at / 4] & bits) != bits)
      return false;
    at += count;
    size -= count;
  }
  return true;
}

void Allocation::setWritten(uint64_t address, uint64_t size) const {
  uint64_t at = address - begin;
  while (size) {
    uint64_t inWord = at % 4, count = std::min<uint64_t>(4 - inWord, size);
    if (count == 4) {
      uint64_t words = size / 4;
      std::memset(written.get() + at / 4, 0xF, words);
      count = words * 4;
    } else {
      uint8_t bits = bitsOf(inWord, inWord + count);
      std::atomic_ref<uint8_t> shadow(written[at / 4]);
      if ((shadow.load(std::memory_order_relaxed) & bits) != bits)
        shadow.fetch_or(bits, std::memory_order_relaxed);
    }
    at += count;
    size -= count;
  }
}

void Allocation::copyWritten(uint64_t to, const Allocation &source, uint64_t from,
                             uint64_t size) const {
  uint64_t target = to - begin, origin = from - source.begin;
  auto copyByte = [&](uint64_t index) {
    bool isSet = source.written[(origin + index) / 4] >> (origin + index) % 4 & 1;
    uint8_t bit = 1u << (target + index) % 4, &shadow = written[(target + index) / 4];
    shadow = isSet ? shadow | bit : shadow & ~bit;
  };
  uint64_t words = target % 4 || origin % 4 ? 0 : size / 4;
  std::memmove(&written[target / 4], &source.written[origin / 4], words);
  for (uint64_t index = words * 4; index < size; ++index)
    copyByte(index);
}

// Memories take turns in windows of the address space, so that a pointer of one device, or of a
// context that was released, is none of another.
static uint64_t takeWindow(uint64_t first) {
  constexpr uint64_t kWindowBytes = uint64_t(1) << 44, kNumWindows = 32;
  static std::atomic<uint64_t> next = 0;
  return first + next++ % kNumWindows * kWindowBytes;
}

uint64_t Memory::allocate(uint64_t sizeBytes) {
  if (changes == 0)
    nextAddress = takeWindow(nextAddress);
  constexpr uint64_t kGranule = 512, kGap = 4096;
  uint64_t rounded = (sizeBytes + kGranule - 1) / kGranule * kGranule;
  if (rounded < sizeBytes || rounded > totalBytes - usedBytes)
    return 0;
  Allocation allocation;
  allocation.bytes.reset(new (std::nothrow) uint8_t[rounded]);
  allocation.written.reset(new (std::nothrow) uint8_t[rounded / 4]);
  allocation.accessPages.reset(new (std::nothrow) std::atomic<AccessPage *>[rounded / AccessPage::kNumRecords + 1]());
  if (!allocation.bytes || !allocation.written || !allocation.accessPages)
    return 0;
  std::memset(allocation.bytes.get(), 0xFF, rounded);
  std::memset(allocation.written.get(), 0, rounded / 4);
  allocation.begin = nextAddress;
  allocation.end = nextAddress + sizeBytes;
  nextAddress += rounded + kGap;
  usedBytes += rounded;
  ++changes;
  uint64_t address = allocation.begin;
  allocations.emplace(address, std::move(allocation));
  return address;
}

bool Memory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  const Allocation &allocation = found->second;
  usedBytes -= (allocation.end - allocation.begin + 511) / 512 * 512;
  allocations.erase(found);
  ++changes;
  return true;
}

const Allocation *Memory::find(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  return after == allocations.begin() ? nullptr : &std::prev(after)->second;
}

} // namespace hjx::ptxsim
