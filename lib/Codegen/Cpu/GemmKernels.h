// SPDX-License-Identifier: Apache-2.0
//
// The leaf functions of a generated matrix product. Each is emitted once per
// configuration, kept out of line, and knows nothing of blocks or threads.
#pragma once

#include "lib/Codegen/Cpu/GemmTiling.h"

namespace hjx::gemm {

/// (k, a, b, c: ptr, cRow, accumulate: i1): one register tile.
/// C[i,j] (+)= sum over k of a[k * rows + i] * b[k * cols + j]; C has unit column stride.
/// `k` is a multiple of kUnroll. Full tiles only.
mlir::LLVM::LLVMFuncOp emitMicroKernel(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                       llvm::StringRef name);

/// (source, outerStride, kStride, count, k, destination): one panel of `width` rows of A or columns
/// of B. destination[kk * width + i] = source[min(i, count - 1) * outerStride + kk * kStride],
/// converted to the compute type. Rows from `count` on repeat the last one: they only reach
/// elements of C that are cut off. k is padded to a multiple of kUnroll with zeros in both
/// operands. May write one vector past the end of the panel: pack panels in ascending order.
mlir::LLVM::LLVMFuncOp emitPackPanel(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                     bool isLhs, llvm::StringRef name);

/// (panel, scales, sideStride, sumStride, sideGroup, sumGroup, firstSide, count, firstSum, k): multiplies what
/// emitPackPanel made, k elements from firstSum on of `count` rows of A or columns of B from firstSide on, by its scales:
/// those of scales[side / sideGroup * sideStride + sum / sumGroup * sumStride].
mlir::LLVM::LLVMFuncOp emitScalePanel(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                      bool isLhs, llvm::StringRef name);

/// (source, sourceRow, c, cRow, cCol, m, n, accumulate: i1): moves an m x n block of computed
/// values with unit column stride to its place in C, converting to the result type.
mlir::LLVM::LLVMFuncOp emitWriteBack(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                     llvm::StringRef name);

/// (k, a, aRow, aCol, b, bRow, c, cRow, m, n, accumulate: i1): a tile of up to rows x vectors
/// registers straight from the matrices: any strides of A, unit column strides of B and C.
mlir::LLVM::LLVMFuncOp emitInPlaceKernel(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                         int64_t rows, int64_t vectors, llvm::StringRef name);

/// (k, x, b, bCol, c, cCol, n, accumulate: i1): up to dotsCols elements of a row of C as dot
/// products of x with columns of B; both have unit stride along k.
mlir::LLVM::LLVMFuncOp emitDotsKernel(Emitter &e, mlir::ModuleOp module, const Tiling &tiling,
                                      llvm::StringRef name);

} // namespace hjx::gemm
