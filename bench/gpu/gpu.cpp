// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a GPT on a GPU: recorded with the public API, run on the device on fresh random
// numbers, compared with the processor, and timed with the device's own clock.
//
//   bench-gpu cuda                    # sizes that fill a large device; minutes
//   bench-gpu sim:sm_80 --quick       # small ones, to see that all of it works; its times mean nothing
//
// A row is wrong, and the exit status 1, when a result differs from the processor's by more than the
// row's bound, relative to the largest element. Best of several rounds.
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/Target.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"

#include <hjx/nn.h>
#include <hjx/optim.h>

#include <algorithm>
#include <cstdio>
#include <random>

using namespace hjx;
namespace cl = llvm::cl;

static cl::OptionCategory benchOptions("Options of bench-gpu");
static cl::opt<std::string> target(cl::Positional, cl::desc("<device: cuda, cuda:1, sim:sm_80>"), cl::Required, cl::cat(benchOptions));
static cl::opt<std::string> filter("only", cl::desc("rows with this in their name"), cl::cat(benchOptions));
static cl::opt<bool> quick("quick", cl::desc("small sizes: a check, no measurement"), cl::cat(benchOptions));
static cl::opt<unsigned> seed("seed", cl::desc("of the inputs; a new one each time when left out"), cl::cat(benchOptions));
static cl::opt<std::string> markdown("markdown", cl::desc("also write the table to this file"), cl::cat(benchOptions));

namespace {

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "bench-gpu: %s\n", message.c_str());
  std::exit(2);
}

void orDie(const absl::Status &status) {
  if (!status.ok())
    die(std::string(status.message()));
}
template <typename T> T orDie(absl::StatusOr<T> value) {
  orDie(value.status());
  return *std::move(value);
}

/// Operations, or bytes that must move at least.
struct Work {
  double amount;
  const char *unit; ///< of amount / 1e12 s: "TFLOP/s"; of amount / 1e9 s: "GB/s"
  double scale;
};
Work flops(double amount) { return {amount, "TFLOP/s", 1e12}; }
Work bytes(double amount) { return {amount, "GB/s", 1e9}; }

struct Row {
  std::string name;
  Work work;
  double tolerance;
  std::string program;
  std::vector<Array> inputs, expected;
};

class Rows {
public:
  explicit Rows(uint64_t seed) : seed(seed) {}

  /// f of the arguments, on the processor and as a program.
  template <typename F, typename... Args>
  void add(const std::string &name, Work work, double tolerance, bool tf32, const F &f, const Args &...args) {
    if (name.find(filter) == std::string::npos)
      return;
    Module module;
    module.add("main", f, args...);
    if (tf32)
      module.set_attribute("hjx.matmul_precision", "tf32");
    rows.push_back({name, work, tolerance, module.transformed_text(), detail::leavesOf(std::tuple(args...)), detail::leavesOf(jit(f)(args...))});
  }

  Array normal(const Shape &shape, DType type = float32) { return random::normal(nextKey(), shape).astype(type); }
  Array tokens(const Shape &shape, int64_t limit) { return random::randint(nextKey(), shape, 0, limit); }

  std::vector<Row> rows;

private:
  Array nextKey() { return random::fold_in(random::key(seed), count++); }
  uint64_t seed;
  int64_t count = 0;
};

void addProducts(Rows &rows) {
  struct Shape3 {
    int64_t m, n, k;
  };
  std::vector<Shape3> shapes = {{4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 2304, 768}, {8192, 768, 3072}, {8192, 50304, 768}};
  if (quick)
    shapes = {{128, 128, 64}, {65, 130, 40}};
  struct Kind {
    const char *name;
    DType type;
    bool tf32;
    double tolerance;
  };
  auto product = [](Array x, Array y) { return matmul(x, y); };
  for (auto [m, n, k] : shapes)
    for (const Kind &kind : {Kind{"bf16", bfloat16, false, 0x1p-7}, {"f16", float16, false, 0x1p-9}, {"tf32", float32, true, 4e-3}, {"f32", float32, false, 1e-4}})
      rows.add("product " + std::string(kind.name) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
               flops(2.0 * m * n * k), kind.tolerance, kind.tf32, product, rows.normal({m, k}, kind.type), rows.normal({k, n}, kind.type));
}

void addAttention(Rows &rows) {
  int64_t heads = quick ? 2 : 96, length = quick ? 70 : 1024, width = 64;
  for (DType type : {bfloat16, float32}) {
    bool isNarrow = type == bfloat16;
    std::string name = std::string(isNarrow ? " bf16 " : " f32 ") + std::to_string(heads) + "x" + std::to_string(length) + "x" + std::to_string(width);
    // Half of the scores are hidden.
    double forward = 2.0 * heads * length * length * width;
    Array q = rows.normal({heads, length, width}, type), k = rows.normal({heads, length, width}, type), v = rows.normal({heads, length, width}, type);
    double tolerance = isNarrow ? 0x1p-6 : 1e-3;
    rows.add("attention" + name, flops(forward), tolerance, false, [](Array q, Array k, Array v) { return nn::causal_attention(q, k, v); }, q, k, v);
    auto gradient = [](Array q, Array k, Array v, Array bar) {
      auto attend = [](Array q, Array k, Array v) { return nn::causal_attention(q, k, v); };
      return vjp(attend, q, k, v).second(bar);
    };
    rows.add("attention and gradients" + name, flops(3.5 * forward), 2 * tolerance, false, gradient, q, k, v, rows.normal({heads, length, width}, type));
  }
}

void addRowKernels(Rows &rows) {
  int64_t count = quick ? 33 : 8192, width = quick ? 96 : 768, classes = quick ? 257 : 50257;
  double size = 4.0 * count * width, wide = 4.0 * count * classes;
  auto x = rows.normal({count, width}), y = rows.normal({count, width});
  rows.add("x * y + 1", bytes(3 * size), 1e-6, false, [](Array x, Array y) { return x * y + 1; }, x, y);
  rows.add("gelu", bytes(2 * size), 1e-5, false, [](Array x) { return gelu(x); }, x);
  rows.add("sum of all", bytes(size), 1e-4, false, [](Array x) { return sum(x * x); }, x);
  rows.add("transpose", bytes(2 * size), 1e-6, false, [](Array x) { return x.T() + 0.5; }, x);
  rows.add("softmax", bytes(2 * size), 1e-5, false, [](Array x) { return softmax(x); }, x);
  nn::LayerNorm layer{rows.normal({width}), rows.normal({width})};
  auto norm = [](nn::LayerNorm layer, Array x) { return nn::layer_norm(layer, x); };
  rows.add("layer norm", bytes(2 * size), 1e-5, false, norm, layer, x);
  auto normGradient = [norm](nn::LayerNorm layer, Array x, Array bar) { return vjp(norm, layer, x).second(bar); };
  rows.add("gradients of layer norm", bytes(3 * size), 1e-4, false, normGradient, layer, x, y);
  Array logits = rows.normal({count, classes}), labels = rows.tokens({count}, classes);
  auto loss = [](Array x, Array y) { return mean(nn::softmax_cross_entropy(x, y)); };
  rows.add("cross entropy and gradient", bytes(2 * wide), 1e-4, false, [loss](Array x, Array y) { return value_and_grad(loss)(x, y); }, logits, labels);
  Array table = rows.normal({classes, width}), ids = rows.tokens({count}, classes);
  rows.add("gradient of embedding", bytes(size + 4.0 * classes * width), 1e-5, false,
           [](Array table, Array ids, Array bar) { return vjp([ids](Array table) { return take(table, ids); }, table).second(bar); }, table, ids, x);
  auto update = [](Array grad, optim::AdamWState<Array> state, Array p) {
    auto [updates, next] = optim::adamw(grad, state, p, 1e-3, {.weight_decay = 0.1});
    return std::pair(next, optim::apply_updates(p, updates));
  };
  optim::AdamWState<Array> state{array(int32_t(3)), rows.normal({classes, width}), square(rows.normal({classes, width}))};
  rows.add("AdamW", bytes(7 * 4.0 * classes * width), 1e-5, false, update, rows.normal({classes, width}), state, table);
}

/// The largest difference relative to the largest element; infinite for what is no number in one of them only.
double difference(const Array &got, const Array &expected) {
  if (is_integer(expected.dtype()))
    return all(got == expected).item<bool>() ? 0 : INFINITY;
  std::vector<double> a = got.astype(float32).to_vector<double>(), b = expected.astype(float32).to_vector<double>();
  double worst = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i]))
      return INFINITY;
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return worst / std::max(largest, 1e-30);
}

/// A program on the device with its arguments.
class Candidate {
public:
  Candidate(mlir::MLIRContext &context, RuntimeDevice &device, const Row &row) : device(device) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(row.program, &context);
    if (!module)
      die(row.name + ": the program does not parse");
    auto program = orDie(GpuProgram::compile(*module, {.chip = orDie(chipFor(device.info())), .startFrom = Stage::Traced, .device = &device}));
    launches = program->cost() ? program->cost()->launches : 0;
    executable = orDie(program->load(device));
    for (const Array &input : row.inputs) {
      std::span<const std::byte> bytes = input.bytes();
      memory.push_back(orDie(device.allocate(static_cast<int64_t>(bytes.size()))));
      orDie(device.copyToDevice(memory.back().data(), bytes.data(), static_cast<int64_t>(bytes.size())));
      inputs.push_back(memory.back().data());
    }
    for (const BufferSpec &spec : executable->outputs()) {
      memory.push_back(orDie(device.allocate(spec.sizeBytes)));
      outputs.push_back(memory.back().data());
    }
  }

  void run() { orDie(executable->run(inputs, outputs)); }

  Array result(size_t i, const Array &like) {
    std::vector<std::byte> bytes(static_cast<size_t>(executable->outputs()[i].sizeBytes));
    orDie(device.copyToHost(bytes.data(), outputs[i], executable->outputs()[i].sizeBytes));
    return from_bytes(bytes, like.shape(), like.dtype());
  }

  double bestSeconds() {
    auto timed = [&](int runs) {
      auto begin = orDie(device.mark());
      for (int i = 0; i < runs; ++i)
        run();
      auto end = orDie(device.mark());
      return static_cast<double>(orDie(device.nanosecondsBetween(*begin, *end))) * 1e-9 / runs;
    };
    double once = timed(1), best = once, total = once;
    int runs = static_cast<int>(std::clamp(5e-3 / std::max(once, 1e-7), 1.0, 1000.0));
    for (int round = 0; round < (quick ? 1 : 20) && total < 2; ++round) {
      double time = timed(runs);
      best = std::min(best, time);
      total += time * runs;
    }
    return best;
  }

  int64_t launches = 0;

private:
  RuntimeDevice &device;
  std::unique_ptr<DeviceExecutable> executable;
  std::vector<DeviceBuffer> memory;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
};

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(benchOptions);
  cl::ParseCommandLineOptions(argc, argv, "Checks and times the kernels of a GPT on a GPU\n");
  Target parsed = orDie(Target::parse(target));
  RuntimeDevice &device = *orDie(parsed.open());
  if (device.kind() != DeviceKind::Cuda)
    die("expected a GPU, got " + device.name() + "\n  help: name cuda, or sim:sm_80 for the simulated one");
  uint64_t start = seed.getNumOccurrences() ? seed : std::random_device()();
  std::string table = "bench-gpu on " + device.info().description + " (" + device.name() + "), inputs of --seed " + std::to_string(start) + "\n\n";
  table += "| kernel | microseconds | speed | launches | error | bound |\n|---|---|---|---|---|---|\n";
  std::printf("%s", table.c_str());

  mlir::DialectRegistry registry;
  registerGpuDialects(registry);
  mlir::MLIRContext context(registry);
  Rows rows(start);
  bool isRight = true;
  for (auto addRows : {addProducts, addAttention, addRowKernels}) {
    rows.rows.clear();
    addRows(rows);
    for (const Row &row : rows.rows) {
      Candidate candidate(context, device, row);
      candidate.run();
      double error = 0;
      for (size_t i = 0; i < row.expected.size(); ++i)
        error = std::max(error, difference(candidate.result(i, row.expected[i]), row.expected[i]));
      isRight &= error <= row.tolerance;
      double seconds = candidate.bestSeconds();
      char line[256];
      std::snprintf(line, sizeof(line), "| %s | %.2f | %.1f %s | %lld | %.1e%s | %.1e |\n", row.name.c_str(), seconds * 1e6,
                    row.work.amount / seconds / row.work.scale, row.work.unit, static_cast<long long>(candidate.launches), error,
                    error <= row.tolerance ? "" : " WRONG", row.tolerance);
      std::fputs(line, stdout);
      std::fflush(stdout);
      table += line;
    }
  }
  if (!markdown.empty()) {
    std::FILE *file = std::fopen(markdown.c_str(), "w");
    if (!file || std::fputs(table.c_str(), file) < 0 || std::fclose(file) != 0)
      die(markdown + ": cannot be written");
  }
  return isRight ? 0 : 1;
}
