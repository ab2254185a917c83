// SPDX-License-Identifier: Apache-2.0
//
// Parts of arrays as values: what a ref access does once the ref is an array.
// One meaning of an index (Refs.td), three ways to make it, cheapest first:
//
//   static slices        [:, 2, 1:7:2]   slice            select of padded values
//   scalars at run time  [%i, %j +: 4]   dynamic_slice    dynamic_update_slice
//   integer arrays       [%ids, :]       gather           scatter
//
// Mixed indices are boxes within boxes: gathers and scatters happen inside the
// box that the slices cut out. What an index means for a hi-type its author says.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx {

/// The part of `whole` that `index` names. Parts of a hi value are its author's to make, who may fail.
mlir::FailureOr<mlir::Value> readPart(mlir::ImplicitLocOpBuilder &b, mlir::Value whole, const ir::RefIndex &index);

/// `whole` with that part replaced by `value`, or with `value` added to it.
mlir::FailureOr<mlir::Value> writePart(mlir::ImplicitLocOpBuilder &b, mlir::Value whole, const ir::RefIndex &index, mlir::Value value);
mlir::FailureOr<mlir::Value> addPart(mlir::ImplicitLocOpBuilder &b, mlir::Value whole, const ir::RefIndex &index, mlir::Value value);

} // namespace hjx
