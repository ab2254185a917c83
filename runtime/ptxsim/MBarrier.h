// SPDX-License-Identifier: Apache-2.0
//
// mbarrier objects. In memory they are 8 opaque bytes, which nobody may touch; what they
// hold is kept beside.
//
// A phase ends when all arrivals that it expects are there and as many bytes were copied
// as were announced (tx). Copies that report to an mbarrier are done at once, so their
// bytes may come before the announcement: tx is below zero then. What those who arrived
// have seen, and what the copies wrote, becomes known to whoever learns that the phase
// ended, and to nobody else: that is how a missing wait is found.
#pragma once

#include "runtime/ptxsim/SharedMemory.h"

#include <string>

namespace hjx::ptxsim {

struct Block;
struct Warp;

struct MBarrier {
  uint32_t offset; ///< in shared memory
  uint32_t expected, pending;
  unsigned clock; ///< of the copies that report to it
  unsigned initWarp;
  uint32_t initTime;
  int64_t tx = 0;
  uint64_t phase = 0;
  SharedMemory::Clock joined = {}, completed = {};
};

/// The mbarrier at an address of shared memory; null after a finding: none is there, or its init is
/// not ordered before what the lane does.
MBarrier *findMBarrier(Warp &w, unsigned lane, Block &block, uint64_t offset);
/// `count` arrivals; false after a finding: the phase expects fewer.
bool arriveOn(Warp &w, unsigned lane, Block &block, MBarrier &barrier, uint32_t count);
/// Announces bytes (positive), or counts those that came (negative).
void addBytes(Block &block, MBarrier &barrier, int64_t bytes);
/// False after a finding: copies may not see the mbarrier before a fence.
bool checkInitFence(Warp &w, unsigned lane, Block &block, const MBarrier &barrier);
/// Whether the mbarrier waits for bytes, or has too many.
bool lacksBytes(const Block &block, uint32_t offset);
/// "waits for phase 0 of the mbarrier at 0x0: ...".
std::string describeWait(const Block &block, uint32_t offset);

} // namespace hjx::ptxsim
