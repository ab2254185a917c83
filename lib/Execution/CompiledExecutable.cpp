// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CompiledExecutable.h"

#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace hjx {
namespace {

class CompiledExecutable : public Executable {
public:
  explicit CompiledExecutable(std::unique_ptr<CpuExecutable> code) : code(std::move(code)) {}

  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const override {
    return code->run(inputs, outputs);
  }

private:
  std::unique_ptr<CpuExecutable> code;
};

} // namespace

absl::StatusOr<std::unique_ptr<Executable>> compileProgram(Program program) {
  {
    CollectedDiagnostics diagnostics(program.context.get());
    PassManager pm(program.context.get());
    buildToLoPipeline(pm);
    buildToTensorPipeline(pm);
    if (failed(pm.run(*program.module)))
      return absl::InvalidArgumentError(diagnostics.text());
  }
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<CpuExecutable> code, CpuExecutable::compile(*program.module));
  return std::make_unique<CompiledExecutable>(std::move(code));
}

} // namespace hjx
