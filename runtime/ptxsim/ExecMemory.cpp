// SPDX-License-Identifier: Apache-2.0
//
// ld, st and prefetch.
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/KernelDecoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Move.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {
namespace {

bool allWritten(const uint8_t *shadow, unsigned count) {
  uint8_t all = 0xF;
  for (unsigned word = 0; word < count; ++word)
    all &= shadow[word];
  return all == 0xF;
}

// Was everything that is read written before? False after a finding.
bool checkRead(const Instruction &i, Warp &w, Space space, unsigned size, const Access &access) {
  const Launch &launch = *w.block->launch;
  if (space == Space::Shared) {
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      uint64_t offset = access.address[lane];
      if (reportConflict(w, lane, offset, size, AccessKind::Read,
                         w.block->shared.read(offset, size, w.index * 32 + lane, w.current)))
        return false;
    }
  } else if (space == Space::Global || space == Space::Const) {
    if (const Allocation *allocation = access.allocation; allocation && size % 4 == 0) {
      const uint8_t *shadow = allocation->written.get();
      const uint8_t *first = shadow + (access.lowest - allocation->begin) / 4;
      uint8_t all = 0xF;
      if (access.isContiguous || access.isUniform)
        all = allWritten(first, access.isUniform ? size / 4 : size * 8) ? 0xF : 0;
      else
        for (Mask left = w.exec; left; left &= left - 1)
          for (unsigned word = 0; word < size / 4; ++word)
            all &= shadow[(access.address[__builtin_ctz(left)] - allocation->begin) / 4 + word];
      if (all == 0xF)
        return true;
    }
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      if (access.allocationOf(launch, lane).isWritten(access.address[lane], size))
        continue;
      reportUninitialized(w, lane, access.address[lane], size, "global memory");
      return false;
    }
  }
  return true;
}

// One element a lane into registers of the same size: the usual load.
template <typename T>
void loadElement(const Instruction &i, Warp &w, const Access &access, unsigned offset, Slot slot) {
  alignas(64) T out[32];
  if (access.isContiguous && i.count == 1) {
    std::memcpy(w.row<T>(slot), access.at[0], sizeof(out));
    return;
  }
  if (w.exec == ~Mask(0)) {
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(&out[lane], access.at[lane] + offset, sizeof(T));
    std::memcpy(w.row<T>(slot), out, sizeof(out));
    return;
  }
  T *to = w.row<T>(slot);
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    std::memcpy(&to[lane], access.at[lane] + offset, sizeof(T));
  }
}

// Into wider registers, extended as the type says.
void loadWider(const Instruction &i, Warp &w, const Access &access, unsigned offset, Slot slot) {
  uint64_t out[32] = {};
  unsigned unused = 64 - 8 * i.sizeBytes;
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    std::memcpy(&out[lane], access.at[lane] + offset, i.sizeBytes);
    if (isSigned(i.type))
      out[lane] = uint64_t(int64_t(out[lane] << unused) >> unused);
  }
  storeRegister(w, slot, i.registerBytes, out);
}

template <Space kSpace> void load(const Instruction &i, Warp &w) {
  unsigned size = i.sizeBytes * i.count;
  access(i, w, kSpace, size, AccessKind::Read, [&](Space space, Access &access) {
    if (w.block->launch->checks && !checkRead(i, w, space, size, access))
      return;
    if (space == Space::Global && !checkBlocks(w, access, size, AccessKind::Read))
      return;
    for (unsigned k = 0; k < i.count; ++k) {
      unsigned offset = k * i.sizeBytes;
      if (i.registerBytes != i.sizeBytes)
        loadWider(i, w, access, offset, i.dst[k]);
      else if (i.sizeBytes == 4)
        loadElement<uint32_t>(i, w, access, offset, i.dst[k]);
      else if (i.sizeBytes == 8)
        loadElement<uint64_t>(i, w, access, offset, i.dst[k]);
      else
        loadElement<uint16_t>(i, w, access, offset, i.dst[k]);
    }
  });
}

// One lane's elements, side by side as they will be in memory.
void gather(const Instruction &i, const uint8_t *const *rows, unsigned lane, uint8_t *value) {
  for (unsigned k = 0; k < i.count; ++k) {
    uint8_t *to = value + k * i.sizeBytes;
    const uint8_t *from = rows[k] + lane * i.registerBytes;
    if (i.sizeBytes == 4) // Of fixed size, which is one instruction.
      std::memcpy(to, from, 4);
    else if (i.sizeBytes == 8)
      std::memcpy(to, from, 8);
    else
      std::memcpy(to, from, i.sizeBytes);
  }
}

// Lane by lane: the last one that writes a place wins, and the next one sees what it wrote.
void storeShared(const Instruction &i, Warp &w, const uint8_t *const *rows, const Access &access) {
  unsigned size = i.sizeBytes * i.count;
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    uint8_t value[32];
    gather(i, rows, lane, value);
    uint8_t differs = 0;
    for (unsigned byte = 0; byte < size; ++byte)
      differs |= access.at[lane][byte] ^ value[byte];
    bool same = !differs;
    uint64_t offset = access.address[lane];
    if (reportConflict(
            w, lane, offset, size, AccessKind::Write,
            w.block->shared.write(offset, size, w.index * 32 + lane, w.current, same)))
      return;
    std::memcpy(access.at[lane], value, size);
  }
}

template <Space kSpace> void store(const Instruction &i, Warp &w) {
  unsigned size = i.sizeBytes * i.count;
  access(i, w, kSpace, size, AccessKind::Write, [&](Space space, Access &access) {
    bool checks = w.block->launch->checks;
    const uint8_t *rows[4];
    for (unsigned k = 0; k < i.count; ++k)
      rows[k] = w.read<uint8_t>(i.src[k + 1]);
    if (checks && space == Space::Shared)
      return storeShared(i, w, rows, access);
    if (space == Space::Global && !checkBlocks(w, access, size, AccessKind::Write))
      return;
    if (access.isContiguous && i.count == 1 && i.registerBytes == size) {
      std::memcpy(access.at[0], rows[0], 32 * size);
    } else {
      for (Mask left = w.exec; left; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        uint8_t value[32];
        gather(i, rows, lane, value);
        std::memcpy(access.at[lane], value, size);
      }
    }
    if (checks && space == Space::Cluster)
      noteClusterWrite(w, size, access);
    if (!checks || space != Space::Global)
      return;
    if (access.isContiguous && size % 4 == 0) {
      const Allocation &allocation = *access.allocation;
      std::memset(allocation.written.get() + (access.lowest - allocation.begin) / 4, 0xF, size * 8);
      return;
    }
    for (Mask left = w.exec; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      access.allocationOf(*w.block->launch, lane).setWritten(access.address[lane], size);
    }
  });
}

// A kernel's parameter is the same for everybody.
void loadParam(const Instruction &i, Warp &w) {
  for (unsigned k = 0; k < i.count; ++k) {
    uint64_t value = 0, out[32];
    std::memcpy(&value, w.block->launch->params + i.immediate + k * i.sizeBytes, i.sizeBytes);
    unsigned unused = 64 - 8 * i.sizeBytes;
    if (isSigned(i.type))
      value = uint64_t(int64_t(value << unused) >> unused);
    for (uint64_t &lane : out)
      lane = value;
    storeRegister(w, i.dst[k], i.registerBytes, out);
  }
}

Handler pickLoad(Space space) {
  switch (space) {
  case Space::Global:
  case Space::Const: return load<Space::Global>;
  case Space::Shared: return load<Space::Shared>;
  case Space::Local: return load<Space::Local>;
  case Space::Param: return load<Space::Param>;
  case Space::Generic: return load<Space::Generic>;
  case Space::Cluster: return load<Space::Cluster>;
  }
  return nullptr;
}

Handler pickStore(Space space) {
  switch (space) {
  case Space::Global: return store<Space::Global>;
  case Space::Shared: return store<Space::Shared>;
  case Space::Local: return store<Space::Local>;
  case Space::Generic: return store<Space::Generic>;
  case Space::Cluster: return store<Space::Cluster>;
  default: return nullptr;
  }
}

void decodeAccess(InstructionDecoder &d) {
  bool isLoad = d.op.base != "st";
  MemoryOrder order = takeCacheModifiers(d.op);
  Space space = d.op.takeSpace().value_or(Space::Generic);
  d.kernel.kernel.ordersBlocksOtherwise |= order.isStrong && (space == Space::Global || space == Space::Generic);
  unsigned count = d.op.take("v2") ? 2 : d.op.take("v4") ? 4 : 1;
  std::optional<Type> type = d.op.takeType();
  if (!type || sizeOf(*type) == 0 || sizeOf(*type) * count > 16 || *type == Type::B128)
    return d.fail("expected a type of 8 to 64 bits, in vectors of at most 16 bytes");
  if (!d.expectOperands(2))
    return;
  const Operand &value = d.operands()[isLoad ? 0 : 1];
  std::vector<Operand> parts = {value};
  if (count > 1) {
    if (value.kind != Operand::Kind::Vector || value.parts.size() != count)
      return d.fail(absl::StrCat("expected a vector of ", count, " registers"));
    parts = value.parts;
  }
  d.address(d.operands()[isLoad ? 1 : 0], space);
  d.out.type = *type;
  d.out.count = count;
  d.out.sizeBytes = sizeOf(*type);
  d.out.registerBytes = std::max(2u, sizeOf(*type));
  for (const Operand &part : parts)
    if (unsigned bytes = d.registerBytes(part))
      d.out.registerBytes = bytes;
  for (unsigned k = 0; k < count; ++k) {
    if (d.registerBytes(parts[k]) && d.registerBytes(parts[k]) != d.out.registerBytes)
      return d.fail("the registers of a vector differ in size");
    if (isLoad)
      d.out.dst[k] = d.destination(parts[k], *type, true);
    else
      d.out.src[k + 1] =
          parts[k].kind == Operand::Kind::Register || parts[k].kind == Operand::Kind::Special
              ? d.source(parts[k], *type, true)
              : d.constant(parts[k].bits, d.out.registerBytes);
  }
  d.noteAccess(space, sizeOf(*type));
  bool isFixed = d.operands()[isLoad ? 1 : 0].parts[0].kind != Operand::Kind::Register;
  if (isLoad && space == Space::Param && isFixed) {
    if (d.out.immediate + d.out.sizeBytes * count > d.kernel.kernel.paramBytes)
      return d.fail("reads beyond the parameters");
    d.out.run = loadParam;
    return;
  }
  d.out.run = isLoad ? pickLoad(space) : pickStore(space);
  if (!d.out.run)
    d.fail("this state space cannot be written");
}

} // namespace

bool decodeMemory(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base == "ld" || base == "ldu" || base == "st") {
    decodeAccess(d);
  } else if (base == "prefetch" || base == "prefetchu") {
    // A hint: even a bad address does nothing.
    d.op.takeSpace();
    for (absl::string_view word : {"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"})
      d.op.take(word);
    d.out.run = [](const Instruction &, Warp &) {};
  } else {
    return false;
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
