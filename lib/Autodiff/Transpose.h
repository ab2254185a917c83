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
//
// The cotangent of an argument may have another sink than a sum: a ref, to which
// each contribution is added where it comes up. For a value that a loop reads in
// small parts, that is all the work there is; a sum would fill an array with
// zeros for each part.
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

class Autodiff;
using ir::BarSink;

/// `function` takes the non-linear arguments, then the cotangents of the results
/// that have one, then the refs that are sinks; it returns the cotangents of those
/// linear arguments in `hasBar` (one entry per argument); the others' are zero, or
/// have another sink.
struct TransposedFunction {
  mlir::func::FuncOp function;
  llvm::SmallVector<bool> hasBar;
};

/// Emits the transpose of `block` at `b`. `arguments` are the values of the
/// non-linear arguments, null for linear ones; `yieldBars` the cotangents of its
/// terminator's operands; `sinks`, if there are any, those of the arguments.
/// Returns the cotangents of arguments whose sink is a sum.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> transposeBlock(Autodiff &engine, mlir::Block &block,
                                                               llvm::ArrayRef<mlir::Value> arguments,
                                                               llvm::ArrayRef<mlir::Value> yieldBars, mlir::OpBuilder &b,
                                                               llvm::ArrayRef<BarSink> sinks = {});

} // namespace hjx
