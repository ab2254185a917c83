// SPDX-License-Identifier: Apache-2.0
//
// The memory of the simulated device. Device addresses are not host addresses: they lie
// where no host pointer can, so that a host that dereferences one crashes as it would
// with a real device, and a kernel that uses a host pointer is told so. A gap follows
// each allocation; contents start as all ones (NaN in every float type).
//
// Shadow: one byte per 4 bytes of memory, whose low four bits say which of them were
// written. A store of aligned words sets whole shadow bytes and needs no atomics; bytes
// and halves, which two blocks may write side by side, set bits atomically.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace hjx::ptxsim {

/// Who touched each of some granules that lie side by side, in one launch; see GlobalRaces.h. An
/// access is packed into a word; 0: none.
struct AccessPage {
  struct Record {
    uint64_t writer, reader;
  };
  static constexpr uint64_t kNumRecords = 1024;
  Record records[kNumRecords];
};
using AccessPages = std::vector<std::unique_ptr<AccessPage>>;

struct Allocation {
  uint64_t begin = 0, end = 0; ///< device addresses; end is the exact size asked for
  std::unique_ptr<uint8_t[]> bytes;
  std::unique_ptr<uint8_t[]> written;
  std::unique_ptr<std::atomic<AccessPage *>[]> accessPages; ///< enough for granules of a byte

  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && address <= end && size <= end - address;
  }
  uint8_t *at(uint64_t address) const { return bytes.get() + (address - begin); }
  /// Whether all of [address, address + size) was written.
  bool isWritten(uint64_t address, uint64_t size) const;
  void setWritten(uint64_t address, uint64_t size) const;
  /// Makes [to, to + size) written where [from, from + size) of `source` is.
  void copyWritten(uint64_t to, const Allocation &source, uint64_t from, uint64_t size) const;
};

/// Where generic addresses of the other state spaces begin.
constexpr uint64_t kSharedWindow = uint64_t(1) << 50;
constexpr uint64_t kLocalWindow = kSharedWindow + (uint64_t(1) << 32);
constexpr uint64_t kParamWindow = kSharedWindow + (uint64_t(2) << 32);
constexpr uint64_t kWindowBytes = uint64_t(1) << 32;

class Memory {
public:
  explicit Memory(uint64_t totalBytes) : totalBytes(totalBytes) {}

  /// Returns the device address, or 0 when the device or the host has no room.
  uint64_t allocate(uint64_t sizeBytes);
  /// Returns whether `address` was the begin of an allocation.
  bool free(uint64_t address);
  /// The allocation that holds or most nearly precedes `address`; null if none does.
  const Allocation *find(uint64_t address) const;

  uint64_t total() const { return totalBytes; }
  uint64_t used() const { return usedBytes; }
  /// Counts allocations and frees: what was found before may be gone after a change.
  uint64_t generation() const { return changes; }

private:
  std::map<uint64_t, Allocation> allocations;
  uint64_t totalBytes, usedBytes = 0, changes = 0;
  uint64_t nextAddress = uint64_t(1) << 49;
};

} // namespace hjx::ptxsim
