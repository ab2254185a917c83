// SPDX-License-Identifier: Apache-2.0
//
// Times candidates of products: see the header. What is timed is the function of the product, with the ops behind it and
// the strides of its place, as a program of its own on random numbers, again and again: factors that fit into L2 are there.
#include "lib/Execution/ProductTuner.h"

#include "lib/Codegen/Gpu/MeasurableProduct.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Data/Digest.h"
#include "lib/Execution/CacheFile.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/GpuExecutable.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstring>

using namespace mlir;

namespace hjx {

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

static constexpr const char *kFormat = "hjx-schedules 1";

ScheduleCache::ScheduleCache(const std::string &folder, const std::string &chip, const DeviceInfo &device)
    : key(absl::StrCat("hjx " HJX_VERSION " (LLVM " LLVM_VERSION_STRING "), ", chip, ", ", device.description, ", ",
                       device.numMultiprocessors, " multiprocessors, driver ", device.driverVersion)) {
  if (!folder.empty())
    file = absl::StrCat(folder, "/", sha256Hex(key), ".schedules");
}

absl::StatusOr<ScheduleCache::Schedules> ScheduleCache::load() const {
  Schedules schedules;
  HJX_ASSIGN_OR_RETURN(std::string text, readCacheFile(file, kFormat));
  for (absl::string_view line : absl::StrSplit(text, '\n'))
    if (std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits(" = ", 1)); !entry.second.empty())
      schedules.insert(entry);
  return schedules;
}

ScheduleCache::Schedules ScheduleCache::read() const {
  if (file.empty())
    return {};
  absl::StatusOr<Schedules> schedules = load();
  if (schedules.ok())
    return *std::move(schedules);
  if (!absl::IsNotFound(schedules.status()))
    llvm::errs() << "autotune: " << std::string(schedules.status().message()) << "; products are measured again\n";
  return {};
}

void ScheduleCache::add(Schedules measured) const {
  if (file.empty() || measured.empty())
    return;
  if (absl::StatusOr<Schedules> now = load(); now.ok())
    measured.merge(*now); // Another process may have found more; of two results the newer stays.
  std::string text = key + "\n";
  for (auto &[product, schedule] : measured)
    absl::StrAppend(&text, product, " = ", schedule, "\n");
  if (absl::Status status = writeCacheFile(file, kFormat, text); !status.ok())
    llvm::errs() << "autotune: " << std::string(status.message()) << "; the next start measures again\n";
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Random numbers of about one size, whose products and sums are finite in every type: of floats the first byte is that
/// of 1 in f16, of 0.01 in f32 and bf16, or that with the sign.
static std::string randomNumbers(const BufferSpec &spec, uint64_t seed) {
  std::string bytes(static_cast<size_t>(spec.sizeBytes), '\0');
  uint64_t state = seed * 2 + 1;
  auto next = [&] { // Marsaglia 2003, "Xorshift RNGs".
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = next();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
  auto size = static_cast<size_t>(sizeBytes(spec.elementType));
  bool isFloat = spec.elementType >= ElementType::F16;
  for (size_t at = size - 1; (isFloat || spec.elementType == ElementType::I1) && at < bytes.size(); at += size)
    bytes[at] = isFloat ? static_cast<char>((bytes[at] & 0x80) | 0x3c) : static_cast<char>(bytes[at] & 1);
  return bytes;
}

static double numberAt(const std::string &bytes, ElementType type, size_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  };
  switch (type) {
  case ElementType::F64:
    return read(double());
  case ElementType::F32:
    return read(float());
  case ElementType::F16:
    return static_cast<double>(read(_Float16()));
  case ElementType::BF16:
    return std::bit_cast<float>(uint32_t{read(uint16_t())} << 16);
  default:
    llvm_unreachable("not a float");
  }
}

/// Whether two results are the same up to the order of sums, and roundings of narrow floats behind them. Coarse: it is to
/// tell a wrong kernel.
static bool agree(const std::string &got, const std::string &expected, ElementType type) {
  constexpr double kMostDifference = 0x1p-5;
  if (type < ElementType::F16)
    return got == expected;
  double largest = 0, difference = 0;
  for (size_t i = 0; i < expected.size() / static_cast<size_t>(sizeBytes(type)); ++i) {
    double a = numberAt(got, type, i), b = numberAt(expected, type, i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (std::isfinite(a) != std::isfinite(b))
        return false;
      continue;
    }
    largest = std::max(largest, std::abs(b));
    difference = std::max(difference, std::abs(a - b));
  }
  return difference <= kMostDifference * largest;
}

namespace {

/// The arrays of a product on the device.
class Arrays {
public:
  static absl::StatusOr<Arrays> create(RuntimeDevice &device, const std::vector<BufferSpec> &specs) {
    Arrays arrays;
    for (const BufferSpec &spec : specs) {
      HJX_ASSIGN_OR_RETURN(DeviceBuffer buffer, device.allocate(spec.sizeBytes));
      arrays.pointers.push_back(buffer.data());
      arrays.all.push_back({spec, std::move(buffer), randomNumbers(spec, arrays.all.size()), {}, true});
    }
    return arrays;
  }

  /// Runs `code` once on the random numbers. Returns whether it wrote what the first did that was run here.
  absl::StatusOr<bool> check(const DeviceExecutable &code) {
    for (Each &each : all)
      if (each.isWritten)
        HJX_RETURN_IF_ERROR(code.device().copyToDevice(each.buffer.data(), each.before.data(), each.spec.sizeBytes));
    HJX_RETURN_IF_ERROR(run(code));
    bool isRight = true;
    for (Each &each : all) {
      if (!each.isWritten)
        continue;
      std::string now(each.before.size(), '\0');
      HJX_RETURN_IF_ERROR(code.device().copyToHost(now.data(), each.buffer.data(), each.spec.sizeBytes));
      if (isFirst) {
        each.isWritten = now != each.before;
        each.after = std::move(now);
      } else {
        isRight &= agree(now, each.after, each.spec.elementType);
      }
    }
    isFirst = false;
    return isRight;
  }

  absl::Status run(const DeviceExecutable &code) const { return code.run(pointers, {}); }

  /// Nanoseconds of a run, of `count` one after the other.
  absl::StatusOr<double> time(const DeviceExecutable &code, int count) const {
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> begin, code.device().mark());
    for (int i = 0; i < count; ++i)
      HJX_RETURN_IF_ERROR(run(code));
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> end, code.device().mark());
    HJX_ASSIGN_OR_RETURN(int64_t nanoseconds, code.device().nanosecondsBetween(*begin, *end));
    return static_cast<double>(nanoseconds) / count;
  }

private:
  struct Each {
    BufferSpec spec;
    DeviceBuffer buffer;
    std::string before, after;
    bool isWritten; // Everything, as long as nobody knows.
  };
  std::vector<Each> all;
  std::vector<const void *> pointers;
  bool isFirst = true;
};

struct Candidate {
  std::string schedule;
  std::unique_ptr<DeviceExecutable> code;
  double nanoseconds;
};

} // namespace

static absl::StatusOr<std::unique_ptr<DeviceExecutable>> compileWith(const std::string &schedule, ModuleOp product,
                                                                     const std::string &chip, RuntimeDevice &device) {
  OwningOpRef<ModuleOp> module = product.clone();
  for (auto function : module->getOps<func::FuncOp>())
    if (function.getName() != "main")
      function->setAttr(kProductScheduleAttr, StringAttr::get(module->getContext(), schedule));
  CollectedDiagnostics diagnostics(module->getContext());
  PassManager pm(module->getContext());
  buildFromGpuFunctionsPipeline(pm, {chip});
  if (failed(pm.run(*module)))
    return absl::InternalError(diagnostics.text());
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> program, GpuProgram::compile(*module, {.chip = chip, .startFrom = Stage::Kernel}));
  return program->load(device);
}

/// The best of `product`'s candidates.
static absl::StatusOr<std::string> fastest(const MeasurableProduct &product, const std::string &chip, RuntimeDevice &device) {
  constexpr int kWarmUp = 2, kRounds = 5, kMostRuns = 50;
  constexpr double kRoundNs = 1e6, kMostNs = 2.5e8; // Of a candidate in a round; of a product.
  constexpr double kGain = 0.95;                  // What is hardly better than the model's is noise.
  std::optional<Arrays> arrays;
  std::vector<Candidate> candidates;
  for (const std::string &schedule : product.candidates()) {
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceExecutable> code, compileWith(schedule, *product.program, chip, device));
    if (!arrays) {
      HJX_ASSIGN_OR_RETURN(arrays, Arrays::create(device, code->inputs()));
    }
    HJX_ASSIGN_OR_RETURN(bool isRight, arrays->check(*code));
    if (isRight)
      candidates.push_back({schedule, std::move(code), INFINITY});
    else
      llvm::errs() << "autotune: " << product.name << ": the result with " << schedule << " is not that with "
                   << candidates.front().schedule << "; left out\n";
  }
  for (Candidate &candidate : candidates)
    for (int call = 0; call < kWarmUp; ++call) // The second call is recorded, later ones are replayed.
      HJX_RETURN_IF_ERROR(arrays->run(*candidate.code));
  HJX_ASSIGN_OR_RETURN(double once, arrays->time(*candidates.front().code, 1));
  int count = static_cast<int>(std::clamp(kRoundNs / std::max(once, 1.0), 1.0, double{kMostRuns}));
  double total = 0;
  for (int round = 0; round < kRounds && total < kMostNs; ++round)
    for (Candidate &candidate : candidates) {
      HJX_ASSIGN_OR_RETURN(double nanoseconds, arrays->time(*candidate.code, count));
      candidate.nanoseconds = std::min(candidate.nanoseconds, nanoseconds);
      total += nanoseconds * count;
    }
  auto best = llvm::min_element(candidates, [](auto &a, auto &b) { return a.nanoseconds < b.nanoseconds; });
  return best->nanoseconds < kGain * candidates.front().nanoseconds ? best->schedule : candidates.front().schedule;
}

/// What is best for `product`; nothing if that cannot be measured here.
static absl::StatusOr<std::optional<std::string>> measure(const MeasurableProduct &product, const std::string &chip,
                                                          RuntimeDevice &device) {
  if (!product.program)
    return std::nullopt;
  absl::StatusOr<std::string> best = fastest(product, chip, device);
  if (best.ok())
    return *best;
  if (absl::IsResourceExhausted(best.status()))
    return std::nullopt;
  return absl::Status(best.status().code(), absl::StrCat("autotune: ", product.name, ": ", std::string(best.status().message()),
                                                         "\n  help: HJX_AUTOTUNE=0 takes the tiles of the model"));
}

absl::Status tuneProducts(ModuleOp module, const std::string &chip, RuntimeDevice &device, const ScheduleCache &cache) {
  auto began = std::chrono::steady_clock::now();
  CollectedDiagnostics diagnostics(module.getContext());
  FailureOr<std::vector<MeasurableProduct>> products = measurableProducts(module, chip);
  if (failed(products))
    return absl::InvalidArgumentError(diagnostics.text());
  if (products->empty())
    return absl::OkStatus();

  TransferGuard guard(TransferLevel::Allow); // What moves here is nobody's data.
  ScheduleCache::Schedules schedules = cache.read(), measured;
  int64_t numKnown = 0, numLeft = 0;
  for (MeasurableProduct &product : *products) {
    auto found = schedules.find(product.name);
    bool isKnown = found != schedules.end() && llvm::is_contained(product.schedules, found->second);
    numKnown += isKnown;
    if (!isKnown) {
      HJX_ASSIGN_OR_RETURN(std::optional<std::string> best, measure(product, chip, device));
      numLeft += !best;
      if (!best)
        continue;
      found = schedules.insert_or_assign(product.name, *best).first;
      measured.insert(*found);
    }
    product.function->setAttr(kProductScheduleAttr, StringAttr::get(module.getContext(), found->second));
  }
  cache.add(measured);

  llvm::errs() << "autotune: " << numKnown << " of " << products->size() << " products known from "
               << (cache.path().empty() ? "no file" : cache.path());
  if (!measured.empty())
    llvm::errs() << llvm::formatv(", {0} measured in {1:f1} s", measured.size(),
                                  std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (numLeft > 0)
    llvm::errs() << ", " << numLeft << " left to the model";
  llvm::errs() << "\n";
  return absl::OkStatus();
}

} // namespace hjx
