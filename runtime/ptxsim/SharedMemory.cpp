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
  std::fill_n(seen.begin(), numWarps, Clock());
  std::fill_n(fenced.begin(), numWarps, Clock());
  floor = {};
  hasWorkers = false;
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
  for (unsigned kind = 0; kind < record.readers.size(); ++kind)
    for (uint32_t clocks = record.readers[kind]; clocks; clocks &= clocks - 1)
      if (unsigned other = 32 * kind + __builtin_ctz(clocks);
          !(other == warp && record.lastReadingWarp != warp) &&
          !orderedBefore(other, record.readTime, record.readWarpTime, warp)) {
        conflict = {Conflict::Kind::Race, false, record.readInstruction, record.reader};
        return false;
      }
  return true;
}

bool SharedMemory::checkStates(uint32_t offset, uint32_t size, bool isRead,
                               Conflict &conflict) const {
  for (uint32_t at = offset; at < offset + size; ++at) {
    if (written[at] == kWritten || (written[at] == kUnwritten && !isRead))
      continue;
    const Record &record = records[at / granule];
    conflict = {written[at] == kUnwritten  ? Conflict::Kind::Uninitialized
                : written[at] == kInFlight ? Conflict::Kind::InFlight
                                           : Conflict::Kind::MBarrier,
                true, record.writeInstruction, record.writer};
    return false;
  }
  return true;
}

void SharedMemory::useWorkers() {
  if (hasWorkers)
    return;
  hasWorkers = true;
  floor = {};
}

SharedMemory::Conflict SharedMemory::readSlowly(uint32_t offset, uint32_t size, uint32_t thread,
                                                uint32_t instruction) {
  Conflict conflict;
  if (!checkStates(offset, size, true, conflict))
    return conflict;
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
  uint8_t states = 0;
  for (uint32_t at = offset; at < offset + size; ++at)
    states |= written[at];
  if (states > kWritten && !checkStates(offset, size, false, conflict))
    return conflict;
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
  if (!checkStates(offset, size, true, conflict))
    return conflict;
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    if (!checkReaders(records[unit], thread, conflict) ||
        (!records[unit].wroteAtomically && !checkWrite(records[unit], thread, conflict)))
      return conflict;
    noteWrite(records[unit], thread, instruction, true);
  }
  return conflict;
}

SharedMemory::Conflict SharedMemory::issueCopy(uint32_t offset, uint32_t size, uint32_t thread,
                                               uint32_t instruction) {
  Conflict conflict = write(offset, size, thread, instruction, false);
  if (conflict.kind == Conflict::Kind::None)
    std::memset(&written[offset], kInFlight, size);
  return conflict;
}

void SharedMemory::finishCopy(uint32_t offset, uint32_t size, uint32_t writer,
                              uint32_t instruction) {
  if (writer >= worker(kMaxWarps))
    useWorkers();
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit)
    noteWrite(records[unit], writer, instruction, false);
  std::memset(&written[offset], kWritten, size);
}

SharedMemory::Conflict SharedMemory::readLater(uint32_t offset, uint32_t size, uint32_t thread,
                                               uint32_t worker, uint32_t instruction) {
  useWorkers();
  Conflict conflict;
  if (!checkStates(offset, size, true, conflict))
    return conflict;
  unsigned warp = thread / 32;
  for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
    Record &record = records[unit];
    // What the other lanes of the warp wrote, the instruction itself waits for.
    unsigned writer = record.writer / 32;
    if (writer != warp && !checkWrite(record, thread, conflict))
      return conflict;
    if (!record.wroteLater && record.writeTime > fenced[warp][writer] &&
        record.writeTime > fenced[writer][writer]) {
      conflict = {Conflict::Kind::NotFenced, true, record.writeInstruction, record.writer};
      return conflict;
    }
    noteRead(record, worker, instruction);
  }
  return conflict;
}

SharedMemory::Conflict SharedMemory::writeLater(uint32_t offset, uint32_t size, uint32_t thread,
                                                uint32_t worker, uint32_t instruction) {
  useWorkers();
  Conflict conflict = write(offset, size, thread, instruction, false);
  if (conflict.kind == Conflict::Kind::None)
    for (uint32_t unit = offset / granule; unit * granule < offset + size; ++unit) {
      noteWrite(records[unit], worker, instruction, false);
      records[unit].wroteLater = true;
    }
  return conflict;
}

SharedMemory::Conflict SharedMemory::beginMBarrier(uint32_t offset, uint32_t thread,
                                                   uint32_t instruction) {
  Conflict conflict = write(offset, 8, thread, instruction, false);
  if (conflict.kind == Conflict::Kind::None)
    std::memset(&written[offset], kMBarrier, 8);
  return conflict;
}

SharedMemory::Conflict SharedMemory::useMBarrier(uint32_t offset, uint32_t thread) const {
  Conflict conflict;
  checkWrite(records[offset / granule], thread, conflict);
  return conflict;
}

void SharedMemory::arrive(unsigned warp, Clock &joined, bool goesOn) {
  join(joined, seen[warp]);
  joined[warp] = time;
  ++warpTime[warp];
  if (goesOn)
    ++time;
}

void SharedMemory::resume(unsigned warp, const Clock &joined) {
  join(seen[warp], joined);
  floor[warp] = hasWorkers ? 0 : *std::min_element(seen[warp].begin(), seen[warp].begin() + numWarps);
}

} // namespace hjx::ptxsim
