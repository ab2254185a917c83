// SPDX-License-Identifier: Apache-2.0
//
// What NumPy does silently and the IR does not: promotion, broadcasting, negative
// axes. Messages here are the ones that newcomers meet first.
#pragma once

#include "lib/Frontend/OpScope.h"

#include <hjx/ops.h>

namespace hjx::detail {

inline mlir::DenseI64ArrayAttr dims(OpScope &op, llvm::ArrayRef<int64_t> list) {
  return op.builder().getDenseI64ArrayAttr(list);
}

/// `x` with elements of `type`.
Operand convert(OpScope &op, Operand x, DType type);

/// The operands in the type that they promote to; with `inexact` at least a float.
llvm::SmallVector<Operand> promote(OpScope &op, llvm::ArrayRef<Array> arrays, bool inexact = false);
/// One operand, integers as float32.
Operand toFloat(OpScope &op, const Array &array);
/// Integers as int32; those beyond it become its least or greatest.
Operand toIndex(OpScope &op, const Operand &x);
/// One operand in a given type.
Operand useAs(OpScope &op, const Array &array, DType type);

/// The shape that all broadcast to.
llvm::SmallVector<int64_t> broadcastShape(OpScope &op, llvm::ArrayRef<Operand> operands);
Operand broadcastTo(OpScope &op, Operand x, llvm::ArrayRef<int64_t> shape);
/// broadcast_in_dim, folded for constants.
Operand broadcastInDim(OpScope &op, Operand x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
/// Promoted and broadcast against each other.
llvm::SmallVector<Operand> promoteAndBroadcast(OpScope &op, llvm::ArrayRef<Array> arrays, bool inexact = false);

/// A number as an array of `type` and `shape`.
Operand splat(OpScope &op, double value, DType type, llvm::ArrayRef<int64_t> shape = {});

/// `axis` counted from 0; an error unless -rank <= axis < rank.
int64_t normalizeAxis(const Call &op, int64_t axis, int64_t rank, const std::string &what);
/// Ascending and distinct.
llvm::SmallVector<int64_t> normalizeAxes(const Call &op, const Axes &axes, int64_t rank, const std::string &what);

Operand reshapeTo(OpScope &op, Operand x, llvm::ArrayRef<int64_t> shape);
Operand transposeBy(OpScope &op, Operand x, llvm::ArrayRef<int64_t> permutation);

std::string describe(const Operand &operand);
/// "1 axis", "2 axes"
inline std::string plural(int64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// The shape of an argument of the call.
inline const Shape &shapeOf(const Call &op, const Array &x) { return Access::checked(x, op.name(), op.where()).shape; }

} // namespace hjx::detail
