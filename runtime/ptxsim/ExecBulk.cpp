// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk and cp.async.bulk.tensor: copies of any size between global and shared
// memory, by boxes of a tensor if there is a tensor map (TMA).
//
// The bytes move at once. Who may touch them is a matter of clocks (SharedMemory.h): what
// came in belongs to the copies of its mbarrier, and is known to whoever waits for the
// phase; what goes out is read by the warp's bulk copies until its thread waits for the
// group. Groups are counted by warp, for a single thread issues them.
#include "runtime/ptxsim/AsyncGroups.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/TensorMap.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx::ptxsim {
namespace {

constexpr uint8_t kMulticast = 1, kToGlobal = 2;

// A piece of shared memory is written by a copy that reports to `barrier`.
bool writeShared(Warp &w, unsigned lane, Block &to, uint64_t offset, const uint8_t *from,
                 unsigned size, const MBarrier &barrier) {
  // Blocks of a cluster have clocks of their own: what the other one does is not compared.
  uint32_t worker = SharedMemory::worker(barrier.clock);
  if (w.block->launch->checks) {
    if (&to != w.block)
      to.shared.finishCopy(offset, size, worker, w.current);
    else if (reportConflict(w, lane, offset, size, AccessKind::Write,
                            to.shared.writeLater(offset, size, w.index * 32 + lane, worker, w.current)))
      return false;
  }
  std::memcpy(to.shared.data() + offset, from, size);
  return true;
}

bool readShared(Warp &w, unsigned lane, uint64_t offset, uint8_t *to, unsigned size) {
  SharedMemory &shared = w.block->shared;
  if (w.block->launch->checks &&
      reportConflict(w, lane, offset, size, AccessKind::Read,
                     shared.readLater(offset, size, w.index * 32 + lane,
                                      SharedMemory::worker(kBulkClock + w.index), w.current)))
    return false;
  std::memcpy(to, shared.data() + offset, size);
  return true;
}

bool readGlobal(Warp &w, unsigned lane, uint64_t address, uint8_t *to, unsigned size) {
  const Allocation *source = findGlobal(w, lane, address, size, AccessKind::Read);
  if (!source)
    return false;
  if (w.block->launch->checks && !source->isWritten(address, size)) {
    reportUninitialized(w, lane, address, size, "global memory");
    return false;
  }
  if (!checkBlocks(w, lane, *source, address, size, AccessKind::Read))
    return false;
  std::memcpy(to, source->at(address), size);
  return true;
}

bool writeGlobal(Warp &w, unsigned lane, uint64_t address, const uint8_t *from, unsigned size) {
  const Allocation *target = findGlobal(w, lane, address, size, AccessKind::Write);
  if (!target)
    return false;
  if (!checkBlocks(w, lane, *target, address, size, AccessKind::Write))
    return false;
  std::memcpy(target->at(address), from, size);
  if (w.block->launch->checks)
    target->setWritten(address, size);
  return true;
}

// The operands of one lane.
struct Copy {
  const Instruction &i;
  Warp &w;
  unsigned lane;
  uint64_t sharedAt = 0;
  Block *block = nullptr; ///< whose shared memory it is

  uint64_t addressAt(unsigned which) const {
    uint64_t all[32];
    loadExtraAddresses(i, w, which, all);
    return all[lane];
  }
  bool locate(unsigned sizeBytes, unsigned align, AccessKind kind) {
    Access access;
    loadAddresses(i, w, access);
    sharedAt = access.address[lane];
    block = locateShared(w, lane, Space::Shared, sizeBytes, kind, sharedAt);
    return block && checkAlignment(w, lane, sharedAt, align, kind);
  }
  /// The blocks to copy to and, of each, the mbarrier; false after a finding.
  bool locateTargets(unsigned barrierOperand, const uint16_t *mask,
                     std::vector<std::pair<Block *, MBarrier *>> &targets) {
    uint64_t offset = addressAt(barrierOperand);
    Block *home = locateShared(w, lane, Space::Shared, 8, AccessKind::Atomic, offset);
    if (!home || !checkAlignment(w, lane, offset, 8, AccessKind::Atomic))
      return false;
    std::vector<Block *> blocks = {block};
    if (mask) {
      blocks.clear();
      for (unsigned rank = 0; rank < w.block->cluster.size(); ++rank)
        if (mask[lane] >> rank & 1)
          blocks.push_back(w.block->cluster[rank]);
      if (!mask[lane] || mask[lane] >> w.block->cluster.size()) {
        w.fail(Finding::Kind::LaunchFailed, lane,
               absl::StrFormat("expected a mask of the cluster's %d blocks, got 0x%x",
                               w.block->cluster.size(), mask[lane]));
        return false;
      }
    }
    for (Block *one : blocks) {
      MBarrier *barrier = findMBarrier(w, lane, mask ? *one : *home, offset);
      if (!barrier || !checkInitFence(w, lane, mask ? *one : *home, *barrier))
        return false;
      targets.push_back({one, barrier});
    }
    return true;
  }
};

// list: bytes, [mask]; addresses: shared, global, mbarrier.
void copyIn(const Instruction &i, Warp &w) {
  const Slot *list = w.list(i);
  for (Mask left = w.exec; left; left &= left - 1) {
    Copy copy{i, w, unsigned(__builtin_ctz(left))};
    uint32_t size = w.read<uint32_t>(list[0])[copy.lane];
    uint64_t from = copy.addressAt(1);
    std::vector<std::pair<Block *, MBarrier *>> targets;
    if (!copy.locate(size, 16, AccessKind::Write) ||
        !checkAlignment(w, copy.lane, from, 16, AccessKind::Read) ||
        !copy.locateTargets(2, i.flags & kMulticast ? w.read<uint16_t>(list[1]) : nullptr, targets))
      return;
    if (size % 16)
      return w.fail(Finding::Kind::Misaligned, copy.lane,
                    absl::StrCat("expected a multiple of 16 bytes to copy, got ", size));
    std::vector<uint8_t> bytes(size);
    if (!readGlobal(w, copy.lane, from, bytes.data(), size))
      return;
    for (auto [block, barrier] : targets) {
      if (!writeShared(w, copy.lane, *block, copy.sharedAt, bytes.data(), size, *barrier))
        return;
      addBytes(*block, *barrier, -int64_t(size));
    }
  }
}

// list: bytes; addresses: shared, global.
void copyOut(const Instruction &i, Warp &w) {
  for (Mask left = w.exec; left; left &= left - 1) {
    Copy copy{i, w, unsigned(__builtin_ctz(left))};
    uint32_t size = w.read<uint32_t>(w.list(i)[0])[copy.lane];
    uint64_t to = copy.addressAt(1);
    if (!copy.locate(size, 16, AccessKind::Read) ||
        !checkAlignment(w, copy.lane, to, 16, AccessKind::Write))
      return;
    if (size % 16)
      return w.fail(Finding::Kind::Misaligned, copy.lane,
                    absl::StrCat("expected a multiple of 16 bytes to copy, got ", size));
    std::vector<uint8_t> bytes(size);
    if (!readShared(w, copy.lane, copy.sharedAt, bytes.data(), size) ||
        !writeGlobal(w, copy.lane, to, bytes.data(), size))
      return;
    w.openBulkCopy = w.current;
    w.openBulkGroup = w.bulkGroups.size();
  }
}

// The map at a generic address; null after a finding.
const TensorMap *findMap(Warp &w, unsigned lane, uint64_t address, TensorMap &copy) {
  if (!checkAlignment(w, lane, address, 64, AccessKind::Read))
    return nullptr;
  const Launch &launch = *w.block->launch;
  if (address / kWindowBytes == kParamWindow / kWindowBytes) {
    uint64_t offset = address % kWindowBytes;
    if (offset + sizeof(TensorMap) <= launch.kernel.paramBytes)
      std::memcpy(&copy, launch.params + offset, sizeof(TensorMap));
    else
      copy.magic = 0;
  } else if (!readGlobal(w, lane, address, reinterpret_cast<uint8_t *>(&copy), sizeof(TensorMap))) {
    return nullptr;
  }
  if (copy.magic == TensorMap::kMagic)
    return &copy;
  w.fail(Finding::Kind::LaunchFailed, lane,
         absl::StrFormat("there is no tensor map at 0x%x: cuTensorMapEncodeTiled makes one", address));
  return nullptr;
}

// Calls body(index of the row in the box, its address in global memory, first and last element inside
// the tensor); both are 0 for a row that is outside. The address is that of the first.
template <typename Body>
bool forRows(const TensorMap &map, const std::array<int32_t, kMaxRank> &at, Body body) {
  int64_t begin = std::max<int64_t>(0, -int64_t(at[0]));
  int64_t end = std::min<int64_t>(map.box[0], int64_t(map.dims[0]) - at[0]);
  std::array<uint32_t, kMaxRank> step = {};
  for (uint64_t row = 0; row < map.numRows(); ++row) {
    bool isInside = begin < end;
    uint64_t address = map.address + (at[0] + begin) * map.elementBytes;
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      int64_t index = int64_t(at[axis]) + step[axis];
      isInside &= index >= 0 && index < int64_t(map.dims[axis]);
      address += index * map.strides[axis - 1];
    }
    if (!body(row, address, isInside ? begin : 0, isInside ? end : 0))
      return false;
    for (unsigned axis = 1; axis < map.rank && ++step[axis] == map.box[axis]; ++axis)
      step[axis] = 0;
  }
  return true;
}

std::array<int32_t, kMaxRank> coordinates(const Copy &copy, unsigned rank) {
  std::array<int32_t, kMaxRank> at = {};
  for (unsigned axis = 0; axis < rank; ++axis)
    at[axis] = copy.w.read<int32_t>(copy.w.list(copy.i)[axis])[copy.lane];
  return at;
}

bool checkRank(Copy &copy, const TensorMap &map) {
  if (map.rank == copy.i.count)
    return true;
  copy.w.fail(Finding::Kind::LaunchFailed, copy.lane,
              absl::StrCat("the tensor map has ", map.rank, " dimensions, the instruction ", copy.i.count));
  return false;
}

// To nearest, as cvt.rna.tf32.f32 does; NVIDIA does not say how. NaN and infinity stay.
void roundToTf32(std::vector<uint8_t> &bytes) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t bits;
    std::memcpy(&bits, &bytes[at], 4);
    if ((bits >> 23 & 0xFF) != 0xFF)
      bits += 0x1000;
    bits &= ~0x1FFFu;
    std::memcpy(&bytes[at], &bits, 4);
  }
}

// list: coordinates, [mask]; addresses: shared, map, mbarrier. i.count: rank.
void loadBox(const Instruction &i, Warp &w) {
  for (Mask left = w.exec; left; left &= left - 1) {
    Copy copy{i, w, unsigned(__builtin_ctz(left))};
    TensorMap storage;
    const TensorMap *map = findMap(w, copy.lane, copy.addressAt(1), storage);
    std::vector<std::pair<Block *, MBarrier *>> targets;
    if (!map || !checkRank(copy, *map) || !copy.locate(map->boxBytes(), 128, AccessKind::Write) ||
        !copy.locateTargets(2, i.flags & kMulticast ? w.read<uint16_t>(w.list(i)[i.count]) : nullptr,
                            targets))
      return;
    uint64_t rowBytes = map->rowBytes(), size = map->elementBytes;
    std::vector<uint8_t> bytes(rowBytes);
    bool good = forRows(*map, coordinates(copy, i.count),
                        [&](uint64_t row, uint64_t address, int64_t begin, int64_t end) {
      std::fill(bytes.begin(), bytes.end(), map->fillsNan ? 0xFF : 0);
      if (begin < end && !readGlobal(w, copy.lane, address, &bytes[begin * size], (end - begin) * size))
        return false;
      if (map->rounds())
        roundToTf32(bytes);
      for (uint64_t chunk = 0; chunk < rowBytes; chunk += 16)
        for (auto [block, barrier] : targets)
          if (!writeShared(w, copy.lane, *block,
                           swizzled(copy.sharedAt + row * rowBytes + chunk, map->swizzle), &bytes[chunk],
                           16, *barrier))
            return false;
      return true;
    });
    if (!good)
      return;
    for (auto [block, barrier] : targets)
      addBytes(*block, *barrier, -int64_t(map->boxBytes()));
  }
}

// list: coordinates; addresses: shared, map.
void storeBox(const Instruction &i, Warp &w) {
  for (Mask left = w.exec; left; left &= left - 1) {
    Copy copy{i, w, unsigned(__builtin_ctz(left))};
    TensorMap storage;
    const TensorMap *map = findMap(w, copy.lane, copy.addressAt(1), storage);
    if (!map || !checkRank(copy, *map) || !copy.locate(map->boxBytes(), 128, AccessKind::Read))
      return;
    uint64_t rowBytes = map->rowBytes(), size = map->elementBytes;
    std::vector<uint8_t> bytes(rowBytes);
    bool good = forRows(*map, coordinates(copy, i.count),
                        [&](uint64_t row, uint64_t address, int64_t begin, int64_t end) {
      for (uint64_t chunk = 0; chunk < rowBytes; chunk += 16)
        if (!readShared(w, copy.lane, swizzled(copy.sharedAt + row * rowBytes + chunk, map->swizzle),
                        &bytes[chunk], 16))
          return false;
      return begin == end ||
             writeGlobal(w, copy.lane, address, &bytes[begin * size], (end - begin) * size);
    });
    if (!good)
      return;
    w.openBulkCopy = w.current;
    w.openBulkGroup = w.bulkGroups.size();
  }
}

void commitGroup(const Instruction &, Warp &w) { w.bulkGroups.push_back(w.block->shared.moment()); }

// Groups end in order. What was not committed is not waited for.
void waitGroup(const Instruction &i, Warp &w) {
  uint64_t open = i.immediate, count = w.bulkGroups.size();
  if (count <= open)
    return;
  w.block->shared.observe(w.index, kBulkClock + w.index, w.bulkGroups[count - open - 1]);
  if (w.openBulkGroup < count - open)
    w.openBulkCopy = kNever;
}

void nothing(const Instruction &, Warp &) {}

// [shared], then [global] or [map, {coordinates}], in the order of the copy.
void decodeCopy(InstructionDecoder &d, unsigned rank) {
  const bool isOut = d.out.flags & kToGlobal;
  const std::vector<Operand> &operands = d.operands();
  Operand shared = operands[isOut ? 1 : 0], other = operands[isOut ? 0 : 1];
  std::vector<Operand> at;
  if (rank) {
    if (other.kind != Operand::Kind::Address || other.parts.size() != 2 ||
        other.parts[1].kind != Operand::Kind::Vector || other.parts[1].parts.size() != rank)
      return d.fail(absl::StrCat("expected [map, {", rank, " coordinates}]"));
    at = other.parts[1].parts;
    other.parts.pop_back();
  }
  Space space = Space::Shared, generic = Space::Generic;
  uint8_t flags = d.out.flags;
  d.address(shared, space);
  d.out.flags |= flags;
  d.extraAddress(other, 1, generic);
  size_t next = 2;
  if (rank)
    for (const Operand &coordinate : at)
      d.list(coordinate, 1, Type::B32);
  else
    d.list(operands[next++], 1, Type::B32);
  if (!isOut)
    d.extraAddress(operands[next++], 2, space);
  if (flags & kMulticast)
    d.list(operands[next++], 1, Type::B16);
}

} // namespace

bool decodeBulk(InstructionDecoder &d) {
  if (d.op.base != "cp")
    return false;
  Opcode before = d.op;
  if (!d.op.take("async") || !d.op.take("bulk")) {
    d.op = before;
    return false;
  }
  d.expectTarget(90);
  if (!decodeGroup(d, commitGroup, waitGroup, /*canRead=*/true)) {
    bool isPrefetch = d.op.take("prefetch"), isTensor = d.op.take("tensor");
    absl::string_view dims = isTensor ? d.op.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) : "";
    unsigned rank = dims.empty() ? 0 : dims[0] - '0';
    d.op.take("tile");
    bool hasPolicy = d.op.take("L2::cache_hint");
    bool hasMask = d.op.take("multicast::cluster"), reports = d.op.take("mbarrier::complete_tx::bytes");
    bool inGroup = d.op.take("bulk_group");
    bool hasShared = d.op.take("shared::cluster") || d.op.take("shared::cta");
    bool hasGlobal = d.op.take("global");
    if ((isTensor && !rank) || !hasGlobal || (!isPrefetch && (!hasShared || reports == inGroup))) {
      d.fail("unknown form of this instruction");
      return true;
    }
    if (isPrefetch) {
      d.op.take("L2");
      d.out.run = nothing;
      d.emit();
      return true;
    }
    if (!d.expectOperands(2 + !isTensor + reports + hasMask + hasPolicy))
      return true;
    d.out.flags = (hasMask ? kMulticast : 0) | (inGroup ? kToGlobal : 0);
    d.out.count = rank;
    decodeCopy(d, rank);
    d.out.run = rank ? (inGroup ? storeBox : loadBox) : inGroup ? copyOut : copyIn;
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
