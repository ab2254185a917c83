// SPDX-License-Identifier: Apache-2.0
//
// bench-program FILE: compiles a module at the tensor stage and times it, on
// random inputs: what compiling costs by stage, what memory it plans, how long a
// run takes. With --check the results are compared with upstream's scalar loops.
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Execution/CpuExecutable.h"
#include "lib/Target/Jit.h"
#include "lib/Target/Passes.h"
#include "runtime/Buffer.h"
#include "runtime/ThreadPool.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

#include <chrono>
#include <cmath>
#include <random>

using namespace hjx;
namespace cl = llvm::cl;

static cl::OptionCategory benchOptions("Options of bench-program");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module at the tensor stage>"), cl::Required);
static cl::opt<unsigned> numRuns("runs", cl::desc("Timed runs"), cl::init(5), cl::cat(benchOptions));
static cl::opt<int> numThreads("num-threads", cl::desc("Threads of the pool; 0: all"), cl::init(0), cl::cat(benchOptions));
static cl::opt<int> intLimit("int-limit", cl::desc("Integers are below this"), cl::init(100), cl::cat(benchOptions));
static cl::opt<bool> check("check", cl::desc("Compare with scalar loops"), cl::cat(benchOptions));
static cl::opt<bool> printPlan("print-plan", cl::desc("Print the memory plan"), cl::cat(benchOptions));
static cl::opt<bool> noFuse("no-fuse", cl::desc("Leave ops apart"), cl::cat(benchOptions));
static cl::opt<bool> passTiming("pass-timing", cl::desc("Time each pass"), cl::cat(benchOptions));
static cl::opt<bool> profile("profile", cl::desc("Print the time of each kernel"), cl::cat(benchOptions));
static cl::opt<std::string> dumpDir("dump-dir", cl::desc("Write stages here"), cl::cat(benchOptions));

using Clock = std::chrono::steady_clock;
static double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <typename T> static T valueOrDie(absl::StatusOr<T> value) {
  if (value.ok())
    return *std::move(value);
  llvm::errs() << "bench-program: " << std::string(value.status().message()) << "\n";
  std::exit(1);
}

static std::vector<Buffer> randomInputs(const CpuExecutable &executable) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> reals(0, 0.05f);
  std::uniform_int_distribution<int> integers(0, intLimit - 1);
  std::vector<Buffer> buffers;
  for (const BufferSpec &spec : executable.inputs()) {
    Buffer buffer = valueOrDie(Buffer::allocate(spec.sizeBytes));
    for (int64_t i = 0; i < spec.sizeBytes / sizeBytes(spec.elementType); ++i) {
      if (spec.elementType == ElementType::F32)
        buffer.as<float>()[i] = reals(generator);
      else if (spec.elementType == ElementType::F64)
        buffer.as<double>()[i] = reals(generator);
      else if (spec.elementType == ElementType::I32)
        buffer.as<int32_t>()[i] = integers(generator);
      else
        std::memset(buffer.as<char>() + i * sizeBytes(spec.elementType), 0,
                    sizeBytes(spec.elementType));
    }
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

namespace {
struct Arguments {
  explicit Arguments(const CpuExecutable &executable) : inputs(randomInputs(executable)) {
    for (const Buffer &buffer : inputs)
      in.push_back(buffer.data());
    for (const BufferSpec &spec : executable.outputs()) {
      outputs.push_back(valueOrDie(Buffer::allocate(spec.alias >= 0 ? 0 : spec.sizeBytes)));
      out.push_back(spec.alias >= 0 ? nullptr : outputs.back().data());
    }
  }
  const void *result(const CpuExecutable &executable, size_t index) const {
    int alias = executable.outputs()[index].alias;
    return alias >= 0 ? in[alias] : out[index];
  }
  std::vector<Buffer> inputs, outputs;
  std::vector<const void *> in;
  std::vector<void *> out;
};
} // namespace

static void run(const CpuExecutable &executable, const Arguments &arguments) {
  if (absl::Status status = executable.run(arguments.in, arguments.out); !status.ok()) {
    llvm::errs() << "bench-program: " << std::string(status.message()) << "\n";
    std::exit(1);
  }
}

static mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(inputFile, &context);
  if (!module)
    std::exit(1);
  return module;
}

static void timeStages(mlir::MLIRContext &context) {
  auto stage = [&](const char *name, mlir::ModuleOp module, auto build) {
    mlir::PassManager pm(&context);
    pm.enableVerifier(false);
    if (passTiming)
      pm.enableTiming();
    build(pm);
    Clock::time_point start = Clock::now();
    if (failed(pm.run(module)))
      std::exit(1);
    llvm::outs() << llvm::format("%-24s %9.1f ms\n", name, msSince(start));
  };
  auto module = parse(context);
  KernelPipelineOptions options;
  options.fuse = !noFuse;
  stage("to kernel stage", *module, [&](auto &pm) { buildToKernelPipeline(pm, options); });
  unsigned kernels = 0, calls = 0;
  module->walk([&](mlir::func::FuncOp func) { kernels += func->hasAttr(kKernelAttr); });
  module->lookupSymbol<mlir::func::FuncOp>("main").walk([&](mlir::func::CallOp) { ++calls; });
  stage("to machine stage", *module, [&](auto &pm) { buildToMachinePipeline(pm); });
  Clock::time_point start = Clock::now();
  auto jit = Jit::compile(*module);
  if (!jit || !(*jit)->lookup(kEntryName))
    std::exit(1);
  llvm::outs() << llvm::format("%-24s %9.1f ms\n", "to machine code", msSince(start));
  llvm::outs() << calls << " calls of " << kernels << " kernels\n";
}

static void compareWithScalarLoops(mlir::MLIRContext &context, const CpuExecutable &executable) {
  CpuOptions options;
  options.scalarLoops = true;
  auto plain = valueOrDie(CpuExecutable::compile(*parse(context), options));
  Arguments got(executable), expected(*plain);
  run(executable, got);
  run(*plain, expected);
  double worst = 0;
  for (size_t index = 0; index < executable.outputs().size(); ++index) {
    const BufferSpec &spec = executable.outputs()[index];
    if (spec.elementType != ElementType::F32)
      continue;
    auto *a = static_cast<const float *>(got.result(executable, index));
    auto *b = static_cast<const float *>(expected.result(*plain, index));
    double error = 0, scale = 0;
    for (int64_t i = 0; i < spec.sizeBytes / 4; ++i) {
      double difference = std::abs(double(a[i]) - double(b[i]));
      error = std::isnan(difference) ? INFINITY : std::max(error, difference);
      scale = std::max(scale, std::abs(double(b[i])));
    }
    if (error > 1e-3 * scale)
      llvm::outs() << "result " << index << ": error " << error << " at scale " << scale << "\n";
    worst = std::max(worst, error / std::max(scale, 1e-30));
  }
  llvm::outs() << "largest error relative to the largest element: " << llvm::format("%.2e\n", worst);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(benchOptions);
  cl::ParseCommandLineOptions(argc, argv, "times a program at the tensor stage\n");
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  ThreadPool::global().resize(numThreads);
  timeStages(context);

  CpuOptions options;
  options.fuse = !noFuse;
  options.profile = profile;
  options.dumpDir = dumpDir;
  auto executable = valueOrDie(CpuExecutable::compile(*parse(context), options));
  const MemoryPlan &plan = executable->memoryPlan();
  if (printPlan)
    plan.print(llvm::outs());
  llvm::outs() << llvm::format("arena %.1f MiB, peak %.1f MiB, %zu buffers\n",
                               plan.sizeBytes / 1048576.0, plan.peakBytes / 1048576.0,
                               plan.entries.size());
  if (check)
    compareWithScalarLoops(context, *executable);
  Arguments arguments(*executable);
  run(*executable, arguments);
  std::vector<double> times, processorTimes;
  for (unsigned i = 0; i < numRuns; ++i) {
    Clock::time_point start = Clock::now();
    clock_t processorStart = clock();
    run(*executable, arguments);
    times.push_back(msSince(start));
    processorTimes.push_back(double(clock() - processorStart) / CLOCKS_PER_SEC * 1e3);
  }
  llvm::sort(times);
  llvm::sort(processorTimes);
  if (!times.empty())
    llvm::outs() << llvm::format(
        "run: best %.3f ms, median %.3f ms of %zu; processor time: best %.3f ms\n", times.front(),
        times[times.size() / 2], times.size(), processorTimes.front());
  if (profile)
    llvm::outs() << "     ms/run  calls/run  kernel\n";
  absl::StatusOr<std::vector<KernelTime>> kernels = executable->profile(); // Of the processor: always there.
  for (const KernelTime &time : *kernels)
    llvm::outs() << llvm::format("%11.3f %10.1f  %s\n", time.timeNs * 1e-6 / (numRuns + 1),
                                 double(time.numCalls) / (numRuns + 1), time.name.c_str());
}
