// SPDX-License-Identifier: Apache-2.0
//
// Mapped values of any type: arrays at an axis, hi values as a spec says. To move
// a hi value from one spec to another, or to repeat a shared one, is to do it to its
// components, between hjx.lower and hjx.raise; a derivative may be to come, so that it is a
// primitive first (RemapPrimitive.h), which expands to that.
//
// Where a type's author has not said how it is mapped there is a diagnostic, and
// a value to go on with; whoever runs a transform fails when an error was reported.
#pragma once

#include "lib/Batching/Batching.h"

namespace hjx {

/// The spec of `axis` for a value of `type`: an attribute as vmap has it; null for a shared value or
/// a type without a leading axis.
mlir::Attribute specOf(mlir::Location loc, mlir::Type type, const Axis &axis);
/// The converse.
Axis axisOf(mlir::Type type, mlir::Attribute spec);

/// `type` of one element as the type of all, mapped at `axis`.
mlir::Type mappedType(mlir::Location loc, mlir::Type type, const Axis &axis, int64_t size);

/// How each component is mapped in a value of `type` mapped at `axis`.
llvm::SmallVector<Axis> componentAxes(mlir::Location loc, ir::HiType type, const Axis &axis);

/// What a scan of `length` maps over: at 0 in each slice, so behind the loop's axis in the whole.
/// `type` is that of the unmapped whole. Arrays come out mapped at 1.
mlir::Value mapBehindLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Axis &from, mlir::Type type, int64_t length,
                          int64_t size);
/// A hi value so mapped, mapped at its leading axis instead.
mlir::Value mapBeforeLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type type, int64_t length, int64_t size);
/// The type of a whole so mapped.
mlir::Type typeBehindLoop(mlir::Location loc, mlir::Type type, int64_t length, int64_t size);

/// values[which], element by element; all are mapped at 0.
mlir::Value selectMapped(mlir::ImplicitLocOpBuilder &b, mlir::Value which, mlir::ValueRange values);

/// The sum of all elements of `value`.
mlir::Value sumMapped(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Axis &axis, int64_t size);

/// The transpose of mapAt(value, to, from): what that repeats, as a whole or a component, is summed.
mlir::Value mapBackAt(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Axis &from, const Axis &to, int64_t size);

// The same, done to the components of hi values; `isBack` for the transpose.
mlir::Value mapComponentsAt(mlir::ImplicitLocOpBuilder &b, mlir::Value value, ir::HiType element, mlir::Attribute from,
                            mlir::Attribute to, int64_t size, bool isBack);
mlir::Value mapComponentsBehindLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Axis &from, ir::HiType type,
                                    int64_t length, int64_t size);
mlir::Value mapComponentsBeforeLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, ir::HiType type, int64_t length, int64_t size);
mlir::Value selectComponents(mlir::ImplicitLocOpBuilder &b, mlir::Value which, mlir::ValueRange values);

} // namespace hjx
