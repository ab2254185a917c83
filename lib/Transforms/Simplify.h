// SPDX-License-Identifier: Apache-2.0
//
// The clean-up that each transform runs on the functions it makes, so that what
// the next transform sees, and what must be kept from a forward pass, is small.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace hjx {

/// Merges equal ops, canonicalizes with the dialect's patterns, erases what
/// nobody reads. Holds the compiled patterns: make one and use it often.
class Simplifier {
public:
  explicit Simplifier(mlir::MLIRContext *context);
  void run(mlir::func::FuncOp function) const;

  /// Merges equal ops only: no op changes, none appears.
  static void mergeEqualOps(mlir::func::FuncOp function);

private:
  mlir::FrozenRewritePatternSet patterns;
};

} // namespace hjx
