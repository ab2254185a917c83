// SPDX-License-Identifier: Apache-2.0
//
// A product as hjx-outline-loops leaves it: a function of the fill before it, the product, and the elementwise ops behind
// it, which become one kernel.
#pragma once

#include "lib/Codegen/Gpu/BufferFacts.h"
#include "lib/Codegen/Gpu/ProductKernel.h"

namespace hjx {

/// On such a function: the schedule that its kernel must have, as ProductSchedule spells it, in place of the model's.
constexpr llvm::StringLiteral kProductScheduleAttr = "hjx.product_schedule";

struct OutlinedProduct {
  struct Matrix {
    unsigned argument; ///< of the function
    int64_t offset;
  };
  Product product;
  ProductEpilogue epilogue;
  llvm::SmallVector<Matrix> matrices; ///< A, B, the buffers of the epilogue
  llvm::SmallVector<int64_t> alignments;
  bool isAlone = true;

  /// Nothing if `function`, whose arguments are as `facts` say, is no product.
  /// Errors: a diagnostic if it is, and what follows is not elementwise.
  static mlir::FailureOr<std::optional<OutlinedProduct>> match(mlir::func::FuncOp function, llvm::ArrayRef<BufferFacts> facts);

  ProductLaunch launch(MatmulPrecision precision, llvm::StringRef chip, llvm::StringRef schedule = "") const {
    return ProductLaunch::choose(product, epilogue, alignments, isAlone, precision, chip, schedule);
  }
};

/// What the module's attribute hjx.matmul_precision says.
/// Errors: a diagnostic for another value.
mlir::FailureOr<MatmulPrecision> matmulPrecisionOf(mlir::ModuleOp module);

} // namespace hjx
