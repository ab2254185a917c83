// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a launch touched which bytes of global memory. Blocks run in any order, so two
// of them that touch the same bytes, one of them with a plain write, race unless a chain like this
// lies between them (PTX ISA, "Memory Consistency Model"):
//
//     writer: st.global; bar.sync; fence.acq_rel.gpu; atom   ──▶   atom; fence.acq_rel.gpu; bar.sync; ld.global
//             all warps           └── one warp ──────────┘         └── one warp ──────┘           all warps
//
// Concept. What a warp has seen of its own block is a vector clock already (SharedMemory.h). A fence
// keeps it as what the warp's later atomics hand over; an atomic adds that to the clocks at its
// address, and remembers those that it finds there; a fence makes these known, at a moment of the
// block, and barriers carry them on as they carry moments. So barriers, fences and atomics are each
// needed, in this order, as on a device. The fence of one thread does not speak for what others
// write: it must stand between the barrier and the atomic.
//
// Memory. 16 bytes for each granule (the narrowest global access of the kernel), in pages that a
// launch takes when it touches them: the last write, and one read. Of several readers one is
// known, which never accuses the innocent, and is exact in a launch without fences. Not
// looked at: two threads of one block, clusters, kernels with ld.acquire, st.release and their kind
// (hjx makes none), and what a launch touches when it has taken kMaxPages.
#pragma once

#include "runtime/ptxsim/Access.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hjx::ptxsim {

class GlobalRaces {
public:
  /// Whether there is something to find, and room in the words of records.
  static bool canCheck(const Launch &launch);
  /// `pool`: pages to use again.
  GlobalRaces(const Kernel &kernel, AccessPages &pool);
  ~GlobalRaces();

  /// The lanes that execute touch `sizeBytes` bytes each. False after a finding.
  bool note(Warp &w, const Access &access, unsigned sizeBytes, AccessKind kind);
  /// One lane, any number of bytes.
  bool note(Warp &w, unsigned lane, const Allocation &allocation, uint64_t address, uint64_t sizeBytes,
            AccessKind kind);

  /// fence.acq_rel.gpu and what is stronger.
  void fence(Warp &w);
  /// While it lives, no other warp's atomics execute. Atomics at the same address hand over clocks.
  class Atomics {
  public:
    /// `races`: null where nothing is looked for.
    explicit Atomics(GlobalRaces *of) : races(of && of->ordersBlocks ? of : nullptr) {
      if (races)
        lock = std::unique_lock(races->mutex);
    }
    void handOver(Warp &w, uint64_t address) {
      if (races)
        races->handOver(w, address);
    }

  private:
    GlobalRaces *races;
    std::unique_lock<std::mutex> lock;
  };

private:
  struct Range {
    const Allocation *allocation;
    uint64_t address, sizeBytes;
    unsigned firstLane, laneBytes; ///< lanes have their bytes side by side
  };
  template <AccessKind kKind, bool kOrders> bool noteRange(Warp &w, const Range &range);
  bool note(Warp &w, const Range &range, AccessKind kind);
  AccessPage *takePage(std::atomic<AccessPage *> &entry);
  bool isOrdered(const Warp &w, uint64_t other) const;
  void report(Warp &w, const Range &range, uint64_t address, AccessKind kind, uint64_t other,
              bool otherWrote);
  void handOver(Warp &w, uint64_t address);

  static constexpr size_t kMaxPages = 65536; ///< 1 GiB
  const bool ordersBlocks;
  const unsigned granuleShift;
  std::mutex mutex, pagesMutex;
  AccessPages &pool;
  std::vector<std::pair<std::atomic<AccessPage *> *, std::unique_ptr<AccessPage>>> taken;
  std::map<uint64_t, BlockClocks> handedOver; ///< by address
};

/// For a launch with or without a GlobalRaces: false after a finding.
inline bool checkBlocks(Warp &w, const Access &access, unsigned sizeBytes, AccessKind kind) {
  GlobalRaces *races = w.block->launch->races;
  return !races || races->note(w, access, sizeBytes, kind);
}
inline bool checkBlocks(Warp &w, unsigned lane, const Allocation &allocation, uint64_t address,
                        uint64_t sizeBytes, AccessKind kind) {
  GlobalRaces *races = w.block->launch->races;
  return !races || races->note(w, lane, allocation, address, sizeBytes, kind);
}

} // namespace hjx::ptxsim
