// SPDX-License-Identifier: Apache-2.0
//
// Users' rules and methods as the compiler runs them. A rule runs in a frame that
// emits where the compiler wants the operations; what it throws becomes a diagnostic
// at the operation, and what the dialect reports inside of it is thrown through it.
#pragma once

#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Request.h"
#include "lib/Frontend/Run.h"

#include <hjx/detail/flat.h>

#include <typeinfo>

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
  /// False where the frontend itself records into the block.
  bool hasOwnFrame() const { return ownFrame.has_value(); }

private:
  std::string name;
  Call call;
  std::optional<Session> ownSession;
  std::optional<Frame> ownFrame;
  Frame *frame = nullptr;
};

/// Calls what may throw, without operations; what it throws becomes a diagnostic.
llvm::LogicalResult askUser(ir::EmitError emitError, llvm::function_ref<void()> question);

/// Calls a rule of `name` that emits operations at `b`, and returns the values that it does. Requests and
/// refs among the operations are expanded: a rule may use grad, vmap and refs of its own.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> runRule(mlir::ImplicitLocOpBuilder &b, const std::string &name,
                                                        llvm::function_ref<ArrayList(RuleScope &)> rule);

/// Registers the class `user` under a name by calling `add`, unless it is there: a program and its
/// plugin may include one header. Of another class, or a name that is taken, stderr hears at once
/// (static constructors must not throw), and every use of the name fails.
bool registerClass(const char *kind, const std::string &name, const std::type_info &user, llvm::function_ref<bool()> add);

/// Fails if two classes were registered under the name.
void checkOneClass(const char *kind, const std::string &name, Where where);

} // namespace hjx::detail
