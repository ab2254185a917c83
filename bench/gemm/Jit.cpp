// SPDX-License-Identifier: Apache-2.0
//
// See Jit.h.
#include "bench/gemm/Jit.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>

using namespace mlir;
namespace hjx::bench {

template <typename T> static T unwrap(llvm::Expected<T> value) {
  if (!value) {
    llvm::errs() << "jit: " << llvm::toString(value.takeError()) << "\n";
    exit(1);
  }
  return std::move(*value);
}
static void check(llvm::Error error) {
  if (error) {
    llvm::errs() << "jit: " << llvm::toString(std::move(error)) << "\n";
    exit(1);
  }
}

LogicalResult lowerToLlvm(ModuleOp module) {
  DialectRegistry registry;
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  PassManager pm(module.getContext());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

static std::unique_ptr<llvm::TargetMachine> makeMachine(const JitTarget &target) {
  static bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto builder = unwrap(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!target.cpu.empty()) {
    builder.setCPU(target.cpu);
    builder.getFeatures() = llvm::SubtargetFeatures();
  }
  for (const std::string &feature : llvm::SubtargetFeatures(target.features).getFeatures())
    builder.getFeatures().AddFeature(feature.substr(1), feature[0] == '+');
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  return unwrap(builder.createTargetMachine());
}

static std::unique_ptr<llvm::Module> optimised(ModuleOp module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context);
  if (!result)
    exit(1);
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*result, mam);
  return result;
}

Jit Jit::compile(ModuleOp module, const JitTarget &target, const JitSymbols &symbols) {
  auto start = std::chrono::steady_clock::now();
  auto machine = makeMachine(target);
  llvm::LLVMContext context;
  auto llvmModule = optimised(module, context, *machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager codegen;
  machine->addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::ObjectFile);
  codegen.run(*llvmModule);

  Jit jit;
  jit.lljit = unwrap(llvm::orc::LLJITBuilder().create());
  llvm::orc::JITDylib &dylib = jit.lljit->getMainJITDylib();
  dylib.addGenerator(unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.lljit->getDataLayout().getGlobalPrefix())));
  llvm::orc::SymbolMap map;
  for (auto &[name, address] : symbols)
    map[jit.lljit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                             llvm::JITSymbolFlags::Exported};
  check(dylib.define(llvm::orc::absoluteSymbols(std::move(map))));
  check(jit.lljit->addObjectFile(
      std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), false)));
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  jit.compileMs = elapsed.count();
  return jit;
}

void *Jit::address(const std::string &name) const {
  return unwrap(lljit->lookup(name)).toPtr<void *>();
}

std::string emitAssembly(ModuleOp module, const JitTarget &target) {
  auto machine = makeMachine(target);
  llvm::LLVMContext context;
  auto llvmModule = optimised(module, context, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager codegen;
  machine->addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::AssemblyFile);
  codegen.run(*llvmModule);
  return text.str().str();
}

} // namespace hjx::bench
