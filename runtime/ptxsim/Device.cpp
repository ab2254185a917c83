// SPDX-License-Identifier: Apache-2.0
//
// Loading and launching on the simulated device; see the header.
#include "runtime/ptxsim/Device.h"

#include "runtime/Environment.h"
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Parser.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/strings/match.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace hjx::ptxsim {

Settings Settings::fromEnvironment() {
  return {simulatedCapability(), simulatorChecks(), simulatorThreads(), numSimulatedDevices(), 0, hjx::memoryLimit()};
}

// All devices have half of the host's memory: shadow and other processes need some, too.
static uint64_t deviceBytes(const Settings &settings) {
  if (settings.memoryLimit)
    return uint64_t(*settings.memoryLimit);
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2 / uint64_t(settings.numDevices);
}

Device::Device(Settings settings)
    : settings(settings), memory(deviceBytes(settings)), pool(settings.numThreads),
      workers(settings.numThreads) {}

std::string Device::name() const {
  return absl::StrCat("hjx simulated sm_", settings.computeCapability);
}

// sm_80 runs anywhere from 80 on; sm_90a on 90 alone.
static absl::Status checkTarget(absl::string_view target, unsigned device) {
  int wanted = 0;
  absl::string_view digits = target;
  bool isKnown = absl::StartsWith(digits, "sm_");
  if (isKnown)
    digits.remove_prefix(3);
  bool isExact = isKnown && (absl::EndsWith(digits, "a") || absl::EndsWith(digits, "f"));
  if (isExact)
    digits.remove_suffix(1);
  if (!isKnown || !absl::SimpleAtoi(digits, &wanted))
    return absl::InvalidArgumentError(absl::StrCat("expected .target sm_<number>, got '", target, "'"));
  if (isExact ? unsigned(wanted) != device : unsigned(wanted) > device)
    return absl::UnimplementedError(absl::StrCat("the module is for ", target,
                                                 ", the simulated device is sm_", device,
                                                 "\n  help: set HJX_PTXSIM_ARCH"));
  return absl::OkStatus();
}

static void place(Memory &memory, LoadedModule &module, const Variable &variable) {
  uint64_t address = memory.allocate(std::max<uint64_t>(variable.sizeBytes, 1));
  module.symbols[variable.name] = address;
  module.sizes[variable.name] = variable.sizeBytes;
}

// What is not initialised is zero, as in C.
static absl::Status initialize(Memory &memory, LoadedModule &module, const Variable &variable) {
  uint64_t address = module.symbols.find(variable.name)->second;
  const Allocation *allocation = memory.find(address);
  std::memset(allocation->bytes.get(), 0, variable.sizeBytes);
  std::memcpy(allocation->bytes.get(), variable.initial.data(), variable.initial.size());
  allocation->setWritten(address, variable.sizeBytes);
  for (const Variable::Relocation &relocation : variable.relocations) {
    auto symbol = module.symbols.find(relocation.symbol);
    if (symbol == module.symbols.end())
      return absl::InvalidArgumentError(absl::StrCat("ptx line ", variable.line, ": unknown name '",
                                                     relocation.symbol, "'"));
    uint64_t value = symbol->second + relocation.addend;
    std::memcpy(allocation->bytes.get() + relocation.offset, &value, 8);
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedModule *> Device::load(absl::string_view text) {
  auto module = std::make_unique<LoadedModule>();
  HJX_ASSIGN_OR_RETURN(module->source, parse(text));
  HJX_RETURN_IF_ERROR(checkTarget(module->source.target, settings.computeCapability));
  std::vector<const Variable *> variables;
  for (const Variable &variable : module->source.variables)
    if (variable.space != Space::Shared && !variable.isExtern)
      variables.push_back(&variable);
  for (const Variable *variable : variables) {
    place(memory, *module, *variable);
    if (!module->symbols.find(variable->name)->second)
      return absl::ResourceExhaustedError(absl::StrCat("no memory for '", variable->name, "'"));
  }
  absl::Status status;
  for (const Variable *variable : variables)
    status.Update(initialize(memory, *module, *variable));
  for (const Function &function : module->source.functions) {
    if (!function.isEntry || !function.hasBody || !status.ok())
      continue;
    absl::StatusOr<Kernel> kernel = decode(module->source, function, module->symbols);
    status.Update(kernel.status());
    if (kernel.ok())
      module->functions[function.name] =
          std::make_unique<LoadedFunction>(LoadedFunction{&function, *std::move(kernel)});
  }
  modules.push_back(std::move(module));
  LoadedModule *result = modules.back().get();
  if (status.ok())
    return result;
  unload(result);
  return status;
}

bool Device::unload(LoadedModule *module) {
  for (auto at = modules.begin(); at != modules.end(); ++at) {
    if (at->get() != module)
      continue;
    for (const auto &[name, address] : module->symbols)
      memory.free(address);
    modules.erase(at);
    return true;
  }
  return false;
}

bool Device::isLoaded(const LoadedModule *module) const {
  for (const auto &loaded : modules)
    if (loaded.get() == module)
      return true;
  return false;
}

bool Device::isLoaded(const LoadedFunction *function) const {
  for (const auto &loaded : modules)
    for (const auto &[name, one] : loaded->functions)
      if (one.get() == function)
        return true;
  return false;
}

void Device::reset() {
  finding.reset();
  modules.clear();
  memory = Memory(memory.total());
}

static uint64_t volume(const std::array<uint32_t, 3> &shape) {
  return uint64_t(shape[0]) * shape[1] * shape[2];
}

static std::string print(const std::array<uint32_t, 3> &shape) {
  return absl::StrFormat("(%d,%d,%d)", shape[0], shape[1], shape[2]);
}

static absl::Status checkShape(const Device &device, const LoadedFunction &function,
                               const std::array<uint32_t, 3> &grid,
                               const std::array<uint32_t, 3> &block, uint32_t sharedBytes) {
  const Kernel &kernel = function.kernel;
  auto refuse = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("kernel '", kernel.name, "': ", what));
  };
  if (volume(grid) == 0 || grid[0] > 0x7FFFFFFF || grid[1] > 65535 || grid[2] > 65535)
    return refuse(absl::StrCat("expected a grid of 1 to (2147483647,65535,65535) blocks, got ",
                               print(grid)));
  if (volume(block) == 0 || volume(block) > 1024 || block[0] > 1024 || block[1] > 1024 ||
      block[2] > 64)
    return refuse(absl::StrCat("expected a block of 1 to 1024 threads, at most (1024,1024,64), got ",
                               print(block)));
  if (kernel.requiredBlock[0] && kernel.requiredBlock != block)
    return refuse(absl::StrCat("expected the block ", print(kernel.requiredBlock),
                               " that .reqntid demands, got ", print(block)));
  if (kernel.largestBlock[0] && volume(kernel.largestBlock) < volume(block))
    return refuse(absl::StrCat("expected at most ", volume(kernel.largestBlock),
                               " threads, which .maxntid promises, got ", volume(block)));
  uint64_t shared = uint64_t(kernel.dynamicSharedOffset) + sharedBytes;
  uint32_t allowed = function.largestDynamicShared
                         ? kernel.dynamicSharedOffset + function.largestDynamicShared
                         : 49152;
  if (shared > std::min(allowed, device.maxSharedPerBlock()))
    return refuse(absl::StrCat("expected at most ", allowed, " bytes of shared memory, got ", shared,
                               "\n  help: more needs cuFuncSetAttribute("
                               "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)"));
  return absl::OkStatus();
}

static absl::Status checkCluster(const Device &device, const Kernel &kernel,
                                 const std::array<uint32_t, 3> &grid,
                                 const std::array<uint32_t, 3> &cluster) {
  auto refuse = [&](auto... words) {
    return absl::InvalidArgumentError(absl::StrCat("kernel '", kernel.name, "': ", words...));
  };
  if (kernel.requiredCluster[0] && kernel.requiredCluster != cluster)
    return refuse("expected the cluster ", print(kernel.requiredCluster),
                  " that .reqnctapercluster demands, got ", print(cluster));
  uint64_t size = volume(cluster);
  if (size == 1)
    return absl::OkStatus();
  if (device.settings.computeCapability < 90)
    return refuse("clusters need a device of compute capability 9.0");
  if (size < 1 || size > 8)
    return refuse("expected a cluster of 1 to 8 blocks, got ", print(cluster));
  for (unsigned axis = 0; axis < 3; ++axis)
    if (grid[axis] % cluster[axis])
      return refuse("expected a grid of whole clusters ", print(cluster), ", got ", print(grid));
  return absl::OkStatus();
}

absl::Status Device::launch(LoadedFunction &function, std::array<uint32_t, 3> grid,
                            std::array<uint32_t, 3> block, uint32_t sharedBytes,
                            void **arguments, std::array<uint32_t, 3> cluster) {
  const Kernel &kernel = function.kernel;
  if (!cluster[0])
    cluster = kernel.requiredCluster[0] ? kernel.requiredCluster : std::array<uint32_t, 3>{1, 1, 1};
  HJX_RETURN_IF_ERROR(checkCluster(*this, kernel, grid, cluster));
  HJX_RETURN_IF_ERROR(checkShape(*this, function, grid, block, sharedBytes));
  if (!arguments && !kernel.params.empty())
    return absl::InvalidArgumentError(absl::StrCat("kernel '", kernel.name, "': expected ",
                                                   kernel.params.size(), " arguments, got none"));
  std::vector<uint8_t> params(kernel.paramBytes);
  for (size_t index = 0; index < kernel.params.size(); ++index) {
    const Kernel::Param &param = kernel.params[index];
    if (!arguments[index])
      return absl::InvalidArgumentError(absl::StrCat("kernel '", kernel.name, "': argument ", index,
                                                     " of ", kernel.params.size(),
                                                     " is a null pointer"));
    std::memcpy(params.data() + param.offset, arguments[index], param.sizeBytes);
  }
  Launch launch{kernel, memory, grid, block, sharedBytes, params.data(), settings.checks, cluster};
  std::optional<GlobalRaces> races;
  if (GlobalRaces::canCheck(launch))
    launch.races = &races.emplace(kernel, accessPages);
  run(launch);
  return absl::OkStatus();
}

// Clusters are handed out in order, and none behind one with a finding: whatever the number of
// threads, the finding of the first block that has one is reported.
void Device::run(const Launch &launch) {
  struct Job {
    const Launch &launch;
    std::vector<std::vector<Block>> &workers;
    std::atomic<uint64_t> next = 0, end;
    std::mutex mutex;
    uint64_t faulty;
    std::optional<Finding> finding;
  };
  uint64_t numClusters = volume(launch.grid) / launch.clusterSize();
  Job job{launch, workers, 0, numClusters, {}, numClusters, {}};
  auto body = [](void *env, int64_t begin, int64_t end) {
    auto &job = *static_cast<Job *>(env);
    for (int64_t worker = begin; worker < end; ++worker) {
      std::vector<Block> &cluster = job.workers[worker];
      cluster.resize(job.launch.clusterSize());
      for (uint64_t index; (index = job.next.fetch_add(1)) < job.end.load();) {
        for (uint32_t rank = 0; rank < cluster.size(); ++rank)
          cluster[rank].start(job.launch, index, rank, cluster.data());
        Block::run(cluster);
        const Block *faulty = nullptr;
        for (const Block &block : cluster)
          if (block.finding && !faulty)
            faulty = &block;
        if (!faulty)
          continue;
        std::lock_guard lock(job.mutex);
        if (index < job.faulty) {
          job.faulty = index;
          job.end = index;
          job.finding = faulty->finding;
        }
      }
    }
  };
  pool.parallelFor(body, &job, std::min<uint64_t>(workers.size(), numClusters), 1);
  if (!job.finding)
    return;
  finding = job.finding;
  std::fprintf(stderr, "ptxsim: %s\n", finding->text.c_str());
}

} // namespace hjx::ptxsim
