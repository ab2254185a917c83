// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of hjx-run: each owns its flags, made before the command line is parsed, and a
// function that does the work. Errors are statuses; main prints them.
#pragma once

#include "lib/Data/Tokenizer.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "lib/Execution/TrainingGraph.h"
#include "lib/Train/Checkpoints.h"

#include "llvm/Support/CommandLine.h"

namespace hjx {

class Command {
public:
  Command(llvm::StringRef name, llvm::StringRef description) : flags(name, description) {}
  virtual ~Command() = default;
  virtual absl::Status run() = 0;

  llvm::cl::SubCommand flags;
};

std::unique_ptr<Command> makeTrainCommand();
std::unique_ptr<Command> makeEvalCommand();
std::unique_ptr<Command> makeGenerateCommand();
std::unique_ptr<Command> makeCallCommand();
std::unique_ptr<Command> makeConvertCommand();
std::unique_ptr<Command> makeInspectCommand();
std::unique_ptr<Command> makeDevicesCommand();

/// The flags of commands that compile: for what machine (docs/gpu.md), where in the compiler to
/// begin and to end, and where to keep what is in between (docs/debugging.md).
class StageFlags {
public:
  explicit StageFlags(llvm::cl::SubCommand &flags);

  absl::StatusOr<Stage> startFrom() const { return parseStage(startFrom_); }
  /// The folder for the stages of a function, or "" without --dump-dir.
  std::string dumpDir(const std::string &function) const;
  const std::string &dumpDir() const { return dumpDir_; }
  absl::StatusOr<Target> target() const { return Target::parse(target_); }
  /// Opens the device to run `program` on; says on standard error, unless it is the processor, which
  /// one it is and what products of f32 are made of.
  absl::StatusOr<RuntimeDevice *> openDevice(mlir::ModuleOp program) const;

  /// Makes the products of `program` as precise as --matmul-precision says.
  absl::Status setMatmulPrecision(mlir::ModuleOp program) const;

  /// Reads the graph at `path`, a file or a folder of dumps, at the stage of --start-from.
  absl::StatusOr<TrainingGraph> load(const std::string &path) const;

  /// Whether --stop-after is given: then the command ends with `lower`, and runs nothing.
  bool stops() const { return stopAfter_.getNumOccurrences() > 0; }
  /// Lowers each of `functions` that the graph has, from stage to stage; prints the names of the
  /// files in --dump-dir.
  absl::Status lower(const TrainingGraph &graph, const std::vector<std::string> &functions) const;
  /// Lowers one program, which is the function `name`, and prints it.
  absl::Status lower(mlir::ModuleOp program, const std::string &name) const;

private:
  absl::StatusOr<Stage> stopAfter() const;

  llvm::cl::opt<std::string> startFrom_, stopAfter_, dumpDir_, target_, matmulPrecision_;
};

/// One function to compile for a GPU of another machine.
struct PtxJob {
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> program;
  Stage stage = Stage::Traced; ///< that the program is at
  std::string ptxPath;         ///< the cubin lies beside it
  std::string dumpDir;
};
/// Writes the files, assembles them where ptxas is found, and prints their names and a table.
absl::Status compilePtx(std::vector<PtxJob> jobs, const std::string &chip);

/// Opens the tokenizer that the graph names. `folder` has GPT-2's files; "" with "gpt2" gives null.
absl::StatusOr<std::unique_ptr<Tokenizer>> openGraphTokenizer(const TrainingGraph &graph, const std::string &folder);

/// --threads: the width of the pool; 0 leaves the default.
absl::Status setThreads(int numThreads);

/// Counts the state: parameters are what lies under a `params`.
std::string describeState(const TrainingGraph &graph);

/// --run and --checkpoint of commands that read one.
absl::StatusOr<Checkpoint> openRunCheckpoint(const std::string &run, const std::string &which);

/// What became of putting such a checkpoint into the graph. One that does not fit may be that of the
/// graph which this one converts: then the remedy says how.
absl::Status orConvert(absl::Status restored, const TrainingGraph &graph, const std::string &graphPath, const std::string &run);

} // namespace hjx
