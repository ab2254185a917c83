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
// box that the slices cut out.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx {

/// The part of `array` that `index` names.
mlir::Value readPart(mlir::ImplicitLocOpBuilder &b, mlir::Value array, const ir::RefIndex &index);

/// `array` with that part replaced by `value`, or with `value` added to it. An index without
/// entries also serves hi-types.
mlir::Value writePart(mlir::ImplicitLocOpBuilder &b, mlir::Value array, const ir::RefIndex &index, mlir::Value value);
mlir::Value addPart(mlir::ImplicitLocOpBuilder &b, mlir::Value array, const ir::RefIndex &index, mlir::Value value);

} // namespace hjx
