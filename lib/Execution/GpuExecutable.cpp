// SPDX-License-Identifier: Apache-2.0
//
// Two compilations of one module: the device module to PTX, what is left to code for the host.
#include "lib/Execution/GpuExecutable.h"

#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Data/File.h"
#include "lib/Execution/CubinCache.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/ProductTuner.h"
#include "lib/Target/Jit.h"
#include "lib/Target/Ptx/Ptx.h"
#include "runtime/Environment.h"
#include "runtime/Replay.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace hjx;
using namespace mlir;

using Entry = void (*)(void *const *buffers, void *arena, void *launcher);

struct GpuProgram::Code {
  DeviceCode device;
  std::unique_ptr<Jit> host;
  Entry entry = nullptr;
};

GpuProgram::~GpuProgram() = default;

const std::string &GpuProgram::ptx() const { return code->device.ptx; }
const std::vector<std::string> &GpuProgram::kernelNames() const { return code->device.kernelNames; }

void hjx::registerGpuDialects(DialectRegistry &registry) {
  registerGpuCodegenDialects(registry);
  registerPtxDialects(registry);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static absl::Status asStatus(llvm::Error error) {
  return absl::InternalError(llvm::toString(std::move(error)));
}

static absl::StatusOr<DeviceCode> compileDeviceCode(ModuleOp module, const GpuOptions &options) {
  gpu::GPUModuleOp device = deviceModule(module);
  std::string ir;
  llvm::raw_string_ostream irStream(ir);
  PtxOptions ptx;
  ptx.chip = options.chip;
  if (!options.dumpDir.empty())
    ptx.dumpIr = &irStream;
  llvm::Expected<DeviceCode> code = emitPtx(device, ptx);
  if (!code)
    return asStatus(code.takeError());
  if (!options.dumpDir.empty()) {
    HJX_RETURN_IF_ERROR(writeFileAtomically(options.dumpDir + "/7-device.ll", ir));
    HJX_RETURN_IF_ERROR(writeFileAtomically(options.dumpDir + "/8-device.ptx", code->ptx));
  }
  device.erase();
  return std::move(*code);
}

absl::StatusOr<GpuPlan> GpuPlan::of(ModuleOp module, const GpuOptions &options) {
  DialectRegistry registry;
  registerGpuDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  GpuPlan plan;
  HJX_ASSIGN_OR_RETURN(plan.interface, ProgramInterface::of(module));

  LowerOptions lower;
  lower.forGpu = true;
  lower.gpu.chip = options.chip;
  lower.dumpDir = options.dumpDir;
  if (options.device && autotune())
    lower.onGpuFunctions = [&](ModuleOp functions) {
      return tuneProducts(functions, options.chip, *options.device, ScheduleCache(cacheFolder(), options.chip, options.device->info()));
    };
  if (options.startFrom < Stage::Kernel)
    HJX_RETURN_IF_ERROR(lowerModule(module, options.startFrom, Stage::Kernel, lower));
  if (options.startFrom < Stage::Machine)
    plan.cost = ProgramCost::of(module);
  HJX_RETURN_IF_ERROR(
      lowerModule(module, std::max(options.startFrom, Stage::Kernel), Stage::Machine, lower));
  HJX_RETURN_IF_ERROR(plan.interface.readPlan(module));
  module.walk([&](LLVM::CallOp call) { plan.numReads += call.getCallee() == kReadName; });
  return plan;
}

absl::StatusOr<std::unique_ptr<GpuProgram>> GpuProgram::compile(ModuleOp module,
                                                                const GpuOptions &options) {
  std::unique_ptr<GpuProgram> program(new GpuProgram);
  HJX_ASSIGN_OR_RETURN(program->planned, GpuPlan::of(module, options));
  auto code = std::make_shared<Code>();
  HJX_ASSIGN_OR_RETURN(code->device, compileDeviceCode(module, options));
  llvm::Expected<std::unique_ptr<Jit>> host = Jit::compile(module);
  if (!host)
    return asStatus(host.takeError());
  code->host = std::move(*host);
  llvm::Expected<void *> entry = code->host->lookup(kEntryName);
  if (!entry)
    return asStatus(entry.takeError());
  code->entry = reinterpret_cast<Entry>(*entry);
  program->code = std::move(code);
  return program;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {

class GpuExecutable : public DeviceExecutable {
public:
  GpuExecutable(RuntimeDevice &device, ProgramInterface interface, std::shared_ptr<const void> code,
                Entry entry, std::unique_ptr<DeviceModule> kernels, std::vector<std::string> places,
                bool isReplayed, const GpuLoadOptions &options)
      : DeviceExecutable(device, std::move(interface)), code(std::move(code)), entry(entry),
        isReplayed(isReplayed), isTimed(options.profile), loaded(device, std::move(kernels), std::move(places)),
        calls(loaded), timed(loaded, options.trace) {}

  ~GpuExecutable() override {
    // The last launches may still be running the kernels.
    device().synchronize().IgnoreError();
  }

  absl::StatusOr<std::vector<KernelTime>> profile() const override { return timed.times(); }

private:
  absl::Status enter(absl::Span<void *const> pointers) const override {
    auto hostCode = [&](Launcher &launcher) { entry(pointers.data(), pointers.back(), &launcher); };
    if (isTimed)
      return timed.run(hostCode);
    if (isReplayed)
      return calls.run(pointers, hostCode);
    Launcher launcher(loaded);
    hostCode(launcher);
    return launcher.status();
  }

  std::shared_ptr<const void> code; // Keeps `entry` and the host's constants alive.
  Entry entry;
  bool isReplayed, isTimed;
  mutable LoadedCode loaded;
  mutable ReplayedCalls calls;
  mutable TimedCalls timed;
};

} // namespace

/// As machine code where that can be had and the driver takes it, else as text, which it assembles.
static absl::StatusOr<std::unique_ptr<DeviceModule>> loadKernels(RuntimeDevice &device, const std::string &ptx,
                                                                 const std::vector<std::string> &names) {
  if (device.info().loadsCubins)
    if (std::optional<CubinCache> cache = CubinCache::ofProcess())
      if (std::optional<std::string> cubin = cache->find(ptx, device.info().computeCapability))
        if (absl::StatusOr<std::unique_ptr<DeviceModule>> module = device.loadModule(*cubin, names); module.ok())
          return module;
  return device.loadModule(ptx, names);
}

absl::StatusOr<std::unique_ptr<DeviceExecutable>> GpuProgram::load(RuntimeDevice &device, const GpuLoadOptions &options) const {
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceModule> kernels, loadKernels(device, ptx(), kernelNames()));
  return std::make_unique<GpuExecutable>(device, planned.interface, code, code->entry, std::move(kernels), code->device.kernelPlaces,
                                         cudaGraphs() && planned.numReads == 0, options);
}
