// SPDX-License-Identifier: Apache-2.0
//
// Functions of modules from files: what they take and give by name, at whatever stage they are.
#pragma once

#include "lib/Data/StoredType.h"
#include "lib/Pipelines/Stages.h"
#include "runtime/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hjx {

/// An argument or a result of a function.
struct GraphValue {
  std::string name;  ///< hjx.name, else arg<i> or result<i>
  std::string role;  ///< hjx.role, or nothing
  std::string where; ///< file:line
  StoredType type = StoredType::F32;
  std::vector<int64_t> shape; ///< keys are two U32 in a last dimension
  int64_t sizeBytes = 0;
  bool isKey = false;

  /// The last part of the path: what batch, scalars and metrics are known by.
  std::string leafName() const;
};

/// INVALID_ARGUMENT: `value`, an "argument" or a "result" as `kind` says, is not what `function` should have.
absl::Status badValue(std::string_view function, const GraphValue &value, std::string_view kind, std::string_view expected,
                      std::string_view got, std::string_view remedy);

struct GraphFunction {
  std::string name;
  std::string where;
  std::vector<GraphValue> arguments, results;

  /// The index among `values` of the one with that role and last part of its name, or -1.
  static int find(const std::vector<GraphValue> &values, std::string_view role, std::string_view leafName);
};

/// Returns what a function on tensors takes and gives, whatever its roles.
/// Errors: INVALID_ARGUMENT, located, for a type that no file can hold.
absl::StatusOr<GraphFunction> readGraphFunction(mlir::func::FuncOp function);

/// The same of a module that is one program, from its signature (dialects/hjx/Signature.h), under
/// the name that the function has for its users.
absl::StatusOr<GraphFunction> readGraphFunction(mlir::ModuleOp program, const std::string &name);

/// A module as text or bytecode, with the context that it lives in. Its public functions take and give
/// arrays: hi values of theirs are their components (HiSignature.h).
struct LoadedModule {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string sha256; ///< of the file
};
/// Errors: INVALID_ARGUMENT with the parser's and the verifier's diagnostics.
absl::StatusOr<LoadedModule> loadModule(const std::string &path);

/// Returns the module whose @main is `name` of `module`, with state arguments tied to results and
/// its signature recorded. From the kernel stage on a module is one program already, "main".
/// Errors: a module at another stage; no such public function (the message lists them).
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> extractFunction(mlir::ModuleOp module, const std::string &name,
                                                                  Stage stage = Stage::Traced);

} // namespace hjx
