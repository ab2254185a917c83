// SPDX-License-Identifier: Apache-2.0
//
// A module to a callable: pipelines, plan, JIT, and the call itself.
#include "lib/Execution/CpuExecutable.h"

#include "lib/Codegen/Structured/Passes.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Target/Jit.h"

using namespace hjx;
using namespace mlir;

using Entry = void (*)(void *const *buffers, void *arena);

struct CpuExecutable::Code {
  std::unique_ptr<Jit> jit;
  Entry entry = nullptr;
  std::vector<std::string> profileNames;
  const int64_t *profileTable = nullptr; // Per name: nanoseconds, calls.
};

CpuExecutable::CpuExecutable(RuntimeDevice &device, ProgramInterface interface, std::shared_ptr<Code> code)
    : DeviceExecutable(device, std::move(interface)), code(std::move(code)) {}
CpuExecutable::~CpuExecutable() = default;

std::unique_ptr<CpuExecutable> CpuExecutable::on(RuntimeDevice &device) const {
  return std::unique_ptr<CpuExecutable>(new CpuExecutable(device, programInterface(), code));
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void hjx::registerCpuDialects(DialectRegistry &registry) {
  registerStructuredCodegenDialects(registry);
  registerTargetDialects(registry);
}

static absl::Status asStatus(llvm::Error error) {
  return absl::InternalError(llvm::toString(std::move(error)));
}

absl::StatusOr<std::unique_ptr<CpuExecutable>> CpuExecutable::compile(ModuleOp module,
                                                                      const CpuOptions &options) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  HJX_ASSIGN_OR_RETURN(ProgramInterface interface, ProgramInterface::of(module));

  LowerOptions lower;
  lower.kernel.fuse = options.fuse;
  lower.kernel.scalarLoops = options.scalarLoops;
  lower.machine.profile = options.profile;
  lower.dumpDir = options.dumpDir;
  HJX_RETURN_IF_ERROR(lowerModule(module, options.startFrom, Stage::Machine, lower));
  HJX_RETURN_IF_ERROR(interface.readPlan(module));
  std::unique_ptr<CpuExecutable> executable(new CpuExecutable(*options.device, std::move(interface), std::make_shared<Code>()));

  JitOptions jitOptions;
  jitOptions.cpu = options.cpu;
  jitOptions.features = options.features;
  jitOptions.optLevel = options.optLevel;
  std::unique_ptr<llvm::raw_fd_ostream> dump;
  if (!options.dumpDir.empty()) {
    std::error_code error;
    dump = std::make_unique<llvm::raw_fd_ostream>(options.dumpDir + "/7-host.ll", error);
    jitOptions.dump = dump.get();
  }
  llvm::Expected<std::unique_ptr<Jit>> jit = Jit::compile(module, jitOptions);
  if (!jit)
    return asStatus(jit.takeError());
  executable->code->jit = std::move(*jit);
  llvm::Expected<void *> entry = executable->code->jit->lookup(kEntryName);
  if (!entry)
    return asStatus(entry.takeError());
  executable->code->entry = reinterpret_cast<Entry>(*entry);
  if (auto names = module->getAttrOfType<ArrayAttr>(kProfileNamesAttr)) {
    llvm::Expected<void *> table = executable->code->jit->lookup(kProfileTableName);
    if (!table)
      return asStatus(table.takeError());
    executable->code->profileTable = static_cast<const int64_t *>(*table);
    for (StringAttr name : names.getAsRange<StringAttr>())
      executable->code->profileNames.push_back(name.str());
  }
  return executable;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

absl::Status CpuExecutable::enter(absl::Span<void *const> pointers) const {
  code->entry(pointers.data(), pointers.back());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KernelTime>> CpuExecutable::profile() const {
  std::vector<KernelTime> times;
  for (auto [index, name] : llvm::enumerate(code->profileNames)) {
    const int64_t *row = code->profileTable + 2 * index;
    times.push_back({name, row[0], row[1]});
  }
  llvm::sort(times, [](const KernelTime &a, const KernelTime &b) { return a.timeNs > b.timeNs; });
  return times;
}
