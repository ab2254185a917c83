// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on single elements, exact in the corners that the dialect defines:
// division by zero, shifts past the width, saturating conversion.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

using LocBuilder = mlir::ImplicitLocOpBuilder;

/// How the bits of an element are to be read. hjx's types say it; signless ones no longer do.
enum class Kind { Bool, Signed, Unsigned, Float };
Kind kindOf(mlir::Type typeOrArray);

/// `type` (an element type of hjx) without its sign.
mlir::Type signless(mlir::Type type);
/// `attr` with its type made signless.
mlir::TypedAttr signlessAttr(mlir::TypedAttr attr);

/// A constant of the signless `type`: `value` converted.
mlir::Value emitNumber(LocBuilder &b, mlir::Type type, double value);
mlir::Value emitInteger(LocBuilder &b, mlir::Type type, const llvm::APInt &value);

/// True for f16 and bf16, which are computed in f32.
bool isHalf(mlir::Type type);
/// f16 and bf16 as f32, anything else as it is.
mlir::Value widenHalf(LocBuilder &b, mlir::Value value);
mlir::Type widenHalf(mlir::Type type);
/// `value`, a float, rounded to the float `type`.
mlir::Value emitFloatCast(LocBuilder &b, mlir::Value value, mlir::Type type);

/// hjx.convert of one element. `from` and `to` are element types of hjx.
mlir::Value emitConvert(LocBuilder &b, mlir::Value value, mlir::Type from, mlir::Type to);

/// The index as an element of `type`, an element type of hjx.
mlir::Value emitIndexAs(LocBuilder &b, mlir::Value index, mlir::Type type);
/// The element, an integer of hjx's type `type`, as an index in [0, limit].
mlir::Value emitClampedIndex(LocBuilder &b, mlir::Value element, mlir::Type type, int64_t limit);

/// The greater or lesser of two elements; NaN if either is NaN.
mlir::Value emitMax(LocBuilder &b, Kind kind, mlir::Value lhs, mlir::Value rhs);
mlir::Value emitMin(LocBuilder &b, Kind kind, mlir::Value lhs, mlir::Value rhs);
mlir::Value emitAdd(LocBuilder &b, Kind kind, mlir::Value lhs, mlir::Value rhs);
mlir::Value emitMul(LocBuilder &b, Kind kind, mlir::Value lhs, mlir::Value rhs);

/// The least and the greatest element of a type (infinities for floats), as a constant of the
/// signless type.
mlir::TypedAttr leastOf(mlir::Type type);
mlir::TypedAttr greatestOf(mlir::Type type);

} // namespace hjx
