// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on a GPU: C = A * B or C += A * B, generated once per configuration and launched
// for every shape and stride.
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
// What a configuration fixes is what changes the code; sizes and strides are arguments, so that
// the layers of a network share a few kernels. Types that tensor cores multiply have kernels of
// another kind, see TensorProductKernel.h; what both do around their tiles is in ProductFrame.h.
#pragma once

#include "lib/Codegen/Structured/Product.h"
#include "lib/Codegen/Gpu/DeviceModule.h"

namespace hjx {

/// The part of C that a block computes, and how much of k at a time; and which part of it a thread
/// computes, or a warp where `stages` says that tensor cores do.
struct ProductTile {
  int64_t m, n, k, partM, partN;
  int64_t stages = 0; ///< Tiles of A and B in shared memory, for tensor cores.
  bool onTensorCores() const { return stages > 0; }
  int64_t blockSize() const {
    return (m / partM) * (n / partN) * (onTensorCores() ? kWarpSize : 1);
  }
};

struct ProductKernelConfig {
  mlir::Type operandType, accumulatorType, resultType;
  bool unsignedOperands = false; ///< Integers extend with zeros.
  ProductTile tile;
  /// Whether neighbouring elements along k are neighbours in memory; else those along m or n are,
  /// or are the closest.
  bool lhsAlongSum = false, rhsAlongSum = false;
  /// Elements per load of A and B and per store of C, as contiguity and alignment allow.
  int64_t lhsLanes = 1, rhsLanes = 1, resultLanes = 1;
  bool raggedM = true, raggedN = true, raggedK = true; ///< The tile does not divide the size.
  bool accumulate = false;                             ///< C += A * B
  bool isAlone = true;                                 ///< C overlaps neither A nor B.
  unsigned numBatchLoops = 0; ///< Axes of C that are in neither m nor n.
  unsigned numSumLoops = 0;   ///< Summed axes beside k.

  std::string name() const;
};

/// A product as a launch: the configuration, and the kernel's arguments after A, B and C.
struct ProductLaunch {
  ProductKernelConfig config;
  int64_t numBlocks = 1;
  llvm::SmallVector<int64_t> arguments;

  /// The choice for `product`; `alignments` are the bytes to which A, B and C are aligned.
  static ProductLaunch choose(const Product &product, bool accumulate,
                              std::array<int64_t, 3> alignments, bool isAlone,
                              MatmulPrecision precision);
};

/// Returns the kernel of `config`, of either kind:
///   (A, B, C: memref<?xT, strided<[1], offset: ?>>,
///    m, n, k, tiles along m, tiles along n,
///    A's strides along m and k, B's along k and n, C's along m and n,
///    per batch loop its size and its stride in A, B and C,
///    per sum loop its size and its stride in A and B: index)
mlir::gpu::GPUFuncOp emitProductKernel(DeviceModule &device, mlir::Location loc,
                                       const ProductKernelConfig &config);

} // namespace hjx
