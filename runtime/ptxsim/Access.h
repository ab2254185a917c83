// SPDX-License-Identifier: Apache-2.0
//
// From the addresses of a memory instruction to host pointers, with the checks of
// bounds and alignment; what was written is for the callers to ask and to note.
#pragma once

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Warp.h"

namespace hjx::ptxsim {

enum class AccessKind : uint8_t { Read, Write, Atomic };

struct Access {
  alignas(64) uint64_t address[32]; ///< in the state space; lanes that do not execute have any
  uint8_t *at[32];
  /// Of global accesses: the one allocation that all lanes are in, or null.
  const Allocation *allocation = nullptr;
  uint64_t lowest = 0;
  /// All 32 lanes execute, side by side in memory.
  bool isContiguous = false;
  /// All lanes access the same bytes of one allocation.
  bool isUniform = false;

  const Allocation &allocationOf(const Launch &launch, unsigned lane) const {
    return allocation ? *allocation : *launch.memory.find(address[lane]);
  }
};

/// Calls `body(space, access)` for the lanes that execute: once, or for generic addresses once a
/// state space, with `exec` cut to the lanes concerned. Stops after a finding.
/// `sizeBytes` is that of all elements of a lane.
template <typename Body>
void access(const Instruction &i, Warp &w, Space space, unsigned sizeBytes, AccessKind kind,
            Body body);

/// Fills everything but the addresses. Returns false after a finding.
bool resolve(Warp &w, Space space, unsigned sizeBytes, AccessKind kind, Access &access);
void loadAddresses(const Instruction &i, const Warp &w, Access &access);
/// A further address of the instruction; see InstructionDecoder::extraAddress.
void loadExtraAddresses(const Instruction &i, const Warp &w, unsigned which, uint64_t *address);
/// The lanes that execute and whose generic address lies in the space of the lowest of them;
/// addresses are made relative to that space.
Mask splitGeneric(const Warp &w, Mask lanes, Access &access, Space &space);

/// The allocation that holds `sizeBytes` bytes of global memory; null after a finding.
const Allocation *findGlobal(Warp &w, unsigned lane, uint64_t address, unsigned sizeBytes,
                             AccessKind kind);
/// False after a finding, unless `address` is a multiple of `align`.
bool checkAlignment(Warp &w, unsigned lane, uint64_t address, unsigned align, AccessKind kind);

/// "read", "write" or "atomic access".
absl::string_view verb(AccessKind kind);

/// A store to shared memory of the cluster: the bytes are written now.
void noteClusterWrite(Warp &w, unsigned sizeBytes, const Access &access);

/// Findings of shared-memory checks.
void describeConflict(Warp &w, unsigned lane, uint64_t offset, unsigned sizeBytes, AccessKind kind,
                      const SharedMemory::Conflict &conflict);
inline bool reportConflict(Warp &w, unsigned lane, uint64_t offset, unsigned sizeBytes,
                           AccessKind kind, const SharedMemory::Conflict &conflict) {
  if (conflict.kind == SharedMemory::Conflict::Kind::None)
    return false;
  describeConflict(w, lane, offset, sizeBytes, kind, conflict);
  return true;
}
void reportUninitialized(Warp &w, unsigned lane, uint64_t address, unsigned sizeBytes,
                         absl::string_view where);

/// What an instruction says about memory order, as far as blocks are concerned.
struct MemoryOrder {
  bool isStrong = false; ///< not weak: volatile, relaxed or more
  bool acquires = false, releases = false;
  bool isOfBlock = false; ///< in the eyes of the block's threads alone
};
/// Removes the words on memory order, scope and caches, none of which changes a result here.
MemoryOrder takeCacheModifiers(Opcode &op);

template <typename Body>
void access(const Instruction &i, Warp &w, Space space, unsigned sizeBytes, AccessKind kind,
            Body body) {
  Access all;
  loadAddresses(i, w, all);
  if (space != Space::Generic) {
    if (resolve(w, space, sizeBytes, kind, all))
      body(space, all);
    return;
  }
  Mask exec = w.exec;
  for (Mask left = exec; left;) {
    w.exec = splitGeneric(w, left, all, space);
    left &= ~w.exec;
    if (!resolve(w, space, sizeBytes, kind, all))
      return;
    body(space, all);
  }
  w.exec = exec;
}

} // namespace hjx::ptxsim
