// SPDX-License-Identifier: Apache-2.0
//
// How a structured op reduces: sum = sum + x[j] is a sum whose terms may be taken in
// any order, and therefore in lanes, by threads, or in parts.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

/// How an output that the nest reduces into is combined: `combine(accumulator, partial)`.
struct Combiner {
  mlir::Operation *op = nullptr; // In the body; one operand is the accumulator.
  unsigned accumulatorOperand = 0;
  // Booleans live in memory as bytes: the conversions around the combination.
  mlir::Operation *fromMemory = nullptr, *toMemory = nullptr;

  mlir::Value partial() const { return op->getOperand(1 - accumulatorOperand); }

  /// The combiner of output `output`, if its reduction may be split into lanes: a commutative
  /// and associative op (floats: up to rounding) applied to the accumulator last.
  static std::optional<Combiner> match(mlir::linalg::GenericOp op, unsigned output);

  /// `combine(lhs, rhs)`, on scalars or vectors.
  mlir::Value emit(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs, mlir::Value rhs) const;
  /// `value` through one of the conversions above, or itself if there is none.
  mlir::Value convert(mlir::ImplicitLocOpBuilder &b, mlir::Operation *conversion,
                      mlir::Value value) const;
  /// The value x with combine(a, x) = a.
  mlir::TypedAttr identity() const;
  /// Combines the lanes of `vector` in a fixed tree: halves, quarters, ... down to a scalar.
  mlir::Value reduceLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value vector) const;
};

/// `op` again, with other operands and result type: arithmetic is the same on scalars and vectors.
mlir::Value emitLike(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op, mlir::ValueRange operands,
                     mlir::Type resultType);

} // namespace hjx
