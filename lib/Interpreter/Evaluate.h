// SPDX-License-Identifier: Apache-2.0
//
// How the interpreter's families plug into its engine: one function per op,
// from operand arrays to result arrays. Private to lib/Interpreter.
#pragma once

#include "lib/Interpreter/HostArray.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace hjx {

/// What a rule sees. Results come zeroed, of the op's result types; a rule
/// fills their elements or replaces them.
struct Evaluation {
  mlir::Operation *op;
  llvm::SmallVector<const HostArray *> operands;
  llvm::SmallVector<HostArray> results;
  /// Evaluates a region's only block, or another function, for some arguments.
  std::function<mlir::FailureOr<llvm::SmallVector<HostArray>>(mlir::Region &,
                                                              llvm::ArrayRef<HostArray>)>
      run;
  /// To set when a check op fails: evaluation goes on, interpret() fails.
  bool &checkFailed;

  const HostArray &operand(unsigned i) const { return *operands[i]; }
  /// Operands [begin, begin + count), copied.
  llvm::SmallVector<HostArray> copyOperands(unsigned begin, unsigned count) const {
    return llvm::map_to_vector(llvm::ArrayRef(operands).slice(begin, count),
                               [](const HostArray *array) { return *array; });
  }
};

using EvaluateRule = std::function<mlir::LogicalResult(Evaluation &)>;

class EvaluateRules {
public:
  template <typename Op> void add(EvaluateRule rule) {
    rules[Op::getOperationName()] = std::move(rule);
  }
  const EvaluateRule *find(llvm::StringRef op) const {
    auto it = rules.find(op);
    return it == rules.end() ? nullptr : &it->second;
  }
  auto names() const { return rules.keys(); }

private:
  llvm::StringMap<EvaluateRule> rules;
};

/// NaN if either is; +0 is above -0. What max, clamp and reduce_max share.
double maximum(double x, double y);
double minimum(double x, double y);

void populateCheckEvaluateRules(EvaluateRules &rules);
void populateContractionEvaluateRules(EvaluateRules &rules);
void populateElementwiseEvaluateRules(EvaluateRules &rules);
void populateHigherOrderEvaluateRules(EvaluateRules &rules);
void populateIndexingEvaluateRules(EvaluateRules &rules);
void populateMovementEvaluateRules(EvaluateRules &rules);
void populateRandomEvaluateRules(EvaluateRules &rules);
void populateReductionEvaluateRules(EvaluateRules &rules);

} // namespace hjx
