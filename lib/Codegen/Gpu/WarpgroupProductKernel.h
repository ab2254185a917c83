// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by warp groups, for sm_90a alone: TMA brings tiles, wgmma multiplies them.
//
// How it works (idea: CUTLASS's warp-specialised kernels for Hopper):
//
//   one thread of the last warp group            the other warp groups, 64 rows of the tile each
//   for each tile of k:                          for each tile of k:
//     wait until its place in the ring is empty    wait until the tile is full
//     ask TMA for a box of A and of B       ──▶    multiply it: 4 wgmma of 32 bytes of k
//     (the copies say "full" when done)     ◀──    say "empty" of the tile before
//
//   - Each tile has an mbarrier for "full" and one for "empty"; nobody else waits for anybody, and the
//     threads that multiply issue no copies.
//   - A tile is 128 bytes of k. It lies in shared memory as the matrix does in global memory, 128 bytes
//     a row, swizzled by the copy as wgmma wants it: along k, or, for 16-bit types, along the side
//     (what the PTX manual calls "transposed").
//   - Batch axes and further summed axes are axes of the tensor map.
//   - Ragged edges: TMA puts zeros where the matrix ends; results outside are not stored.
//
// Numerics: those of TensorProductKernel.h. TF32 operands are rounded by the copy.
#pragma once

#include "lib/Codegen/Gpu/ProductKernel.h"

namespace hjx {

/// Bytes of a tile along its fastest axis, and along k: what the swizzle works on.
constexpr int64_t kTileBytes = 128;

/// Whether warp groups multiply such operands, laid out so.
bool hasWarpgroupProduct(const ProductKernelConfig &config, MatmulPrecision precision);

/// Fills the kernel of a configuration whose tile is for warp groups.
void emitWarpgroupProduct(mlir::gpu::GPUFuncOp kernel, const ProductKernelConfig &config);

} // namespace hjx
