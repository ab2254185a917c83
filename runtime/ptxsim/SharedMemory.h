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
//
// Work that goes on while its thread does (wgmma, bulk copies) has clocks of its own: it
// starts with what the issuing thread has seen, and what it did is seen by whoever waits
// for it, directly or by way of barriers. What cp.async copies is in flight until its own
// thread waits, and nobody may touch it. Asynchronous work goes past the caches ("async
// proxy"): what ordinary stores wrote it sees only behind a fence.proxy.async, by the
// writer or by the reader that has seen the write; `fenced` are clocks of those fences.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hjx::ptxsim {

constexpr unsigned kMaxWarps = 32;

/// Clocks of the asynchronous work of each warp, and of the copies that report to an mbarrier.
enum : unsigned { kMatrixClock = 32, kBulkClock = 64, kMBarrierClock = 96, kNumClocks = 128 };

class SharedMemory {
public:
  /// What an access conflicts with.
  struct Conflict {
    enum class Kind : uint8_t {
      None,
      Uninitialized,
      Race,
      InFlight,  ///< the target of a cp.async that was not waited for
      MBarrier,  ///< holds one
      NotFenced, ///< written by ordinary stores, read by asynchronous work
    } kind = Kind::None;
    bool otherWrote = false;
    uint32_t otherInstruction = 0;
    uint32_t otherThread = 0; ///< kMany: several
  };
  static constexpr uint32_t kMany = 0xFFFF;
  using Clock = std::array<uint32_t, kNumClocks>;
  /// What stands for a thread in the accesses of asynchronous work.
  static constexpr uint32_t worker(unsigned clock) { return clock * 32; }

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

  /// cp.async: `issue` makes the bytes untouchable, `finish` turns them into a write of `writer`, a
  /// thread or a worker, that happens now.
  Conflict issueCopy(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction);
  void finishCopy(uint32_t offset, uint32_t size, uint32_t writer, uint32_t instruction);
  /// Asynchronous work of `worker`, which `thread` starts now.
  Conflict readLater(uint32_t offset, uint32_t size, uint32_t thread, uint32_t worker,
                     uint32_t instruction);
  Conflict writeLater(uint32_t offset, uint32_t size, uint32_t thread, uint32_t worker,
                      uint32_t instruction);
  /// Eight bytes become an mbarrier, or cease to be one.
  Conflict beginMBarrier(uint32_t offset, uint32_t thread, uint32_t instruction);
  void endMBarrier(uint32_t offset) { std::memset(&written[offset], kUnwritten, 8); }
  /// Whether the mbarrier's begin is ordered before what `thread` does.
  Conflict useMBarrier(uint32_t offset, uint32_t thread) const;

  /// By another block, whose work is not ordered with that of this one.
  void setWritten(uint32_t offset, uint32_t size) { std::memset(&written[offset], kWritten, size); }

  /// bar.warp.sync: orders the lanes of a warp.
  void syncWarp(unsigned warp) { ++warpTime[warp]; }
  /// A warp arrives: what it has seen, itself included, becomes part of `joined`. One that goes
  /// on at once (bar.arrive) begins a new moment; for those that wait, `release` does.
  void arrive(unsigned warp, Clock &joined, bool goesOn);
  void release() { ++time; }
  /// A warp goes on after it added what it has seen to `joined`.
  void publish(unsigned warp, Clock &joined) {
    join(joined, seen[warp]);
    joined[warp] = time++;
  }
  /// All that a worker did up to now is part of `joined`.
  void publishWorker(unsigned clock, Clock &joined) { joined[clock] = time++; }
  uint32_t now() const { return time; }
  const Clock &seenBy(unsigned warp) const { return seen[warp]; }
  /// A moment to come back to: see `observe`.
  uint32_t moment() { return time++; }
  /// The warp knows what a worker of its own did up to that moment.
  void observe(unsigned warp, unsigned clock, uint32_t when) {
    seen[warp][clock] = std::max(seen[warp][clock], when);
  }
  /// fence.proxy.async.
  void fence(unsigned warp) {
    join(fenced[warp], seen[warp]);
    fenced[warp][warp] = time++;
  }
  /// Whether `warp` has fenced since.
  bool isFenced(unsigned warp, uint32_t when) const { return when <= fenced[warp][warp]; }
  /// A warp that waited goes on with all that those who arrived had seen.
  void resume(unsigned warp, const Clock &joined);

private:
  /// Times are 0 where nothing happened.
  struct Record {
    uint32_t writeTime = 0, writeInstruction = 0;
    uint32_t readTime = 0, readInstruction = 0;
    std::array<uint32_t, 3> readers = {}; ///< clocks; only those that read at readTime
    uint16_t writer = 0;
    uint16_t reader = 0; ///< kMany: several threads
    uint16_t writeWarpTime = 0, readWarpTime = 0;
    uint8_t lastReadingWarp = 0; ///< whose time readWarpTime is
    bool wroteAtomically = false;
    bool wroteLater = false; ///< by way of the async proxy
  };
  enum State : uint8_t { kUnwritten = 0, kWritten = 1, kInFlight = 2, kMBarrier = 3 };
  Conflict readSlowly(uint32_t offset, uint32_t size, uint32_t thread, uint32_t instruction);
  bool orderedBefore(unsigned otherWarp, uint32_t when, uint16_t whenInWarp, unsigned warp) const {
    return when <= seen[warp][otherWarp] || (otherWarp == warp && whenInWarp != warpTime[warp]);
  }
  static void join(Clock &into, const Clock &other) {
    for (unsigned clock = 0; clock < kNumClocks; ++clock)
      into[clock] = std::max(into[clock], other[clock]);
  }
  void useWorkers();
  /// False, with the conflict, if not all bytes are `kWritten`; for a write: if one is untouchable.
  bool checkStates(uint32_t offset, uint32_t size, bool isRead, Conflict &conflict) const;
  bool checkWrite(const Record &record, uint32_t thread, Conflict &conflict) const;
  bool checkReaders(const Record &record, uint32_t thread, Conflict &conflict) const;
  void noteWrite(Record &record, uint32_t thread, uint32_t instruction, bool atomically);
  void noteRead(Record &record, uint32_t thread, uint32_t instruction) {
    unsigned warp = thread / 32;
    if (record.readTime == time) {
      record.reader = record.reader == thread ? thread : kMany;
    } else {
      record.readTime = time;
      record.reader = thread;
      record.readers = {};
    }
    record.readers[warp / 32] |= 1u << warp % 32;
    record.lastReadingWarp = warp;
    record.readWarpTime = warpTime[warp];
    record.readInstruction = instruction;
  }

  uint64_t sizeBytes = 0;
  unsigned granule = 4;
  uint32_t time = 1;
  std::vector<uint8_t> bytes, written; ///< written: a State for each byte
  std::vector<Record> records;         ///< one a granule
  std::array<Clock, kMaxWarps> seen = {}, fenced = {};
  std::array<uint16_t, kNumClocks> warpTime = {}; ///< counts the synchronisations of a warp
  /// Whatever anybody did up to then is ordered before what the warp does now: min of seen[warp],
  /// or 0 once there are workers.
  std::array<uint32_t, kMaxWarps> floor = {};
  bool hasWorkers = false;
  unsigned numWarps = 0;
};

} // namespace hjx::ptxsim
