// SPDX-License-Identifier: Apache-2.0
//
// The expansions of primitives that stand inside of each other. An expansion may call primitives; one that
// calls its own with the same parameters and types of operands would never end, and that is all that
// tells one call from another while a program is made: the author hears of it instead of a stack
// overflow. With other parameters or types a primitive may call itself, down to some depth.
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

/// What is being expanded, outermost first.
class Expansions {
public:
  /// Joins the call; fails, located, if it could not come to an end.
  mlir::LogicalResult enter(ir::CallPrimitiveOp call) {
    constexpr size_t kMost = 200; // None goes so deep except without end.
    Expansion inner{call.getPrimitiveAttr(), call.getParamsAttr(), llvm::to_vector(call.getOperandTypes())};
    if (stack.size() < kMost && !llvm::is_contained(stack, inner)) {
      stack.push_back(std::move(inner));
      return mlir::success();
    }
    mlir::InFlightDiagnostic error = mlir::emitError(call.getLoc()) << "\"" << call.getPrimitive() << "\": expand: ";
    if (stack.size() == kMost)
      error << "expected at most " << kMost << " expansions inside of each other, got more";
    else
      error << "expected other operations, got " << (stack.back() == inner ? "a call of itself" : "a call that comes back to it")
            << " with the same operands, which never ends";
    return error << "; write what it computes with the functions of hjx/ops.h";
  }
  void leave() { stack.pop_back(); }

private:
  struct Expansion {
    mlir::StringAttr primitive;
    mlir::DictionaryAttr params;
    llvm::SmallVector<mlir::Type> operandTypes;

    bool operator==(const Expansion &) const = default;
  };
  std::vector<Expansion> stack;
};

} // namespace hjx
