// SPDX-License-Identifier: Apache-2.0
//
// What autodiff offers to the others: its rules, and the expansion of
// hjx.jvp, hjx.vjp and hjx.linearize.
#pragma once

#include "lib/Autodiff/Autodiff.h"
#include "lib/Rules/Registry.h"
#include "lib/Transforms/ExpandTransforms.h"

namespace hjx {

/// Fills the slots jvp, linearize and transpose of every family.
void registerAutodiffRules(RuleRegistry &rules);

/// A linear function at a point: `lin` of a LinearizedFunction, with what it takes before tangents.
struct LinearFunction {
  mlir::func::FuncOp lin;
  mlir::ValueRange residuals;
  llvm::ArrayRef<bool> hasTangent; ///< per result that has a tangent type; those of others are zero
};

/// The tangents of the results, of `types`.
llvm::SmallVector<mlir::Value> pushForward(mlir::ImplicitLocOpBuilder &b, const LinearFunction &map, mlir::ValueRange tangents,
                                           mlir::TypeRange types);

/// The transpose at `bars`, one per entry of `hasTangent`. Of the cotangents of its inputs those that
/// are `wanted` are returned, or, where `inPlace`, added to the next of `accumulators`.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
pullBack(Autodiff &engine, mlir::ImplicitLocOpBuilder &b, const LinearFunction &map, mlir::ValueRange bars,
         std::optional<llvm::ArrayRef<bool>> wanted, std::optional<llvm::ArrayRef<bool>> inPlace, mlir::ValueRange accumulators);

/// The entries of `mask` at the results that have a tangent type.
llvm::SmallVector<bool> ofDifferentiable(mlir::TypeRange types, llvm::ArrayRef<bool> mask);

/// Requests and expander for the driver.
TransformVerb getAutodiffVerb();

} // namespace hjx
