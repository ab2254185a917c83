// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of hjx-run: each owns its flags, made before the command line is parsed, and a
// function that does the work. Errors are statuses; main prints them.
#pragma once

#include "lib/Data/Tokenizer.h"
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
std::unique_ptr<Command> makeInspectCommand();

/// Opens the tokenizer that the graph names. `folder` has GPT-2's files; "" with "gpt2" gives null.
absl::StatusOr<std::unique_ptr<Tokenizer>> openGraphTokenizer(const TrainingGraph &graph, const std::string &folder);

/// --threads: the width of the pool; 0 leaves the default.
absl::Status setThreads(int numThreads);

/// Counts the state: parameters are what lies under a `params`.
std::string describeState(const TrainingGraph &graph);

/// --run and --checkpoint of commands that read one.
absl::StatusOr<Checkpoint> openRunCheckpoint(const std::string &run, const std::string &which);

} // namespace hjx
