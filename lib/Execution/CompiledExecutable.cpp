// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CompiledExecutable.h"

#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"

using namespace mlir;

namespace hjx {
namespace {

/// Pointers to memory of the device.
class CompiledExecutable : public Executable {
public:
  explicit CompiledExecutable(std::unique_ptr<DeviceExecutable> code) : code(std::move(code)) {}

  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const override {
    if (outputs.size() >= code->outputs().size() || inputs.size() != code->inputs().size())
      return runAll(inputs, outputs);
    // The last results are what refs hold afterwards, in the arguments' memory: the caller does not
    // know of them.
    llvm::SmallVector<void *> all(outputs.begin(), outputs.end());
    while (all.size() < code->outputs().size() && code->outputs()[all.size()].alias >= 0)
      all.push_back(nullptr);
    return runAll(inputs, absl::MakeSpan(all.data(), all.size()));
  }

protected:
  virtual absl::Status runAll(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const {
    return code->run(inputs, outputs);
  }

  std::unique_ptr<DeviceExecutable> code;
};

/// Pointers to memory of the host for a program on another device.
class HostExecutable : public CompiledExecutable {
public:
  using CompiledExecutable::CompiledExecutable;

private:
  absl::Status runAll(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const override {
    if (inputs.size() != code->inputs().size() || outputs.size() != code->outputs().size())
      return code->run(inputs, outputs); // It says what is wrong.
    RuntimeDevice &device = code->device();
    std::vector<DeviceBuffer> buffers;
    auto allocate = [&](const BufferSpec &spec) -> absl::StatusOr<void *> {
      HJX_ASSIGN_OR_RETURN(DeviceBuffer buffer, device.allocate(spec.sizeBytes));
      buffers.push_back(std::move(buffer));
      return buffers.back().data();
    };
    std::vector<const void *> deviceInputs;
    for (auto [spec, input] : llvm::zip(code->inputs(), inputs)) {
      HJX_ASSIGN_OR_RETURN(void *data, allocate(spec));
      HJX_RETURN_IF_ERROR(device.copyToDevice(data, input, spec.sizeBytes));
      deviceInputs.push_back(data);
    }
    std::vector<void *> deviceOutputs;
    for (const BufferSpec &spec : code->outputs()) {
      if (spec.alias >= 0) {
        deviceOutputs.push_back(const_cast<void *>(deviceInputs[static_cast<size_t>(spec.alias)]));
        continue;
      }
      HJX_ASSIGN_OR_RETURN(void *data, allocate(spec));
      deviceOutputs.push_back(data);
    }
    HJX_RETURN_IF_ERROR(code->run(deviceInputs, absl::MakeSpan(deviceOutputs)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const BufferSpec &spec = code->outputs()[i];
      void *output = outputs[i];
      if (!output && spec.alias >= 0)
        output = const_cast<void *>(inputs[static_cast<size_t>(spec.alias)]);
      HJX_RETURN_IF_ERROR(device.copyToHost(output, deviceOutputs[i], spec.sizeBytes));
    }
    return absl::OkStatus();
  }
};

class CpuCompilation : public DeviceCompilation {
public:
  explicit CpuCompilation(std::unique_ptr<CpuExecutable> code) : code(std::move(code)) {}
  absl::StatusOr<std::unique_ptr<Executable>> on(RuntimeDevice &device) const override {
    return std::make_unique<CompiledExecutable>(code->on(device));
  }

private:
  std::unique_ptr<CpuExecutable> code;
};

class GpuCompilation : public DeviceCompilation {
public:
  explicit GpuCompilation(std::unique_ptr<GpuProgram> code) : code(std::move(code)) {}
  absl::StatusOr<std::unique_ptr<Executable>> on(RuntimeDevice &device) const override {
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceExecutable> loaded, code->load(device));
    return std::make_unique<CompiledExecutable>(std::move(loaded));
  }

private:
  std::unique_ptr<GpuProgram> code;
};

} // namespace

std::unique_ptr<Executable> makeHostExecutable(std::unique_ptr<DeviceExecutable> code) {
  if (code->device().kind() == DeviceKind::Cpu)
    return std::make_unique<CompiledExecutable>(std::move(code));
  return std::make_unique<HostExecutable>(std::move(code));
}

// What a program takes and returns is known once refs and hi-types are arrays: hence the stage lo.

absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForCpu(Program program) {
  HJX_RETURN_IF_ERROR(lowerModule(*program.module, Stage::Pure, Stage::Lo));
  CpuOptions options;
  options.startFrom = Stage::Lo;
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<CpuExecutable> code, CpuExecutable::compile(*program.module, options));
  return std::make_unique<CpuCompilation>(std::move(code));
}

absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForGpu(Program program, RuntimeDevice &device) {
  HJX_RETURN_IF_ERROR(lowerModule(*program.module, Stage::Pure, Stage::Lo));
  GpuOptions options;
  HJX_ASSIGN_OR_RETURN(options.chip, chipFor(device.info()));
  options.device = &device;
  options.startFrom = Stage::Lo;
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> code, GpuProgram::compile(*program.module, options));
  return std::make_unique<GpuCompilation>(std::move(code));
}

} // namespace hjx
