// SPDX-License-Identifier: Apache-2.0
//
// Sums of cotangents. Where a value is read in parts, each part's cotangent is
// an array of zeros with something small in it, and adding such arrays is where
// naive reverse mode spends memory. Three shapes of sum avoid it:
//
//   sum + scatter_add(0, i, u)             -> scatter_add(sum, i, u)
//   sum + dynamic_update_slice(0, u, i)    -> the box of sum, plus u, put back
//   pad(a) + pad(b), a and b neighbours    -> pad(concatenate(a, b))
//
// The first two are how an embedding table read in a loop, or tied to an output
// layer, gets its gradient in place; the last undoes a split (q, k, v).
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

/// sum + bar. `bar` was just made and nobody reads it yet; nor `sum`, which may
/// be null for a symbolic zero.
mlir::Value addCotangents(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value bar);

/// Adds `bar`, which was just made, to what `ref` holds. The same bars, and padded ones, become
/// additions to a part of the ref, so that no array is filled with zeros.
void addToRef(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ref, mlir::Value bar);

} // namespace hjx
