// SPDX-License-Identifier: Apache-2.0
//
// What the kernel of a product does with its sums before they leave the registers: C += A * B, the
// rounding to C's type, a bias, gelu, a residual.
//
// Concept. An elementwise op on C is seen from C: an element of C stands at a row and a column of the
// product (and in one of a batch), and each operand of the op is a function of these with a stride
// for each. The ops then are one body of scalars:
//
//   c = A * B                 memref<4x512x768xf32>   that nothing else reads: never in memory
//   y = truncf(c + bias)      memref<2048x768xbf16>
//
//   m = 2048 rows, n = 768 columns: bias has strides 0 and 1, y has 768 and 1
//   body (sum, bias) -> y:    %0 = addf sum, bias; %1 = truncf %0; return %1
//
// The numbers are those of one op after the other: the body rounds where the ops do. A kernel reads
// the elements that it needs, runs the body and writes the results, for one element after the
// other, so an op may write over what it reads at the same place; nothing else may overlap.
#pragma once

#include "lib/Codegen/Structured/Product.h"

namespace hjx {

/// A buffer of which the kernel of a product reads or writes an element for each of C.
struct EpilogueBuffer {
  mlir::Value buffer;
  int64_t offset = 0;                 ///< Where the element of the first row and column is.
  int64_t row = 0, col = 0;           ///< Strides along m and n,
  llvm::SmallVector<int64_t> batches; ///< and along Product::batchLoops.
  bool isRead = false, isWritten = false;

  bool isSamePlace(const EpilogueBuffer &other) const {
    return buffer == other.buffer && offset == other.offset && row == other.row && col == other.col &&
           batches == other.batches;
  }
};

struct ProductEpilogue {
  llvm::SmallVector<EpilogueBuffer> buffers;
  /// (a sum, an element of each buffer that is read) -> an element of each that is written.
  mlir::OwningOpRef<mlir::func::FuncOp> body;

  /// The epilogue of `op`, which is `product`: C's conversion, `followers` in their order, and stores
  /// of what `isKept` says of the roots of buffers. `accumulate`: C begins with what it holds.
  /// Nothing if a follower is more than that.
  static std::optional<ProductEpilogue> match(mlir::linalg::GenericOp op, const Product &product, bool accumulate,
                                              llvm::ArrayRef<mlir::linalg::GenericOp> followers,
                                              llvm::function_ref<bool(mlir::Value root)> isKept);
};

/// The ops that become one kernel with the product `op`: the fill with zeros before it, if there is
/// one, it, and the elementwise ops on its result that could be brought behind it.
llvm::SmallVector<mlir::Operation *> groupProduct(mlir::linalg::GenericOp op, const Product &product);

} // namespace hjx
