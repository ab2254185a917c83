// SPDX-License-Identifier: Apache-2.0
//
// Bounds and alignment, and the words of what is found; see the header.
#include "runtime/ptxsim/Access.h"

#include "runtime/ptxsim/Cluster.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hjx::ptxsim {

void loadAddresses(const Instruction &i, const Warp &w, Access &access) {
  if (i.flags & InstructionDecoder::kNarrowBase) {
    const auto *base = w.read<uint32_t>(i.src[0]);
    for (unsigned lane = 0; lane < 32; ++lane)
      access.address[lane] = uint32_t(base[lane] + i.immediate);
  } else {
    const auto *base = w.read<uint64_t>(i.src[0]);
    for (unsigned lane = 0; lane < 32; ++lane)
      access.address[lane] = base[lane] + i.immediate;
  }
}

void loadExtraAddresses(const Instruction &i, const Warp &w, unsigned which, uint64_t *address) {
  const auto *offset = w.read<uint64_t>(i.src[2 * which]);
  if (i.flags & InstructionDecoder::narrowExtra(which)) {
    const auto *base = w.read<uint32_t>(i.src[2 * which - 1]);
    for (unsigned lane = 0; lane < 32; ++lane)
      address[lane] = uint32_t(base[lane] + offset[lane]);
  } else {
    const auto *base = w.read<uint64_t>(i.src[2 * which - 1]);
    for (unsigned lane = 0; lane < 32; ++lane)
      address[lane] = base[lane] + offset[lane];
  }
}

static Space spaceOf(uint64_t generic) {
  switch (generic / kWindowBytes) {
  case kSharedWindow / kWindowBytes:
    return generic % kWindowBytes >> kRankShift ? Space::Cluster : Space::Shared;
  case kLocalWindow / kWindowBytes: return Space::Local;
  case kParamWindow / kWindowBytes: return Space::Param;
  default: return Space::Global;
  }
}

Mask splitGeneric(const Warp &w, Mask lanes, Access &access, Space &space) {
  space = spaceOf(access.address[__builtin_ctz(lanes)]);
  Mask same = 0;
  for (Mask left = lanes; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    if (spaceOf(access.address[lane]) == space)
      same |= Mask(1) << lane;
  }
  if (space != Space::Global)
    for (Mask left = same; left; left &= left - 1)
      access.address[__builtin_ctz(left)] %= kWindowBytes;
  return same;
}

absl::string_view verb(AccessKind kind) {
  return kind == AccessKind::Read ? "read" : kind == AccessKind::Write ? "write" : "atomic access";
}

static bool failBounds(Warp &w, unsigned lane, Space space, uint64_t address, unsigned size,
                       AccessKind kind, uint64_t spaceBytes) {
  std::string what = absl::StrFormat("%s of %d bytes at 0x%x", verb(kind), size, address);
  if (space == Space::Global) {
    if (const Allocation *near = w.block->launch->memory.find(address))
      absl::StrAppend(&what, absl::StrFormat(": %d bytes behind the begin of the allocation of %d "
                                             "bytes at 0x%x", address - near->begin,
                                             near->end - near->begin, near->begin));
    else
      absl::StrAppend(&what, ", which is no device memory");
  } else {
    absl::StrAppend(&what, absl::StrFormat(": the %s memory has %d bytes",
                                           space == Space::Shared  ? "block's shared"
                                           : space == Space::Local ? "thread's local"
                                                                   : "kernel's parameter",
                                           spaceBytes));
  }
  w.fail(Finding::Kind::IllegalAddress, lane, what);
  return false;
}

static bool failAlignment(Warp &w, unsigned lane, uint64_t address, unsigned size,
                          AccessKind kind) {
  w.fail(Finding::Kind::Misaligned, lane,
         absl::StrFormat("%s of %d bytes at 0x%x, which is not a multiple of %d", verb(kind), size,
                         address, size));
  return false;
}

bool checkAlignment(Warp &w, unsigned lane, uint64_t address, unsigned align, AccessKind kind) {
  return address % align == 0 || failAlignment(w, lane, address, align, kind);
}

const Allocation *findGlobal(Warp &w, unsigned lane, uint64_t address, unsigned size,
                             AccessKind kind) {
  const Allocation *&last = w.lastAllocations[w.current % w.lastAllocations.size()];
  if (last && last->contains(address, size))
    return last;
  const Allocation *one = w.block->launch->memory.find(address);
  if (one && one->contains(address, size))
    return last = one;
  failBounds(w, lane, Space::Global, address, size, kind, 0);
  return nullptr;
}

static bool resolveGlobal(Warp &w, unsigned size, AccessKind kind, Access &access) {
  const Memory &memory = w.block->launch->memory;
  const uint64_t *address = access.address;
  uint64_t lowest = ~uint64_t(0), highest = 0;
  access.isContiguous = access.isUniform = false;
  if (w.exec == ~Mask(0)) {
    // The usual shapes need no search for the ends.
    uint64_t differsFromRow = 0, differsFromFirst = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      differsFromRow |= address[lane] ^ (address[0] + lane * size);
      differsFromFirst |= address[lane] ^ address[0];
    }
    access.isContiguous = !differsFromRow;
    access.isUniform = !differsFromFirst;
    lowest = address[0];
    highest = address[31];
  }
  if (!access.isContiguous && !access.isUniform)
    for (unsigned lane = 0; lane < 32; ++lane) {
      bool executes = w.exec >> lane & 1;
      lowest = executes && address[lane] < lowest ? address[lane] : lowest;
      highest = executes && address[lane] > highest ? address[lane] : highest;
    }
  access.lowest = lowest;
  const Allocation *&last = w.lastAllocations[w.current % w.lastAllocations.size()];
  const Allocation *allocation = last;
  auto holds = [&](const Allocation *one) {
    return one && lowest >= one->begin && lowest <= highest && highest <= one->end &&
           size <= one->end - highest;
  };
  if (!holds(allocation))
    allocation = memory.find(lowest);
  if (holds(allocation)) {
    access.allocation = last = allocation;
    uint8_t *bytes = allocation->bytes.get();
    for (unsigned lane = 0; lane < 32; ++lane) // Addresses of lanes that do not execute mean nothing.
      access.at[lane] = bytes + (w.exec >> lane & 1 ? access.address[lane] - allocation->begin : 0);
  } else {
    access.allocation = nullptr;
    access.isContiguous = access.isUniform = false;
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      const Allocation *one = memory.find(access.address[lane]);
      if (!one || !one->contains(access.address[lane], size))
        return failBounds(w, lane, Space::Global, access.address[lane], size, kind, 0);
      access.at[lane] = one->at(access.address[lane]);
    }
  }
  return true;
}

// Blocks of a cluster have clocks of their own: races between them are not looked for.
static bool resolveCluster(Warp &w, unsigned size, AccessKind kind, Access &access) {
  access.allocation = nullptr;
  access.isContiguous = access.isUniform = false;
  for (unsigned lane = 0; lane < 32; ++lane) {
    access.at[lane] = w.block->shared.data();
    if (!(w.exec >> lane & 1))
      continue;
    uint64_t offset = access.address[lane];
    Block *block = locateShared(w, lane, Space::Cluster, size, kind, offset);
    if (!block)
      return false;
    access.at[lane] = block->shared.data() + offset;
  }
  return true;
}

void noteClusterWrite(Warp &w, unsigned size, const Access &access) {
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    uint64_t offset = access.address[lane];
    if (Block *block = locateShared(w, lane, Space::Cluster, size, AccessKind::Write, offset))
      block->shared.setWritten(offset, size);
  }
}

bool resolve(Warp &w, Space space, unsigned size, AccessKind kind, Access &access) {
  const Launch &launch = *w.block->launch;
  if (launch.checks) {
    uint64_t low = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      low |= w.exec >> lane & 1 ? access.address[lane] : 0;
    if (low & (size - 1))
      for (Mask left = w.exec; left; left &= left - 1)
        if (uint64_t address = access.address[__builtin_ctz(left)]; address & (size - 1))
          return failAlignment(w, __builtin_ctz(left), address, size, kind);
  }
  if (space == Space::Global || space == Space::Const)
    return resolveGlobal(w, size, kind, access);
  if (space == Space::Cluster)
    return resolveCluster(w, size, kind, access);
  uint8_t *base = nullptr;
  uint64_t bytes = 0, stride = 0;
  if (space == Space::Shared) {
    base = w.block->shared.data();
    bytes = launch.sharedBytes();
  } else if (space == Space::Local) {
    base = w.local;
    bytes = stride = launch.kernel.localBytes;
  } else {
    base = const_cast<uint8_t *>(launch.params);
    bytes = launch.kernel.paramBytes;
  }
  access.allocation = nullptr;
  access.isContiguous = access.isUniform = false;
  uint64_t outside = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t address = access.address[lane];
    bool isOutside = address > bytes || size > bytes - address;
    outside |= isOutside && (w.exec >> lane & 1);
    access.at[lane] = base + stride * lane + address;
  }
  if (outside)
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      uint64_t address = access.address[lane];
      if (address > bytes || size > bytes - address)
        return failBounds(w, lane, space, address, size, kind, bytes);
    }
  return true;
}

void describeConflict(Warp &w, unsigned lane, uint64_t offset, unsigned size, AccessKind kind,
                      const SharedMemory::Conflict &conflict) {
  if (conflict.kind == SharedMemory::Conflict::Kind::Uninitialized)
    return reportUninitialized(w, lane, offset, size, "shared memory");
  std::string access =
      absl::StrFormat("%s of %d bytes at 0x%x of shared memory", verb(kind), size, offset);
  if (conflict.kind == SharedMemory::Conflict::Kind::MBarrier)
    return w.fail(Finding::Kind::LaunchFailed, lane, access + ", where an mbarrier lies");
  const Launch &launch = *w.block->launch;
  const Kernel::Line &line = launch.kernel.lines[conflict.otherInstruction];
  std::string other =
      absl::StrFormat("%s in ptx line %d `%s`", describeThread(launch, conflict.otherThread),
                      line.number, line.text);
  if (conflict.kind == SharedMemory::Conflict::Kind::InFlight)
    absl::StrAppend(&access, ", where the copy by ", other, " has not arrived: nothing waits for it");
  else if (conflict.kind == SharedMemory::Conflict::Kind::NotFenced)
    absl::StrAppend(&access, ", asynchronously, after the write by ", other,
                    " without a fence.proxy.async");
  else
    absl::StrAppend(&access, " races with the ", conflict.otherWrote ? "write" : "read", " by ",
                    other, ": no barrier lies between them");
  w.fail(Finding::Kind::LaunchFailed, lane, access);
}

void reportUninitialized(Warp &w, unsigned lane, uint64_t address, unsigned size,
                         absl::string_view where) {
  w.fail(Finding::Kind::LaunchFailed, lane,
         absl::StrFormat("read of %d bytes at 0x%x of %s, which were never written", size, address,
                         where));
}

MemoryOrder takeCacheModifiers(Opcode &op) {
  MemoryOrder order;
  absl::string_view how = op.takeOneOf({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  order.isStrong = !how.empty() && how != "weak";
  order.acquires = how == "acquire" || how == "acq_rel";
  order.releases = how == "release" || how == "acq_rel";
  order.isOfBlock = op.take("cta");
  for (absl::string_view word :
       {"mmio", "cluster", "gpu", "sys", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
        "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B",
        "L2::128B", "L2::256B", "L2::evict_last", "L2::evict_normal", "L2::evict_first"})
    op.take(word);
  return order;
}

} // namespace hjx::ptxsim
