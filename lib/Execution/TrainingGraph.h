// SPDX-License-Identifier: Apache-2.0
//
// A training graph, read and checked: docs/training-graph.md as code. After `load` the runner may
// rely on every sentence of that page, and works with names and sizes only.
#pragma once

#include "lib/Data/StoredType.h"
#include "runtime/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <string>
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

struct GraphFunction {
  std::string name;
  std::string where;
  std::vector<GraphValue> arguments, results;

  /// The index among `values` of the one with that role and last part of its name, or -1.
  static int find(const std::vector<GraphValue> &values, std::string_view role, std::string_view leafName);
};

/// Returns what a function takes and gives, whatever its roles.
/// Errors: INVALID_ARGUMENT, located, for a type that no file can hold.
absl::StatusOr<GraphFunction> readGraphFunction(mlir::func::FuncOp function);

/// A module as text or bytecode, with the context that it lives in.
struct LoadedModule {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string sha256; ///< of the file
};
/// Errors: INVALID_ARGUMENT with the parser's and the verifier's diagnostics.
absl::StatusOr<LoadedModule> loadModule(const std::string &path);

struct TrainingGraph {
  LoadedModule source;
  int64_t vocabulary = 0;
  std::string tokenizer; ///< "bytes" or "gpt2"
  std::string config;    ///< JSON text
  GraphFunction init, step;
  std::optional<GraphFunction> eval, logits;

  /// Reads and checks a graph.
  /// Errors: INVALID_ARGUMENT that names file, line, function and value, what was expected and got.
  static absl::StatusOr<TrainingGraph> load(const std::string &path);

  /// The tensors that live from step to step, in the order of init's results.
  const std::vector<GraphValue> &state() const { return init.results; }
  /// The index in state() of `name`, or -1.
  int stateIndex(std::string_view name) const;
};

/// Of the arguments `inputs` of step or eval: [rows, context] or [accumulation, rows, context].
struct GraphBatch {
  int64_t accumulation = 1, rows = 0, context = 0;
};
GraphBatch batchOf(const GraphFunction &function);

} // namespace hjx
