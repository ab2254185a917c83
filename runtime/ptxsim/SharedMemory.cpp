// SPDX-License-Identifier: Apache-2.0
//
// Who touched which shared bytes when; see the header.
#include "runtime/ptxsim/SharedMemory.h"

#include <algorithm>

namespace hjx::ptxsim {

void SharedMemory::reset(uint64_t newSize, unsigned newGranule, unsigned newNumWarps) {
  sizeBytes = newSize;
  granule = newGranule;
  numWarps = newNumWarps;
  bytes.assign(sizeBytes, 0xFF);
  written.assign(sizeBytes, 0);
  records.assign(sizeBytes / granule + 1, Record());
  seen = {};
  floor = {};
  warpTime = {};
  time = 1;
}

bool SharedMemory::checkWrite(const Record &record, uint32_t thread, Conflict &conflict) const {
  if (!record.writeTime || record.writer == thread ||
      orderedBefore(record.writer / 32, record.writeTime, record.writeWarpTime, thread / 32))
    return true;
  conflict = {Conflict::Kind::Race, true, record.writeInstruction, record.writer};
  return false;
}

bool SharedMemory::checkReaders(const Record &record, uint32_t thread, Conflict &conflict) const {
  unsigned warp = thread / 32;
  if (!record.readTime || record.reader == thread || record.readTime <= floor[warp])
    return true;
  for (uint32_t warps = record.readWarps; warps; warps &= warps - 1)
    if (unsigned other = __builtin_ctz(warps);
        !(other == warp && record.lastReadingWarp != warp) &&
        !orderedBefore(other, record.readTime, record.readWarpTime, warp)) {
      conflict = {Conflict::Kind::Race, false, record.readInstruction, record.reader};
      return false;
    }
  return true;
}

SharedMemory::Conflict SharedMemory::readSlowly(uint32_t offset, uint32_t size, uint32_t thread,
                                                uint32_t instruction) {
  Conflict conflict;
  if (std::memchr(&written[offset], 0, size)) {
    conflict.kind = Conflict::Kind::Uninitialized;
    return conflict;
  }
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    if (!checkWrite(records[unit], thread, conflict))
      return conflict;
    noteRead(records[unit], thread, instruction);
  }
  return conflict;
}

void SharedMemory::noteWrite(Record &record, uint32_t thread, uint32_t instruction,
                             bool atomically) {
  record = Record();
  record.wroteAtomically = atomically;
  record.writer = thread;
  record.writeTime = time;
  record.writeWarpTime = warpTime[thread / 32];
  record.writeInstruction = instruction;
}

SharedMemory::Conflict SharedMemory::write(uint32_t offset, uint32_t size, uint32_t thread,
                                           uint32_t instruction, bool sameValue) {
  Conflict conflict;
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    if (!checkReaders(records[unit], thread, conflict))
      return conflict;
    if (!sameValue && !checkWrite(records[unit], thread, conflict))
      return conflict;
    noteWrite(records[unit], thread, instruction, false);
  }
  std::memset(&written[offset], 1, size);
  return conflict;
}

SharedMemory::Conflict SharedMemory::atomic(uint32_t offset, uint32_t size, uint32_t thread,
                                            uint32_t instruction) {
  Conflict conflict;
  if (std::memchr(&written[offset], 0, size)) {
    conflict.kind = Conflict::Kind::Uninitialized;
    return conflict;
  }
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    if (!checkReaders(records[unit], thread, conflict) ||
        (!records[unit].wroteAtomically && !checkWrite(records[unit], thread, conflict)))
      return conflict;
    noteWrite(records[unit], thread, instruction, true);
  }
  return conflict;
}

void SharedMemory::arrive(unsigned warp, Clock &joined, bool goesOn) {
  for (unsigned other = 0; other < kMaxWarps; ++other)
    joined[other] = std::max(joined[other], seen[warp][other]);
  joined[warp] = time;
  ++warpTime[warp];
  if (goesOn)
    ++time;
}

void SharedMemory::resume(unsigned warp, const Clock &joined) {
  floor[warp] = ~0u;
  for (unsigned other = 0; other < kMaxWarps; ++other) {
    seen[warp][other] = std::max(seen[warp][other], joined[other]);
    if (other < numWarps)
      floor[warp] = std::min(floor[warp], seen[warp][other]);
  }
}

} // namespace hjx::ptxsim
