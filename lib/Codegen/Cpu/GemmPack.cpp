// SPDX-License-Identifier: Apache-2.0
//
// Packing: copies a panel of A or B (`width` rows or columns, all k of a block) into contiguous
// memory, k-major. A and B are the same problem: "outer" is the dimension across the panel.
//
//   outer stride 1   k rows are contiguous: copy whole vectors
//   k stride 1       outer rows are contiguous: load lanes x lanes squares, transpose in registers
//   neither          element by element (also the edge panels of the first case)
//
// All three are in every kernel and chosen per panel, so one kernel serves every layout.
#include "lib/Codegen/Cpu/GemmKernels.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
namespace hjx::gemm {

/// The lanes of the vectors that take `width` elements, and nothing beyond: in powers of two, 14 = 8 + 4 + 2.
static void forVectorsOf(int64_t width, int64_t most, function_ref<void(int64_t first, int64_t lanes)> body) {
  for (int64_t i = 0; i < width;) {
    int64_t lanes = std::min<int64_t>(most, llvm::bit_floor<uint64_t>(width - i));
    body(i, lanes);
    i += lanes;
  }
}

/// Transposes a square of `lanes` vectors by exchanging off-diagonal blocks of 1, 2, 4, ...
/// elements: log2(lanes) rounds, each two-operand shuffle is one instruction (or two for blocks of
/// 1 in AVX2).
static void transposeSquare(Emitter &e, MutableArrayRef<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t block = 1; block < lanes; block *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & block)
        continue;
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        bool second = lane & block;
        upper.push_back(second ? lanes + lane - block : lane);
        lower.push_back(second ? lanes + lane : lane + block);
      }
      Value first = rows[i], other = rows[i + block];
      rows[i] = vector::ShuffleOp::create(e, first, other, upper);
      rows[i + block] = vector::ShuffleOp::create(e, first, other, lower);
    }
}

namespace {
struct PanelPacker {
  Emitter &e;
  const Tiling &t;
  mlir::Type stored;
  Packing packing;
  int64_t width;
  Value source, destination;
  Int outerStride, kStride, count, k;

  Value sourceAt(Int i, Int kk) { return e.at(source, stored, i * outerStride + kk * kStride); }
  Value destinationAt(Int kk, int64_t i) {
    return e.at(e.at(destination, t.compute, kk * width), t.compute, i);
  }
  Value loadConverted(Value address, int64_t lanes) {
    Type type = lanes == 1 ? stored : VectorType::get({lanes}, stored);
    Value value = e.load(type, address);
    return packing == Packing::None ? e.convert(value, t.compute, t.isUnsigned) : e.unpack(value, packing, t.compute);
  }

  void copyRows() {
    e.loop(e.constant(0), k, 1, [&](Int kk) {
      Value from = e.at(source, stored, kk * kStride);
      forVectorsOf(width, t.lanes, [&](int64_t i, int64_t lanes) {
        e.store(loadConverted(e.at(from, stored, i), lanes), destinationAt(kk, i));
      });
    });
  }

  /// Rows [first, first + numRows) of the panel for all whole vectors of k.
  void transposeRows(Int first, int64_t numRows, Int wholeK) {
    SmallVector<Value> rowAddress;
    for (int64_t i = 0; i < numRows; ++i)
      rowAddress.push_back(sourceAt(min(first + i, count - 1), e.constant(0)));
    Value panel = e.at(destination, t.compute, first);
    e.loop(e.constant(0), wholeK, t.lanes, [&](Int kk) {
      SmallVector<Value> square;
      for (Value address : rowAddress)
        square.push_back(loadConverted(e.at(address, stored, kk), t.lanes));
      square.resize(t.lanes, square.back());
      transposeSquare(e, square);
      for (auto [i, column] : llvm::enumerate(square))
        e.store(column, e.at(e.at(panel, t.compute, kk * width), t.compute, i * width));
    });
  }

  void transpose() {
    Int zero = e.constant(0), wholeK = k - k % e.constant(t.lanes);
    int64_t wholeWidth = width / t.lanes * t.lanes;
    // The incomplete square first: it stores whole vectors, and the others overwrite the excess.
    if (width % t.lanes)
      transposeRows(e.constant(wholeWidth), width % t.lanes, wholeK);
    if (wholeWidth)
      e.loop(zero, e.constant(wholeWidth), t.lanes,
             [&](Int first) { transposeRows(first, t.lanes, wholeK); });
    copyElements(wholeK);
  }

  void copyElements(Int firstK) {
    e.loop(firstK, k, 1, [&](Int kk) {
      e.loop(e.constant(0), e.constant(width), 1, [&](Int i) {
        Value element = loadConverted(sourceAt(min(i, count - 1), kk), 1);
        e.store(element, e.at(destination, t.compute, kk * width + i));
      });
    });
  }

  void padWithZeros() {
    e.loop(k * width, roundUp(k, Tiling::kUnroll) * width, 1,
           [&](Int i) { e.store(e.zero(t.compute), e.at(destination, t.compute, i)); });
  }
};
} // namespace

LLVM::LLVMFuncOp emitPackPanel(Emitter &e, ModuleOp module, const Tiling &t, bool isLhs,
                               StringRef name) {
  SmallVector<Type> signature{e.ptr(), e.i64(), e.i64(), e.i64(), e.i64(), e.ptr()};
  int64_t width = isLhs ? t.rows : t.cols;
  return e.function(module, name, signature, [&](ValueRange args) {
    PanelPacker packer{e,
                       t,
                       isLhs ? t.lhs : t.rhs,
                       isLhs ? t.lhsPacking : t.rhsPacking,
                       width,
                       args[0],
                       args[5],
                       e.wrap(args[1]),
                       e.wrap(args[2]),
                       e.wrap(args[3]),
                       e.wrap(args[4])};
    Value rowsContiguous = e.both(e.equal(packer.outerStride, 1), e.equal(packer.count, width));
    e.branch(
        rowsContiguous, [&] { packer.copyRows(); },
        [&] {
          e.branch(
              e.equal(packer.kStride, 1), [&] { packer.transpose(); },
              [&] { packer.copyElements(e.constant(0)); });
        });
    packer.padWithZeros();
  });
}

/// Group by group along k: the scales of the panel's rows or columns are one row, by which all rows of the
/// group are multiplied.
LLVM::LLVMFuncOp emitScalePanel(Emitter &e, ModuleOp module, const Tiling &t, bool isLhs, StringRef name) {
  SmallVector<Type> signature{e.ptr(), e.ptr()};
  signature.append(8, e.i64());
  int64_t width = isLhs ? t.rows : t.cols;
  return e.function(module, name, signature, [&](ValueRange args) {
    Value panel = args[0], scales = args[1];
    Int sideStride = e.wrap(args[2]), sumStride = e.wrap(args[3]), sideGroup = e.wrap(args[4]), sumGroup = e.wrap(args[5]);
    Int firstSide = e.wrap(args[6]), count = e.wrap(args[7]), firstSum = e.wrap(args[8]), k = e.wrap(args[9]);
    Int zero = e.constant(0), all = e.constant(width);
    auto allocate = [&](Type type) -> Value { return LLVM::AllocaOp::create(e, e.ptr(), type, all, /*alignment=*/64); };
    Value places = allocate(e.i64()), row = allocate(t.compute);
    e.loop(zero, all, 1, [&](Int i) {
      e.store((firstSide + min(i, count - 1)) / sideGroup * sideStride, e.at(places, e.i64(), i));
    });
    e.loop(firstSum / sumGroup, ceilDiv(firstSum + k, sumGroup), 1, [&](Int group) {
      Value from = e.at(scales, t.compute, group * sumStride);
      e.loop(zero, all, 1, [&](Int i) {
        Int place = e.wrap(e.load(e.i64(), e.at(places, e.i64(), i)));
        e.store(e.load(t.compute, e.at(from, t.compute, place)), e.at(row, t.compute, i));
      });
      Int begin = group * sumGroup - firstSum;
      e.loop(max(begin, zero), min(begin + sumGroup, k), 1, [&](Int kk) {
        Value numbers = e.at(panel, t.compute, kk * width);
        forVectorsOf(width, t.lanes, [&](int64_t i, int64_t lanes) {
          auto type = VectorType::get({lanes}, t.compute);
          Value place = e.at(numbers, t.compute, i);
          e.store(arith::MulFOp::create(e, e.load(type, place), e.load(type, e.at(row, t.compute, i))), place);
        });
      });
    });
  });
}

} // namespace hjx::gemm
