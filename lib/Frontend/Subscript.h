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

/// Whether a part of the array that a plan without index arrays names is read in memory of the host.
bool isReadOnHost(const OpScope &op, const Array &array);
/// That part, in `shape`: where the array lies, committed as it is.
Array readOnHost(OpScope &op, const Array &array, const Plan &plan, llvm::ArrayRef<int64_t> shape);
/// The operation reads a part of `array`: where that waits on the host, it is read there, and the
/// part moves.
void stayHome(OpScope &op, const Array &array);

} // namespace hjx::detail
