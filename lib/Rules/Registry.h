// SPDX-License-Identifier: Apache-2.0
//
// The rule registry: for each operation name, one slot per verb. Each verb's
// folder fills its slot for each family (`register<Verb>Rules`), the engines of
// the verbs look rules up here, and the registry prints the support grid and
// drives the property tests. A verb never sees another verb's folder.
//
// A rule emits only hjx ops (closure): what it emits can be differentiated and
// batched again.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>

namespace hjx {

/// The autodiff engine, for the rules of ops with regions or callees
/// (lib/Autodiff/Autodiff.h).
class Autodiff;

//===----------------------------------------------------------------------===//
// Jvp
//===----------------------------------------------------------------------===//

/// What a jvp rule sees: the primal op, already emitted, and its tangents.
///
///   // y = sin(x);  y_dot = cos(x) * x_dot
///   ctx.setTangent(0, mul(cos(x), ctx.tangent(0)))
struct JvpContext {
  mlir::ImplicitLocOpBuilder &b; ///< inserts after the primal op
  mlir::Operation *op;           ///< operands and results are the primal values
  llvm::ArrayRef<mlir::Value> tangents; ///< per operand; null is a symbolic zero
  llvm::MutableArrayRef<mlir::Value> resultTangents; ///< per result; null is a symbolic zero
  /// The op's results. A rule that emits one joint op for values and tangents
  /// (scan, call) puts its values here; the primal op is then erased.
  llvm::MutableArrayRef<mlir::Value> results;
  Autodiff &engine;

  mlir::Value tangent(unsigned operand) const { return tangents[operand]; }
  void setTangent(unsigned result, mlir::Value value) { resultTangents[result] = value; }
};
using JvpRule = std::function<mlir::LogicalResult(JvpContext &)>;

//===----------------------------------------------------------------------===//
// Linearize
//===----------------------------------------------------------------------===//

/// Ops with regions or callees split into a primal and a linear part by
/// themselves; all others are linearized through their jvp rule. `fwd` emits
/// the primal program, `tan` the linear program, which may name values of
/// `fwd`. Defined by the autodiff engine.
struct LinearizeContext {
  mlir::ImplicitLocOpBuilder &fwd;
  mlir::ImplicitLocOpBuilder &tan;
  mlir::Operation *op;                   ///< the original op
  llvm::ArrayRef<mlir::Value> primals;   ///< per operand, in fwd
  llvm::ArrayRef<mlir::Value> tangents;  ///< per operand, in tan; null is a symbolic zero
  Autodiff &engine;
  llvm::SmallVector<mlir::Value> results;        ///< to fill: per result, in fwd
  llvm::SmallVector<mlir::Value> resultTangents; ///< to fill: per result, in tan or null
};
using LinearizeRule = std::function<mlir::LogicalResult(LinearizeContext &)>;

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

/// What becomes of the cotangent of a linear argument.
using ir::BarSink;

/// What a transpose rule sees: a linear op in a linear program, the cotangents
/// of its results, and which operands are linear. Rules add into the linear
/// operands' cotangents.
///
///   // y = x * c, linear in x;  x_bar += y_bar * c
///   ctx.accumulate(0, mul(ctx.resultBar(0), ctx.nonlinear(1)))
struct TransposeContext {
  mlir::ImplicitLocOpBuilder &b;
  mlir::Operation *op;
  llvm::ArrayRef<mlir::Value> resultBars;         ///< per result; null is a symbolic zero
  std::function<bool(unsigned)> isLinear;         ///< is operand i linear?
  std::function<mlir::Value(unsigned)> nonlinear; ///< operand i's value in the transposed program
  std::function<void(unsigned, mlir::Value)> accumulate; ///< add to operand i's cotangent
  /// For operand i. Rules of loops, branches and calls pass a ref on and let it be added to inside;
  /// others need not ask: accumulate knows.
  std::function<BarSink(unsigned)> sink;
  Autodiff &engine;

  mlir::Value resultBar(unsigned result) const { return resultBars[result]; }
};
using TransposeRule = std::function<mlir::LogicalResult(TransposeContext &)>;

//===----------------------------------------------------------------------===//
// Batch
//===----------------------------------------------------------------------===//

/// Where a value is mapped: an axis, or nothing for a value that every element
/// of the batch shares. A value of a hi-type is mapped as `spec` says, without
/// one at its leading axis; its number is 0 and means nothing more.
struct Axis : std::optional<int64_t> {
  using std::optional<int64_t>::optional;
  mlir::Attribute spec;
};

/// What rules of ops with regions or callees ask of the batching engine.
class BatchEngine {
public:
  virtual ~BatchEngine() = default;

  /// Emits the batched ops of `block` into `b`, its arguments standing for
  /// `arguments`; fills the values and axes that the terminator names.
  virtual mlir::LogicalResult batchBlock(mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments,
                                         llvm::ArrayRef<Axis> axes, mlir::ImplicitLocOpBuilder &b,
                                         llvm::SmallVectorImpl<mlir::Value> &results,
                                         llvm::SmallVectorImpl<Axis> &resultAxes) = 0;

  /// Which values of the terminator may be mapped when the marked arguments
  /// are. Analysis only: emits nothing, so that fixpoints stay cheap.
  virtual llvm::SmallVector<bool> mappedResults(mlir::Block &block, llvm::ArrayRef<bool> arguments) = 0;

  /// The batched version of the function called `name` that `from` refers to.
  /// With `outAxes` every result is mapped where it says; else `resultAxes`
  /// tells where results came out.
  virtual mlir::FailureOr<mlir::func::FuncOp> batchFunction(mlir::Operation *from, mlir::FlatSymbolRefAttr name,
                                                            llvm::ArrayRef<Axis> axes,
                                                            std::optional<llvm::ArrayRef<Axis>> outAxes,
                                                            llvm::SmallVectorImpl<Axis> &resultAxes) = 0;
};

/// What a batching rule sees: the original op and its operands' values in the
/// batched program, each with its mapped axis or none.
struct BatchContext {
  BatchEngine &engine;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Operation *op; ///< the original, unbatched op
  int64_t size;        ///< of the mapped axis
  llvm::ArrayRef<mlir::Value> operands;
  llvm::ArrayRef<Axis> axes;              ///< per operand; at least one is mapped
  llvm::SmallVector<mlir::Value> results; ///< to fill
  llvm::SmallVector<Axis> resultAxes;     ///< to fill

  void setResult(mlir::Value value, Axis axis) {
    results.push_back(value);
    resultAxes.push_back(axis);
  }
};
using BatchRule = std::function<mlir::LogicalResult(BatchContext &)>;

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

/// The rules of one operation. An empty slot is a located error where a
/// transform needs it, and must be listed with its reason for the tests.
struct RuleSet {
  JvpRule jvp;
  LinearizeRule linearize; ///< only for ops with regions or callees
  TransposeRule transpose; ///< only for ops that are linear in some operand
  BatchRule batch;
  bool interprets = false; ///< the reference interpreter evaluates it
  bool lowers = false;     ///< hjx-to-tensor lowers it
  bool hasZeroTangent = false; ///< results never have a tangent (integers, comparisons, stop_gradient)
};

class RuleRegistry {
public:
  /// The rules of `name` ("hjx.add"), created empty.
  RuleSet &operator[](llvm::StringRef name) { return rules[name]; }
  template <typename Op>
  RuleSet &of() {
    return rules[Op::getOperationName()];
  }
  const RuleSet *find(mlir::Operation *op) const {
    auto it = rules.find(op->getName().getStringRef());
    return it == rules.end() ? nullptr : &it->second;
  }
  /// All operation names, sorted.
  llvm::SmallVector<llvm::StringRef> names() const;

  /// The table op x verb, as Markdown.
  void printSupportGrid(llvm::raw_ostream &os, mlir::MLIRContext *context) const;

private:
  llvm::StringMap<RuleSet> rules;
};

/// The registry with every rule of the product, filled on first use. Verbs
/// receive it as an argument; tools and tests call this.
const RuleRegistry &getRuleRegistry();

/// The error for an empty slot: names the op and the rule.
mlir::LogicalResult emitMissingRule(mlir::Operation *op, llvm::StringRef rule);

} // namespace hjx
