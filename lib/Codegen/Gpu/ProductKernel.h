// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on a GPU: C = f(A * B), where f is a body of scalars (ProductEpilogue.h), generated
// once per configuration and launched for every shape and stride.
//
// How it works (idea: Volkov & Demmel 2008; the shape is that of CUTLASS's SIMT kernels):
//
//        columns of C, 128 a block           a block computes a tile of C, a thread 8x8 of its
//      ┌────────────┬────────────┬──         elements in registers: 4x4 at four places, so that
//  128 │ block      │ block      │           neighbouring threads load neighbouring vectors
//      ├────────────┼────────────┼──
//      │            │                        for each 8 of k: A and B tiles go through shared
//                                            memory, stored k-major whatever their layout; while
//                                            they are multiplied, the next ones are on their way
//                                            from global memory into registers
//
// Numerics: each element of C is one chain of fused multiply-adds in the order of k, the same in
// every tile shape. Ragged edges load zeros and store nothing.
//
// Where C has too few tiles for all multiprocessors, several blocks take a tile, each a part of k. They leave their
// sums in memory; the last one, by a counter, adds them up in the order of k, and goes on as if they were its own. That
// is one launch, and the epilogue stays where it is. A second kernel for the sums would need no counter, but a launch
// (3 us of a graph) for each product; clusters (sm_90) would keep the sums on chip, but there are none before.
//
// What a configuration fixes is what changes the code; sizes and strides are arguments, so that
// the layers of a network share a few kernels. Types that tensor cores multiply have kernels of
// other kinds, see TensorProductKernel.h and WarpgroupProductKernel.h; what all do around their
// tiles is in ProductFrame.h.
#pragma once

#include "lib/Codegen/Gpu/KernelModule.h"
#include "lib/Codegen/Gpu/ProductEpilogue.h"

namespace hjx {

/// Who multiplies: each thread for itself, a warp on tensor cores, or a group of four warps there.
enum class ProductUnit { Thread, Warp, WarpGroup };

/// The part of C that a block computes, and how much of k at a time; and which part of it a unit
/// computes.
struct ProductTile {
  int64_t m, n, k, partM, partN;
  ProductUnit unit = ProductUnit::Thread;
  int64_t stages = 0; ///< Tiles of A and B in shared memory, for tensor cores.
  bool onTensorCores() const { return unit != ProductUnit::Thread; }
  int64_t blockSize() const {
    int64_t parts = (m / partM) * (n / partN);
    switch (unit) {
    case ProductUnit::Thread:
      return parts;
    case ProductUnit::Warp:
      return parts * kWarpSize;
    case ProductUnit::WarpGroup:
      return (parts + 1) * 4 * kWarpSize; // One group brings the tiles.
    }
    llvm_unreachable("not a unit");
  }
  /// Threads that have sums: the first of the block.
  int64_t numSummers() const {
    return unit == ProductUnit::WarpGroup ? (m / partM) * (n / partN) * 4 * kWarpSize : blockSize();
  }
};

/// A buffer of the epilogue, as far as it changes the code.
struct ProductElements {
  mlir::Type type;
  bool isRead, isWritten;
  bool alongRows, alongColumns; ///< Whether its elements differ along the rows or columns of C.
  bool isVector;                ///< Those of a group lie together.
};

/// The scales of a packed factor, as far as they change the code: group sizes are divisors.
struct ProductScales {
  bool ofLhs;
  int64_t sideGroup, sumGroup; ///< So many rows of A or columns of B, and elements of k, share one.
  bool differ;                 ///< Those of a vector of the factor do; else it has one.
  bool isVector;               ///< If so, they are loaded at once.
};

struct ProductKernelConfig {
  mlir::Type operandType, accumulatorType;
  bool unsignedOperands = false; ///< Integers extend with zeros.
  /// What factors lie in memory as; they are floats from shared memory on.
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None;
  std::optional<ProductScales> scales;
  ProductTile tile;
  /// Whether neighbouring elements along k are neighbours in memory; else those along m or n are,
  /// or are the closest.
  bool lhsAlongSum = false, rhsAlongSum = false;
  /// Elements per load of A and B and per group of C, as contiguity and alignment allow.
  int64_t lhsLanes = 1, rhsLanes = 1, resultLanes = 1;
  bool raggedM = true, raggedN = true, raggedK = true; ///< The tile does not divide the size.
  bool isAlone = true; ///< What is written overlaps nothing else.
  unsigned numBatchLoops = 0; ///< Axes of C that are in neither m nor n.
  unsigned numSumLoops = 0;   ///< Summed axes beside k.
  bool isSplit = false;       ///< Several blocks sum up parts of k for a tile.
  llvm::SmallVector<ProductElements> elements;
  mutable mlir::func::FuncOp epilogue; ///< Mutable: accessors of ops are not const.

  std::string name() const;
  /// What tells it from every other configuration.
  std::string key() const;
  /// Axes of the tensor map of a factor.
  unsigned mapRank() const { return 2 + numBatchLoops + numSumLoops; }
};

/// A factor as copies of tiles take it: the axes of its tensor map, the slowest first.
struct FactorAxes {
  llvm::SmallVector<int64_t> sizes, strides;
};

/// A product as a launch: the configuration, and the kernel's arguments after its buffers.
struct ProductLaunch {
  ProductKernelConfig config;
  int64_t numBlocks = 1;
  llvm::SmallVector<int64_t> arguments;
  FactorAxes factors[2]; ///< A and B, where the unit is WarpGroup.
  /// Of a split product: counters that it needs, and sums between its blocks.
  int64_t numCounters = 0, numPartialSums = 0;
  /// All that the product could have, as ProductSchedule spells them, the model's choice first.
  std::vector<std::string> schedules;

  /// The choice for `product`: that one of `schedules`, or the first; `alignments` are the bytes to which A, B and the
  /// buffers of the epilogue are aligned.
  static ProductLaunch choose(const Product &product, const ProductEpilogue &epilogue, llvm::ArrayRef<int64_t> alignments,
                              bool isAlone, MatmulPrecision precision, llvm::StringRef chip, llvm::StringRef schedule);
};

/// Returns the kernel of `config`, of either kind:
///   (A, B, its scales if a factor has some, the buffers of the epilogue: memref<?xT, strided<[1], offset: ?>>,
///    m, n, k, tiles along m, tiles along n,
///    A's strides along m and k, B's along k and n,
///    per batch loop its size and its stride in A and B,
///    per sum loop its size and its stride in A and B,
///    per buffer of the epilogue its strides along m, n and each batch loop,
///    the scales' strides along the factor's side, k and each batch loop and sum loop: index;
///    if it is split, its tiles, the blocks of each, elements of k for each of these, the first of its counters: index,
///    and numPartialSums elements that are aligned to 16 bytes: memref<?xT, strided<[1], offset: ?>>)
/// For warp groups A and B are tensor maps (kTensorMapAttr), of rank 2 and an axis for each loop; what
/// such a loop gives instead of a stride is 1, or 0 if the factor does not have the axis.
mlir::gpu::GPUFuncOp emitProductKernel(KernelModule &device, mlir::Location loc,
                                       const ProductKernelConfig &config);

} // namespace hjx
