// SPDX-License-Identifier: Apache-2.0
#include "tools/hjx-run/GraphProgram.h"

#include "lib/Data/Status.h"
#include "runtime/Abi.h"
#include "runtime/Bytes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <bit>
#include <cstring>
#include <set>

namespace hjx {
namespace {

/// Writes token ids in the width of `type`, from element `first` on.
void writeTokens(void *to, StoredType type, uint64_t first, std::span<const int32_t> ids) {
  auto write = [&]<typename T>(T *out) {
    for (size_t i = 0; i < ids.size(); ++i)
      out[first + i] = static_cast<T>(ids[i]);
  };
  switch (storedTypeBits(type)) {
  case 8:
    return write(static_cast<uint8_t *>(to));
  case 16:
    return write(static_cast<uint16_t *>(to));
  case 32:
    return write(static_cast<uint32_t *>(to));
  default:
    return write(static_cast<uint64_t *>(to));
  }
}

double readFloat(const void *from, StoredType type, size_t index) {
  switch (type) {
  case StoredType::F64:
    return static_cast<const double *>(from)[index];
  case StoredType::F16:
    return static_cast<double>(static_cast<const _Float16 *>(from)[index]);
  case StoredType::BF16:
    return std::bit_cast<float>(uint32_t{static_cast<const uint16_t *>(from)[index]} << 16);
  default:
    return static_cast<const float *>(from)[index];
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Binding functions to buffers
//===----------------------------------------------------------------------===//

static absl::StatusOr<DeviceBuffer> allocate(RuntimeDevice &device, const GraphValue &value) {
  absl::StatusOr<DeviceBuffer> buffer = device.allocate(value.sizeBytes);
  if (absl::IsResourceExhausted(buffer.status()))
    return device.outOfMemory(value.sizeBytes, absl::StrCat("'", printable(value.name), "'"));
  return buffer;
}

/// The largest batch below the graph's whose arena would fit into `freeBytes`, and its bytes. What has
/// the size of a tensor of the state (gradients, updates) stays; the rest grows with the batch.
static std::optional<std::pair<int64_t, int64_t>> batchThatFits(const TrainingGraph &graph, const GraphFunction &function,
                                                                const MemoryPlan &plan, int64_t freeBytes) {
  if (GraphFunction::find(function.arguments, "batch", "inputs") < 0)
    return std::nullopt;
  int64_t rows = batchOf(function).rows;
  std::set<int64_t> stateSizes;
  for (const GraphValue &value : graph.state())
    stateSizes.insert(value.sizeBytes);
  auto bytesOf = [&](int64_t fewer) {
    MemoryPlan scaled = plan;
    for (MemoryPlan::Entry &entry : scaled.entries)
      if (!stateSizes.count(entry.sizeBytes))
        entry.sizeBytes = (entry.sizeBytes * fewer + rows - 1) / rows;
    scaled.place();
    return scaled.sizeBytes;
  };
  int64_t fits = 0;
  for (int64_t step = int64_t{1} << 40; step; step /= 2) // The largest that fits, as bits from the top.
    if (fits + step < rows && bytesOf(fits + step) <= freeBytes)
      fits += step;
  if (fits == 0)
    return std::nullopt;
  return std::pair{fits, bytesOf(fits)};
}

absl::Status GraphProgram::reserve(const Bound &bound) const {
  const GraphFunction &signature = bound.function.signature;
  const MemoryPlan &plan = bound.function.code->memoryPlan();
  std::string remedy;
  if (absl::StatusOr<int64_t> free = device_.freeBytes(); free.ok() && *free < plan.sizeBytes)
    if (auto fits = batchThatFits(graph_, signature, plan, *free))
      remedy = absl::StrCat("a batch of ", fits->first, fits->first == 1 ? " row" : " rows", " instead of ", batchOf(signature).rows, " would need about ",
                            printBytes(fits->second), " here; write the graph with it");
  absl::Status status = bound.function.code->reserve(remedy);
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(signature.name, ": ", std::string(status.message())));
}

absl::StatusOr<GraphProgram::Bound> GraphProgram::bind(const std::string &name, const GraphProgramOptions &options) {
  Bound bound;
  FunctionCompileOptions compileOptions;
  compileOptions.startFrom = graph_.stage;
  compileOptions.dumpDir = options.dumpDir.empty() ? "" : options.dumpDir + "/" + name;
  compileOptions.profile = options.profile;
  compileOptions.trace = options.trace;
  compileOptions.device = &device_;
  HJX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> program, graph_.program(name));
  HJX_ASSIGN_OR_RETURN(bound.function, CompiledFunction::compile(std::move(program), name, compileOptions));
  auto place = [&](const GraphValue &value) -> absl::StatusOr<void *> {
    if (name == "step" && value.role == "batch")
      return nullptr; // See makePlaces.
    if (value.role == "state")
      return state_[static_cast<size_t>(graph_.stateIndex(value.name))].data();
    HJX_ASSIGN_OR_RETURN(DeviceBuffer buffer, allocate(device_, value));
    bound.owned.push_back(std::move(buffer));
    return bound.owned.back().data();
  };
  for (const GraphValue &value : bound.function.signature.arguments) {
    HJX_ASSIGN_OR_RETURN(void *data, place(value));
    bound.inputs.push_back(data);
  }
  for (const GraphValue &value : bound.function.signature.results) {
    HJX_ASSIGN_OR_RETURN(void *data, place(value));
    bound.outputs.push_back(data);
  }
  return bound;
}

absl::Status GraphProgram::Bound::launch() {
  beganNs = hjx_rt_now_ns();
  return function.code->run(inputs, absl::MakeSpan(outputs));
}

absl::Status GraphProgram::Bound::wait() {
  // Somebody reads a result next, and would wait then; here an error is that of this function.
  HJX_RETURN_IF_ERROR(function.code->device().synchronize());
  seconds += static_cast<double>(hjx_rt_now_ns() - beganNs) * 1e-9;
  ++numCalls;
  return absl::OkStatus();
}

absl::Status GraphProgram::Bound::call() {
  HJX_RETURN_IF_ERROR(launch());
  return wait();
}

int GraphProgram::Bound::argument(std::string_view role, std::string_view leafName) const {
  return GraphFunction::find(function.signature.arguments, role, leafName);
}

absl::Status GraphProgram::Bound::set(int argument, const void *bytes) const {
  auto index = static_cast<size_t>(argument);
  TransferScope scope(TransferKind::Explicit, {{}, 0, function.signature.arguments[index].name, {}});
  return function.code->device().copyToDevice(const_cast<void *>(inputs[index]), bytes,
                                              function.signature.arguments[index].sizeBytes);
}

absl::Status GraphProgram::Bound::setTokens(std::string_view leafName,
                                            std::span<const std::span<const int32_t>> parts) const {
  int index = argument("batch", leafName);
  const GraphValue &value = function.signature.arguments[static_cast<size_t>(index)];
  std::vector<char> bytes(static_cast<size_t>(value.sizeBytes));
  uint64_t first = 0;
  for (std::span<const int32_t> part : parts) {
    writeTokens(bytes.data(), value.type, first, part);
    first += part.size();
  }
  return set(index, bytes.data());
}

absl::StatusOr<std::vector<double>> GraphProgram::Bound::read(size_t result, size_t first, size_t count) const {
  StoredType type = function.signature.results[result].type;
  size_t elementBytes = storedTypeBits(type) / 8;
  std::vector<char> bytes(count * elementBytes);
  TransferScope scope(TransferKind::Explicit, {{}, 0, function.signature.results[result].name, {}});
  HJX_RETURN_IF_ERROR(function.code->device().copyToHost(
      bytes.data(), static_cast<const char *>(outputs[result]) + first * elementBytes, static_cast<int64_t>(bytes.size())));
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = readFloat(bytes.data(), type, i);
  return numbers;
}

absl::StatusOr<std::unique_ptr<GraphProgram>> GraphProgram::create(const TrainingGraph &graph,
                                                                   const GraphProgramOptions &options) {
  std::unique_ptr<GraphProgram> program(new GraphProgram(graph, options));
  program->transfers_ = options.transfers;
  for (const GraphValue &value : graph.state()) {
    HJX_ASSIGN_OR_RETURN(DeviceBuffer buffer, allocate(*options.device, value));
    program->state_.push_back(std::move(buffer));
  }
  auto compile = [&](bool wanted, const char *name, std::optional<Bound> &to) -> absl::Status {
    if (!wanted)
      return absl::OkStatus();
    HJX_ASSIGN_OR_RETURN(to, program->bind(name, options));
    return options.reserve ? program->reserve(*to) : absl::OkStatus();
  };
  HJX_RETURN_IF_ERROR(compile(options.step && graph.step, "init", program->init_));
  HJX_RETURN_IF_ERROR(compile(options.step && graph.step, "step", program->step_));
  HJX_RETURN_IF_ERROR(program->makePlaces());
  HJX_RETURN_IF_ERROR(compile(options.eval && graph.eval, "eval", program->eval_));
  HJX_RETURN_IF_ERROR(compile(options.logits && graph.logits, "logits", program->logits_));
  return program;
}

//===----------------------------------------------------------------------===//
// What the training loop asks for
//===----------------------------------------------------------------------===//

absl::Status GraphProgram::initialise(uint64_t seed) {
  // The words of the key that jax.random.key gives for the seed.
  uint32_t words[2] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
  HJX_RETURN_IF_ERROR(init_->set(0, words));
  return init_->call();
}

absl::Status GraphProgram::makePlaces() {
  if (!step_)
    return absl::OkStatus();
  for (BatchPlace &place : places_)
    for (const char *name : {"inputs", "targets"}) {
      int argument = step_->argument("batch", name);
      int64_t sizeBytes = step_->function.signature.arguments[static_cast<size_t>(argument)].sizeBytes;
      HJX_ASSIGN_OR_RETURN(DeviceBuffer buffer, device_.allocate(sizeBytes));
      HJX_ASSIGN_OR_RETURN(std::unique_ptr<StagingBuffer> staging, device_.allocateStaging(sizeBytes));
      place.parts.push_back({argument, std::move(buffer), std::move(staging)});
    }
  return absl::OkStatus();
}

absl::Status GraphProgram::fillPlace(BatchPlace &place, std::span<const Batch> batches) {
  for (size_t index = 0; index < place.parts.size(); ++index) {
    BatchPlace::Part &part = place.parts[index];
    auto member = index == 0 ? &Batch::inputs : &Batch::targets;
    std::vector<char> bytes(static_cast<size_t>(part.buffer.sizeBytes()));
    uint64_t first = 0;
    for (const Batch &batch : batches) {
      writeTokens(bytes.data(), step_->function.signature.arguments[static_cast<size_t>(part.argument)].type, first, batch.*member);
      first += (batch.*member).size();
    }
    HJX_RETURN_IF_ERROR(part.staging->acquire());
    if (place.isFilled && std::memcmp(part.staging->data(), bytes.data(), bytes.size()) == 0)
      continue;
    std::memcpy(part.staging->data(), bytes.data(), bytes.size());
    TransferScope scope(TransferKind::Explicit, {{}, 0, index == 0 ? "inputs" : "targets", {}});
    HJX_ASSIGN_OR_RETURN(DeviceSpan copy, device_.copyAhead(part.buffer.data(), *part.staging));
    if (trace_)
      copies_.push_back(std::move(copy));
  }
  place.isFilled = true;
  return absl::OkStatus();
}

absl::Status GraphProgram::traceCopies() {
  for (const DeviceSpan &copy : copies_) {
    HJX_ASSIGN_OR_RETURN(int64_t beginNs, clock_.at(device_, *copy.begin));
    HJX_ASSIGN_OR_RETURN(int64_t timeNs, device_.nanosecondsBetween(*copy.begin, *copy.end));
    trace_->add(device_.name() + " copies", "batch", beginNs, timeNs);
  }
  copies_.clear();
  return absl::OkStatus();
}

absl::StatusOr<StepResult> GraphProgram::step(std::span<const Batch> batches, double learningRate, int64_t step) {
  TransferGuard guard(hasStepped_ ? transfers_ : TransferLevel::Allow);
  if (trace_) {
    HJX_ASSIGN_OR_RETURN(clock_, DeviceClock::start(device_));
  }
  HJX_RETURN_IF_ERROR(fillPlace(places_[0], batches));
  for (const BatchPlace::Part &part : places_[0].parts)
    step_->inputs[static_cast<size_t>(part.argument)] = part.buffer.data();
  auto rate = static_cast<float>(learningRate);
  auto number = static_cast<int32_t>(step);
  for (auto [name, bytes] : {std::pair<const char *, const void *>{"learning_rate", &rate}, {"step", &number}})
    if (int index = step_->argument("scalar", name); index >= 0)
      HJX_RETURN_IF_ERROR(step_->set(index, bytes));
  auto ofStep = [](const absl::Status &status) {
    return status.ok() ? status : absl::Status(status.code(), absl::StrCat("step: ", std::string(status.message())));
  };
  HJX_RETURN_IF_ERROR(ofStep(step_->launch()));
  // The device works; the place that the last step read is free.
  std::swap(places_[0], places_[1]);
  if (std::span<const Batch> next = nextBatches ? nextBatches() : std::span<const Batch>(); !next.empty())
    HJX_RETURN_IF_ERROR(fillPlace(places_[0], next));
  HJX_RETURN_IF_ERROR(ofStep(step_->wait()));
  if (trace_) {
    trace_->add("host", absl::StrFormat("step %d", step + 1), step_->beganNs, hjx_rt_now_ns() - step_->beganNs);
    HJX_RETURN_IF_ERROR(traceCopies());
  }
  hasStepped_ = true;

  StepResult result;
  for (size_t i = 0; i < step_->outputs.size(); ++i) {
    const GraphValue &value = step_->function.signature.results[i];
    if (value.role != "metric")
      continue;
    HJX_ASSIGN_OR_RETURN(std::vector<double> metric, step_->read(i, 0, 1));
    std::string name = value.leafName();
    if (name == "loss")
      result.loss = metric[0];
    else if (name == "grad_norm")
      result.gradientNorm = metric[0];
    else if (name == "clip_factor")
      result.clipFactor = metric[0];
    else
      result.others.emplace_back(name, metric[0]);
  }
  return result;
}

absl::StatusOr<double> GraphProgram::evaluate(const Batch &batch) {
  for (auto [name, ids] : {std::pair{"inputs", &batch.inputs}, {"targets", &batch.targets}}) {
    std::span<const int32_t> part(*ids);
    HJX_RETURN_IF_ERROR(eval_->setTokens(name, {&part, 1}));
  }
  HJX_RETURN_IF_ERROR(eval_->call());
  auto loss = static_cast<size_t>(GraphFunction::find(eval_->function.signature.results, "metric", "loss"));
  HJX_ASSIGN_OR_RETURN(std::vector<double> value, eval_->read(loss, 0, 1));
  return value[0];
}

absl::StatusOr<std::vector<NamedTensor>> GraphProgram::state() {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < state_.size(); ++i) {
    const GraphValue &value = graph_.state()[i];
    std::string bytes(static_cast<size_t>(value.sizeBytes), '\0');
    HJX_RETURN_IF_ERROR(device_.copyToHost(bytes.data(), state_[i].data(), value.sizeBytes));
    tensors.push_back({value.name, {value.type, value.shape, std::move(bytes)}});
  }
  return tensors;
}

absl::Status GraphProgram::restore(const SafetensorsFile &checkpoint) {
  std::vector<TensorView> expected;
  for (const GraphValue &value : graph_.state())
    expected.push_back({value.name, value.type, value.shape, {}});
  HJX_RETURN_IF_ERROR(checkTensors(checkpoint, expected));
  for (size_t i = 0; i < state_.size(); ++i) {
    HJX_ASSIGN_OR_RETURN(const TensorInfo *info, checkpoint.get(graph_.state()[i].name));
    std::vector<char> bytes(static_cast<size_t>(state_[i].sizeBytes()));
    HJX_RETURN_IF_ERROR(checkpoint.read(*info, 0, bytes));
    HJX_RETURN_IF_ERROR(device_.copyToDevice(state_[i].data(), bytes.data(), state_[i].sizeBytes()));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

int64_t GraphProgram::context() const {
  return logits_->function.signature.arguments[static_cast<size_t>(logits_->argument("batch", "tokens"))].shape[1];
}

absl::StatusOr<std::vector<float>> GraphProgram::nextLogits(std::span<const int32_t> tokens) {
  auto context = static_cast<size_t>(this->context());
  if (tokens.size() > context)
    tokens = tokens.last(context);
  // What follows the last token is 0: causal models do not look there.
  HJX_RETURN_IF_ERROR(logits_->setTokens("tokens", {&tokens, 1}));
  HJX_RETURN_IF_ERROR(logits_->call());
  auto vocabulary = static_cast<size_t>(graph_.vocabulary);
  HJX_ASSIGN_OR_RETURN(std::vector<double> row, logits_->read(0, (tokens.size() - 1) * vocabulary, vocabulary));
  return std::vector<float>(row.begin(), row.end());
}

absl::Status generateText(GraphProgram &program, const Tokenizer &tokenizer, std::vector<int32_t> tokens, int64_t count,
                          const Sampler &sampler, const std::function<void(std::string_view)> &emit) {
  StreamingDecoder decoder(tokenizer);
  for (int64_t i = 0; i < count; ++i) {
    HJX_ASSIGN_OR_RETURN(std::vector<float> logits, program.nextLogits(tokens));
    // A vocabulary padded for speed has ids that mean nothing.
    logits.resize(std::min(logits.size(), static_cast<size_t>(tokenizer.vocabSize())));
    HJX_ASSIGN_OR_RETURN(int32_t token, sampler.sample(logits, static_cast<uint64_t>(i)));
    tokens.push_back(token);
    HJX_ASSIGN_OR_RETURN(std::string text, decoder.push(token));
    emit(text);
  }
  emit(decoder.finish());
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::vector<const GraphProgram::Bound *> GraphProgram::bound() const {
  std::vector<const Bound *> out;
  for (const std::optional<Bound> *each : {&init_, &step_, &eval_, &logits_})
    if (*each)
      out.push_back(&**each);
  return out;
}

std::string GraphProgram::describeFunctions() const {
  std::string out = "function    compiled in   matrix products        arena\n";
  bool isCounted = graph_.stage <= Stage::Lo; // later stages know products no more
  for (const Bound *each : bound())
    absl::StrAppendFormat(&out, "%-10s %10.2f s %11s FLOP %8.2f MiB\n", each->function.signature.name,
                          each->function.compileSeconds, isCounted ? formatCount(each->function.numFlops) : "?",
                          static_cast<double>(each->function.code->memoryPlan().sizeBytes) / 0x1p20);
  return out;
}

absl::StatusOr<std::string> GraphProgram::profile() const {
  std::string out = "function     calls      total       mean   matrix products\n";
  for (const Bound *each : bound())
    if (each->numCalls > 0)
      absl::StrAppendFormat(&out, "%-10s %7d %8.2f s %7.2f ms %10s FLOP/s\n", each->function.signature.name, each->numCalls,
                            each->seconds, each->seconds * 1e3 / static_cast<double>(each->numCalls),
                            formatCount(each->function.numFlops * static_cast<double>(each->numCalls) / each->seconds));
  constexpr size_t kMostKernels = 20; // of each function
  for (const Bound *each : bound()) {
    HJX_ASSIGN_OR_RETURN(std::vector<KernelTime> kernels, each->function.code->profile());
    if (each->numCalls == 0 || kernels.empty())
      continue;
    absl::StrAppendFormat(&out, "  calls      total   share  kernel of %s\n", each->function.signature.name);
    for (size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i)
      absl::StrAppendFormat(&out, "%7d %8.3f s  %5.1f%%  %s\n", kernels[i].numCalls,
                            static_cast<double>(kernels[i].timeNs) * 1e-9,
                            static_cast<double>(kernels[i].timeNs) * 1e-7 / each->seconds, kernels[i].name);
    if (kernels.size() > kMostKernels)
      absl::StrAppendFormat(&out, "and %d more\n", kernels.size() - kMostKernels);
  }
  return out;
}

std::string GraphProgram::memoryPlans() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  for (const Bound *each : bound()) {
    os << each->function.signature.name << ":\n";
    each->function.code->memoryPlan().print(os);
  }
  return out;
}

} // namespace hjx
