// SPDX-License-Identifier: Apache-2.0
//
// Transposition: a linear program run backwards. For y_dot = x_dot*s + x*(c*x_dot):
//
//   lin:  a = x_dot * s          transposed, from y_bar:
//         b = c * x_dot            a_bar  = y_bar      d_bar = y_bar
//         d = x * b                b_bar  = x * d_bar
//         y_dot = a + d            x_bar  = c * b_bar
//                                  x_bar += a_bar * s
//
// Ops that depend on no linear value (recomputed primals) are cloned forwards;
// then the linear ops are visited in reverse, each rule adding into the
// cotangents of its operands. The order of additions is the reverse program
// order, always. An op whose results have no cotangent is skipped: a null
// cotangent is a symbolic zero.
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

class Autodiff;

/// `function` takes the non-linear arguments, then the cotangents of the results
/// that have one; it returns the cotangents of those linear arguments in
/// `hasBar` (one entry per argument); the others' are zero.
struct TransposedFunction {
  mlir::func::FuncOp function;
  llvm::SmallVector<bool> hasBar;
};

/// Emits the transpose of `block` at `b`. `arguments` are the values of the
/// non-linear arguments, null for linear ones; `yieldBars` the cotangents of its
/// terminator's operands. Returns the arguments' cotangents.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> transposeBlock(Autodiff &engine, mlir::Block &block,
                                                               llvm::ArrayRef<mlir::Value> arguments,
                                                               llvm::ArrayRef<mlir::Value> yieldBars, mlir::OpBuilder &b);

} // namespace hjx
