// SPDX-License-Identifier: Apache-2.0
//
// A training graph, read and checked: docs/training-graph.md as code. After `load` the runner may
// rely on every sentence of that page, and works with names and sizes only.
#pragma once

#include "lib/Execution/GraphFunction.h"

#include <map>
#include <optional>

namespace hjx {

struct TrainingGraph {
  Stage stage = Stage::Traced;
  std::string sha256; ///< of the file, or of those of a folder
  int64_t vocabulary = 0;
  std::string tokenizer; ///< "bytes" or "gpt2"
  std::string config;    ///< JSON text
  GraphFunction init;
  std::optional<GraphFunction> step, eval, logits, convert;

  /// Reads and checks a graph that is at `stage`: a file, or a folder of dumps, in which each
  /// function has a folder (`step/3-lo.mlir`).
  /// Errors: INVALID_ARGUMENT that names file, line, function and value, what was expected and got.
  static absl::StatusOr<TrainingGraph> load(const std::string &path, Stage stage = Stage::Traced);

  /// The function of that name, of init and those of kOptionalFunctions, if the graph has it.
  const GraphFunction *find(std::string_view name) const;

  /// A module of its own whose @main is the function `name`; it must not outlive the graph.
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> program(const std::string &name) const;

  /// All that was read: one module, or one of each function.
  std::vector<mlir::ModuleOp> modules() const;

  /// The tensors that live from step to step, in the order of init's results.
  const std::vector<GraphValue> &state() const { return init.results; }
  /// The index in state() of `name`, or -1.
  int stateIndex(std::string_view name) const;

private:
  absl::Status readFile(const std::string &path);
  absl::Status readFolder(const std::string &path);

  std::map<std::string, LoadedModule> modules_; ///< by function, or all under ""
};

/// The functions that a graph may have beside init.
inline constexpr const char *kOptionalFunctions[] = {"step", "eval", "logits", "convert"};

/// Of the arguments `inputs` of step or eval: [rows, context] or [accumulation, rows, context].
struct GraphBatch {
  int64_t accumulation = 1, rows = 0, context = 0;
};
GraphBatch batchOf(const GraphFunction &function);

} // namespace hjx
