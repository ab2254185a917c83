// SPDX-License-Identifier: Apache-2.0
//
// From a traced module to an executable.
#include "lib/Execution/Compiler.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/Executable.h"
#include "lib/Execution/InterpretedExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "lib/Execution/TextCache.h"
#include "lib/HiTypes/Passes.h"
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

absl::Status expandTransforms(ModuleOp traced, bool forGpu) {
  offerDialects(*traced.getContext());
  LowerOptions options;
  options.forGpu = forGpu;
  return lowerModule(traced, Stage::Traced, Stage::Pure, options);
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
  return succeeded(pm.run(module)) && !diagnostics.hasErrors() ? absl::OkStatus() : absl::InvalidArgumentError(diagnostics.text());
}

absl::Status expandHiTypes(ModuleOp traced) {
  if (!usesHiTypes(traced))
    return absl::OkStatus();
  HJX_RETURN_IF_ERROR(expandTransforms(traced));
  return lowerHiTypes(traced);
}

absl::StatusOr<Program> parseProgram(const std::string &text) {
  Program program{std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED), {}};
  offerDialects(*program.context);
  program.module = parseSourceString<ModuleOp>(text, program.context.get());
  if (!program.module)
    return absl::InternalError("a recorded program does not parse:\n" + text);
  return program;
}

//===----------------------------------------------------------------------===//
// Programs on devices
//===----------------------------------------------------------------------===//

/// "cpu", "sm_80": devices of one kind run the same code. What is measured on a GPU is for those of its name.
static absl::StatusOr<std::string> kindOf(const RuntimeDevice &device) {
  if (device.kind() == DeviceKind::Cpu)
    return "cpu";
  HJX_ASSIGN_OR_RETURN(std::string chip, chipFor(device.info()));
  return autotune() ? chip + " " + device.info().description : chip;
}

static absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileFor(RuntimeDevice &device, Program program) {
  bool forGpu = device.kind() != DeviceKind::Cpu;
  HJX_RETURN_IF_ERROR(expandTransforms(*program.module, forGpu));
  HJX_RETURN_IF_ERROR(lowerHiTypes(*program.module));
  if (forGpu)
    return compileForGpu(std::move(program), device);
  return defaultBackend() == Backend::Cpu ? compileForCpu(std::move(program)) : compileForInterpreter(std::move(program));
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().assumeVerified().enableDebugInfo());
  return text;
}

PlacedProgram::PlacedProgram(std::string text) : text(std::move(text)) {}
PlacedProgram::PlacedProgram(Program program) : text(textOf(*program.module)), fresh(std::move(program)) {}
PlacedProgram::~PlacedProgram() = default;

absl::StatusOr<const Executable *> PlacedProgram::on(RuntimeDevice &device, bool *wasCompiled) const {
  absl::MutexLock lock(&mutex);
  for (const auto &[known, executable] : executables)
    if (known == &device)
      return executable.get();
  HJX_ASSIGN_OR_RETURN(std::string kind, kindOf(device));
  auto found = llvm::find_if(compilations, [&](const auto &compilation) { return compilation->kind == kind; });
  if (found == compilations.end()) {
    Program program = std::move(fresh);
    if (!program.module) {
      HJX_ASSIGN_OR_RETURN(program, parseProgram(text));
    }
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceCompilation> compilation, compileFor(device, std::move(program)));
    compilation->kind = kind;
    compilations.push_back(std::move(compilation));
    found = std::prev(compilations.end());
    if (wasCompiled)
      *wasCompiled = true;
  }
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, (*found)->on(device));
  executables.emplace_back(&device, std::move(executable));
  return executables.back().second.get();
}

std::shared_ptr<const PlacedProgram> findProgram(const std::string &text) {
  static TextCache<PlacedProgram> cache;
  return *cache.find(text, [&]() -> TextCache<PlacedProgram>::Result { return std::make_shared<const PlacedProgram>(text); });
}

} // namespace hjx
