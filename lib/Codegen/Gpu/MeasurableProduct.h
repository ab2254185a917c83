// SPDX-License-Identifier: Apache-2.0
//
// Products of a program as an autotuner sees them: what could run each, and a program of one alone to time that.
//
//   call @matmul_3(%view, %arg4, %alloc)               of @main, between hjx-outline-kernels and hjx-generate-gpu-kernels
//
//   func.func @main(%a: memref<96x64xbf16>, %b: memref<64x48xbf16>, %c: memref<32x48xf32>) {
//     %view = memref.subview %a ...                      the same views, of buffers that became arguments: the same strides,
//     call @matmul_3(%view, %b, %c)                      alignments and epilogue, hence the same kernel
//   }
#pragma once

#include "lib/Codegen/Gpu/OutlinedProduct.h"

namespace hjx {

struct MeasurableProduct {
  mlir::func::FuncOp function; ///< to be given kProductScheduleAttr
  /// What tells it from every other product of that chip: its kernel by the model, sizes, and a hash of all that a
  /// launch says: "matmul_f32_64x64x16_n4_n4_4 64x96x128 0f3a9c0d1e2b4a58".
  std::string name;
  std::vector<std::string> schedules; ///< all that it can have, the model's first
  mlir::OwningOpRef<mlir::ModuleOp> program; ///< one call of it; null where that cannot be had

  /// The best of `schedules`, of no tile more than a few.
  std::vector<std::string> candidates() const;
};

/// All products of `module`, whose kernels are functions that it calls.
/// Errors: the diagnostics that hjx-generate-gpu-kernels would give.
mlir::FailureOr<std::vector<MeasurableProduct>> measurableProducts(mlir::ModuleOp module, llvm::StringRef chip);

} // namespace hjx
