// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/InterpretedExecutable.h"

#include "lib/Execution/Diagnostics.h"
#include "lib/Interpreter/Interpreter.h"

#include "absl/synchronization/mutex.h"

using namespace mlir;

namespace hjx {
namespace {

class InterpretedExecutable : public Executable {
public:
  explicit InterpretedExecutable(Program program) : program(std::move(program)) {
    main = this->program.module->lookupSymbol<func::FuncOp>("main");
  }

  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const override {
    absl::MutexLock lock(&mutex); // The context belongs to one thread at a time.
    SmallVector<HostArray> arguments;
    for (auto [type, input] : llvm::zip_equal(main.getArgumentTypes(), inputs)) {
      HostArray &array = arguments.emplace_back(cast<RankedTensorType>(type));
      std::memcpy(array.bytes().data(), input, array.bytes().size());
    }
    CollectedDiagnostics diagnostics(program.context.get());
    FailureOr<SmallVector<HostArray>> results = interpret(main, arguments);
    if (failed(results))
      return absl::InvalidArgumentError(diagnostics.text());
    for (auto [result, output] : llvm::zip_equal(*results, outputs))
      std::memcpy(output, result.bytes().data(), result.bytes().size());
    return absl::OkStatus();
  }

private:
  Program program;
  mutable func::FuncOp main;
  mutable absl::Mutex mutex;
};

} // namespace

absl::StatusOr<std::unique_ptr<Executable>> interpretProgram(Program program) {
  return std::make_unique<InterpretedExecutable>(std::move(program));
}

} // namespace hjx
