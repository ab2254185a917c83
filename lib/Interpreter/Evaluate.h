// SPDX-License-Identifier: Apache-2.0
//
// How the interpreter's families plug into its engine: one function per op,
// from operand arrays to result arrays. Private to lib/Interpreter.
#pragma once

#include "lib/Interpreter/HostArray.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <variant>

namespace hjx {

/// A ref: a place in memory that others may share. A scan hands its body refs of
/// a ref's slices, which lie in the same memory.
struct Cell {
  std::shared_ptr<HostArray> memory;
  mlir::RankedTensorType type;
  int64_t first = 0; ///< the place of element 0 in `memory`
};

/// What a value of the program is: an array, or a ref.
using Datum = std::variant<HostArray, Cell>;

/// What a rule sees. Results come zeroed, of the op's result types; a rule
/// fills their elements or replaces them. A result that is a ref is given by
/// what the new cell holds.
struct Evaluation {
  mlir::Operation *op;
  llvm::SmallVector<const Datum *> data;        ///< per operand
  llvm::SmallVector<const HostArray *> operands; ///< the same as arrays; null for refs
  llvm::SmallVector<HostArray> results;
  /// Evaluates a region's only block, or another function, for some arguments.
  std::function<mlir::FailureOr<llvm::SmallVector<HostArray>>(mlir::Region &, llvm::ArrayRef<Datum>)> run;
  /// To set when a check op fails: evaluation goes on, interpret() fails.
  bool &checkFailed;

  const HostArray &operand(unsigned i) const { return *operands[i]; }
  const Cell &cell(unsigned i) const { return std::get<Cell>(*data[i]); }
  /// Operands [begin, begin + count): arrays are copied, refs shared.
  llvm::SmallVector<Datum> pass(unsigned begin, unsigned count) const {
    return llvm::map_to_vector(llvm::ArrayRef(data).slice(begin, count), [](const Datum *datum) { return *datum; });
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
void populateRefsEvaluateRules(EvaluateRules &rules);

} // namespace hjx
