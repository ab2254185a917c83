// SPDX-License-Identifier: Apache-2.0
//
// What the transforms share: lists of arrays as operands, and functions recorded
// for a request.
#pragma once

#include "lib/Frontend/Operands.h"

namespace hjx::detail {

std::vector<Aval> avalsOf(const ArrayList &arrays, const Call &call);

/// The values of `arrays` in the current frame.
llvm::SmallVector<mlir::Value> valuesOf(OpScope &op, const ArrayList &arrays);

/// Whether each array has a tangent.
std::vector<bool> areFloats(llvm::ArrayRef<Aval> avals);

/// Traced arrays of values with the given types.
ArrayList wrapAll(OpScope &op, mlir::ValueRange values, llvm::ArrayRef<Aval> avals);

/// The operands of a request: arguments, then what the function captures.
llvm::SmallVector<mlir::Value> operandsOf(OpScope &op, const ArrayList &args, const TracedFunction &traced);

/// `mask` for the arguments, false for captures.
mlir::DenseBoolArrayAttr activeAttr(OpScope &op, const std::vector<bool> &mask, size_t numOperands);

mlir::FlatSymbolRefAttr symbolOf(mlir::func::FuncOp function);

inline mlir::Type typeOf(OpScope &op, const Aval &aval) { return typeOf(aval, &op.context()); }

} // namespace hjx::detail
