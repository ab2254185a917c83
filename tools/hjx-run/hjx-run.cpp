// SPDX-License-Identifier: Apache-2.0
//
// hjx-run: trains, evaluates and samples models that are training graphs (docs/training-graph.md).
//
//   hjx-run train gpt2.mlir austen.txt --run runs/demo
//   hjx-run train gpt2.mlir austen.txt --run runs/demo --resume
//   hjx-run generate gpt2.mlir --run runs/demo --prompt "It is a truth"
//   hjx-run convert gpt2-int8.mlir --from runs/demo --run runs/demo-int8
//   hjx-run devices                                  # what the others can run on, with --target
//   hjx-run call gpt2.mlir --function init --input key.npy --output state.safetensors
#include "tools/HiPlugins.h"
#include "tools/Options.h"
#include "tools/hjx-run/Commands.h"

#include "lib/Train/Progress.h"
#include "runtime/ThreadPool.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/Support/InitLLVM.h"

#include <cstdio>
#include <regex>

namespace hjx {

absl::StatusOr<std::unique_ptr<Tokenizer>> openGraphTokenizer(const TrainingGraph &graph, const std::string &folder) {
  if (graph.tokenizer == "bytes") {
    if (!folder.empty() && folder != "bytes")
      return badInput("--tokenizer", "none, for a graph of bytes", absl::StrCat("'", printable(folder), "'"), "leave it out");
    return makeByteTokenizer();
  }
  if (folder.empty())
    return nullptr;
  std::vector<std::string> warnings;
  auto tokenizer = openTokenizer(folder, &warnings);
  for (const std::string &warning : warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return tokenizer;
}

absl::Status setThreads(int numThreads) {
  if (numThreads < 0 || numThreads > 1024)
    return badInput("--threads", "1 to 1024, or 0 for all processors", absl::StrCat(numThreads), "leave it out");
  if (numThreads > 0)
    ThreadPool::global().resize(numThreads);
  return absl::OkStatus();
}

std::string describeState(const TrainingGraph &graph) {
  double parameters = 0, elements = 0, bytes = 0;
  for (const GraphValue &value : graph.state()) {
    auto count = static_cast<double>(numElements(value.shape).value_or(0));
    elements += count;
    bytes += static_cast<double>(value.sizeBytes);
    if (absl::StrContains(absl::StrCat(".", value.name), ".params."))
      parameters += count;
  }
  return absl::StrFormat("state: %d tensors, %s parameters, %s numbers in all, %.2f MiB", graph.state().size(),
                         formatCount(parameters), formatCount(elements), bytes / 0x1p20);
}

absl::Status orConvert(absl::Status restored, const TrainingGraph &graph, const std::string &graphPath, const std::string &run) {
  if (restored.ok() || !graph.convert)
    return restored;
  std::string message(restored.message());
  return absl::Status(restored.code(), absl::StrCat(message.substr(0, message.find("\n  help: ")), "\n  help: if it is a checkpoint of the model that ",
                                                    graphPath, " converts: hjx-run convert ", graphPath, " --from ", run, " --run NEW"));
}

absl::StatusOr<Checkpoint> openRunCheckpoint(const std::string &run, const std::string &which) {
  HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openCheckpoint(run + "/checkpoints", which));
  HJX_RETURN_IF_ERROR(checkHash(checkpoint));
  return checkpoint;
}

} // namespace hjx

/// MLIR's loc("f.mlir":3:5) as compilers write it, f.mlir:3:5.
static std::string plainPlaces(const std::string &text) {
  static const std::regex place("loc\\(\"([^\"]*)\":([0-9]+:[0-9]+)\\)");
  return std::regex_replace(text, place, "$1:$2");
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::vector<std::unique_ptr<hjx::Command>> commands;
  for (auto make : {hjx::makeTrainCommand, hjx::makeEvalCommand, hjx::makeGenerateCommand, hjx::makeCallCommand,
                    hjx::makeConvertCommand, hjx::makeInspectCommand, hjx::makeDevicesCommand})
    commands.push_back(make());
  hjx::hideLibraryOptions();
  hjx::registerHiPluginOption();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "hjx-run " HJX_VERSION "\n"; });
  llvm::cl::ParseCommandLineOptions(argc, argv, "hjx-run: trains and runs training graphs (docs/training-graph.md)\n");
  for (const std::unique_ptr<hjx::Command> &command : commands) {
    if (!command->flags)
      continue;
    absl::Status status = command->run();
    if (!status.ok())
      std::fprintf(stderr, "error: %s\n", plainPlaces(std::string(status.message())).c_str());
    return status.ok() ? 0 : 1;
  }
  std::fprintf(stderr, "error: expected a command: train, eval, generate, convert, call, inspect or devices\n  help: hjx-run --help\n");
  return 2;
}
