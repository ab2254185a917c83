// SPDX-License-Identifier: Apache-2.0
//
// The shared memory of one block with what is known about each piece of it: was it
// written, who wrote it last, who read it since. Two accesses to the same bytes by
// different threads, one of them a write, race unless something orders them.
//
// Concept. Time is one counter a worker, which grows at every synchronisation. For each
// pair of warps, `seen[w][v]` is the last moment up to which warp w knows that v is
// done: an access of v at time t is ordered before what w does now iff t <= seen[w][v].
// A barrier joins what those who arrive have seen and hands it to those who wait, which
// also is right for named barriers of some warps and for bar.arrive (vector clocks,
// as in FastTrack, Flanagan and Freund 2009, one clock a warp).
//
// Within a warp, threads are ordered by bar.warp.sync and block barriers alone: since
// Volta lanes advance independently, and shuffles do not order memory.
//
// Of the readers since the last write, the record keeps those of the newest moment: that
// never accuses the innocent, and full barriers make it exact.
//
// The unit is the narrowest access that the kernel makes: halves of a word written by
// two threads do not race.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hjx::ptxsim {

constexpr unsigned kMaxWarps = 32;

class SharedMemory {
public:
  /// What an access conflicts with.
  struct Conflict {
    enum class Kind : uint8_t { None, Uninitialized, Race } kind = Kind::None;
    bool otherWrote = false;
    uint32_t otherInstruction = 0;
    uint32_t otherThread = 0; ///< kMany: several
  };
  static constexpr uint32_t kMany = 0xFFFF;
  using Clock = std::array<uint32_t, kMaxWarps>;

  /// Begins a block. `granule` is 1, 2 or 4.
  void reset(uint64_t sizeBytes, unsigned granule, unsigned numWarps);

  uint8_t *data() { return bytes.data(); }
  uint64_t size() const { return sizeBytes; }

  Conflict read(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction) {
    // What everybody wrote before the last barrier of everybody needs no second look.
    if (granule != 4 || size % 4)
      return readSlowly(offset, size, thread, instruction);
    uint32_t sinceBarrier = 0, missing = 0, since = floor[thread / 32];
    for (uint32_t at = offset; at < offset + size; at += 4) {
      uint32_t word;
      std::memcpy(&word, &written[at], 4);
      missing |= word ^ 0x01010101;
      sinceBarrier |= records[at / 4].writeTime > since;
    }
    if (!missing && !sinceBarrier) {
      for (uint32_t at = offset; at < offset + size; at += 4)
        noteRead(records[at / 4], thread, instruction);
      return {};
    }
    return readSlowly(offset, size, thread, instruction);
  }
  /// `sameValue`: the bytes there already are what is written. Two threads that store the same
  /// value agree, in whatever order.
  Conflict write(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction,
                 bool sameValue);
  /// A read and a write that other atomics do not race with.
  Conflict atomic(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction);

  /// bar.warp.sync: orders the lanes of a warp.
  void syncWarp(unsigned warp) { ++warpTime[warp]; }
  /// A warp arrives: what it has seen, itself included, becomes part of `joined`. One that goes
  /// on at once (bar.arrive) begins a new moment; for those that wait, `release` does.
  void arrive(unsigned warp, Clock &joined, bool goesOn);
  void release() { ++time; }
  /// A warp that waited goes on with all that those who arrived had seen.
  void resume(unsigned warp, const Clock &joined);

private:
  /// Times are 0 where nothing happened.
  struct Record {
    uint32_t writeTime = 0, writeInstruction = 0;
    uint32_t readTime = 0, readInstruction = 0;
    uint32_t readWarps = 0; ///< mask; only those that read at readTime
    uint16_t writer = 0;
    uint16_t reader = 0; ///< kMany: several threads
    uint16_t writeWarpTime = 0, readWarpTime = 0;
    uint8_t lastReadingWarp = 0; ///< whose time readWarpTime is
    bool wroteAtomically = false;
  };
  Conflict readSlowly(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction);
  bool orderedBefore(unsigned otherWarp, uint32_t when, uint16_t whenInWarp, unsigned warp) const {
    return when <= seen[warp][otherWarp] || (otherWarp == warp && whenInWarp != warpTime[warp]);
  }
  bool checkWrite(const Record &record, uint32_t thread, Conflict &conflict) const;
  bool checkReaders(const Record &record, uint32_t thread, Conflict &conflict) const;
  void noteWrite(Record &record, uint32_t thread, uint32_t instruction, bool atomically);
  void noteRead(Record &record, uint32_t thread, uint32_t instruction) {
    unsigned warp = thread / 32;
    if (record.readTime == time) {
      record.reader = record.reader == thread ? thread : kMany;
      record.readWarps |= 1u << warp;
    } else {
      record.readTime = time;
      record.reader = thread;
      record.readWarps = 1u << warp;
    }
    record.lastReadingWarp = warp;
    record.readWarpTime = warpTime[warp];
    record.readInstruction = instruction;
  }

  uint64_t sizeBytes = 0;
  unsigned granule = 4;
  uint32_t time = 1;
  std::vector<uint8_t> bytes, written; ///< written: one a byte
  std::vector<Record> records;         ///< one a granule
  std::array<Clock, kMaxWarps> seen = {};
  std::array<uint16_t, kMaxWarps> warpTime = {}; ///< counts the synchronisations of a warp
  /// Whatever anybody did up to then is ordered before what the warp does now: min of seen[warp].
  Clock floor = {};
  unsigned numWarps = 0;
};

} // namespace hjx::ptxsim
