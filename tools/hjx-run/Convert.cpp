// SPDX-License-Identifier: Apache-2.0
//
// hjx-run convert GRAPH --from RUN --run NEW: a checkpoint of one graph as a checkpoint of another.
// The graph's own function `convert` says how: a GPT whose weights are int8, for one, quantizes
// those of a trained float GPT.
#include "tools/hjx-run/Commands.h"

#include "lib/Data/Status.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/CompiledFunction.h"
#include "lib/Train/ParameterHash.h"
#include "runtime/Buffer.h"

#include "absl/strings/str_cat.h"

#include <cstdio>
#include <filesystem>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class ConvertCommand : public Command {
public:
  ConvertCommand() : Command("convert", "Make a checkpoint of a graph from a checkpoint of another") {}
  absl::Status run() override;

private:
  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  cl::opt<std::string> from_{"from", cl::desc("folder of the run to read"), cl::Required, cl::sub(flags)};
  cl::opt<std::string> checkpoint_{"checkpoint", cl::desc("latest, best, a step or a path (latest)"), cl::init("latest"), cl::sub(flags)};
  cl::opt<std::string> run_{"run", cl::desc("folder of the run to write"), cl::Required, cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<int> threads_{"threads", cl::desc("of the pool; results do not depend on it"), cl::sub(flags)};
};

double mebibytes(std::span<const TensorView> tensors) {
  size_t bytes = 0;
  for (const TensorView &tensor : tensors)
    bytes += tensor.bytes.size();
  return static_cast<double>(bytes) / 0x1p20;
}

absl::Status ConvertCommand::run() {
  HJX_RETURN_IF_ERROR(setThreads(threads_));
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (!graph.convert)
    return badInput(graph_.getValue(), "a function 'convert'", "none", "see docs/training-graph.md");
  if (stages_.stops())
    return stages_.lower(graph, {"convert"});
  std::error_code error;
  if (std::filesystem::equivalent(from_.getValue(), run_.getValue(), error))
    return badInput(absl::StrCat("--run ", printable(run_)), "a folder of its own", "that of --from", "name another folder");
  if (std::string folder = run_ + "/checkpoints"; std::filesystem::exists(folder)) { // Said before compiling.
    HJX_ASSIGN_OR_RETURN(CheckpointStore store, CheckpointStore::open(folder, {}));
    HJX_RETURN_IF_ERROR(store.checkNew(run_));
  }
  HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openRunCheckpoint(from_, checkpoint_));

  FunctionCompileOptions options;
  options.startFrom = graph.stage;
  options.dumpDir = stages_.dumpDir("convert");
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(graph.modules().front()));
  HJX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> program, graph.program("convert"));
  HJX_ASSIGN_OR_RETURN(CompiledFunction convert, CompiledFunction::compile(std::move(program), "convert", options));

  std::vector<Buffer> buffers;
  std::vector<const void *> inputs;
  std::vector<TensorView> read, made;
  for (const GraphValue &argument : convert.signature.arguments) {
    const TensorInfo *info = checkpoint.tensors.find(argument.name);
    if (!info || info->type != argument.type || info->shape != argument.shape)
      return badInput(absl::StrCat(checkpoint.path, ": '", printable(argument.name), "'"), describeTensor(argument.type, argument.shape),
                      info ? describeTensor(info->type, info->shape) : "nothing of that name",
                      "convert a checkpoint of the model that the graph was written for");
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(argument.sizeBytes));
    std::span<char> bytes(static_cast<char *>(buffer.data()), static_cast<size_t>(argument.sizeBytes));
    HJX_RETURN_IF_ERROR(checkpoint.tensors.read(*info, 0, bytes));
    read.push_back({argument.name, argument.type, argument.shape, {bytes.data(), bytes.size()}});
    inputs.push_back(buffer.data());
    buffers.push_back(std::move(buffer));
  }
  std::vector<void *> outputs;
  for (size_t i = 0; i < convert.signature.results.size(); ++i) {
    const GraphValue &result = convert.signature.results[i];
    int alias = convert.code->outputs()[i].alias;
    if (alias >= 0) {
      outputs.push_back(const_cast<void *>(inputs[static_cast<size_t>(alias)]));
    } else {
      HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(result.sizeBytes));
      outputs.push_back(buffer.data());
      buffers.push_back(std::move(buffer));
    }
    made.push_back({result.name, result.type, result.shape, {static_cast<const char *>(outputs.back()), static_cast<size_t>(result.sizeBytes)}});
  }
  HJX_RETURN_IF_ERROR(makeHostExecutable(std::move(convert.code))->run(inputs, absl::MakeSpan(outputs)));

  CheckpointMeta meta = checkpoint.meta;
  meta.validationLoss = std::nullopt; // That was another model's.
  meta.state = Json::object();
  meta.parametersHash = formatHash(combinedHash(hashTensors(made)));
  std::filesystem::create_directories(run_.getValue(), error);
  HJX_ASSIGN_OR_RETURN(CheckpointStore store, CheckpointStore::open(run_ + "/checkpoints", {}));
  HJX_RETURN_IF_ERROR(store.save(meta, made));
  std::printf("step %lld: %zu tensors, %.2f MiB, from %zu tensors, %.2f MiB\n", static_cast<long long>(meta.step), made.size(),
              mebibytes(made), read.size(), mebibytes(read));
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeConvertCommand() { return std::make_unique<ConvertCommand>(); }

} // namespace hjx
