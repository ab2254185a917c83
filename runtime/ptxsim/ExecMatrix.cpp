// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix and movmatrix: 8x8 tiles of halves between shared memory and the
// registers of a warp. Lanes 8j to 8j+7 name the rows of tile j, 16 bytes each; in a
// register, lane l holds columns 2 * (l % 4) and the next of row l / 4, so that the 32 lanes
// side by side are the tile by rows.
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {
namespace {

constexpr uint8_t kTransposed = 1;

struct Tile {
  alignas(64) uint16_t halves[64];

  void transpose() {
    for (unsigned row = 0; row < 8; ++row)
      for (unsigned column = row + 1; column < 8; ++column)
        std::swap(halves[8 * row + column], halves[8 * column + row]);
  }
};

/// Calls `body(access)` with only the lanes that name rows executing. Their number is a multiple
/// of 8, and generic addresses must be shared ones.
template <typename Body>
void withRows(const Instruction &i, Warp &w, AccessKind kind, Body body) {
  if (!expectWholeWarp(w))
    return;
  Mask all = w.exec;
  w.exec = i.count == 4 ? all : (Mask(1) << 8 * i.count) - 1;
  access(i, w, Space(i.sizeBytes), 16, kind, [&](Space space, Access &access) {
    if (space != Space::Shared)
      return w.fail(Finding::Kind::IllegalAddress, __builtin_ctz(w.exec),
                    "expected an address of shared memory");
    body(access);
  });
  w.exec = all;
}

void load(const Instruction &i, Warp &w) {
  withRows(i, w, AccessKind::Read, [&](Access &access) {
    Tile tiles[4];
    for (unsigned lane = 0; lane < 8u * i.count; ++lane) {
      uint64_t offset = access.address[lane];
      if (w.block->launch->checks &&
          reportConflict(w, lane, offset, 16, AccessKind::Read,
                         w.block->shared.read(offset, 16, w.index * 32 + lane, w.current)))
        return;
      std::memcpy(tiles[lane / 8].halves + lane % 8 * 8, access.at[lane], 16);
    }
    for (unsigned j = 0; j < i.count; ++j) {
      if (i.flags & kTransposed)
        tiles[j].transpose();
      std::memcpy(w.row<uint8_t>(i.dst[j]), tiles[j].halves, sizeof(Tile));
    }
  });
}

void store(const Instruction &i, Warp &w) {
  withRows(i, w, AccessKind::Write, [&](Access &access) {
    for (unsigned j = 0; j < i.count; ++j) {
      Tile tile;
      std::memcpy(tile.halves, w.read<uint8_t>(i.src[1 + j]), sizeof(Tile));
      if (i.flags & kTransposed)
        tile.transpose();
      for (unsigned lane = 8 * j; lane < 8 * j + 8; ++lane) {
        const uint16_t *row = tile.halves + lane % 8 * 8;
        uint64_t offset = access.address[lane];
        bool same = !std::memcmp(access.at[lane], row, 16);
        if (w.block->launch->checks &&
            reportConflict(w, lane, offset, 16, AccessKind::Write,
                           w.block->shared.write(offset, 16, w.index * 32 + lane, w.current, same)))
          return;
        std::memcpy(access.at[lane], row, 16);
      }
    }
  });
}

void transposeRegister(const Instruction &i, Warp &w) {
  if (!expectWholeWarp(w))
    return;
  Tile tile;
  std::memcpy(tile.halves, w.read<uint8_t>(i.src[0]), sizeof(Tile));
  tile.transpose();
  std::memcpy(w.row<uint8_t>(i.dst[0]), tile.halves, sizeof(Tile));
}

void decodeTiles(InstructionDecoder &d, bool isLoad) {
  absl::string_view number = d.op.takeOneOf({"x1", "x2", "x4"});
  Space space = d.op.takeSpace().value_or(Space::Generic);
  if (number.empty() || !d.op.take("m8n8") || d.op.takeType() != Type::B16)
    return d.fail("expected .m8n8, .x1, .x2 or .x4, and .b16");
  if (space != Space::Shared && space != Space::Generic)
    return d.fail("expected an address of shared memory");
  if (!isLoad)
    d.expectTarget(90);
  if (!d.expectOperands(2))
    return;
  unsigned count = number[1] - '0';
  const Operand &value = d.operands()[isLoad ? 0 : 1];
  if (value.kind != Operand::Kind::Vector || value.parts.size() != count)
    return d.fail(absl::StrCat("expected a vector of ", count, " registers"));
  d.address(d.operands()[isLoad ? 1 : 0], space);
  for (unsigned j = 0; j < count; ++j) {
    if (isLoad)
      d.out.dst[j] = d.destination(value.parts[j], Type::B32);
    else
      d.out.src[1 + j] = d.source(value.parts[j], Type::B32);
  }
  d.out.count = count;
  d.out.sizeBytes = uint8_t(space);
  d.out.run = isLoad ? load : store;
}

} // namespace

bool decodeMatrix(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base != "ldmatrix" && base != "stmatrix" && base != "movmatrix")
    return false;
  d.op.take("sync");
  d.op.take("aligned");
  bool transposes = d.op.take("trans");
  if (base == "movmatrix") {
    if (!transposes || !d.op.take("m8n8") || d.op.takeType() != Type::B16)
      d.fail("expected .m8n8.trans.b16");
    if (!d.expectOperands(2))
      return true;
    d.out.dst[0] = d.destination(0, Type::B32);
    d.out.src[0] = d.source(1, Type::B32);
    d.out.run = transposeRegister;
  } else {
    decodeTiles(d, base == "ldmatrix");
  }
  d.out.flags |= transposes ? kTransposed : 0;
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
