// SPDX-License-Identifier: Apache-2.0
//
// The row kernels of a GPT, recorded with the public API and compiled, beside loops written by
// hand with AVX2 intrinsics: on one thread, for AVX2 as the peers are, and for this processor.
// Candidates take turns, the best of many rounds counts, in processor time of the thread.
#include "bench/math/Intrinsics.h"
#include "bench/rows/HandWritten.h"
#include "lib/Execution/CpuExecutable.h"
#include "runtime/Buffer.h"
#include "runtime/ThreadPool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"

#include <hjx/nn.h>
#include <hjx/optim.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <time.h>

using namespace hjx;
using namespace hjx::bench;
namespace cl = llvm::cl;

static cl::OptionCategory benchOptions("Options of bench-rows");
static cl::opt<std::string> filter(cl::Positional, cl::desc("[part of a row's name]"), cl::cat(benchOptions));

namespace {

constexpr int kRounds = 40;
using Memory = std::vector<Buffer>; // Arguments, then results that have memory of their own.

struct Row {
  std::string name;
  int64_t elements;
  std::string program;
  std::function<void(Memory &)> byHand;
};

double threadTimeNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

template <typename T> T valueOrDie(absl::StatusOr<T> value) {
  if (value.ok())
    return *std::move(value);
  std::fprintf(stderr, "bench-rows: %s\n", std::string(value.status().message()).c_str());
  std::exit(1);
}

template <typename F, typename... Args>
std::string record(std::vector<int> donate, const F &f, const Args &...args) {
  Module module;
  module.add("main", f, {.donate = std::move(donate)}, args...);
  return module.transformed_text();
}

std::vector<Row> allRows() {
  Array square = abstract({1024, 1024}), wide = abstract({1024, 3072});
  Array narrow = abstract({1024, 768}), logits = abstract({256, 50257});
  nn::LayerNorm layer{abstract({768}), abstract({768})};
  static constexpr AdamW adam{0.9f, 0.95f, 1e-8f, 0.1f, 1e-3f};
  static constexpr int64_t kParameters = 2304 * 768;
  auto update = [](optim::AdamWState<Array> state, Array p, Array grad) {
    auto [updates, next] = optim::adamw(grad, state, p, double(adam.learningRate),
                                        {adam.b1, adam.b2, adam.eps, adam.decay, nullptr});
    return std::pair(next, optim::apply_updates(p, updates));
  };
  auto causalSoftmax = [](Array scores) {
    int64_t size = scores.shape()[1];
    Array positions = arange(size);
    Array seen = reshape(positions, {1, size}) <= reshape(positions, {size, 1});
    return softmax(where(seen, scores * 0.25, -1e10));
  };
  Array parameter = abstract({2304, 768});
  optim::AdamWState<Array> state{abstract({}, int32), parameter, parameter};
  return {
      {"softmax 1024 x 1024", 1 << 20,
       record(
           {}, [](Array x) { return softmax(x); }, square),
       [](Memory &m) { softmaxAvx2(m[0].as<float>(), m[1].as<float>(), 1024, 1024); }},
      {"causal softmax 6144 x 128", 6144 * 128, record({}, causalSoftmax, abstract({48, 128, 128})),
       [](Memory &m) { causalSoftmaxAvx2(m[0].as<float>(), m[1].as<float>(), 48, 128); }},
      {"layer norm 1024 x 768", 1024 * 768,
       record(
           {}, [](Array x, nn::LayerNorm l) { return nn::layer_norm(l, x); }, narrow, layer),
       [](Memory &m) {
         layerNormAvx2(m[0].as<float>(), m[1].as<float>(), m[2].as<float>(), m[3].as<float>(), 1024,
                       768);
       }},
      {"gelu 1024 x 3072", 1024 * 3072,
       record(
           {}, [](Array x) { return gelu(x); }, wide),
       [](Memory &m) { geluAvx2(m[0].as<float>(), m[1].as<float>(), 1024 * 3072); }},
      {"cross entropy 256 x 50257", 256 * 50257,
       record(
           {}, [](Array x, Array y) { return nn::softmax_cross_entropy(x, y); }, logits,
           abstract({256}, int32)),
       [](Memory &m) {
         crossEntropyAvx2(m[0].as<float>(), m[1].as<int32_t>(), m[2].as<float>(), 256, 50257);
       }},
      {"adamw 2304 x 768", kParameters, record({0, 1}, update, state, parameter, parameter),
       [](Memory &m) {
         int32_t count = ++*m[0].as<int32_t>();
         adamwAvx2(adam, count, m[4].as<float>(), m[1].as<float>(), m[2].as<float>(),
                   m[3].as<float>(), kParameters);
       }},
  };
}

/// A compiled program with its arguments, the same for each candidate.
struct Candidate {
  std::unique_ptr<CpuExecutable> executable; // Null: by hand.
  Memory memory;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  double bestNs = 1e30;

  Candidate(mlir::MLIRContext &context, const Row &row, const std::string &cpu) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(row.program, &context);
    if (!module)
      std::exit(1);
    // State is updated in place: what is donated has the place of a result here.
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (main.getArgAttr(i, "hjx.donated"))
        main.setArgAttr(i, "hjx.alias", mlir::Builder(&context).getI64IntegerAttr(i));
    CpuOptions options;
    options.cpu = cpu;
    options.startFrom = Stage::Traced;
    executable = valueOrDie(CpuExecutable::compile(*module, options));
    std::mt19937 random(1);
    for (const BufferSpec &spec : executable->inputs()) {
      memory.push_back(valueOrDie(Buffer::allocate(spec.sizeBytes)));
      for (int64_t i = 0; i < spec.sizeBytes / 4; ++i)
        if (spec.elementType == ElementType::F32)
          memory.back().as<float>()[i] = random() * 0x1p-30f; // In [0, 4): what AdamW's nu may be.
        else
          memory.back().as<int32_t>()[i] = random() % 1000;
    }
    for (const BufferSpec &spec : executable->outputs())
      if (spec.alias < 0)
        memory.push_back(valueOrDie(Buffer::allocate(spec.sizeBytes)));
    size_t next = executable->inputs().size();
    for (size_t i = 0; i < next; ++i)
      inputs.push_back(memory[i].data());
    for (const BufferSpec &spec : executable->outputs())
      outputs.push_back(spec.alias < 0 ? memory[next++].data() : nullptr);
  }

  void run() {
    if (absl::Status status = executable->run(inputs, outputs); !status.ok()) {
      std::fprintf(stderr, "bench-rows: %s\n", std::string(status.message()).c_str());
      std::exit(1);
    }
  }
};

/// The largest difference of floats, relative to 1 or the larger value.
double difference(const Memory &a, const Memory &b, const CpuExecutable &executable) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t output = i - executable.inputs().size();
    const BufferSpec &spec =
        i < executable.inputs().size() ? executable.inputs()[i] : executable.outputs()[output];
    for (int64_t j = 0; spec.elementType == ElementType::F32 && j < spec.sizeBytes / 4; ++j) {
      double x = a[i].as<float>()[j], y = b[i].as<float>()[j];
      worst = std::max(worst, std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)}));
    }
  }
  return worst;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(benchOptions);
  cl::ParseCommandLineOptions(argc, argv, "Compiled rows of a GPT beside loops written by hand\n");
  if (!hostHasAvx2()) {
    std::puts("bench-rows: the peers need AVX2 and FMA, which this processor lacks");
    return 0;
  }
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  ThreadPool::global().resize(1);
  std::printf("%-28s %9s %9s %7s %9s %7s\n", "ns/element, one thread", "by hand", "AVX2", "ratio",
              "host", "ratio");
  for (const Row &row : allRows()) {
    if (row.name.find(filter) == std::string::npos)
      continue;
    Candidate byHand(context, row, ""), avx2(context, row, "x86-64-v3"), host(context, row, "");
    auto time = [](Candidate &candidate, auto run) {
      double start = threadTimeNs();
      run();
      candidate.bestNs = std::min(candidate.bestNs, threadTimeNs() - start);
    };
    for (int round = 0; round < kRounds; ++round) {
      time(byHand, [&] { row.byHand(byHand.memory); });
      time(avx2, [&] { avx2.run(); });
      time(host, [&] { host.run(); });
      if (round == 0)
        for (Candidate *candidate : {&avx2, &host})
          if (double worst = difference(byHand.memory, candidate->memory, *host.executable);
              !(worst < 1e-4))
            std::printf("WRONG: %s differs by %g\n", row.name.c_str(), worst);
    }
    std::printf("%-28s %9.3f %9.3f %6.2fx %9.3f %6.2fx\n", row.name.c_str(),
                byHand.bestNs / row.elements, avx2.bestNs / row.elements,
                byHand.bestNs / avx2.bestNs, host.bestNs / row.elements,
                byHand.bestNs / host.bestNs);
    std::fflush(stdout);
  }
}
