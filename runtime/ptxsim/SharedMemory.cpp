// SPDX-License-Identifier: Apache-2.0
//
// Who touched which shared bytes when; see the header.
#include "runtime/ptxsim/SharedMemory.h"

#include <algorithm>
#include <cstring>

namespace hjx::ptxsim {

void SharedMemory::reset(uint64_t newSize, unsigned newGranule) {
  sizeBytes = newSize;
  granule = newGranule;
  bytes.assign(sizeBytes, 0xFF);
  written.assign(sizeBytes, 0);
  records.assign(sizeBytes / granule + 1, Record());
  seen = {};
  warpTime = {};
  time = 1;
}

bool SharedMemory::orderedBefore(unsigned otherWarp, uint32_t when, uint32_t whenInWarp,
                                 unsigned warp) const {
  return otherWarp == warp ? whenInWarp < warpTime[warp] : when <= seen[warp][otherWarp];
}

bool SharedMemory::checkWrite(const Record &record, uint32_t thread, Conflict &conflict) const {
  if (!record.hasWrite || record.writer == thread ||
      orderedBefore(record.writer / 32, record.writeTime, record.writeWarpTime, thread / 32))
    return true;
  conflict = {Conflict::Kind::Race, true, record.writeInstruction, record.writer};
  return false;
}

bool SharedMemory::checkReaders(const Record &record, uint32_t thread, Conflict &conflict) const {
  if (!record.hasRead || record.reader == thread)
    return true;
  unsigned warp = thread / 32;
  for (uint32_t warps = record.readWarps; warps; warps &= warps - 1)
    if (unsigned other = __builtin_ctz(warps);
        !(other == warp && record.lastReadingWarp != warp) &&
        !orderedBefore(other, record.readTime, record.readWarpTime, warp)) {
      conflict = {Conflict::Kind::Race, false, record.readInstruction, record.reader};
      return false;
    }
  return true;
}

void SharedMemory::noteRead(Record &record, uint32_t thread, uint32_t instruction) {
  unsigned warp = thread / 32;
  if (record.hasRead && record.readTime == time) {
    if (record.reader != thread)
      record.reader = kMany;
    record.readWarps |= 1u << warp;
  } else {
    record.hasRead = true;
    record.readTime = time;
    record.readWarps = 1u << warp;
    record.reader = thread;
  }
  record.lastReadingWarp = warp;
  record.readWarpTime = warpTime[warp];
  record.readInstruction = instruction;
}

SharedMemory::Conflict SharedMemory::read(uint32_t offset, uint32_t size, uint32_t thread,
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

SharedMemory::Conflict SharedMemory::write(uint32_t offset, uint32_t size, uint32_t thread,
                                           uint32_t instruction, bool sameValue) {
  Conflict conflict;
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    Record &record = records[unit];
    if (!checkReaders(record, thread, conflict))
      return conflict;
    if (!sameValue && !checkWrite(record, thread, conflict))
      return conflict;
    record = Record();
    record.hasWrite = true;
    record.writer = thread;
    record.writeTime = time;
    record.writeWarpTime = warpTime[thread / 32];
    record.writeInstruction = instruction;
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
    Record &record = records[unit];
    if (!checkReaders(record, thread, conflict) ||
        (!record.wroteAtomically && !checkWrite(record, thread, conflict)))
      return conflict;
    record = Record();
    record.hasWrite = record.wroteAtomically = true;
    record.writer = thread;
    record.writeTime = time;
    record.writeWarpTime = warpTime[thread / 32];
    record.writeInstruction = instruction;
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
  for (unsigned other = 0; other < kMaxWarps; ++other)
    seen[warp][other] = std::max(seen[warp][other], joined[other]);
}

} // namespace hjx::ptxsim
