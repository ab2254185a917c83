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

/// The type of a leaf's tangent and cotangent; none for integers, bools and keys.
std::optional<Aval> tangentOf(const Aval &aval);
/// Whether each leaf has a tangent, and the types of those that are there.
std::vector<bool> haveTangents(llvm::ArrayRef<Aval> avals);
std::vector<Aval> tangentsOf(llvm::ArrayRef<Aval> avals);
/// The zero of a tangent type, traced.
Array zeroOf(OpScope &op, const Aval &tangent);
/// One of `length` slices along the leading axis, and such slices stacked.
Aval dropLeading(OpScope &op, const Aval &aval, int64_t length);
Aval addLeading(OpScope &op, const Aval &aval, int64_t length);

/// Traced arrays of values with the given types.
ArrayList wrapAll(OpScope &op, mlir::ValueRange values, llvm::ArrayRef<Aval> avals);

/// Throws if one ref is passed twice: what the callee does would depend on the order of its accesses.
void checkDistinctRefs(const Call &call, const ArrayList &args, const std::vector<std::string> &paths = {});
/// Throws if a function captures a ref that it also gets as an argument.
void checkCapturedRefs(OpScope &op, llvm::ArrayRef<mlir::Value> args, llvm::ArrayRef<mlir::Value> captures,
                       const std::vector<std::string> &paths = {});
/// The same of concrete refs.
void checkCapturedRefs(const Call &call, const ArrayList &args, llvm::ArrayRef<Array> lifted, const std::vector<std::string> &paths = {});

/// The operands of a request: arguments, then what the function captures.
llvm::SmallVector<mlir::Value> operandsOf(OpScope &op, const ArrayList &args, const TracedFunction &traced,
                                          const std::vector<std::string> &paths = {});

/// `mask` for the arguments, false for captures.
mlir::DenseBoolArrayAttr activeAttr(OpScope &op, const std::vector<bool> &mask, size_t numOperands);

mlir::FlatSymbolRefAttr symbolOf(mlir::func::FuncOp function);

inline mlir::Type typeOf(OpScope &op, const Aval &aval) { return typeOf(aval, &op.context(), op.where()); }
llvm::SmallVector<mlir::Type> typesOf(OpScope &op, llvm::ArrayRef<Aval> avals, llvm::ArrayRef<Aval> more = {});

} // namespace hjx::detail
