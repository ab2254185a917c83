// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/InterpretedExecutable.h"

#include "dialects/hjx/Effects.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Interpreter/Interpreter.h"

#include "absl/synchronization/mutex.h"

using namespace mlir;

namespace hjx {
namespace {

class EvaluatedProgram {
public:
  explicit EvaluatedProgram(Program program) : program(std::move(program)) {
    main = this->program.module->lookupSymbol<func::FuncOp>("main");
  }

  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const {
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
    for (auto [result, output] : llvm::zip(*results, outputs))
      std::memcpy(output, result.bytes().data(), result.bytes().size());
    // Memory that the caller lets us write: of a ref, or, once it was discharged, of a result behind the others.
    for (auto [i, input] : llvm::enumerate(inputs)) {
      auto alias = main.getArgAttrOfType<IntegerAttr>(i, "hjx.alias");
      bool isDischarged = alias && alias.getInt() >= static_cast<int64_t>(outputs.size());
      if (!isDischarged && !isa<ir::RefType>(main.getArgumentTypes()[i]))
        continue;
      HostArray &array = isDischarged ? (*results)[alias.getInt()] : arguments[i];
      std::memcpy(const_cast<void *>(input), array.bytes().data(), array.bytes().size());
    }
    return absl::OkStatus();
  }

private:
  Program program;
  mutable func::FuncOp main;
  mutable absl::Mutex mutex;
};

class InterpretedExecutable : public Executable {
public:
  explicit InterpretedExecutable(const EvaluatedProgram &program) : program(program) {}
  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const override {
    return program.run(inputs, outputs);
  }

private:
  const EvaluatedProgram &program;
};

class InterpretedCompilation : public DeviceCompilation {
public:
  explicit InterpretedCompilation(Program program) : program(std::move(program)) {}
  absl::StatusOr<std::unique_ptr<Executable>> on(RuntimeDevice &) const override {
    return std::make_unique<InterpretedExecutable>(program);
  }

private:
  EvaluatedProgram program;
};

} // namespace

absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForInterpreter(Program program) {
  return std::make_unique<InterpretedCompilation>(std::move(program));
}

} // namespace hjx
