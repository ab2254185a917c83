// SPDX-License-Identifier: Apache-2.0
//
// Rules of ops with regions or callees, one file per kind, and what they share.
#pragma once

#include "lib/Rules/Registry.h"

namespace hjx {

void populateCallAutodiffRules(RuleRegistry &rules);
void populateCondAutodiffRules(RuleRegistry &rules);
void populateScanAutodiffRules(RuleRegistry &rules);
void populateWhileAutodiffRules(RuleRegistry &rules);

/// The values that are there.
inline llvm::SmallVector<mlir::Value> present(llvm::ArrayRef<mlir::Value> values) {
  return llvm::to_vector(llvm::make_filter_range(values, [](mlir::Value v) { return bool(v); }));
}

} // namespace hjx
