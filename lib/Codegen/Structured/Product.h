// SPDX-License-Identifier: Apache-2.0
//
// Structured ops that are matrix products, whatever their layout and batch axes.
//
// Concept. A contraction is recognised by its strides alone: a loop that moves both
// operands and the result is a batch axis, one that moves lhs and result a row (m),
// rhs and result a column (n), lhs and rhs a summed axis (k). After collapsing
// loops that belong together, one m, n and k each go to the generated kernel, two
// batch axes too, and what is left becomes loops around the call:
//
//   q[b, i, h, d] * k[b, j, h, d] -> s[b, h, i, j]     no transposition is made:
//   batch b, h   m = i   n = j   k = d                 heads are strides
//
// A factor may be made of bytes (Packing), and these may have scales, one for each group of rows and columns. Loops of
// bytes that belong together are one where their scales stay, too:
//
//   x[i, g, h] * (float(q[g, h, j]) * s[g, j]) -> y[i, j]     groups of 32 of k = 32 g + h
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"
#include "lib/Codegen/Structured/ProductTypes.h"

namespace hjx {

struct Product {
  ProductTypes types;
  ProductSizes sizes;
  /// Element strides of one matrix along the batch axes, its rows and its columns.
  struct Strides {
    int64_t batch0 = 0, batch1 = 0, row = 0, col = 0;
  };
  Strides lhs, rhs, result;
  /// Where the scales of a factor are, if it has some: that of its element (i, j) is i / rowGroup rows and
  /// j / colGroup columns further on.
  Strides scales;
  int64_t rowGroup = 1, colGroup = 1;
  unsigned lhsOperand = 0, rhsOperand = 1; // Which operands of the op are the kernel's A and B.
  unsigned scalesOperand = 0;

  /// A loop around the kernel: over what is left of batch and summed axes.
  struct OuterLoop {
    int64_t size, lhsStride, rhsStride, resultStride, scalesStride;
    bool isSum;
  };
  llvm::SmallVector<OuterLoop> outer;
  /// An axis of C beside its rows and columns.
  struct BatchLoop {
    int64_t size, lhs, rhs, result, scales;
  };
  /// Those of size 1 left out, the fastest first.
  llvm::SmallVector<BatchLoop> batchLoops() const;
  int64_t lhsOffset = 0, rhsOffset = 0, resultOffset = 0, scalesOffset = 0; // In elements.

  /// Returns how `op`, on buffers, is a product; nullopt if it is not, or is one that loops do as
  /// well (a matrix and a vector, tiny axes), or has operands of mixed types that are not
  /// packed.
  static std::optional<Product> match(mlir::linalg::GenericOp op);
};

/// Whether `op`, on tensors, is a contraction whose factors are used again along a row or a column of the
/// result. Sums of products of the elements of two rows are not: they are reductions like others.
bool isMatrixProduct(mlir::linalg::GenericOp op);

/// A float that a body of scalars makes of a byte, which lies there as `packing` says, and perhaps a scale: one of
/// sitofp(byte), sitofp((byte << 4) >> 4), sitofp(byte >> 4), or that times the scale.
struct PackedNumber {
  mlir::BlockArgument byte, scale; // Null: there is none.
  Packing packing;

  static std::optional<PackedNumber> match(mlir::Value value);
};

/// The fill with zeros that gives `buffer` the contents which `before` finds; null if there is none.
mlir::linalg::GenericOp zeroFillBefore(mlir::Operation *before, mlir::Value buffer);

} // namespace hjx
