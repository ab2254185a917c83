// SPDX-License-Identifier: Apache-2.0
//
// Rules of ops with regions or callees, one file per kind, and what they share.
#pragma once

#include "lib/Autodiff/Jvp.h"
#include "lib/Rules/Registry.h"

namespace hjx {

void populateCallAutodiffRules(RuleRegistry &rules);
void populateCondAutodiffRules(RuleRegistry &rules);
void populateScanAutodiffRules(RuleRegistry &rules);
void populateWhileAutodiffRules(RuleRegistry &rules);

/// Differentiates `scan`, which takes c's place of the op: While.cpp makes one.
mlir::LogicalResult linearizeScan(LinearizeContext &c, ir::ScanOp scan);

//===----------------------------------------------------------------------===//
// Joint form: a list of values, then the tangents of those in `active`
//===----------------------------------------------------------------------===//

/// Adds to `block` arguments for `originals` in joint form; appends them to `duals`.
void addJointArguments(mlir::Block &block, llvm::ArrayRef<mlir::BlockArgument> originals, llvm::ArrayRef<bool> active,
                       llvm::SmallVectorImpl<Dual> &duals);

/// `duals` in joint form; a missing tangent of an active value becomes zeros.
llvm::SmallVector<mlir::Value> toJoint(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Dual> duals,
                                       llvm::ArrayRef<bool> active);

/// Sets c's results from `first` on from values in joint form.
void setJointResults(JvpContext &c, unsigned first, mlir::ValueRange values, llvm::ArrayRef<bool> active);

/// Fails if a result of `op`, whose derivative is its author's, has a hi-type without tangents: a method that was forgotten,
/// or misspelt, with which what depends on the operands would have a zero derivative in silence. None is said by an empty
/// tangent; integers say it by themselves. `subject` begins the message.
mlir::LogicalResult checkTangentTypes(mlir::Operation *op, llvm::StringRef subject = "");

/// The values that are there.
inline llvm::SmallVector<mlir::Value> present(llvm::ArrayRef<mlir::Value> values) {
  return llvm::to_vector(llvm::make_filter_range(values, [](mlir::Value v) { return bool(v); }));
}

/// The sinks of an op's operands, for what it has inside. One ref goes to one place: where two
/// operands share it, the second has a sum, which is added to it outside.
llvm::SmallVector<BarSink> innerSinks(TransposeContext &c, llvm::ArrayRef<bool> linear);

} // namespace hjx
