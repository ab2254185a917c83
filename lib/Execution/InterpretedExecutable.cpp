// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/InterpretedExecutable.h"

#include "dialects/hjx/Effects.h"
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
      HostArray &array = arguments.emplace_back(cast<RankedTensorType>(ir::heldType(type)));
      std::memcpy(array.bytes().data(), input, array.bytes().size());
    }
    CollectedDiagnostics diagnostics(program.context.get());
    FailureOr<SmallVector<HostArray>> results = interpretInPlace(main, arguments);
    if (failed(results))
      return absl::InvalidArgumentError(diagnostics.text());
    for (auto [result, output] : llvm::zip_equal(*results, outputs))
      std::memcpy(output, result.bytes().data(), result.bytes().size());
    for (auto [type, input, argument] : llvm::zip_equal(main.getArgumentTypes(), inputs, arguments))
      if (isa<ir::RefType>(type)) // memory that the caller lets us write
        std::memcpy(const_cast<void *>(input), argument.bytes().data(), argument.bytes().size());
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
