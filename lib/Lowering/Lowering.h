// SPDX-License-Identifier: Apache-2.0
//
// The lowering of hjx to linalg: one walk that rebuilds each function.
//
// Concept. Every op has a rule that emits its tensor program at the end of the
// new function and records the new value of each result; `Lowering` is the map
// from old values to new ones. Nothing is rewritten in place, so a rule can look
// at the ops that made its operands, and skip them:
//
//   %b = hjx.broadcast_in_dim %bias shape = [2, 3] dims = [1]     no code: read through a map
//   %s = hjx.add %x, %b                                           no code: has one consumer
//   %y = hjx.tanh %s                                              one linalg.generic:
//
//   linalg.generic maps = [(i, j) -> (i, j), (i, j) -> (j), (i, j) -> (i, j)] ins(%x, %bias) {
//     arith.addf; math.tanh; linalg.yield }
//
// Two kinds of rules. A scalar rule says what an elementwise op does to one
// element; `emitNest` strings them together (Nest.h). A rule for any other op
// emits whatever it likes.
//
// Not taken: dialect conversion patterns. They need casts for every unsigned value,
// cannot see through replaced ops, and cost several times more on the few
// thousand ops of a training step.
#pragma once

#include "lib/Lowering/Clusters.h"
#include "lib/Lowering/Passes.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace hjx {

class Lowering;
using LocBuilder = mlir::ImplicitLocOpBuilder;

/// The result elements of `op` for one tuple of operand elements. f16 and bf16 elements
/// come as f32, and results in f32 are rounded once, unless the rule is registered as raw.
using ScalarRule = std::function<llvm::SmallVector<mlir::Value>(mlir::Operation *op, LocBuilder &b,
                                                                mlir::ValueRange args)>;
using LoweringRule = std::function<mlir::LogicalResult(mlir::Operation *op, Lowering &lowering)>;

class LoweringRules {
public:
  template <typename Op> void add(mlir::LogicalResult (*rule)(Op, Lowering &)) {
    rules[Op::getOperationName()] = [rule](mlir::Operation *op, Lowering &lowering) {
      return rule(mlir::cast<Op>(op), lowering);
    };
  }

  template <typename Op>
  void addScalar(mlir::Value (*rule)(Op, LocBuilder &, mlir::ValueRange), bool raw = false) {
    scalarRules[Op::getOperationName()] = {
        [rule](mlir::Operation *op, LocBuilder &b, mlir::ValueRange args) {
          return llvm::SmallVector<mlir::Value>{rule(mlir::cast<Op>(op), b, args)};
        },
        raw};
  }
  /// For ops with several results.
  void addScalar(llvm::StringRef name, ScalarRule rule) {
    scalarRules[name] = {std::move(rule), false};
  }

  const LoweringRule *find(mlir::Operation *op) const;
  bool isElementwise(mlir::Operation *op) const;
  /// The result elements of the elementwise `op`, each of the result's (signless) element type.
  llvm::SmallVector<mlir::Value> emitScalar(mlir::Operation *op, LocBuilder &b,
                                            mlir::ValueRange args) const;
  llvm::SmallVector<llvm::StringRef> names() const;

private:
  struct Scalar {
    ScalarRule emit;
    bool raw; // Halves are not widened: the op does not compute with them.
  };
  llvm::StringMap<LoweringRule> rules;
  llvm::StringMap<Scalar> scalarRules;
};

/// All rules, filled on first use.
const LoweringRules &getLoweringRules();

/// The state of lowering one function.
class Lowering {
public:
  Lowering(const LoweringRules &rules, const Clusters &clusters, LocBuilder &b)
      : b(b), rules(rules), clusters(clusters) {}

  /// Emits at the place of the op being lowered, with its location.
  LocBuilder &b;
  const LoweringRules &rules;
  const Clusters &clusters;

  /// The new value of `original`.
  mlir::Value operator[](mlir::Value original) const { return values.lookup(original); }
  bool has(mlir::Value original) const { return values.contains(original); }
  llvm::SmallVector<mlir::Value> operator[](mlir::ValueRange originals) const {
    return llvm::map_to_vector(originals, [&](mlir::Value value) { return values.lookup(value); });
  }
  void set(mlir::Value original, mlir::Value lowered) { values.map(original, lowered); }

  /// Emits the ops of `block`, whose arguments are `arguments`, at the insertion point; returns
  /// the new values of the terminator's operands. The terminator itself is the caller's.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitBlock(mlir::Block &block,
                                                            mlir::ValueRange arguments);

private:
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::IRMapping values;
};

/// `type` with signless elements: ui32 becomes i32. Null if it has no place at the tensor stage
/// (keys, encodings, linear maps).
mlir::Type lowerType(mlir::Type type);
mlir::RankedTensorType lowerArrayType(mlir::Type type);

/// Each family's rules.
void registerElementwiseLowering(LoweringRules &rules);
void registerConversionLowering(LoweringRules &rules);
void registerContractionLowering(LoweringRules &rules);
void registerReductionLowering(LoweringRules &rules);
void registerMovementLowering(LoweringRules &rules);
void registerIndexingLowering(LoweringRules &rules);
void registerRandomLowering(LoweringRules &rules);
void registerHigherOrderLowering(LoweringRules &rules);

/// Marks loops that one op becomes, so that a GPU can run them in one kernel.
///
/// `isParallel[i]`: rounds of loop i never touch the same elements, whatever the other loops do.
/// `rowsAreParallel`: the same of the elements that the structured ops in the loops walk over.
void markLoops(llvm::ArrayRef<mlir::scf::ForOp> loops, llvm::ArrayRef<bool> isParallel,
               bool rowsAreParallel);

} // namespace hjx
