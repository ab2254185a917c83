// SPDX-License-Identifier: Apache-2.0
//
// hjx-run generate GRAPH --run DIR --prompt TEXT: text from a checkpoint. The same prompt, seed
// and parameters give the same text.
//
// Each token is one call of the graph's `logits` on the last tokens that fit its context: there is no
// cache of keys and values, so a token costs as much as a forward pass over the whole context.
#include "tools/hjx-run/Commands.h"
#include "tools/hjx-run/GraphProgram.h"

#include "lib/Data/File.h"

#include <chrono>
#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class GenerateCommand : public Command {
public:
  GenerateCommand() : Command("generate", "Continue a text with a checkpoint") {}
  absl::Status run() override;

private:
  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  cl::opt<std::string> run_{"run", cl::desc("folder of the run"), cl::Required, cl::sub(flags)};
  cl::opt<std::string> checkpoint_{"checkpoint", cl::desc("latest, best, a step or a path (latest)"), cl::init("latest"), cl::sub(flags)};
  cl::opt<std::string> prompt_{"prompt", cl::desc("text to continue"), cl::init("\n"), cl::sub(flags)};
  cl::opt<std::string> promptFile_{"prompt-file", cl::desc("file with the text to continue"), cl::sub(flags)};
  cl::opt<int64_t> tokens_{"tokens", cl::desc("to draw (200)"), cl::init(200), cl::sub(flags)};
  cl::opt<int64_t> samples_{"samples", cl::desc("texts to write, with the seeds --seed, --seed + 1, ..."), cl::init(1), cl::sub(flags)};
  cl::opt<double> temperature_{"temperature", cl::desc("0 takes the most likely token (0.8)"), cl::init(0.8), cl::sub(flags)};
  cl::opt<int64_t> topK_{"top-k", cl::desc("keep so many of the most likely; 0 is all"), cl::init(0), cl::sub(flags)};
  cl::opt<double> topP_{"top-p", cl::desc("keep the fewest whose probability reaches this"), cl::init(1.0), cl::sub(flags)};
  cl::opt<uint64_t> seed_{"seed", cl::desc("of the draws"), cl::init(0), cl::sub(flags)};
  cl::opt<std::string> tokenizer_{"tokenizer", cl::desc("folder with GPT-2's encoder.json and vocab.bpe"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<int> threads_{"threads", cl::desc("of the pool; results do not depend on it"), cl::sub(flags)};
};

absl::Status GenerateCommand::run() {
  HJX_RETURN_IF_ERROR(setThreads(threads_));
  SamplingOptions sampling{.temperature = temperature_, .topK = topK_, .topP = topP_, .seed = seed_};
  HJX_RETURN_IF_ERROR(Sampler::create(sampling).status());
  if (tokens_ < 0)
    return badInput("--tokens", "0 or more", std::to_string(tokens_), "200 is the default");
  if (samples_ < 1)
    return badInput("--samples", "1 or more", std::to_string(samples_), "1 is the default");
  std::string text = prompt_;
  if (promptFile_.getNumOccurrences()) {
    if (prompt_.getNumOccurrences())
      return badInput("--prompt-file", "no --prompt beside it", "both", "leave one of them out");
    HJX_ASSIGN_OR_RETURN(text, readFile(promptFile_, 16u << 20));
  }
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (!graph.logits)
    return badInput(graph_.getValue(), "a function 'logits'", "none", "see docs/training-graph.md");
  if (stages_.stops())
    return stages_.lower(graph, {"logits"});
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, openGraphTokenizer(graph, tokenizer_));
  if (!tokenizer)
    return badInput("generate", "--tokenizer with GPT-2's files", "none", "the graph's tokenizer is gpt2");
  HJX_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, tokenizer->encode(text));
  if (prompt.empty())
    return badInput("--prompt", "at least one token", "none", "the model continues something; try a newline");
  HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openRunCheckpoint(run_, checkpoint_));

  GraphProgramOptions options;
  options.step = options.eval = false;
  options.dumpDir = stages_.dumpDir();
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(graph.modules().front()));
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, options));
  HJX_RETURN_IF_ERROR(orConvert(program->restore(checkpoint.tensors), graph, graph_, run_));
  auto write = [](std::string_view text) {
    std::string safe = printableText(text);
    std::fwrite(safe.data(), 1, safe.size(), stdout);
    std::fflush(stdout);
  };
  auto began = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < samples_; ++i) {
    HJX_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(sampling));
    ++sampling.seed;
    if (i > 0)
      std::printf("---------------\n");
    write(text);
    HJX_RETURN_IF_ERROR(generateText(*program, *tokenizer, prompt, tokens_, sampler, write));
    std::printf("\n");
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::fflush(stdout);
  std::fprintf(stderr, "\n%lld tokens in %.2f s: %.1f tokens/s\n", static_cast<long long>(tokens_ * samples_), seconds,
               static_cast<double>(tokens_ * samples_) / seconds);
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeGenerateCommand() { return std::make_unique<GenerateCommand>(); }

} // namespace hjx
