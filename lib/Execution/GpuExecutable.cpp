// SPDX-License-Identifier: Apache-2.0
//
// Two compilations of one module: the device module to PTX, what is left to code for the host.
#include "lib/Execution/GpuExecutable.h"

#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Data/File.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Target/Jit.h"
#include "lib/Target/Ptx/Ptx.h"
#include "runtime/Launcher.h"

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

static int64_t countLaunches(Region &region) {
  int64_t count = 0;
  for (Operation &op : region.getOps()) {
    count += isa<gpu::LaunchFuncOp>(op);
    int64_t inside = 0;
    for (Region &inner : op.getRegions())
      inside += countLaunches(inner);
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<llvm::APInt> length = loop ? loop.getStaticTripCount() : std::nullopt;
    count += length ? inside * length->getSExtValue() : inside;
  }
  return count;
}

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

absl::StatusOr<std::unique_ptr<GpuProgram>> GpuProgram::compile(ModuleOp module,
                                                                const GpuOptions &options) {
  DialectRegistry registry;
  registerGpuDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<GpuProgram> program(new GpuProgram);
  HJX_ASSIGN_OR_RETURN(program->described, ProgramInterface::of(module));

  LowerOptions lower;
  lower.forGpu = true;
  lower.dumpDir = options.dumpDir;
  if (options.startFrom < Stage::Machine) {
    HJX_RETURN_IF_ERROR(lowerModule(module, options.startFrom, Stage::Kernel, lower));
    program->launches = countLaunches(module.lookupSymbol<func::FuncOp>("main").getBody());
  }
  HJX_RETURN_IF_ERROR(
      lowerModule(module, std::max(options.startFrom, Stage::Kernel), Stage::Machine, lower));
  HJX_RETURN_IF_ERROR(program->described.readPlan(module));

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
                Entry entry, std::unique_ptr<DeviceModule> kernels)
      : DeviceExecutable(device, std::move(interface)), code(std::move(code)), entry(entry),
        loaded(device, std::move(kernels)) {}

  ~GpuExecutable() override {
    // The last launches may still be running the kernels.
    device().synchronize().IgnoreError();
  }

private:
  absl::Status enter(void *const *buffers, void *arena) const override {
    Launcher launcher(loaded);
    entry(buffers, arena, &launcher);
    return launcher.status();
  }

  std::shared_ptr<const void> code; // Keeps `entry` and the host's constants alive.
  Entry entry;
  mutable LoadedCode loaded;
};

} // namespace

absl::StatusOr<std::unique_ptr<DeviceExecutable>> GpuProgram::load(RuntimeDevice &device) const {
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceModule> kernels,
                       device.loadModule(ptx(), kernelNames()));
  return std::make_unique<GpuExecutable>(device, described, code, code->entry, std::move(kernels));
}
