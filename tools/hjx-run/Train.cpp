// SPDX-License-Identifier: Apache-2.0
//
// hjx-run train GRAPH DATA --run DIR
//
// The configuration of a run is one JSON object. It begins as the defaults below, takes what the
// graph's own `config` says (steps, learning_rate, warmup_steps, final_lr_fraction), on resume what
// the run has, then the flags, then each --set. Nothing is written before all of it, the graph,
// the data and a checkpoint to resume from have been looked at.
#include "tools/hjx-run/Commands.h"
#include "tools/hjx-run/GraphProgram.h"

#include "lib/Data/File.h"
#include "lib/Train/ParameterHash.h"

#include "absl/strings/str_format.h"

#include <cmath>
#include <filesystem>

namespace hjx {
namespace {

namespace cl = llvm::cl;

Json defaultConfig() {
  return {{"graph", {{"sha256", ""}, {"config", nullptr}}},
          {"data",
           {{"train", ""},
            {"validation", ""},
            {"format", "auto"},
            {"validation_fraction", 0.1},
            {"tokens", 0},
            {"tokenizer", ""}}},
          {"seed", 0},
          {"order", "shuffled"},
          {"steps", 1000},
          {"schedule", scheduleDefaults()},
          {"validate_every", nullptr},
          {"validation_batches", 50},
          {"checkpoint_every", nullptr},
          {"keep_last", 3},
          {"keep_every", 0},
          {"hash_every", 0},
          {"max_skips", 0},
          {"target_loss", nullptr},
          {"overfit_one_batch", false},
          {"sample", {{"every", 0}, {"prompt", "\n"}, {"tokens", 200}, {"temperature", 0.8}}}};
}

/// What may differ on resume. The schedule has its own length, so more steps do not bend it.
const std::vector<std::string> kFreeKeys = {"steps",     "validate_every", "validation_batches", "checkpoint_every",
                                            "keep_last", "keep_every",     "hash_every",         "max_skips",
                                            "target_loss", "sample",       "data.train",         "data.validation"};

class TrainCommand : public Command {
public:
  TrainCommand() : Command("train", "Train a graph on a text or on tokens") {}
  absl::Status run() override;

private:
  absl::StatusOr<Json> configure(const TrainingGraph &graph, const Tokenizer *tokenizer) const;
  absl::Status applyFlags(Json &config) const;
  void fitWarmup(Json &config, int64_t proposedSteps) const;
  absl::Status writePtx(const TrainingGraph &graph, const std::string &chip) const;
  absl::StatusOr<TokenSource> openTokens(const std::string &path, const std::string &format, const TrainingGraph &graph,
                                         const Tokenizer *tokenizer) const;

  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  cl::opt<std::string> data_{cl::Positional, cl::desc("DATA"), cl::sub(flags)};
  cl::opt<std::string> run_{"run", cl::desc("folder of the run"), cl::value_desc("dir"), cl::sub(flags)};
  cl::opt<std::string> resume_{"resume", cl::desc("continue; --resume=best, =STEP or =PATH instead of latest"),
                               cl::ValueOptional, cl::sub(flags)};
  cl::opt<std::string> format_{"format", cl::desc("of DATA: auto, safetensors, llmc, uint16, bytes or text"), cl::sub(flags)};
  cl::opt<std::string> tokenizer_{"tokenizer", cl::desc("folder with GPT-2's encoder.json and vocab.bpe"), cl::sub(flags)};
  cl::opt<std::string> validation_{"validation", cl::desc("file to validate on, in place of the tail of DATA"), cl::sub(flags)};
  cl::opt<double> validationFraction_{"validation-fraction", cl::desc("share of DATA, at its end, to hold out"), cl::sub(flags)};
  cl::opt<int64_t> steps_{"steps", cl::desc("updates of the whole run"), cl::value_desc("n"), cl::sub(flags)};
  cl::opt<uint64_t> seed_{"seed", cl::desc("of the parameters and the order"), cl::sub(flags)};
  cl::opt<std::string> order_{"order", cl::desc("of the windows: shuffled or sequential"), cl::sub(flags)};
  cl::opt<double> learningRate_{"learning-rate", cl::desc("at the peak of the schedule"), cl::sub(flags)};
  cl::opt<std::string> schedule_{"schedule", cl::desc("constant, linear, warmup_cosine or wsd"), cl::sub(flags)};
  cl::opt<int64_t> warmup_{"warmup", cl::desc("steps of warm-up"), cl::sub(flags)};
  cl::opt<int64_t> validateEvery_{"validate-every", cl::desc("steps between validations"), cl::sub(flags)};
  cl::opt<int64_t> validationBatches_{"validation-batches", cl::desc("of a validation; 0 is all"), cl::sub(flags)};
  cl::opt<int64_t> checkpointEvery_{"checkpoint-every", cl::desc("steps between checkpoints"), cl::sub(flags)};
  cl::opt<int64_t> sampleEvery_{"sample-every", cl::desc("steps between samples of text"), cl::sub(flags)};
  cl::opt<std::string> prompt_{"prompt", cl::desc("that samples continue"), cl::sub(flags)};
  cl::opt<int64_t> hashParams_{"hash-params", cl::desc("steps between hashes of all state in run.log"), cl::sub(flags)};
  cl::opt<double> stopAfterMinutes_{"stop-after-minutes", cl::desc("save and leave after so long"), cl::sub(flags)};
  cl::opt<bool> overfit_{"overfit-one-batch", cl::desc("every step sees the first batch"), cl::sub(flags)};
  cl::list<std::string> set_{"set", cl::desc("key=value of the configuration, see config.json"), cl::sub(flags)};
  cl::opt<int> threads_{"threads", cl::desc("of the pool; results do not depend on it"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<bool> compileOnly_{"compile-only", cl::desc("compile, report and leave"), cl::sub(flags)};
  cl::opt<std::string> output_{"output", cl::desc("folder for <function>.ptx of --compile-only --target=ptx:..."),
                               cl::value_desc("dir"), cl::sub(flags)};
  cl::opt<std::string> transferGuard_{"transfer-guard",
                                      cl::desc("what a step after the first may move beside the batch, scalars and metrics: allow, log or "
                                               "disallow (the default)"),
                                      cl::init("disallow"), cl::value_desc("level"), cl::sub(flags)};
  cl::opt<bool> profile_{"profile", cl::desc("print the time of each function and kernel"), cl::sub(flags)};
  cl::opt<std::string> trace_{"trace", cl::desc("write what happened when to a file for chrome://tracing or Perfetto"),
                              cl::value_desc("file.json"), cl::sub(flags)};
};

/// What the writer of the graph proposes, of a JSON object that is otherwise its own.
absl::Status applyGraphConfig(const TrainingGraph &graph, Json &config) {
  if (graph.config.empty())
    return absl::OkStatus();
  Json given = Json::parse(graph.config, nullptr, /*allow_exceptions=*/false);
  if (!given.is_object())
    return badInput("hjx.training_graph: config", "a JSON object", "other text", "see docs/training-graph.md");
  auto number = [&](const char *key, Json &to) -> absl::Status {
    if (!given.contains(key))
      return absl::OkStatus();
    if (!given[key].is_number() || (to.is_number_integer() && !given[key].is_number_integer()))
      return badInput(absl::StrCat("hjx.training_graph: config: ", key),
                      to.is_number_integer() ? "an integer" : "a number", printable(given[key].dump()), "correct the graph");
    to = to.is_number_float() ? Json(given[key].get<double>()) : given[key];
    return absl::OkStatus();
  };
  Json &schedule = config["schedule"];
  Json fraction = 0.1;
  HJX_RETURN_IF_ERROR(number("steps", config["steps"]));
  HJX_RETURN_IF_ERROR(number("learning_rate", schedule["peak"]));
  HJX_RETURN_IF_ERROR(number("warmup_steps", schedule["warmup_steps"]));
  HJX_RETURN_IF_ERROR(number("final_lr_fraction", fraction));
  schedule["final"] = schedule["peak"].get<double>() * fraction.get<double>();
  config["graph"]["config"] = std::move(given);
  return absl::OkStatus();
}

absl::Status TrainCommand::applyFlags(Json &config) const {
  Json &schedule = config["schedule"];
  if (learningRate_.getNumOccurrences()) {
    double peak = schedule["peak"].get<double>();
    double fraction = peak > 0 ? schedule["final"].get<double>() / peak : 0;
    schedule["peak"] = learningRate_.getValue();
    schedule["final"] = learningRate_ * fraction;
  }
  auto set = [](const auto &flag, Json &to) {
    if (flag.getNumOccurrences())
      to = flag.getValue();
  };
  set(schedule_, schedule["kind"]);
  set(warmup_, schedule["warmup_steps"]);
  set(data_, config["data"]["train"]);
  set(validation_, config["data"]["validation"]);
  set(validationFraction_, config["data"]["validation_fraction"]);
  set(format_, config["data"]["format"]);
  set(steps_, config["steps"]);
  set(seed_, config["seed"]);
  set(order_, config["order"]);
  set(validateEvery_, config["validate_every"]);
  set(validationBatches_, config["validation_batches"]);
  set(checkpointEvery_, config["checkpoint_every"]);
  set(sampleEvery_, config["sample"]["every"]);
  set(prompt_, config["sample"]["prompt"]);
  set(hashParams_, config["hash_every"]);
  set(overfit_, config["overfit_one_batch"]);
  for (const std::string &setting : set_)
    HJX_RETURN_IF_ERROR(applySetting(config, setting));
  return absl::OkStatus();
}

/// Fills in what depends on other keys, and checks ranges.
absl::Status completeConfig(Json &config) {
  for (const char *key : {"steps", "validation_batches", "keep_last", "keep_every", "hash_every", "max_skips", "seed"})
    if (!config[key].is_number_integer() || config[key].get<int64_t>() < 0)
      return badInput(absl::StrCat("configuration: ", key), "an integer of 0 or more", config[key].dump(), "see hjx-run train --help");
  auto steps = config["steps"].get<int64_t>();
  if (steps < 1)
    return badInput("--steps", "1 or more", absl::StrCat(steps), "it is the length of the whole run");
  for (const char *key : {"validate_every", "checkpoint_every"}) {
    if (config[key].is_null())
      config[key] = std::max<int64_t>(1, steps / 10);
    if (!config[key].is_number_integer() || config[key].get<int64_t>() < 0)
      return badInput(absl::StrCat("configuration: ", key), "an integer of 0 or more", config[key].dump(), "0 does it at the end only");
  }
  if (!config["target_loss"].is_null() && !config["target_loss"].is_number())
    return badInput("configuration: target_loss", "a number", config["target_loss"].dump(), "null trains to the end");
  std::string order = config["order"].get<std::string>();
  if (order != "shuffled" && order != "sequential")
    return badInput("--order", "shuffled or sequential", absl::StrCat("'", printable(order), "'"), "shuffled is the usual one");
  double fraction = config["data"]["validation_fraction"].get<double>();
  if (!(fraction >= 0 && fraction < 1))
    return badInput("--validation-fraction", "a number from 0 to below 1", absl::StrCat(fraction), "0.1 holds out the last tenth");
  Json &schedule = config["schedule"];
  if (schedule["total_steps"] == 0 && schedule["kind"] != "constant")
    schedule["total_steps"] = steps;
  return absl::OkStatus();
}

/// A run that is made shorter than the graph proposes gets a shorter warm-up too: at most a tenth.
/// A constant rate has no end to fit in.
void TrainCommand::fitWarmup(Json &config, int64_t proposedSteps) const {
  Json &schedule = config["schedule"];
  bool isGiven = warmup_.getNumOccurrences() > 0 || llvm::any_of(set_, [](llvm::StringRef setting) {
                   return setting.starts_with("schedule.warmup_steps") || setting.starts_with("schedule=");
                 });
  auto steps = config["steps"].get<int64_t>(), warmup = schedule["warmup_steps"].get<int64_t>();
  if (isGiven || steps < 1 || steps >= proposedSteps || warmup <= steps / 10 || schedule["kind"] == "constant" || schedule["total_steps"] != 0)
    return;
  schedule["warmup_steps"] = steps / 10;
  std::fprintf(stderr, "note: %lld steps of warm-up instead of the graph's %lld, for a run of %lld; --warmup sets them\n",
               static_cast<long long>(steps / 10), static_cast<long long>(warmup), static_cast<long long>(steps));
}

absl::StatusOr<Json> TrainCommand::configure(const TrainingGraph &graph, const Tokenizer *tokenizer) const {
  Json config = defaultConfig();
  HJX_RETURN_IF_ERROR(applyGraphConfig(graph, config));
  auto proposedSteps = config["steps"].get<int64_t>();
  config["data"]["tokenizer"] = tokenizer ? tokenizer->name() : graph.tokenizer;
  if (resume_.getNumOccurrences()) {
    HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openRunCheckpoint(run_, resume_.empty() ? "latest" : resume_.getValue()));
    Json before = checkpoint.meta.config;
    if (before.is_object() && before.contains("graph"))
      before.erase("graph"); // this graph's stands: a difference is an error below
    HJX_RETURN_IF_ERROR(mergeConfig(config, before, checkpoint.path));
    if (tokenizer)
      config["data"]["tokenizer"] = tokenizer->name();
  }
  HJX_RETURN_IF_ERROR(applyFlags(config));
  config["graph"]["sha256"] = graph.sha256;
  fitWarmup(config, proposedSteps);
  HJX_RETURN_IF_ERROR(completeConfig(config));
  return config;
}

absl::StatusOr<TokenSource> TrainCommand::openTokens(const std::string &path, const std::string &format,
                                                     const TrainingGraph &graph, const Tokenizer *tokenizer) const {
  TokenSourceOptions options;
  HJX_ASSIGN_OR_RETURN(options.format, parseTokenFormat(format));
  options.tokenizer = tokenizer;
  options.vocabSize = graph.vocabulary;
  bool isText = options.format == TokenFormat::Text || (options.format == TokenFormat::Auto && llvm::StringRef(path).ends_with(".txt"));
  if (isText && !tokenizer)
    return badInput(path, "--tokenizer with GPT-2's files, for text", "none", "or encode it once with hjx-tokenize");
  return TokenSource::open(path, options);
}

absl::StatusOr<BatchStream> openBatches(TokenSource source, const GraphFunction &function, const std::string &subject,
                                        WindowOrder order, uint64_t seed) {
  GraphBatch batch = batchOf(function);
  BatchLayout layout;
  layout.windowTokens = static_cast<uint64_t>(batch.context);
  layout.batch = static_cast<uint64_t>(batch.rows);
  layout.accumulate = static_cast<uint64_t>(batch.accumulation);
  absl::StatusOr<BatchStream> stream = BatchStream::create(std::move(source), layout, order, seed);
  if (!stream.ok())
    return absl::InvalidArgumentError(absl::StrCat(subject, ": ", std::string(stream.status().message())));
  return stream;
}

/// Bytes of text for each token of `source`; 0 when there is no tokenizer to ask.
absl::StatusOr<double> bytesPerToken(const TokenSource &source, const Tokenizer *tokenizer) {
  if (!tokenizer)
    return 0.0;
  if (tokenizer->name() == "bytes")
    return 1.0;
  std::vector<int32_t> ids(std::min<uint64_t>(source.numTokens(), 1 << 20));
  HJX_RETURN_IF_ERROR(source.read(0, ids));
  uint64_t bytes = 0;
  for (int32_t id : ids) {
    HJX_ASSIGN_OR_RETURN(std::string_view text, tokenizer->tokenBytes(id));
    bytes += text.size();
  }
  return static_cast<double>(bytes) / static_cast<double>(ids.size());
}

absl::Status TrainCommand::writePtx(const TrainingGraph &graph, const std::string &chip) const {
  if (output_.empty())
    return badInput("--compile-only for ptx", "--output DIR with it", "none", "name the folder for the PTX files");
  std::vector<PtxJob> jobs;
  for (std::string name : {"init", "step", "eval", "logits"}) {
    if ((name == "eval" && !graph.eval) || (name == "logits" && !graph.logits))
      continue;
    PtxJob job{name, {}, graph.stage, absl::StrCat(output_.getValue(), "/", name, ".ptx"), stages_.dumpDir(name)};
    HJX_ASSIGN_OR_RETURN(job.program, graph.program(name));
    jobs.push_back(std::move(job));
  }
  return compilePtx(std::move(jobs), chip);
}

absl::Status TrainCommand::run() {
  HJX_RETURN_IF_ERROR(setThreads(threads_));
  if (run_.empty() && !compileOnly_ && !stages_.stops())
    return badInput("train", "--run DIR", "none", "name the folder that the run is kept in");
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (!graph.step)
    return badInput(graph_.getValue(), "a function 'step'", "none", "this graph can only be evaluated; see docs/training-graph.md");
  if (stages_.stops())
    return stages_.lower(graph, {"init", "step", "eval", "logits"});
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, openGraphTokenizer(graph, tokenizer_));
  HJX_ASSIGN_OR_RETURN(Json config, configure(graph, tokenizer.get()));
  HJX_ASSIGN_OR_RETURN(Schedule schedule, scheduleFromConfig(config["schedule"], config["steps"].get<int64_t>()));

  GraphProgramOptions programOptions;
  programOptions.dumpDir = stages_.dumpDir();
  absl::StatusOr<TransferLevel> transfers = parseTransferLevel(transferGuard_);
  if (!transfers.ok())
    return badInput("--transfer-guard", "allow, log or disallow", absl::StrCat("'", printable(transferGuard_), "'"),
                    "log names each transfer on standard error");
  programOptions.transfers = *transfers;
  Trace trace;
  if (!trace_.empty())
    programOptions.trace = &trace;
  HJX_ASSIGN_OR_RETURN(Target target, stages_.target());
  if (compileOnly_ && target.kind == Target::Kind::Ptx)
    return writePtx(graph, target.chip);
  HJX_ASSIGN_OR_RETURN(programOptions.device, stages_.openDevice(graph.modules().front()));
  programOptions.profile = profile_ || (programOptions.trace && programOptions.device->kind() == DeviceKind::Cuda);
  if (compileOnly_) {
    programOptions.reserve = false;
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, programOptions));
    std::printf("%s\n%s", describeState(graph).c_str(), program->describeFunctions().c_str());
    return absl::OkStatus();
  }

  // Data.
  const Json &data = config["data"];
  std::string path = data["train"].get<std::string>(), validationPath = data["validation"].get<std::string>();
  if (path.empty())
    return badInput("train", "GRAPH DATA", "no DATA", "name a text (.txt) or a file of tokens");
  HJX_ASSIGN_OR_RETURN(TokenSource tokens, openTokens(path, data["format"].get<std::string>(), graph, tokenizer.get()));
  config["data"]["tokens"] = tokens.numTokens();
  WindowOrder order = config["order"] == "shuffled" ? WindowOrder::Shuffled : WindowOrder::Sequential;
  auto seed = config["seed"].get<uint64_t>();
  std::optional<TokenSource> heldOut;
  if (!validationPath.empty()) {
    HJX_ASSIGN_OR_RETURN(heldOut, openTokens(validationPath, data["format"].get<std::string>(), graph, tokenizer.get()));
  } else if (double fraction = data["validation_fraction"].get<double>(); fraction > 0) {
    HJX_ASSIGN_OR_RETURN(TokenSource::Split split, tokens.splitTail(fraction));
    tokens = split.train;
    heldOut = split.validation;
  }
  HJX_ASSIGN_OR_RETURN(BatchStream batches, openBatches(tokens, *graph.step, path, order, seed));
  std::optional<BatchStream> validation;
  TrainOptions options;
  if (heldOut && graph.eval) {
    std::string subject = validationPath.empty() ? absl::StrCat(path, ": held-out tail") : validationPath;
    HJX_ASSIGN_OR_RETURN(validation, openBatches(*heldOut, *graph.eval, subject, WindowOrder::Sequential, 0));
    if (validation->numFullBatches() == 0)
      return badInput(subject, absl::StrCat("at least ", validation->layout().batch, " windows of ", validation->layout().windowTokens, " tokens"),
                      absl::StrCat(validation->numWindows()), "hold out more with --validation-fraction, or 0 for none");
    HJX_ASSIGN_OR_RETURN(options.bytesPerToken, bytesPerToken(*heldOut, tokenizer.get()));
  }

  // Options of the loop.
  options.runFolder = run_;
  options.freeKeys = kFreeKeys;
  if (resume_.getNumOccurrences())
    options.resume = resume_.empty() ? "latest" : resume_.getValue();
  options.steps = config["steps"].get<int64_t>();
  options.schedule = schedule;
  options.validateEvery = config["validate_every"].get<int64_t>();
  options.validationBatches = config["validation_batches"].get<uint64_t>();
  options.checkpointEvery = config["checkpoint_every"].get<int64_t>();
  options.checkpoints = {config["keep_last"].get<int64_t>(), config["keep_every"].get<int64_t>()};
  options.hashEvery = config["hash_every"].get<int64_t>();
  options.maxConsecutiveSkips = config["max_skips"].get<int64_t>();
  if (!config["target_loss"].is_null())
    options.targetLoss = config["target_loss"].get<double>();
  if (!(stopAfterMinutes_ >= 0))
    return badInput("--stop-after-minutes", "a number of 0 or more", absl::StrCat(double(stopAfterMinutes_)), "leave it out for no limit");
  if (stopAfterMinutes_.getNumOccurrences())
    options.maxSeconds = stopAfterMinutes_ * 60;
  options.overfitOneBatch = config["overfit_one_batch"].get<bool>();
  options.progress = standardErrorProgress();
  options.config = config;
  if (!options.resume.empty()) {
    HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint, openRunCheckpoint(run_, options.resume));
    HJX_RETURN_IF_ERROR(checkResume(checkpoint.meta, config, kFreeKeys));
    if (checkpoint.meta.step >= options.steps) {
      std::printf("nothing to do: %s is at step %lld, and the run ends at step %lld; a larger --steps goes on\n", checkpoint.path.c_str(),
                  static_cast<long long>(checkpoint.meta.step), static_cast<long long>(options.steps));
      return absl::OkStatus();
    }
  } else if (std::string folder = run_ + "/checkpoints"; std::filesystem::exists(folder)) { // Said before compiling.
    HJX_ASSIGN_OR_RETURN(CheckpointStore store, CheckpointStore::open(folder, {}));
    HJX_RETURN_IF_ERROR(store.checkNew(run_));
  }

  // Samples.
  const Json &sample = config["sample"];
  options.sampleEvery = sample["every"].get<int64_t>();
  std::vector<int32_t> prompt;
  if (options.sampleEvery > 0) {
    if (!graph.logits || !tokenizer)
      return badInput("--sample-every", "a graph with logits, and a tokenizer", graph.logits ? "no tokenizer" : "no logits", "leave it out");
    HJX_ASSIGN_OR_RETURN(prompt, tokenizer->encode(sample["prompt"].get<std::string>()));
    if (prompt.empty())
      return badInput("--prompt", "at least one token", "none", "the model continues something; try a newline");
  }

  programOptions.eval = validation.has_value();
  programOptions.logits = options.sampleEvery > 0;
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, programOptions));
  HJX_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create({.temperature = sample["temperature"].get<double>(), .seed = seed}));
  options.sample = [&](int64_t) -> absl::StatusOr<std::string> {
    std::string text = sample["prompt"].get<std::string>();
    HJX_RETURN_IF_ERROR(generateText(*program, *tokenizer, prompt, sample["tokens"].get<int64_t>(), sampler,
                                     [&](std::string_view piece) { text += piece; }));
    return text;
  };
  std::fprintf(stderr, "%s\n%s", describeState(graph).c_str(), program->describeFunctions().c_str());
  std::fprintf(stderr, "data: %s tokens to train on, %s held out; %d tokens a step\n", formatCount(static_cast<double>(tokens.numTokens())).c_str(),
               formatCount(heldOut ? static_cast<double>(heldOut->numTokens()) : 0.0).c_str(), static_cast<int>(batches.layout().tokensPerStep()));
  if (heldOut && !graph.eval)
    std::fprintf(stderr, "note: the graph has no eval, so nothing is validated\n");
  HJX_RETURN_IF_ERROR(program->initialise(seed));

  StopSignal stop;
  HJX_ASSIGN_OR_RETURN(TrainSummary summary, train(*program, batches, validation ? &*validation : nullptr, options, &stop));
  if (programOptions.profile) {
    HJX_ASSIGN_OR_RETURN(std::string profile, program->profile());
    if (profile_)
      std::printf("%s", profile.c_str());
  }
  if (!trace_.empty())
    HJX_RETURN_IF_ERROR(writeFileAtomically(trace_, trace.json()));
  std::printf("%s\n", describe(summary).c_str());
  if (summary.validationLoss) {
    std::printf("held-out loss: %.4f nats per token", *summary.validationLoss);
    if (options.bytesPerToken > 0)
      std::printf(", %.4f nats per byte, %.4f bits per byte", *summary.validationLoss / options.bytesPerToken,
                  *summary.validationLoss / options.bytesPerToken / std::log(2.0));
    std::printf("\n");
  }
  std::printf("run: %s (metrics.jsonl, loss.svg, run.log, checkpoints/)\n", run_.c_str());
  if (summary.reason == StopReason::Signalled)
    std::printf("to go on: the same command with --resume\n");
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeTrainCommand() { return std::make_unique<TrainCommand>(); }

} // namespace hjx
