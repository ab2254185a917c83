// SPDX-License-Identifier: Apache-2.0
//
// mma.sync: D = A * B + C by one warp, A of 16 rows, B of 8 columns.
//
// Fragments. With group g = lane / 4 and t = lane % 4, a register of A or B holds what lies
// side by side along k in 32 bits, E elements. Put next to each other by lane, one register
// of a warp is 8 rows (by g) of 16 bytes (by t), the same 8x8 tile of halves that ldmatrix
// moves: register r of A is the tile at row 8 * (r & 1), column 4 * E * (r >> 1); register r
// of B, transposed, the one at k = 4 * E * r. This holds for all types and shapes here. C and
// D have row g + 8 * (r >> 1) and column 2 * t + (r & 1) in 32-bit registers, or both columns
// in one register of halves.
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Matrix.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace hjx::ptxsim {
namespace {

constexpr uint8_t kSaturate = 1, kHalfSums = 2;

// i.count: k; i.sizeBytes, i.registerBytes: the elements of A and of B; lists: D, A, B, C.
template <typename T> void loadA(const Instruction &i, Warp &w, const Slot *slots, T *a) {
  Element element = Element(i.sizeBytes);
  unsigned k = i.count, across = 16 / sizeOf(element);
  for (unsigned r = 0; r < k / across * 2; ++r) {
    const auto *tile = w.read<uint8_t>(slots[r]);
    for (unsigned g = 0; g < 8; ++g)
      widen(element, tile + 16 * g, 16, a + (8 * (r & 1) + g) * k + across * (r >> 1));
  }
}

template <typename T> void loadB(const Instruction &i, Warp &w, const Slot *slots, T *b) {
  Element element = Element(i.registerBytes);
  unsigned across = 16 / sizeOf(element);
  for (unsigned r = 0; r < i.count / across; ++r) {
    T rows[8 * 16];
    widen(element, w.read<uint8_t>(slots[r]), 128, rows);
    transpose(rows, across, b + across * r * 8, 8);
  }
}

template <typename T> void loadSums(Warp &w, const Slot *slots, T *d) {
  for (unsigned r = 0; r < 4; ++r) {
    const T *row = w.read<T>(slots[r]);
    for (unsigned lane = 0; lane < 32; ++lane)
      d[64 * (r >> 1) + 2 * lane + (r & 1)] = row[lane];
  }
}

template <typename T> void storeSums(Warp &w, const Slot *slots, const T *d) {
  for (unsigned r = 0; r < 4; ++r) {
    alignas(64) T row[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      row[lane] = d[64 * (r >> 1) + 2 * lane + (r & 1)];
    w.write<T>(slots[r], row);
  }
}

void loadHalfSums(Warp &w, const Slot *slots, float *d) {
  for (unsigned r = 0; r < 2; ++r)
    widen(Element::F16, w.read<uint8_t>(slots[r]), 128, d + 64 * r);
}

void storeHalfSums(Warp &w, const Slot *slots, const float *d) {
  for (unsigned r = 0; r < 2; ++r) {
    alignas(64) uint16_t row[64];
    for (unsigned at = 0; at < 64; ++at)
      row[at] = F16::round(d[64 * r + at]);
    std::memcpy(w.row<uint8_t>(slots[r]), row, sizeof(row));
  }
}

template <typename T> void run(const Instruction &i, Warp &w) {
  if (!expectWholeWarp(w))
    return;
  bool halfSums = i.flags & kHalfSums;
  unsigned numD = halfSums ? 2 : 4, numB = i.count * sizeOf(Element(i.registerBytes)) / 16;
  const Slot *d = w.list(i), *a = d + numD, *b = a + 2 * numB, *c = b + numB;
  alignas(64) T lhs[16 * 32], rhs[32 * 8], sums[16 * 8];
  loadA(i, w, a, lhs);
  loadB(i, w, b, rhs);
  if constexpr (std::is_same_v<T, float>) {
    halfSums ? loadHalfSums(w, c, sums) : loadSums(w, c, sums);
    multiply(lhs, rhs, sums, 8, i.count);
    halfSums ? storeHalfSums(w, d, sums) : storeSums(w, d, sums);
  } else {
    loadSums(w, c, sums);
    multiply(lhs, rhs, sums, 8, i.count, i.flags & kSaturate);
    storeSums(w, d, sums);
  }
}

} // namespace

bool decodeMma(InstructionDecoder &d) {
  if (d.op.base != "mma")
    return false;
  d.op.take("sync");
  d.op.take("aligned");
  absl::string_view shape = d.op.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  d.op.take("row");
  d.op.take("col");
  bool saturates = d.op.take("satfinite");
  std::optional<Type> typeD = d.op.takeType(), typeA = d.op.takeType(), typeB = d.op.takeType(),
                      typeC = d.op.takeType();
  std::optional<Element> a = elementOf(typeA), b = elementOf(typeB);
  if (!a || !b || !typeC || typeD != typeC || sizeOf(*a) != sizeOf(*b) ||
      (a != b && sizeOf(*a) != 1)) {
    d.fail("unknown types of mma");
    return true;
  }
  bool isInteger = sizeOf(*a) == 1, halfSums = typeD == Type::F16;
  if (isInteger ? typeD != Type::S32 : halfSums ? a != Element::F16 : typeD != Type::F32)
    d.fail("unknown types of mma");
  if (saturates && !isInteger)
    d.fail("unknown modifier '.satfinite' of a float mma");
  // One or two registers of B.
  unsigned k = shape == "m16n8k4" ? 4 : shape == "m16n8k8" ? 8 : shape == "m16n8k16" ? 16 : 32;
  unsigned numB = k * sizeOf(*a) / 16;
  if (shape.empty() || numB < 1 || numB > 2)
    d.fail("unknown shape of mma for these types");
  if (d.failed() || !d.expectOperands(4))
    return true;
  Type sums = halfSums ? Type::B32 : *typeD;
  d.list(d.operands()[0], halfSums ? 2 : 4, sums, true);
  d.list(d.operands()[1], 2 * numB, Type::B32);
  d.list(d.operands()[2], numB, Type::B32);
  d.list(d.operands()[3], halfSums ? 2 : 4, sums);
  d.out.sizeBytes = uint8_t(*a);
  d.out.registerBytes = uint8_t(*b);
  d.out.count = k;
  d.out.flags = (saturates ? kSaturate : 0) | (halfSums ? kHalfSums : 0);
  d.out.run = isInteger ? run<int32_t> : run<float>;
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
