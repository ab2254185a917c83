// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on tensor cores, for sm_80 and later: mma.sync on f16, bf16, TF32 and 8-bit
// integers, sums in f32 or i32.
//
// How it works (idea: CUTLASS's multistage kernels for Ampere):
//
//   global ──cp.async──▶ ring of `stages` tiles in shared memory ──ldmatrix──▶ fragments ──mma──▶ sums
//
//   - While a tile is multiplied, copies of the next stages - 1 are under way; one barrier and one
//     wait for each tile of k.
//   - A tile lies in shared memory as the matrix does in global memory, so all four layouts take
//     the same 16-byte copies: ldmatrix transposes 16-bit elements on the way into registers, and
//     TF32's are loaded one by one. Rows have 16 (or 32) bytes of padding, which spreads the 8 rows
//     that an ldmatrix reads over all banks.
//   - An mma takes 32 bytes of k whatever the type: 16 elements of 16 bits, 8 of TF32, 32 of 8 bits.
//   - Ragged edges: a copy of no bytes fills its place with zeros. Elements that no copy can take
//     (of 2 bytes, unaligned) go through registers.
//
// Numerics: an element of C is summed in the order of k, 32 bytes at a time; how the hardware adds
// the products of one mma is its own (on all chips the products are exact).
#pragma once

#include "lib/Codegen/Gpu/ProductKernel.h"

namespace hjx {

/// Whether tensor cores multiply such operands, laid out so.
bool hasTensorProduct(const ProductKernelConfig &config, MatmulPrecision precision);

/// Fills the kernel of a configuration whose tile is on tensor cores.
void emitTensorProduct(mlir::gpu::GPUFuncOp kernel, const ProductKernelConfig &config);

} // namespace hjx
