// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CompiledFunction.h"

#include "dialects/hjx/Attention.h"
#include "lib/Data/Status.h"
#include "lib/Execution/Compiler.h"
#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/InterpretedFunction.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "runtime/Environment.h"

#include "mlir/IR/SymbolTable.h"
#include "absl/strings/str_cat.h"

#include <chrono>

using namespace mlir;

namespace hjx {

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
    if (isa<ir::AttentionOp, ir::AttentionCotangentOp>(op)) {
      // Scores, and what is made of them; query positions, heads and batch are the elements of logsumexp.
      auto query = cast<RankedTensorType>(op.getOperand(0).getType()), value = cast<RankedTensorType>(op.getOperand(2).getType());
      double d = static_cast<double>(query.getShape().back()), e = static_cast<double>(value.getShape().back());
      double scores = static_cast<double>(query.getNumElements()) / std::max(d, 1.0) *
                      static_cast<double>(value.getDimSize(value.getRank() - 3));
      flops += 2 * scores * (isa<ir::AttentionOp>(op) ? d + e : 3 * d + 2 * e);
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

static absl::StatusOr<std::unique_ptr<DeviceExecutable>> generateCode(OwningOpRef<ModuleOp> program, Stage from,
                                                                      const FunctionCompileOptions &options) {
  ModuleOp module = *program;
  if (options.device->kind() == DeviceKind::Cpu && defaultBackend() == Backend::Interpreter) {
    if (from > Stage::Lo)
      return badInput("HJX_BACKEND=interpreter", "a program at the traced, pure or lo stage", nameOf(from).str(),
                      "the interpreter runs the hjx dialect; start from an earlier stage");
    HJX_RETURN_IF_ERROR(expandHiTypes(module));
    return interpretFunction(std::move(program), *options.device);
  }
  if (options.device->kind() == DeviceKind::Cpu) {
    CpuOptions cpu;
    cpu.device = options.device;
    cpu.startFrom = from;
    cpu.dumpDir = options.dumpDir;
    cpu.profile = options.profile;
    return CpuExecutable::compile(module, cpu);
  }
  GpuOptions gpu;
  HJX_ASSIGN_OR_RETURN(gpu.chip, chipFor(options.device->info()));
  gpu.startFrom = from;
  gpu.device = options.device;
  gpu.dumpDir = options.dumpDir;
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> compiled, GpuProgram::compile(module, gpu));
  return compiled->load(*options.device, {options.profile, options.trace});
}

absl::StatusOr<CompiledFunction> CompiledFunction::compile(OwningOpRef<ModuleOp> program, const std::string &name,
                                                           const FunctionCompileOptions &options) {
  auto began = std::chrono::steady_clock::now();
  CompiledFunction compiled;
  HJX_ASSIGN_OR_RETURN(compiled.signature, readGraphFunction(*program, name));
  auto within = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
  };
  LowerOptions lower;
  lower.forGpu = options.device->kind() != DeviceKind::Cpu;
  lower.dumpDir = options.dumpDir;
  Stage counted = std::max(options.startFrom, Stage::Lo); // where hi-types have become products, too
  if (absl::Status status = lowerModule(*program, options.startFrom, counted, lower); !status.ok())
    return within(status);
  compiled.numFlops = countFlops(*program);
  absl::StatusOr<std::unique_ptr<DeviceExecutable>> code = generateCode(std::move(program), counted, options);
  if (!code.ok())
    return within(code.status());
  compiled.code = std::move(*code);

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
