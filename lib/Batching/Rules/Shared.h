// SPDX-License-Identifier: Apache-2.0
//
// What the families' batching rules share: dimension lists seen past the mapped
// axis, and copies of an op with other operands.
#pragma once

#include "lib/Batching/Batching.h"
#include "lib/Rules/Emit.h"

namespace hjx::batching {

using namespace mlir;

/// `dim` of the unbatched array as a dimension of the array mapped at `axis`.
inline int64_t shift(int64_t dim, int64_t axis) { return dim + (dim >= axis); }
inline SmallVector<int64_t> shift(ArrayRef<int64_t> dims, int64_t axis) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shift(dim, axis); });
}

/// `dims` with `value` in front.
inline SmallVector<int64_t> prepend(int64_t value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> all{value};
  llvm::append_range(all, dims);
  return all;
}

inline bool isMapped(Axis axis) { return axis.has_value(); }
inline bool anyMapped(ArrayRef<Axis> axes) { return llvm::any_of(axes, isMapped); }
/// The axis of the first mapped operand; there is one.
inline int64_t firstMapped(ArrayRef<Axis> axes) { return **llvm::find_if(axes, isMapped); }

/// Operand `i` mapped at axis 0.
inline Value atFront(BatchContext &ctx, unsigned i) { return mapAt(ctx.b, ctx.operands[i], ctx.axes[i], 0, ctx.size); }

/// A copy of `ctx.op` with these operands, its results mapped at `axis`.
/// Attributes are kept: only for ops whose attributes name no dimension, or
/// whose dimensions the caller sets on the copy before it is used.
Operation *copyWith(BatchContext &ctx, ValueRange operands, int64_t axis);

/// Sets all results of `copy`, mapped at `axis`.
void setResults(BatchContext &ctx, Operation *copy, int64_t axis);

/// The rule of ops that treat each element alone: move mapped operands to the
/// first mapped axis, repeat the others.
LogicalResult batchElementwise(BatchContext &ctx);

} // namespace hjx::batching
