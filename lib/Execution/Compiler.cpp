// SPDX-License-Identifier: Apache-2.0
//
// From a traced module to an executable.
#include "lib/Execution/Compiler.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/Executable.h"
#include "lib/Execution/InterpretedExecutable.h"
#include "lib/Execution/TextCache.h"
#include "lib/HiTypes/Passes.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Register.h"
#include "lib/Refs/Passes.h"
#include "runtime/Environment.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace hjx {

static void offerDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
}

absl::Status expandTransforms(ModuleOp traced) {
  offerDialects(*traced.getContext());
  CollectedDiagnostics diagnostics(traced.getContext());
  PassManager pm(traced.getContext());
  buildToPurePipeline(pm);
  return succeeded(pm.run(traced)) ? absl::OkStatus() : absl::InvalidArgumentError(diagnostics.text());
}

static bool usesHiTypes(ModuleOp module) {
  auto isHi = [](Type type) {
    auto ref = dyn_cast<ir::RefType>(type);
    return isa<ir::HiType>(ref ? ref.getValueType() : type);
  };
  WalkResult walk = module.walk([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    bool found = isa<ir::CallPrimitiveOp>(op) || llvm::any_of(op->getResultTypes(), isHi) ||
                 (function && llvm::any_of(function.getArgumentTypes(), isHi));
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// What runs a program knows arrays only: @main takes and returns the components of hi values.
static absl::Status lowerHiTypes(ModuleOp module) {
  if (!usesHiTypes(module))
    return absl::OkStatus();
  CollectedDiagnostics diagnostics(module.getContext());
  PassManager pm(module.getContext());
  pm.addPass(createDischargeRefs());
  pm.addPass(createLowerHi());
  return succeeded(pm.run(module)) ? absl::OkStatus() : absl::InvalidArgumentError(diagnostics.text());
}

absl::Status expandHiTypes(ModuleOp traced) {
  if (!usesHiTypes(traced))
    return absl::OkStatus();
  HJX_RETURN_IF_ERROR(expandTransforms(traced));
  return lowerHiTypes(traced);
}

absl::StatusOr<std::unique_ptr<Executable>> compile(Program program) {
  HJX_RETURN_IF_ERROR(expandTransforms(*program.module));
  HJX_RETURN_IF_ERROR(lowerHiTypes(*program.module));
  return defaultBackend() == Backend::Cpu ? compileProgram(std::move(program)) : interpretProgram(std::move(program));
}

absl::StatusOr<Program> parseProgram(const std::string &text) {
  Program program{std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED), {}};
  offerDialects(*program.context);
  program.module = parseSourceString<ModuleOp>(text, program.context.get());
  if (!program.module)
    return absl::InternalError("a recorded program does not parse:\n" + text);
  return program;
}

absl::StatusOr<std::shared_ptr<const Executable>> findOrCompile(const std::string &text) {
  static TextCache<Executable> cache;
  return cache.find(text, [&]() -> TextCache<Executable>::Result {
    HJX_ASSIGN_OR_RETURN(Program program, parseProgram(text));
    return compile(std::move(program));
  });
}

} // namespace hjx
