// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/InterpretedFunction.h"

#include "lib/Execution/Diagnostics.h"
#include "lib/Interpreter/Interpreter.h"

using namespace mlir;

namespace hjx {
namespace {

class InterpretedFunction : public DeviceExecutable {
public:
  InterpretedFunction(OwningOpRef<ModuleOp> program, RuntimeDevice &device, ProgramInterface interface)
      : DeviceExecutable(device, std::move(interface)), program(std::move(program)),
        main(this->program->lookupSymbol<func::FuncOp>("main")) {}

protected:
  absl::Status enter(absl::Span<void *const> buffers) const override {
    absl::MutexLock lock(&mutex); // The context belongs to one thread at a time.
    SmallVector<HostArray> arguments;
    for (auto [type, buffer] : llvm::zip(main.getArgumentTypes(), ArrayRef(buffers.data(), main.getNumArguments()))) {
      HostArray &array = arguments.emplace_back(cast<RankedTensorType>(type));
      std::memcpy(array.bytes().data(), buffer, array.bytes().size());
    }
    CollectedDiagnostics diagnostics(program.get().getContext());
    FailureOr<SmallVector<HostArray>> results = interpret(main, arguments);
    if (failed(results))
      return absl::InvalidArgumentError(diagnostics.text());
    void *const *next = buffers.data() + main.getNumArguments(); // of results that no argument stores
    for (auto [spec, result] : llvm::zip_equal(outputs(), *results))
      std::memcpy(spec.alias >= 0 ? buffers[spec.alias] : *next++, result.bytes().data(), result.bytes().size());
    return absl::OkStatus();
  }

private:
  OwningOpRef<ModuleOp> program;
  mutable func::FuncOp main;
  mutable absl::Mutex mutex;
};

} // namespace

absl::StatusOr<std::unique_ptr<DeviceExecutable>> interpretFunction(OwningOpRef<ModuleOp> program, RuntimeDevice &device) {
  HJX_ASSIGN_OR_RETURN(ProgramInterface interface, ProgramInterface::of(*program));
  return std::make_unique<InterpretedFunction>(std::move(program), device, std::move(interface));
}

} // namespace hjx
