// SPDX-License-Identifier: Apache-2.0
//
// Generated matrix products beside OpenBLAS and BLIS, in one process: candidates take turns,
// each figure is the best of several rounds, every result is compared. The libraries are looked
// for at run time; one that is not installed is left out of the table, and that is said.
//
//   bench-gemm                           the table
//   bench-gemm --filter=768 --rounds=20  some rows, more rounds
//   bench-gemm --unit=avx2               the code for another vector unit
//   bench-gemm --emit=asm                the kernel as LLVM IR and assembly (also: mlir)
#include "bench/gemm/Kernel.h"
#include "runtime/ThreadPool.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <dlfcn.h>
#include <random>
#include <time.h>
#include <unistd.h>

using namespace llvm;
namespace hjx {

static cl::OptionCategory benchOptions("Options of bench-gemm");
static cl::opt<std::string> filter("filter", cl::desc("only rows whose text contains this"), cl::cat(benchOptions));
static cl::list<std::string> onlyRows("row", cl::desc("NN:m:n:k or NN:m:n:k:batch instead of the table's"),
                                      cl::cat(benchOptions));
static cl::opt<int> rounds("rounds", cl::desc("rounds per row"), cl::init(7), cl::cat(benchOptions));
static cl::opt<std::string> unitName("unit", cl::desc("host, avx512, avx2 or sse"), cl::init("host"),
                                     cl::cat(benchOptions));
static cl::opt<std::string> emit("emit", cl::desc("print the kernel as mlir or asm"), cl::cat(benchOptions));
static cl::list<int> threadCounts("num-threads", cl::desc("thread counts"), cl::CommaSeparated, cl::cat(benchOptions));
static cl::opt<double> sampleMs("sample-ms", cl::desc("least time of one sample"), cl::init(10), cl::cat(benchOptions));

// ---- the libraries ----

/// A BLAS that was found on this machine.
struct Blas {
  using Gemm = void(int order, int transA, int transB, int m, int n, int k, float alpha,
                    const float *a, int lda, const float *b, int ldb, float beta, float *c,
                    int ldc);
  const char *name;
  Gemm *gemm = nullptr;
  void (*setThreads)(int) = nullptr;

  static Blas find(const char *name, ArrayRef<const char *> files, const char *setThreads) {
    Blas blas{name};
    for (const char *file : files) {
      // DEEPBIND: both libraries define cblas_sgemm.
      void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
      if (!handle)
        continue;
      blas.gemm = reinterpret_cast<Gemm *>(dlsym(handle, "cblas_sgemm"));
      blas.setThreads = reinterpret_cast<void (*)(int)>(dlsym(handle, setThreads));
      if (blas.gemm && blas.setThreads)
        return blas;
    }
    outs() << name << ": not found (looked for " << llvm::join(files, ", ") << ")\n";
    blas.gemm = nullptr;
    return blas;
  }
};

/// Tells the libraries which kernels to use. They choose by processor model, and for one that is
/// younger than they are fall back to code that is many times slower.
static void chooseLibraryKernels(const VectorUnit &unit) {
  bool wide = unit.bytes == 64, fma = unit.fma;
  setenv("OPENBLAS_CORETYPE", wide ? "SkylakeX" : fma ? "Haswell" : "Nehalem", 0);
  setenv("BLIS_ARCH_TYPE", wide ? "0" : fma ? "3" : "generic", 0);
  outs() << "libraries: OPENBLAS_CORETYPE=" << getenv("OPENBLAS_CORETYPE")
         << " BLIS_ARCH_TYPE=" << getenv("BLIS_ARCH_TYPE") << "\n";
}

// ---- the rows ----

struct Row {
  std::string op; ///< NN, NT, TN or TT: which operands are stored transposed
  int64_t m, n, k, batch = 1;
  bool transA() const { return op[0] == 'T'; }
  bool transB() const { return op[1] == 'T'; }
  double flops() const { return 2.0 * m * n * k * batch; }
  std::string text() const {
    return (batch > 1 ? std::to_string(batch) + " x " : "") + op + " " + std::to_string(m) + " x " +
           std::to_string(n) + " x " + std::to_string(k);
  }
};

static std::vector<Row> allRows() {
  std::vector<Row> rows;
  for (StringRef text : onlyRows) {
    SmallVector<StringRef> fields;
    text.split(fields, ':');
    auto number = [&](size_t i) {
      int64_t value = 1;
      if (i < fields.size() && (fields[i].getAsInteger(10, value) || value < 1)) {
        errs() << "--row: expected NN:m:n:k[:batch], got " << text << "\n";
        exit(1);
      }
      return value;
    };
    rows.push_back({fields[0].str(), number(1), number(2), number(3), number(4)});
  }
  if (!rows.empty())
    return rows;
  for (int64_t size : {256, 512, 1024, 2048})
    rows.push_back({"NN", size, size, size});
  rows.insert(rows.end(),
              {// GPT-2 124M, 1024 tokens: forward, backward by input, backward by weight.
               {"NN", 1024, 768, 768},
               {"NN", 1024, 2304, 768},
               {"NN", 1024, 3072, 768},
               {"NN", 1024, 768, 3072},
               {"NT", 1024, 768, 2304},
               {"NT", 1024, 768, 3072},
               {"NT", 1024, 3072, 768},
               {"TN", 768, 2304, 1024},
               {"TN", 768, 3072, 1024},
               {"TN", 3072, 768, 1024},
               {"NT", 1024, 50257, 768},
               {"NN", 1024, 768, 50257},
               {"TN", 50257, 768, 1024},
               {"TT", 1024, 768, 768},
               // A small GPT: 2048 tokens, width 192.
               {"NN", 2048, 192, 192},
               {"NN", 2048, 576, 192},
               {"NN", 2048, 768, 192},
               {"NN", 2048, 192, 768},
               {"NT", 2048, 192, 768},
               {"TN", 192, 768, 2048},
               // Attention heads.
               {"NT", 64, 64, 32, 1024},
               {"NN", 64, 32, 64, 1024},
               {"TN", 64, 32, 64, 1024},
               {"NN", 64, 64, 32, 1024},
               {"NT", 1024, 1024, 64, 12},
               {"NN", 1024, 64, 1024, 12},
               {"NT", 256, 256, 32, 192},
               // One row or column, few rows, odd sizes.
               {"NN", 1, 768, 768},
               {"NT", 1, 768, 768},
               {"NT", 1, 50257, 768},
               {"NN", 768, 1, 768},
               {"TN", 768, 1, 768},
               {"NN", 4, 768, 768},
               {"NN", 16, 3072, 768},
               {"NN", 128, 10, 784},
               {"NN", 129, 131, 133}});
  return rows;
}

/// Allocates like an arena would: touched once, then reused.
static float *randomFloats(int64_t count, unsigned seed) {
  auto *data = static_cast<float *>(std::aligned_alloc(64, (count * 4 + 63) / 64 * 64));
  std::mt19937 random(seed);
  for (int64_t i = 0; i < count; ++i)
    data[i] = static_cast<int32_t>(random()) * 0x1p-31f;
  return data;
}

struct Problem {
  Row row;
  float *a, *b, *c, *reference;
  explicit Problem(Row row) : row(row) {
    a = randomFloats(row.m * row.k * row.batch, 1);
    b = randomFloats(row.k * row.n * row.batch, 2);
    c = randomFloats(row.m * row.n * row.batch, 3);
    reference = randomFloats(row.m * row.n * row.batch, 4);
  }
  Problem(const Problem &) = delete;
  ~Problem() {
    for (float *p : {a, b, c, reference})
      free(p);
  }
  void runBlas(const Blas &blas, int64_t begin, int64_t end, float *out) const {
    for (int64_t t = begin; t < end; ++t)
      blas.gemm(101, row.transA() ? 112 : 111, row.transB() ? 112 : 111, row.m, row.n, row.k, 1.0f,
                a + t * row.m * row.k, row.transA() ? row.m : row.k, b + t * row.k * row.n,
                row.transB() ? row.k : row.n, 0.0f, out + t * row.m * row.n, row.n);
  }
  /// A batch is spread over the pool, each product on one thread of the library.
  void runBlas(const Blas &blas, int threads, float *out) const {
    blas.setThreads(row.batch > 1 ? 1 : threads);
    if (row.batch == 1)
      return runBlas(blas, 0, 1, out);
    struct Env {
      const Problem &problem;
      const Blas &blas;
      float *out;
    } env{*this, blas, out};
    ThreadPool::global().parallelFor(
        [](void *p, int64_t begin, int64_t end) {
          auto &env = *static_cast<Env *>(p);
          env.problem.runBlas(env.blas, begin, end, env.out);
        },
        &env, row.batch, (row.batch + threads - 1) / threads);
  }
  void runGenerated(GemmKernel &kernel, int threads) const {
    auto matrix = [&](float *data, bool transposed, int64_t rows, int64_t cols) {
      return GemmMatrix{data, 0, rows * cols, transposed ? 1 : cols, transposed ? rows : 1};
    };
    kernel(matrix(a, row.transA(), row.m, row.k), matrix(b, row.transB(), row.k, row.n),
           matrix(c, false, row.m, row.n), {1, row.batch, row.m, row.n, row.k}, false, threads);
  }
  double largestDifference() const {
    double worst = 0;
    for (int64_t i = 0; i < row.m * row.n * row.batch; ++i)
      worst = std::max<double>(worst, std::abs(c[i] - reference[i]));
    return worst;
  }
};

/// Seconds of this thread on the processor, or of the clock when several threads work.
static double now(bool cpuTime) {
  timespec t;
  clock_gettime(cpuTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/// Best time of each candidate over all rounds.
static std::vector<double> race(ArrayRef<std::function<void()>> candidates, bool cpuTime) {
  std::vector<double> best(candidates.size(), 1e30);
  std::vector<int> repeats;
  for (auto &run : candidates) {
    run();
    double start = now(cpuTime);
    run();
    repeats.push_back(std::max(1, int(sampleMs * 1e-3 / std::max(1e-7, now(cpuTime) - start))));
  }
  for (int round = 0; round < rounds; ++round)
    for (auto [i, run] : enumerate(candidates)) {
      if (!cpuTime)
        usleep(3000); // let the threads of the one before go to sleep
      run();
      double start = now(cpuTime);
      for (int r = 0; r < repeats[i]; ++r)
        run();
      best[i] = std::min(best[i], (now(cpuTime) - start) / repeats[i]);
    }
  return best;
}

static int bench() {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  GemmConfig config{{b.getF32Type(), b.getF32Type(), b.getF32Type()}};
  config.parallelFor = "hjx_rt_parallel_parts";
  JitOptions options;
  if (unitName == "avx512") {
    config.vectorUnit = {64, 32, true};
  } else if (unitName == "avx2") {
    config.vectorUnit = {32, 16, true};
    options.cpu = "znver3";
  } else if (unitName == "sse") {
    config.vectorUnit = {16, 16, false};
    options.cpu = "x86-64";
  } else if (unitName != "host") {
    errs() << "--unit: expected host, avx512, avx2 or sse, got " << unitName << "\n";
    return 1;
  }

  if (!emit.empty()) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getUnknownLoc());
    if (failed(getOrCreateGemmKernel(*module, config)))
      return 1;
    if (emit == "mlir") {
      module->print(outs());
      return 0;
    }
    options.dump = &outs();
    GemmKernel(config, options);
    return 0;
  }

  GemmKernel kernel(config, options);
  outs() << "vector unit: " << config.vectorUnit.bytes << " bytes x " << config.vectorUnit.registers
         << ", compiled in " << format("%.0f ms", kernel.compileMs()) << "\n";
  chooseLibraryKernels(config.vectorUnit);
  std::vector<Blas> libraries;
  for (Blas blas :
       {Blas::find(
            "OpenBLAS",
            {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"},
            "openblas_set_num_threads"),
        Blas::find("BLIS", {"/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4", "libblis.so.4"},
                   "bli_thread_set_num_threads")})
    if (blas.gemm)
      libraries.push_back(blas);

  SmallVector<int> counts(threadCounts.begin(), threadCounts.end());
  if (counts.empty())
    counts = {1, 2};
  for (int threads : counts) {
    outs() << "\nGFLOP/s, f32, " << threads << " thread(s), "
           << (threads == 1 ? "processor" : "wall") << " time, best of " << rounds << "\n"
           << left_justify("row-major, m x n x k", 28);
    for (const Blas &blas : libraries)
      outs() << right_justify(blas.name, 10);
    outs() << right_justify("generated", 11);
    for (const Blas &blas : libraries)
      outs() << right_justify(std::string("gen/") + blas.name, 14);
    outs() << "\n";
    std::vector<std::vector<double>> ratios(libraries.size());
    for (const Row &row : allRows()) {
      if (!filter.empty() && row.text().find(filter) == std::string::npos)
        continue;
      ThreadPool::global().resize(threads);
      Problem problem(row);
      std::vector<std::function<void()>> candidates;
      for (const Blas &blas : libraries)
        candidates.push_back([&] { problem.runBlas(blas, threads, problem.reference); });
      candidates.push_back([&] { problem.runGenerated(kernel, threads); });
      std::vector<double> seconds = race(candidates, threads == 1);
      outs() << left_justify(row.text(), 28);
      for (double s : seconds)
        outs() << format(&s == &seconds.back() ? "%11.1f" : "%10.1f", row.flops() / s * 1e-9);
      for (auto [library, s] : enumerate(ArrayRef(seconds).drop_back())) {
        ratios[library].push_back(s / seconds.back());
        outs() << format("%14.2f", ratios[library].back());
      }
      if (!libraries.empty() &&
          problem.largestDifference() > 1e-5 * std::sqrt(row.k) + 1e-6 * row.k)
        outs() << "  WRONG: off by " << problem.largestDifference();
      outs() << "\n";
      outs().flush();
    }
    for (auto [library, values] : enumerate(ratios)) {
      if (values.empty())
        continue;
      llvm::sort(values);
      outs() << "generated/" << libraries[library].name << ": median "
             << format("%.2f", values[values.size() / 2]) << ", least "
             << format("%.2f", values.front()) << ", most " << format("%.2f", values.back())
             << "\n";
    }
  }
  return 0;
}

} // namespace hjx

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(hjx::benchOptions);
  cl::ParseCommandLineOptions(argc, argv, "Generated matrix products beside OpenBLAS and BLIS\n");
  return hjx::bench();
}
