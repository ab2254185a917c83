// SPDX-License-Identifier: Apache-2.0
//
// hjx-run eval GRAPH DATA --run DIR: the loss of a checkpoint over all of a text.
#include "tools/hjx-run/Commands.h"
#include "tools/hjx-run/GraphProgram.h"

#include "lib/Train/RunningMean.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class EvalCommand : public Command {
public:
  EvalCommand() : Command("eval", "Measure the loss of a checkpoint on a text or on tokens") {}
  absl::Status run() override;

private:
  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  cl::opt<std::string> data_{cl::Positional, cl::Required, cl::desc("DATA"), cl::sub(flags)};
  cl::opt<std::string> run_{"run", cl::desc("folder of the run"), cl::Required, cl::sub(flags)};
  cl::opt<std::string> checkpoint_{"checkpoint", cl::desc("latest, best, a step or a path (latest)"), cl::init("latest"), cl::sub(flags)};
  cl::opt<std::string> format_{"format", cl::desc("of DATA: auto, safetensors, llmc, uint16, bytes or text"), cl::init("auto"),
                               cl::sub(flags)};
  cl::opt<std::string> tokenizer_{"tokenizer", cl::desc("folder with GPT-2's encoder.json and vocab.bpe"), cl::sub(flags)};
  cl::opt<uint64_t> batches_{"batches", cl::desc("at most so many; 0 is all"), cl::sub(flags)};
  cl::opt<uint64_t> start_{"start-token", cl::desc("where in DATA to begin"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<int> threads_{"threads", cl::desc("of the pool; results do not depend on it"), cl::sub(flags)};
};

absl::Status EvalCommand::run() {
  HJX_RETURN_IF_ERROR(setThreads(threads_));
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (!graph.eval)
    return badInput(graph_.getValue(), "a function 'eval'", "none", "see docs/training-graph.md");
  if (stages_.stops())
    return stages_.lower(graph, {"eval"});
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, openGraphTokenizer(graph, tokenizer_));
  TokenSourceOptions source;
  HJX_ASSIGN_OR_RETURN(source.format, parseTokenFormat(format_));
  source.tokenizer = tokenizer.get();
  source.vocabSize = graph.vocabulary;
  source.startToken = start_;
  if (!tokenizer && llvm::StringRef(data_).ends_with(".txt"))
    return badInput(data_.getValue(), "--tokenizer with GPT-2's files, for text", "none", "or encode it once with hjx-tokenize");
  HJX_ASSIGN_OR_RETURN(TokenSource tokens, TokenSource::open(data_, source));
  GraphBatch shape = batchOf(*graph.eval);
  BatchLayout layout;
  layout.windowTokens = static_cast<uint64_t>(shape.context);
  layout.batch = static_cast<uint64_t>(shape.rows * shape.accumulation);
  HJX_ASSIGN_OR_RETURN(BatchStream stream, BatchStream::create(tokens, layout));
  uint64_t count = stream.numFullBatches();
  if (batches_ > 0)
    count = std::min<uint64_t>(count, batches_);
  if (count == 0)
    return badInput(data_.getValue(), absl::StrCat("at least ", layout.batch, " windows of ", layout.windowTokens, " tokens"),
                    absl::StrCat(stream.numWindows()), "evaluate on a longer text");
  HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openRunCheckpoint(run_, checkpoint_));

  GraphProgramOptions options;
  options.step = options.logits = false;
  options.dumpDir = stages_.dumpDir();
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(graph.modules().front()));
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, options));
  HJX_RETURN_IF_ERROR(orConvert(program->restore(checkpoint.tensors), graph, graph_, run_));
  Batch batch;
  RunningMean mean;
  for (uint64_t i = 0; i < count; ++i) {
    HJX_RETURN_IF_ERROR(stream.read(i, 0, batch));
    HJX_ASSIGN_OR_RETURN(double loss, program->evaluate(batch));
    mean.add(loss);
  }
  std::printf("step %lld: loss %.6f nats per token over %llu tokens, perplexity %.4f\n",
              static_cast<long long>(checkpoint.meta.step), mean.value(),
              static_cast<unsigned long long>(count * layout.tokensPerStep()), std::exp(mean.value()));
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeEvalCommand() { return std::make_unique<EvalCommand>(); }

} // namespace hjx
