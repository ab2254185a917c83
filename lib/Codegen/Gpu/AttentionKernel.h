// SPDX-License-Identifier: Apache-2.0
//
// Attention, forward and backward, without ever storing the scores: on tensor cores, and in strict
// f32 without.
//
// How it works (idea: Dao et al. 2022, 2023, FlashAttention): a block holds a tile of rows of one
// head and walks over tiles of columns; a tile of scores exists in registers only.
//
//                columns: keys, `columns` at a time           forward, rows are queries:
//               ┌──────────┬──────────┬────────
//    rows:      │ S = Q K^T│          │                         S = scale Q K^T
//    queries,   │ in       │ next one │ ...                     m, l = running maximum and sum of
//    exps 16 a warp  │ registers│ on its   │                         P = exp(S - m);  O = O exp(m -
//    m') + P V
//               │          │ way      │                       at the end O / l, and logsumexp = m +
//               log l └──────────┴──────────┴────────
//
//   backward, P again from logsumexp:      dP = dO V^T      dS = P (dP - shift)
//     queryBar   rows are queries                           dQ += dS K
//     keyBar     rows are keys, columns are queries         dK += dS^T Q     dV += P^T dO
//
//   All three are one pattern: a tile of scores is a product of a tile that stays with one that
//   comes along, both stored along the features; it is then, still in registers, the left factor of
//   a product with a tile that came along. What a lane holds of a result of an mma is what it needs
//   of a left factor: 16-bit types as they are, TF32 with the columns in another order, in which
//   the right factor is then loaded, too. Strict f32 has its scores where an mma would have
//   them, and the four lanes of a row tell each other theirs.
//
// Each row belongs to one block, so gradients need no atomics: same bits every time. With `causal`,
// tiles in which no query sees a key are skipped. Ragged edges: rows and features that are not
// there are zeros, keys that are not there are never seen.
//
// Numerics: sums in f32; P and dS are rounded to the operands' type for the second products. Strict
// f32 rounds nothing else: fused multiply-adds, in a fixed order.
#pragma once

#include "lib/Codegen/Gpu/KernelModule.h"
#include "lib/Codegen/Structured/ProductTypes.h"
#include "lib/Rules/Attention.h"
#include "lib/Support/SizeBytes.h"

namespace hjx {

/// What a kernel computes.
enum class AttentionPart { Forward, QueryBar, KeyBar };

/// The kernels that a call of `attention`, or of its cotangent, becomes.
llvm::ArrayRef<AttentionPart> attentionParts(mlir::func::FuncOp attention);

/// Of the operands of such a call, the matrices that a kernel takes.
struct AttentionOperands {
  llvm::ArrayRef<unsigned> positions; ///< in the order of emitAttentionKernel
  unsigned numRead; ///< which come first; it writes the others

  static AttentionOperands of(AttentionPart part);
};

struct AttentionKernelConfig {
  AttentionPart part;
  mlir::Type elementType; ///< f16, bf16 or f32
  bool onTensorCores;     ///< f32 as TF32
  int64_t features;       ///< of a head
  bool causal;
  int64_t rows, columns; ///< of a tile

  /// Tiles for `numRows` rows in each of `numHeads` heads of all batches.
  static AttentionKernelConfig choose(AttentionPart part, mlir::Type elementType,
                                      MatmulPrecision precision, int64_t features, bool causal,
                                      int64_t numRows, int64_t numHeads);

  std::string name() const;
  int64_t elementBytes() const { return hjx::elementBytes(elementType); }
  /// Features of a tile: an mma takes 16 (in TF32 8) of them, or makes 8.
  int64_t width() const { return llvm::alignTo(features, 16); }
  int64_t numWarps() const { return rows / 16; }
  int64_t blockSize() const { return numWarps() * kWarpSize; }
  unsigned numMatrices() const { return AttentionOperands::of(part).positions.size(); }
};

/// What the kernels make of `op`, attention or one of its derivatives.
AttentionSupport gpuAttentionSupport(mlir::Operation *op);

/// Whether the kernels can read, or write, a buffer of `type` where it is: rows of features begin at
/// multiples of 16 bytes, and the batch axes are as one. One number a row may lie anywhere.
bool isReadableByAttention(mlir::MemRefType type, bool hasFeatures);

/// Returns the kernel of `config`:
///   (matrices: memref<?xT, strided<[1], offset: ?>>, queries, keys, heads, tiles of rows: index,
///    per matrix its strides along batch, positions and heads: index, scale: f32)
/// where matrices are query, key, value, logsumexp, and
///   Forward   out
///   QueryBar  outBar, shift, queryBar
///   KeyBar    outBar, shift, keyBar, valueBar
/// All lie along the features, in whole, aligned vectors of 16 bytes.
mlir::gpu::GPUFuncOp emitAttentionKernel(KernelModule &device, mlir::Location loc,
                                         const AttentionKernelConfig &config);

/// Fill the kernel of a configuration.
void emitAttentionForward(mlir::gpu::GPUFuncOp kernel, const AttentionKernelConfig &config);
void emitAttentionBackward(mlir::gpu::GPUFuncOp kernel, const AttentionKernelConfig &config);

} // namespace hjx
