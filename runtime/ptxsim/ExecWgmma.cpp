// SPDX-License-Identifier: Apache-2.0
//
// wgmma: D[64][n] = A * B + D by four warps, which read A and B from shared memory (A also
// from registers) while they go on. Each warp computes its 16 rows by itself, at once; what it
// must not touch before it waits is tracked instead: registers in Warp::matrix, bytes by the
// clock of the warp's wgmma.
//
// Where an operand lies. A descriptor names a start, two strides and a swizzle. Memory is made
// of chunks of 16 bytes, 8 of which, by rows, are a core matrix. "K-major" operands have chunks
// along k: row r, chunk c is at start + r / 8 * stride + r % 8 * span + c * 16 with a swizzle,
// whose span is 32, 64 or 128 bytes, and start + r / 8 * stride + r % 8 * 16 + c * leading
// without. "MN-major" (transposed) ones have chunks along m or n, and k numbers the rows; see
// below. This is the layout of CUTLASS's canonical forms (include/cute/arch/mma_sm90_desc.hpp).
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/AsyncGroups.h"
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/KernelDecoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Matrix.h"
#include "runtime/ptxsim/TensorMap.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx::ptxsim {
namespace {

constexpr uint8_t kHalfSums = 1, kSaturate = 2, kRegistersA = 4, kNegateA = 8, kNegateB = 16,
                  kTransposedA = 32, kTransposedB = 64;
constexpr unsigned kLargestN = 256, kLargestK = 32;

/// A matrix in shared memory, one side k long.
class SharedMatrix {
public:
  SharedMatrix(Warp &w, uint64_t descriptor, bool isTransposed) : w(w), isTransposed(isTransposed) {
    start = (descriptor & 0x3FFF) << 4;
    leading = (descriptor >> 16 & 0x3FFF) << 4;
    stride = (descriptor >> 32 & 0x3FFF) << 4;
    base = descriptor >> 49 & 7;
    unsigned mode = descriptor >> 62; // 1: 128 bytes, 2: 64, 3: 32
    swizzle = mode ? 4 - mode : 0;
    span = 16u << swizzle;
  }

  /// False after a finding.
  bool check() const {
    if (swizzle && (base || start % (8 * span) >= span)) {
      w.fail(Finding::Kind::LaunchFailed, -1,
             absl::StrFormat("expected the swizzled matrix to start in the first row of a multiple of "
                             "%d bytes, got 0x%x (base offset %d)", 8 * span, start, base));
      return false;
    }
    return true;
  }

  /// Chunk `chunk` of row `row`: along k, or for a transposed matrix across it. False after a
  /// finding.
  bool read(unsigned row, unsigned chunk, uint8_t *to) const {
    uint32_t at = start + row % 8 * span;
    if (!isTransposed)
      at += row / 8 * stride + chunk * (swizzle ? 16 : leading);
    else if (swizzle)
      at += row / 8 * stride + chunk % (span / 16) * 16 + chunk / (span / 16) * leading;
    else
      at += row / 8 * leading + chunk * stride;
    at = swizzled(at & 0x3FFFF, swizzle);
    Block &block = *w.block;
    if (at + 16 > block.launch->sharedBytes()) {
      w.fail(Finding::Kind::IllegalAddress, -1,
             absl::StrFormat("read of 16 bytes at 0x%x: the block's shared memory has %d bytes", at,
                             block.launch->sharedBytes()));
      return false;
    }
    if (block.launch->checks &&
        reportConflict(w, 0, at, 16, AccessKind::Read,
                       block.shared.readLater(at, 16, w.index * 32,
                                              SharedMemory::worker(kMatrixClock + w.index), w.current)))
      return false;
    std::memcpy(to, block.shared.data() + at, 16);
    return true;
  }

private:
  Warp &w;
  bool isTransposed;
  uint32_t start, leading, stride, base, span;
  unsigned swizzle;
};

// 16 rows of A from shared memory, those of this warp.
template <typename T> bool loadA(const Instruction &i, Warp &w, uint64_t descriptor, T *a) {
  Element element = Element(i.sizeBytes);
  unsigned k = i.count, across = 16 / sizeOf(element), first = w.index % 4 * 16;
  SharedMatrix operand(w, descriptor, i.flags & kTransposedA);
  uint8_t chunk[16];
  if (!operand.check())
    return false;
  if (i.flags & kTransposedA) {
    for (unsigned row = 0; row < k; ++row)
      for (unsigned c = 0; c < 16 / across; ++c) {
        T column[16];
        if (!operand.read(row, first / across + c, chunk))
          return false;
        widen(element, chunk, 16, column);
        for (unsigned m = 0; m < across; ++m)
          a[(across * c + m) * k + row] = column[m];
      }
    return true;
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned c = 0; c < k / across; ++c) {
      if (!operand.read(first + row, c, chunk))
        return false;
      widen(element, chunk, 16, a + row * k + across * c);
    }
  return true;
}

// As in mma.sync: register r is the tile at row 8 * (r & 1), chunk r >> 1.
template <typename T> void loadA(const Instruction &i, Warp &w, const Slot *slots, T *a) {
  Element element = Element(i.sizeBytes);
  unsigned across = 16 / sizeOf(element);
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned g = 0; g < 8; ++g)
      widen(element, w.read<uint8_t>(slots[r]) + 16 * g, 16,
            a + (8 * (r & 1) + g) * i.count + across * (r >> 1));
}

template <typename T> bool loadB(const Instruction &i, Warp &w, uint64_t descriptor, T *b) {
  Element element = Element(i.registerBytes);
  unsigned k = i.count, n = i.immediate, across = 16 / sizeOf(element);
  SharedMatrix operand(w, descriptor, i.flags & kTransposedB);
  uint8_t chunks[8 * 16];
  if (!operand.check())
    return false;
  if (i.flags & kTransposedB) {
    for (unsigned row = 0; row < k; ++row)
      for (unsigned c = 0; c < n / across; ++c) {
        if (!operand.read(row, c, chunks))
          return false;
        widen(element, chunks, 16, b + row * n + across * c);
      }
    return true;
  }
  for (unsigned group = 0; group < n; group += 8)
    for (unsigned c = 0; c < k / across; ++c) {
      T rows[8 * 16];
      for (unsigned row = 0; row < 8; ++row)
        if (!operand.read(group + row, c, chunks + 16 * row))
          return false;
      widen(element, chunks, sizeof(chunks), rows);
      transpose(rows, across, b + across * c * n + group, n);
    }
  return true;
}

// Register j of D: columns 8 * (j / 4) + 2t + (j & 1), row g, or g + 8 if j & 2; of halves: both
// columns 8 * (j / 2) + 2t, row g + 8 * (j & 1).
template <typename Body> void forSums(unsigned n, unsigned j, bool halves, Body body) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = lane / 4 + 8 * (halves ? j & 1 : j >> 1 & 1);
    unsigned column = 8 * (halves ? j >> 1 : j >> 2) + lane % 4 * 2;
    body(lane, row * n + column + (halves ? 0 : j & 1));
  }
}

template <typename T> void loadSums(Warp &w, const Slot *slots, unsigned n, T *d) {
  for (unsigned j = 0; j < n / 2; ++j) {
    const T *row = w.read<T>(slots[j]);
    forSums(n, j, false, [&](unsigned lane, unsigned at) { d[at] = row[lane]; });
  }
}
template <typename T> void storeSums(Warp &w, const Slot *slots, unsigned n, const T *d) {
  for (unsigned j = 0; j < n / 2; ++j) {
    T *row = w.row<T>(slots[j]);
    forSums(n, j, false, [&](unsigned lane, unsigned at) { row[lane] = d[at]; });
  }
}
void loadHalfSums(Warp &w, const Slot *slots, unsigned n, float *d) {
  for (unsigned j = 0; j < n / 4; ++j) {
    const auto *row = w.read<uint16_t>(slots[j]);
    forSums(n, j, true, [&](unsigned lane, unsigned at) {
      d[at] = F16::widen(row[2 * lane]);
      d[at + 1] = F16::widen(row[2 * lane + 1]);
    });
  }
}
void storeHalfSums(Warp &w, const Slot *slots, unsigned n, const float *d) {
  for (unsigned j = 0; j < n / 4; ++j) {
    auto *row = w.row<uint16_t>(slots[j]);
    forSums(n, j, true, [&](unsigned lane, unsigned at) {
      row[2 * lane] = F16::round(d[at]);
      row[2 * lane + 1] = F16::round(d[at + 1]);
    });
  }
}

// What wgmma.fence and earlier waits must have settled. D may be in flight: sums of the same shape
// follow each other in order.
bool checkRegisters(Warp &w, const Slot *slots, unsigned numD, unsigned numA) {
  MatrixWork &work = w.matrix;
  if (!w.block->launch->checks)
    return true;
  auto refuse = [&](absl::string_view what) {
    w.fail(Finding::Kind::LaunchFailed, -1, what);
    return false;
  };
  if (!work.numFences)
    return refuse("expected a wgmma.fence before the first wgmma.mma_async");
  for (unsigned r = 0; r < numD + numA; ++r) {
    if (work.written[slots[r] / 64] > work.numFences)
      return refuse("a register was written since the last wgmma.fence");
    if (r >= numD && work.inFlight[slots[r] / 64] > work.groupsDone && work.isSum(slots[r] / 64))
      return refuse("reads a register that a wgmma.mma_async in flight writes: wgmma.commit_group and "
                    "wait_group come first");
  }
  return true;
}

// list: D, A (registers or descriptor), descriptor of B, scale of D.
template <typename T> void run(const Instruction &i, Warp &w) {
  if (!expectWholeWarp(w))
    return;
  unsigned n = i.immediate, k = i.count;
  bool halfSums = i.flags & kHalfSums, registersA = i.flags & kRegistersA;
  unsigned numD = halfSums ? n / 4 : n / 2, numA = registersA ? 4 : 1;
  const Slot *d = w.list(i), *a = d + numD, *b = a + numA;
  alignas(64) T lhs[16 * kLargestK], rhs[kLargestK * kLargestN], sums[16 * kLargestN];
  if (!checkRegisters(w, d, numD, registersA ? 4 : 0))
    return;
  if (registersA)
    loadA(i, w, a, lhs);
  else if (!loadA(i, w, *w.read<uint64_t>(a[0]), lhs))
    return;
  if (!loadB(i, w, *w.read<uint64_t>(b[0]), rhs))
    return;
  if (!w.predicate(b[1]))
    std::fill_n(sums, 16 * n, T(0));
  else if constexpr (std::is_same_v<T, float>)
    halfSums ? loadHalfSums(w, d, n, sums) : loadSums(w, d, n, sums);
  else
    loadSums(w, d, n, sums);
  if constexpr (std::is_same_v<T, float>) {
    if (bool(i.flags & kNegateA) != bool(i.flags & kNegateB))
      for (unsigned at = 0; at < 16 * k; ++at)
        lhs[at] = -lhs[at];
    multiply(lhs, rhs, sums, n, k);
    halfSums ? storeHalfSums(w, d, n, sums) : storeSums(w, d, n, sums);
  } else {
    multiply(lhs, rhs, sums, n, k, i.flags & kSaturate);
    storeSums(w, d, n, sums);
  }
  MatrixWork &work = w.matrix;
  ++work.numStarted;
  work.lastInstruction = w.current;
  for (unsigned r = 0; r < numD + (registersA ? 4 : 0); ++r)
    work.use(d[r] / 64, r < numD);
}

void fence(const Instruction &, Warp &w) {
  if (expectWholeWarp(w))
    ++w.matrix.numFences;
}

void commitGroup(const Instruction &, Warp &w) {
  if (expectWholeWarp(w))
    w.matrix.moments.push_back(w.block->shared.moment());
}

// The four warps work as one: what one of them has waited for is done for all.
void waitGroup(const Instruction &i, Warp &w) {
  MatrixWork &work = w.matrix;
  if (!expectWholeWarp(w) || work.moments.size() <= i.immediate)
    return;
  size_t done = work.moments.size() - i.immediate;
  std::vector<Warp> &warps = w.block->warps;
  size_t begin = w.index / 4 * 4, end = std::min(begin + 4, warps.size());
  for (size_t other = begin; other < end; ++other)
    if (warps[other].matrix.moments.size() < done) {
      w.pc = w.current;
      w.waitsFor = Warp::kWarpgroup;
      w.state = Warp::State::Yielded;
      return;
    }
  if (w.waitsFor == Warp::kWarpgroup)
    w.waitsFor = kNever;
  work.groupsDone = std::max<uint32_t>(work.groupsDone, done);
  for (size_t other = begin; other < end; ++other)
    w.block->shared.observe(w.index, kMatrixClock + other, warps[other].matrix.moments[done - 1]);
}

// "m64n128k16".
bool parseShape(InstructionDecoder &d, unsigned &n, unsigned &k) {
  for (absl::string_view word : d.op.rest()) {
    size_t at = word.find('k');
    if (word.substr(0, 4) != "m64n" || at == word.npos || !absl::SimpleAtoi(word.substr(4, at - 4), &n) ||
        !absl::SimpleAtoi(word.substr(at + 1), &k))
      continue;
    d.op.take(word);
    return n >= 8 && n <= kLargestN && n % 8 == 0;
  }
  return false;
}

void decodeProduct(InstructionDecoder &d) {
  unsigned n = 0, k = 0;
  bool saturates = d.op.take("satfinite"), hasShape = parseShape(d, n, k);
  std::optional<Type> typeD = d.op.takeType();
  std::optional<Element> a = elementOf(d.op.takeType()), b = elementOf(d.op.takeType());
  if (!hasShape || !a || !b || sizeOf(*a) != sizeOf(*b) || k * sizeOf(*a) != 32)
    return d.fail("unknown shape or types of wgmma");
  bool isInteger = sizeOf(*a) == 1, halfSums = typeD == Type::F16;
  if (isInteger ? typeD != Type::S32 || (n > 32 && n % 16) || (n == 40)
                : a != b || (halfSums ? a != Element::F16 : typeD != Type::F32))
    return d.fail("unknown shape or types of wgmma");
  const std::vector<Operand> &operands = d.operands();
  bool registersA = operands.size() > 1 && operands[1].kind == Operand::Kind::Vector;
  unsigned numTransposes = sizeOf(*a) == 2 ? (registersA ? 1 : 2) : 0;
  if (!d.expectOperands(4 + (isInteger ? 0 : 2) + numTransposes))
    return;
  unsigned numD = halfSums ? n / 4 : n / 2;
  d.list(operands[0], numD, halfSums ? Type::B32 : *typeD, true);
  d.list(operands[1], registersA ? 4 : 1, registersA ? Type::B32 : Type::B64);
  d.list(operands[2], 1, Type::B64);
  d.list(operands[3], 1, Type::Pred);
  uint8_t flags = (halfSums ? kHalfSums : 0) | (saturates ? kSaturate : 0) | (registersA ? kRegistersA : 0);
  auto flag = [&](size_t at, int64_t off, int64_t on, uint8_t bit) {
    int64_t value = operands[at].bits;
    if (operands[at].kind != Operand::Kind::Integer || (value != off && value != on))
      return d.fail(absl::StrCat("expected ", off, " or ", on, " as operand ", at + 1));
    flags |= value == on ? bit : 0;
  };
  if (!isInteger) {
    flag(4, 1, -1, kNegateA);
    flag(5, 1, -1, kNegateB);
  }
  if (numTransposes == 2)
    flag(6, 0, 1, kTransposedA);
  if (numTransposes)
    flag(5 + numTransposes, 0, 1, kTransposedB);
  d.out.flags = flags;
  d.out.immediate = n;
  d.out.count = k;
  d.out.sizeBytes = uint8_t(*a);
  d.out.registerBytes = uint8_t(*b);
  d.out.run = isInteger ? run<int32_t> : run<float>;
}

} // namespace

bool decodeWgmma(InstructionDecoder &d) {
  if (d.op.base != "wgmma")
    return false;
  d.expectTarget(90, true);
  d.kernel.kernel.usesWgmma = true;
  d.out.isWgmma = true;
  d.op.take("sync");
  d.op.take("aligned");
  if (d.op.take("mma_async")) {
    decodeProduct(d);
  } else if (d.op.take("fence")) {
    d.expectOperands(0);
    d.out.run = fence;
  } else if (!decodeGroup(d, commitGroup, waitGroup)) {
    d.fail("unknown form of this instruction");
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
