// SPDX-License-Identifier: Apache-2.0
//
// What an instruction works on: a warp, its block, and the launch they are part of.
//
// Divergence. Lanes that took different ways are entries of a stack; the top one runs.
// A divergent branch leaves an entry that waits at the branch's immediate
// post-dominator and puts the two sides above it; a side that gets there is popped.
// (Running whatever lane has the lowest program counter needs no stack, but deadlocks
// when what a loop waits for comes behind the loop in the text.)
#pragma once

#include "runtime/ptxsim/Kernel.h"
#include "runtime/ptxsim/MBarrier.h"
#include "runtime/ptxsim/Memory.h"
#include "runtime/ptxsim/SharedMemory.h"

#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace hjx::ptxsim {

/// What a check found, or a program did that no device survives. The codes are the driver's.
struct Finding {
  enum class Kind : int {
    IllegalAddress = 700,
    IllegalInstruction = 715,
    Misaligned = 716,
    LaunchFailed = 719,
  };
  Kind kind;
  std::string text;
};

class GlobalRaces;

struct Launch {
  const Kernel &kernel;
  const Memory &memory;
  std::array<uint32_t, 3> grid, block;
  uint32_t dynamicSharedBytes;
  const uint8_t *params;
  bool checks;
  std::array<uint32_t, 3> cluster = {1, 1, 1}; ///< blocks
  GlobalRaces *races = nullptr;                ///< null: not looked for

  uint32_t clusterSize() const { return cluster[0] * cluster[1] * cluster[2]; }
  uint32_t numThreads() const { return block[0] * block[1] * block[2]; }
  uint32_t sharedBytes() const { return kernel.dynamicSharedOffset + dynamicSharedBytes; }
};

struct Block;

/// Up to which moment the work of the warps of other blocks is known, by block.
using BlockClocks = std::map<uint32_t, std::array<uint32_t, kMaxWarps>>;

/// What one lane's cp.async brings, until the lane waits for it.
struct PendingCopy {
  uint8_t *to;
  uint32_t offset, instruction;
  uint32_t group; ///< how many the lane had committed before
  uint8_t lane, sizeBytes;
  uint8_t data[16];
};

/// wgmma by one warp: what it has in flight. Registers are counted by 64 bytes of the register file.
struct MatrixWork {
  uint32_t numStarted = 0, lastInstruction = 0;
  uint32_t numFences = 0;
  std::vector<uint32_t> moments; ///< of the groups that were committed
  uint32_t groupsDone = 0;
  std::vector<uint32_t> written;  ///< the number of fences before the register's last ordinary write
  std::vector<uint32_t> inFlight; ///< the number of the last group that uses it, from 1
  std::vector<uint8_t> sums;      ///< whether that writes it

  /// Part of the group that is not committed yet.
  void use(uint32_t index, bool writes) {
    if (index >= inFlight.size())
      return;
    inFlight[index] = moments.size() + 1;
    sums[index] = writes;
  }
  bool isSum(uint32_t index) const { return sums[index]; }
};

struct Warp {
  struct Entry {
    uint32_t pc, reconverge;
    Mask mask;
  };
  enum class State : uint8_t { Running, AtBarrier, Yielded, Exited };

  std::array<uint8_t *, 2> base; ///< register file, constants
  Mask active = 0; ///< lanes of the entry on top
  Mask exec = 0;   ///< those that the guard lets through
  Mask live = 0;   ///< those that have not exited
  uint32_t pc = 0, reconverge = kNever;
  uint32_t current = 0; ///< the instruction that executes
  State state = State::Running;
  uint32_t index = 0; ///< in the block
  std::vector<Entry> stack; ///< below the top
  std::vector<uint32_t> frames; ///< stack sizes at calls
  std::vector<PendingCopy> copies;
  std::array<uint32_t, 32> copyGroups = {}; ///< that each lane has committed
  /// Bulk copies out of shared memory: when each group was committed, and the last copy, as long
  /// as it may still read, with the groups before it.
  std::vector<uint32_t> bulkGroups;
  uint32_t openBulkCopy = kNever, openBulkGroup = 0;
  uint32_t initFence = 0; ///< the moment of the last fence.mbarrier_init
  /// The mbarrier that the warp found incomplete when it last asked, or one of these; kNever: none.
  uint32_t waitsFor = kNever;
  static constexpr uint32_t kClusterBarrier = kNever - 1, kWarpgroup = kNever - 2;
  uint32_t clusterArrivals = 0; ///< at the cluster's barrier
  MatrixWork matrix;
  /// See GlobalRaces.h: what the last fence saw, and what atomics found since.
  BlockClocks released, found;
  uint8_t *local = nullptr;     ///< 32 x Kernel::localBytes
  Block *block = nullptr;
  /// Where accesses went before, by instruction: one and the same mostly stays with its array.
  std::array<const Allocation *, 16> lastAllocations = {};

  template <typename T> const T *read(Slot slot) const {
    return reinterpret_cast<const T *>(base[slot >> 31] + (slot & ~kConstantBit));
  }
  template <typename T> T *row(Slot slot) { return reinterpret_cast<T *>(base[0] + slot); }
  Mask predicate(Slot slot) const { return *read<Mask>(slot); }
  inline const Slot *list(const Instruction &i) const;

  /// Writes the lanes that execute.
  template <typename T>
  __attribute__((always_inline)) void write(Slot slot, const T *values) {
    T *to = row<T>(slot);
    if (exec == ~Mask(0)) {
      std::memcpy(to, values, 32 * sizeof(T));
      return;
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      to[lane] = exec >> lane & 1 ? values[lane] : to[lane];
  }
  void writePredicate(Slot slot, Mask values) {
    Mask &to = *row<Mask>(slot);
    to = (to & ~exec) | (values & exec);
  }

  /// Sends the lanes in `taken` to `target`, the other active ones on to the next instruction.
  void branch(Mask taken, uint32_t target, uint32_t meet);
  void call(uint32_t target);
  /// The lanes in `lanes` leave the function, or the kernel.
  void leave(Mask lanes, bool exit);
  /// Goes on with the entry below.
  void pop();

  /// Stops the launch. `lane`: -1 for the warp as a whole.
  void fail(Finding::Kind kind, int lane, absl::string_view what);
};

struct Barrier {
  uint32_t arrivedThreads = 0;
  uint32_t expectedThreads = 0; ///< 0: all that are alive
  Mask waiting = 0;             ///< warps
  SharedMemory::Clock joined = {};
  // bar.red
  uint32_t count = 0;
  bool all = true, any = false;
};

struct Block {
  const Launch *launch = nullptr;
  std::array<uint32_t, 3> index = {};
  uint32_t number = 0; ///< in the grid
  /// What a warp came to know of other blocks, and when.
  struct Acquired {
    uint32_t warp, when;
    BlockClocks clocks;
  };
  std::vector<Acquired> acquired;
  std::vector<Block *> cluster; ///< the blocks that are reachable from this one, by rank
  std::vector<Warp> warps;
  SharedMemory shared;
  std::array<Barrier, 16> barriers;
  std::vector<MBarrier> mbarriers;
  uint64_t events = 0; ///< counts what a waiting warp may wait for
  std::vector<uint8_t> registers, locals;
  std::optional<Finding> finding;

  /// Begins a block of a cluster, whose blocks lie side by side and start in order.
  void start(const Launch &launch, uint64_t clusterIndex, uint32_t rank, Block *cluster);
  /// Runs all warps of a cluster's blocks to their end, or to a finding.
  static void run(std::vector<Block> &cluster);
  uint32_t rank = 0;
  SharedMemory::Clock clusterJoined = {}; ///< what those have seen that are at the cluster's barrier

private:
  /// One turn for each warp.
  struct Round {
    bool progress = false, allEnded = true, allWait = true;
  };
  void runRound(Round &round);
  template <bool tracksRegisters> void runWarp(Warp &warp);
  bool releaseBarriers();
  void reportDeadlock();
  void checkEnd();
  void initSpecials(Warp &warp);
};

const Slot *Warp::list(const Instruction &i) const {
  return block->launch->kernel.slots.data() + i.list;
}

/// "thread (3,0,0)".
std::string describeThread(const Launch &launch, uint32_t thread);

} // namespace hjx::ptxsim
