// SPDX-License-Identifier: Apache-2.0
//
// The reference interpreter: what a program means, said once more, slowly and
// plainly, without the compiler. Every rule and every lowering is compared with
// it first, so it must be small enough to be believed.
//
//   auto results = hjx::interpret(module.lookupSymbol<func::FuncOp>("f"), {x, y});
//
// Numbers: a float op is evaluated in double and rounded once to the element
// type, so that + - * / and sqrt are correctly rounded in f32, bf16 and f16 (a
// double has more than twice their digits) and other functions nearly always
// are. Sums and products over axes and dot_general's sums are accumulated in
// double, in row-major order, and rounded once; so are running sums, whose
// elements are each rounded once. A float scatter-add rounds after each update.
// Integers wrap at their width.
//
// It evaluates the stage `pure`: no requests (hjx.jvp, hjx.vmap, ...), which
// hjx-expand-transforms turns into calls. A ref is memory that ops share, read
// and written as they come: what hjx-discharge-refs is compared with.
#pragma once

#include "lib/Interpreter/HostArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hjx {

class RuleRegistry;

/// Returns the values `function` returns for `arguments`.
///
/// Errors: a diagnostic at the op that cannot be evaluated (a request, an array
///         beyond 1 GiB, calls nested deeper than 200), at a check op that fails
///         (the others are still evaluated), or at the function for arguments
///         whose types differ from its own.
mlir::FailureOr<llvm::SmallVector<HostArray>> interpret(mlir::func::FuncOp function,
                                                        llvm::ArrayRef<HostArray> arguments);

/// The same for a function that takes refs: such an argument is what the ref holds, before and
/// after the call.
mlir::FailureOr<llvm::SmallVector<HostArray>> interpretInPlace(mlir::func::FuncOp function,
                                                               llvm::MutableArrayRef<HostArray> arguments);

/// Marks what the interpreter evaluates.
void registerInterpreterRules(RuleRegistry &rules);

} // namespace hjx
