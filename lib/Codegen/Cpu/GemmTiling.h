// SPDX-License-Identifier: Apache-2.0
//
// The numbers behind a generated matrix product: tile and block sizes for a
// vector unit, and the layout of the workspace. Layout formulas are templates over
// the integer type, because the compiler evaluates them (int64_t) when it plans
// memory and the kernel evaluates them again (gemm::Int, i.e. IR) when it runs.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/GemmEmitter.h"
#include "lib/Support/SizeBytes.h"

namespace hjx::gemm {

struct Tiling {
  mlir::Type lhs, rhs; ///< as they are stored: bytes if packed
  mlir::Type compute, result;
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None;
  bool lhsIsScaled = false, rhsIsScaled = false;
  bool isUnsigned = false, fma = false;
  int64_t lanes = 0;   ///< elements of `compute` in a vector register
  int64_t rows = 0;    ///< of a tile of C held in registers
  int64_t vectors = 0; ///< per row of that tile
  int64_t cols = 0;    ///< lanes * vectors

  // The block of k and the tile rows of a block of A: most of a panel of B (384 * 32 floats =
  // 48 KiB) stays in the first-level cache, a block of A (288 * 384 floats = 432 KiB) in the second.
  static constexpr int64_t kBlock = 384, kUnroll = 4;
  int64_t rowTilesPerBlock = 0, colTilesPerBlock = 0;
  // A chunk of B is packed at once and shared by all threads: at most 3 MiB of floats, which are
  // used while they are in the outer caches.
  static constexpr int64_t kChunk = 2 * kBlock, nChunk = 1024;

  // Products that are not worth packing, see GemmLight.cpp for how they are told apart.
  int64_t lightRows = 0; ///< of a tile
  static constexpr int64_t lightMaxM = 256, inPlaceMaxM = 16, inPlaceMaxElements = 16384;
  static constexpr int64_t narrowRows = 8, rowVectors = 8, dotsCols = 8;

  static mlir::FailureOr<Tiling> of(const GemmConfig &config, mlir::Location loc);

  mlir::VectorType vector() const { return mlir::VectorType::get({lanes}, compute); }
  int64_t computeBytes() const { return elementBytes(compute); }
  /// C is not accumulated in place when its type differs: rounding happens once, at the end.
  bool throughScratch() const { return compute != result; }

  bool canReadInPlace() const { return lhs == compute && rhs == compute && compute == result; }
  /// A is read in place, B packed.
  bool canBeLight() const { return lhs == compute && compute == result; }
  bool isScaled() const { return lhsIsScaled || rhsIsScaled; }
  bool isPacked() const { return lhsPacking != Packing::None || rhsPacking != Packing::None; }

  // Workspace of one part: [block of A | one tile of C | block of C if throughScratch].
  int64_t tileOffset() const;
  int64_t scratchOffset() const;
  int64_t privateBytes() const;
  int64_t scratchStride() const { return colTilesPerBlock * cols; }
};

inline int64_t min(int64_t lhs, int64_t rhs) { return std::min(lhs, rhs); }
inline int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Bytes of a packed chunk of B for an n x k product.
template <typename I> I packedBytes(const Tiling &tiling, I n, I k, I kChunk, I nChunk) {
  I depth = tiling.throughScratch() ? k : min(k, kChunk);
  return roundUp(roundUp(depth, Tiling::kUnroll) * roundUp(min(n, nChunk), tiling.cols) *
                     tiling.computeBytes(),
                 64);
}

/// A batch of products whose B packs into this many bytes is split by batch element: no
/// barriers, and the packed B is used while it is in the second-level cache.
inline constexpr int64_t maxBatchedBytes = 512 * 1024;

} // namespace hjx::gemm
