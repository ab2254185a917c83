// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CompiledFunction.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Data/Status.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Stages.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace mlir;

namespace hjx {

constexpr std::pair<std::string_view, ModuleStage> kStages[] = {{"traced", ModuleStage::Traced},
                                                                {"pure", ModuleStage::Pure},
                                                                {"lo", ModuleStage::Lo},
                                                                {"tensor", ModuleStage::Tensor},
                                                                {"kernel", ModuleStage::Kernel}};

absl::StatusOr<ModuleStage> parseModuleStage(std::string_view name) {
  std::vector<std::string> names;
  for (auto [candidate, stage] : kStages) {
    if (name == candidate)
      return stage;
    names.emplace_back(candidate);
  }
  std::string nearest = nearestName(name, names);
  return badInput("stage", "traced, pure, lo, tensor or kernel", absl::StrCat("'", printable(name), "'"),
                  nearest.empty() ? "see docs/debugging.md" : absl::StrCat("did you mean '", nearest, "'?"));
}

/// Writes hjx.alias on state arguments, and the names that the runner made up, so that a dump
/// says what the whole graph said.
static void completeSignature(func::FuncOp main, const GraphFunction &signature) {
  Builder b(main.getContext());
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    main.setArgAttr(i, "hjx.name", b.getStringAttr(argument.name));
    if (argument.role != "state")
      continue;
    for (auto [j, result] : llvm::enumerate(signature.results))
      if (result.role == "state" && result.name == argument.name &&
          main.getArgumentTypes()[i] == main.getResultTypes()[j])
        main.setArgAttr(i, "hjx.alias", b.getI64IntegerAttr(static_cast<int64_t>(j)));
  }
  for (auto [j, result] : llvm::enumerate(signature.results))
    main.setResultAttr(j, "hjx.name", b.getStringAttr(result.name));
}

absl::StatusOr<OwningOpRef<ModuleOp>> extractFunction(ModuleOp module, const std::string &name) {
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      names.push_back(function.getSymName().str());
  auto found = module.lookupSymbol<func::FuncOp>(name);
  if (!found || !found.isPublic()) {
    std::string nearest = nearestName(name, names);
    return badInput(absl::StrCat("function '", printable(name), "'"),
                    absl::StrCat("one of ", printable(llvm::join(names, ", "), 400)), "another name",
                    nearest.empty() ? "name a public function" : absl::StrCat("did you mean '", nearest, "'?"));
  }
  HJX_ASSIGN_OR_RETURN(GraphFunction signature, readGraphFunction(found));

  OwningOpRef<ModuleOp> copy = module.clone();
  SymbolTable symbols(*copy);
  auto chosen = symbols.lookup<func::FuncOp>(name);
  for (auto function : copy->getOps<func::FuncOp>())
    if (function != chosen)
      function.setPrivate();
  if (name != "main") {
    if (Operation *other = symbols.lookup("main"))
      (void)symbols.renameToUnique(other, {});
    if (failed(symbols.rename(chosen, "main")))
      return absl::InternalError(absl::StrCat("cannot rename '", name, "'"));
  }
  completeSignature(chosen, signature);
  return copy;
}

static absl::Status dump(ModuleOp module, const std::string &folder, ModuleStage stage) {
  if (folder.empty())
    return absl::OkStatus();
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return absl::InvalidArgumentError(absl::StrCat(folder, ": cannot create: ", error.message()));
  auto [name, unused] = kStages[static_cast<int>(stage)];
  std::string path = absl::StrCat(folder, "/", static_cast<int>(stage) + 1, "-", std::string(name), ".mlir");
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    module.print(os);
  return error ? absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: ", error.message())) : absl::OkStatus();
}

absl::Status lowerModule(ModuleOp module, ModuleStage from, ModuleStage to, const std::string &folder) {
  HJX_RETURN_IF_ERROR(dump(module, folder, from));
  for (int stage = static_cast<int>(from) + 1; stage <= static_cast<int>(to); ++stage) {
    CollectedDiagnostics diagnostics(module.getContext());
    PassManager pm(module.getContext());
    pm.enableVerifier(false); // once below: each pipeline ends in its stage's check
    switch (static_cast<ModuleStage>(stage)) {
    case ModuleStage::Pure:
      buildToPurePipeline(pm);
      break;
    case ModuleStage::Lo:
      buildToLoPipeline(pm);
      break;
    case ModuleStage::Tensor:
      buildToTensorPipeline(pm);
      break;
    case ModuleStage::Traced:
    case ModuleStage::Kernel:
      return absl::InternalError("lowerModule goes from traced to tensor at most");
    }
    if (failed(pm.run(module)) || failed(mlir::verify(module)))
      return absl::InvalidArgumentError(diagnostics.text());
    HJX_RETURN_IF_ERROR(dump(module, folder, static_cast<ModuleStage>(stage)));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static double flopsOf(Region &region, SymbolTableCollection &symbols) {
  double flops = 0;
  for (Operation &op : region.getOps()) {
    if (auto dot = dyn_cast<ir::DotGeneralOp>(op)) {
      auto lhs = cast<RankedTensorType>(dot->getOperand(0).getType());
      double contracted = 1;
      for (int64_t dim : dot.getLhsContracting())
        contracted *= static_cast<double>(lhs.getDimSize(dim));
      flops += 2 * contracted * static_cast<double>(cast<RankedTensorType>(dot->getResult(0).getType()).getNumElements());
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      if (auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()))
        flops += flopsOf(callee.getBody(), symbols);
    double inside = 0, most = 0;
    for (Region &inner : op.getRegions()) {
      double of = flopsOf(inner, symbols);
      inside += of;
      most = std::max(most, of);
    }
    if (auto scan = dyn_cast<ir::ScanOp>(op))
      flops += inside * static_cast<double>(scan.getLength());
    else
      flops += isa<ir::CondOp>(op) ? most : inside; // one branch runs
  }
  return flops;
}

double countFlops(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SymbolTableCollection symbols;
  return main ? flopsOf(main.getBody(), symbols) : 0;
}

/// CpuExecutable's dumps, numbered after ours.
static void numberDumps(const std::string &folder) {
  for (auto [from, to] : {std::pair{"kernel.mlir", "5-kernel.mlir"}, {"machine.mlir", "6-machine.mlir"}, {"host.ll", "7-host.ll"}})
    (void)llvm::sys::fs::rename(absl::StrCat(folder, "/", from), absl::StrCat(folder, "/", to));
}

absl::StatusOr<CompiledFunction> CompiledFunction::compile(ModuleOp module, const std::string &name,
                                                           const FunctionCompileOptions &options) {
  auto began = std::chrono::steady_clock::now();
  if (options.startFrom == ModuleStage::Kernel)
    return badInput("--start-from", "traced, pure, lo or tensor", "kernel",
                    "code generation starts at the tensor stage; feed 4-tensor.mlir");
  CompiledFunction compiled;
  HJX_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> own, extractFunction(module, name));
  HJX_ASSIGN_OR_RETURN(compiled.signature, readGraphFunction(module.lookupSymbol<func::FuncOp>(name)));
  std::string folder = options.dumpDir.empty() ? "" : absl::StrCat(options.dumpDir, "/", name);
  auto within = [&](absl::Status status) {
    return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
  };
  ModuleStage counted = std::max(options.startFrom, ModuleStage::Pure);
  if (absl::Status status = lowerModule(*own, options.startFrom, counted, folder); !status.ok())
    return within(status);
  compiled.numFlops = countFlops(*own);
  if (counted < ModuleStage::Tensor)
    if (absl::Status status = lowerModule(*own, counted, ModuleStage::Tensor, folder); !status.ok())
      return within(status);
  CpuOptions cpu;
  cpu.dumpDir = folder;
  cpu.profile = options.profile;
  absl::StatusOr<std::unique_ptr<CpuExecutable>> code = CpuExecutable::compile(*own, cpu);
  if (!code.ok())
    return within(code.status());
  compiled.code = std::move(*code);
  if (!folder.empty())
    numberDumps(folder);

  for (auto [values, specs] : {std::pair{&compiled.signature.arguments, &compiled.code->inputs()},
                               std::pair{&compiled.signature.results, &compiled.code->outputs()}}) {
    if (values->size() != specs->size())
      return absl::InternalError(absl::StrCat(name, ": lowering changed the number of arguments or results"));
    for (size_t i = 0; i < values->size(); ++i)
      if ((*values)[i].sizeBytes != (*specs)[i].sizeBytes)
        return absl::InternalError(absl::StrCat(name, ": lowering changed the size of '", (*values)[i].name, "'"));
  }
  compiled.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return compiled;
}

} // namespace hjx
