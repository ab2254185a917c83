// SPDX-License-Identifier: Apache-2.0
//
// NumPy's subscripts, read once: what becomes of each axis. Arrays and refs then do
// with the plan what they can.
#pragma once

#include "lib/Frontend/Operands.h"

#include <hjx/indexing.h>

namespace hjx::detail {

/// What a subscript does to one axis of the array.
struct AxisPlan {
  int64_t start = 0, count = 0, step = 1; // A slice of `count` elements; step may be negative.
  bool dropped = false;                   // A number: the axis goes.
  std::optional<Operand> positions;       // An index array instead.
};

struct Plan {
  llvm::SmallVector<AxisPlan> axes;
  /// The result's axes in order: an axis of the array, kNewAxis, or kArrays for all axes
  /// of the broadcast index arrays.
  static constexpr int64_t kNewAxis = -1, kArrays = -2;
  llvm::SmallVector<int64_t> layout;
  llvm::SmallVector<int64_t> arrayShape; // Of the broadcast index arrays.
  bool hasArrays = false;
};

/// `what` describes the value of `shape` in messages.
Plan readSubscript(OpScope &op, const Shape &shape, const std::string &what, llvm::ArrayRef<Index> indices);

} // namespace hjx::detail
