// SPDX-License-Identifier: Apache-2.0
//
// Batching: from a function of single values to the same function of batches.
//
// Each value of the batched program is mapped at one axis, or not mapped at
// all: then every element of the batch shares it and it is computed once. A
// rule is called only for ops with a mapped operand, and leaves the axis where
// it is when it can, so that no transposition is made that nobody asked for.
//
//   f(x: 3, w: 3x4) = dot(x, w)          vmap over x at axis 1, w shared
//   x: 3x8, w: 3x4  ->  dot contracts x's 3 with w's 3, giving 8x4, mapped at 0
//
// After JAX's batching interpreter; see also Enzyme's batch pass.
#pragma once

#include "lib/Rules/Registry.h"

#include <map>

namespace hjx {

/// Batches functions of one module; remembers what it has made.
class Batcher {
public:
  Batcher(mlir::ModuleOp module, const RuleRegistry &rules) : module(module), rules(rules) {}

  /// The private function that maps `function` over `size` elements.
  /// `axes`: per argument. `outAxes`: wanted per result; without it `resultAxes`
  /// tells where results came out. Errors are reported at the op that failed,
  /// or at `function` when a result that is mapped should not be.
  mlir::FailureOr<mlir::func::FuncOp> batch(mlir::func::FuncOp function, llvm::ArrayRef<Axis> axes, int64_t size,
                                            std::optional<llvm::ArrayRef<Axis>> outAxes,
                                            llvm::SmallVectorImpl<Axis> &resultAxes);

  /// Emits the ops of `block`, mapped over `size` elements, at `b`; its arguments are mapped as `axes`
  /// say. Fills the values that its terminator names, and where they came out.
  mlir::LogicalResult batchInto(mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments, llvm::ArrayRef<Axis> axes, int64_t size,
                                mlir::ImplicitLocOpBuilder &b, llvm::SmallVectorImpl<mlir::Value> &results,
                                llvm::SmallVectorImpl<Axis> &resultAxes);

  /// Replaces a vmap request, whose callee holds no request any more, by a call.
  mlir::LogicalResult expand(ir::VmapOp op);

private:
  struct Batched {
    mlir::func::FuncOp function;
    llvm::SmallVector<Axis> resultAxes;
  };
  mlir::ModuleOp module;
  const RuleRegistry &rules;
  std::map<std::string, Batched> made;
  friend class BlockBatcher;
};

/// `value` mapped at `to`: moved there, or repeated along a new axis.
mlir::Value mapAt(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Axis &from, const Axis &to, int64_t size);

void registerBatchRules(RuleRegistry &rules);
void registerElementwiseBatchRules(RuleRegistry &rules);
void registerContractionBatchRules(RuleRegistry &rules);
void registerReductionBatchRules(RuleRegistry &rules);
void registerMovementBatchRules(RuleRegistry &rules);
void registerIndexingBatchRules(RuleRegistry &rules);
void registerRandomBatchRules(RuleRegistry &rules);
void registerHiTypesBatchRules(RuleRegistry &rules);
void registerHigherOrderBatchRules(RuleRegistry &rules);

} // namespace hjx
