// SPDX-License-Identifier: Apache-2.0
//
// The frame in which a user's rule runs.
#pragma once

#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Request.h"
#include "lib/Frontend/Run.h"

#include <hjx/hi_type.h>

namespace hjx::detail {

/// Makes `b` the place where functions of arrays emit, for the life of the scope.
class RuleScope {
public:
  RuleScope(mlir::ImplicitLocOpBuilder &b, const std::string &name);

  /// Values as leaves, null ones without value, and back.
  Array wrap(mlir::Value value);
  ArrayList wrap(llvm::ArrayRef<mlir::Value> values);
  mlir::Value use(const Array &leaf);
  llvm::SmallVector<mlir::Value> use(llvm::ArrayRef<Array> leaves);
  /// Throws what the dialect has reported without stopping the rule.
  void checkDiagnostics();

private:
  std::string name;
  Call call;
  std::optional<Session> ownSession;
  std::optional<Frame> ownFrame;
  Frame *frame = nullptr;
};

} // namespace hjx::detail
