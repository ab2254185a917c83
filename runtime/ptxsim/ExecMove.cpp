// SPDX-License-Identifier: Apache-2.0
//
// mov in all its forms (copies, addresses, packing), cvta, isspacep, clocks.
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Move.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/match.h"

#include <chrono>

namespace hjx::ptxsim {
namespace {

template <typename T> void copy(const Instruction &i, Warp &w) {
  w.write<T>(i.dst[0], w.read<T>(i.src[0]));
}

void copyPredicate(const Instruction &i, Warp &w) {
  w.writePredicate(i.dst[0], w.predicate(i.src[0]));
}

// {a, b} -> d: the first is the lowest.
void pack(const Instruction &i, Warp &w) {
  uint64_t out[32] = {}, part[32];
  for (unsigned k = 0; k < i.count; ++k) {
    loadRegister(w, i.src[k], i.sizeBytes, part);
    for (unsigned lane = 0; lane < 32; ++lane)
      out[lane] |= part[lane] << (8 * i.sizeBytes * k & 63);
  }
  storeRegister(w, i.dst[0], i.registerBytes, out);
}

void unpack(const Instruction &i, Warp &w) {
  uint64_t whole[32], part[32];
  loadRegister(w, i.src[0], i.registerBytes, whole);
  for (unsigned k = 0; k < i.count; ++k) {
    for (unsigned lane = 0; lane < 32; ++lane)
      part[lane] = whole[lane] >> (8 * i.sizeBytes * k & 63);
    storeRegister(w, i.dst[k], i.sizeBytes, part);
  }
}

// Time is counted in nanoseconds; a "cycle" is one as well.
void readClock(const Instruction &i, Warp &w) {
  uint64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  uint64_t out[32];
  for (uint64_t &lane : out)
    lane = now;
  storeRegister(w, i.dst[0], i.registerBytes, out);
}

void addImmediate(const Instruction &i, Warp &w) {
  const auto *from = w.read<uint64_t>(i.src[0]);
  uint64_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = from[lane] + i.immediate;
  w.write<uint64_t>(i.dst[0], out);
}

void isInSpace(const Instruction &i, Warp &w) {
  const auto *address = w.read<uint64_t>(i.src[0]);
  Mask mask = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t window = address[lane] / kWindowBytes;
    bool inWindow = window == i.immediate / kWindowBytes;
    bool isGlobal = window < kSharedWindow / kWindowBytes;
    mask |= Mask(i.immediate ? inWindow : isGlobal) << lane;
  }
  w.writePredicate(i.dst[0], mask);
}

uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::Cluster: return kSharedWindow;
  case Space::Local: return kLocalWindow;
  case Space::Param: return kParamWindow;
  default: return 0;
  }
}

void decodeMov(InstructionDecoder &d) {
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(2))
    return;
  const Operand &to = d.operands()[0], &from = d.operands()[1];
  if (*type == Type::Pred) {
    d.out.dst[0] = d.destination(0, Type::Pred);
    d.out.src[0] = d.source(1, Type::Pred);
    d.out.run = copyPredicate;
    return;
  }
  if (to.kind == Operand::Kind::Vector || from.kind == Operand::Kind::Vector) {
    bool packs = from.kind == Operand::Kind::Vector;
    const std::vector<Operand> &parts = packs ? from.parts : to.parts;
    unsigned bytes = parts.empty() || parts.size() > 4 ? 0 : sizeOf(*type) / parts.size();
    Type part = bytes == 2 ? Type::B16 : Type::B32;
    if ((bytes != 2 && bytes != 4) || sizeOf(*type) > 8)
      return d.fail("this form of packing is not supported");
    d.out.count = parts.size();
    d.out.sizeBytes = bytes;
    d.out.registerBytes = sizeOf(*type);
    for (size_t k = 0; k < parts.size(); ++k)
      (packs ? d.out.src[k] : d.out.dst[k]) =
          packs ? d.source(parts[k], part) : d.destination(parts[k], part);
    if (packs)
      d.out.dst[0] = d.destination(to, *type);
    else
      d.out.src[0] = d.source(from, *type);
    d.out.run = packs ? pack : unpack;
    return;
  }
  d.out.dst[0] = d.destination(0, *type);
  if (from.kind == Operand::Kind::Special &&
      (absl::StartsWith(from.name, "%clock") || absl::StartsWith(from.name, "%globaltimer"))) {
    d.out.registerBytes = sizeOf(*type);
    d.out.run = readClock;
    return;
  }
  d.out.src[0] = d.source(1, *type);
  d.out.run = sizeOf(*type) == 2   ? copy<uint16_t>
              : sizeOf(*type) == 4 ? copy<uint32_t>
                                   : copy<uint64_t>;
}

void decodeCvta(InstructionDecoder &d) {
  bool isTo = d.op.take("to");
  std::optional<Space> space = d.op.takeSpace();
  std::optional<Type> type = d.op.takeType();
  if (!space || !type || sizeOf(*type) != 8)
    return d.fail("expected a state space and .u64");
  if (!d.expectOperands(2))
    return;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = d.source(1, *type);
  d.out.immediate = isTo ? -windowOf(*space) : windowOf(*space);
  d.out.run = addImmediate;
}

} // namespace

bool decodeConvert(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base == "mov") {
    decodeMov(d);
  } else if (base == "cvta") {
    decodeCvta(d);
  } else if (base == "cvt") {
    decodeCvt(d);
  } else if (base == "isspacep") {
    std::optional<Space> space = d.op.takeSpace();
    if (!space || !d.expectOperands(2))
      return true;
    d.out.dst[0] = d.destination(0, Type::Pred);
    d.out.src[0] = d.source(1, Type::B64);
    d.out.immediate = windowOf(*space);
    d.out.run = isInSpace;
  } else {
    return false;
  }
  if (!d.out.run && !d.failed())
    d.fail("unknown form of this instruction");
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
