// SPDX-License-Identifier: Apache-2.0
//
// LLVM IR, optimisation and ORC: see the header.
#include "lib/Target/Jit.h"

#include "runtime/Abi.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace hjx;
using namespace llvm;

// Cleans up what the MLIR lowering leaves (address arithmetic, descriptors in
// registers, redundant loads); no vectoriser, no unroller, no inliner.
static constexpr StringLiteral kPasses =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,"
    "loop(indvars),gvn,dse,loop-mssa(licm),instcombine<no-verify-fixpoint>)";

Jit::Jit() = default;
Jit::~Jit() = default;

static Error jitError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "cpu: " + message);
}

static Expected<orc::JITTargetMachineBuilder> hostMachine(const JitOptions &options) {
  static bool initialised = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)initialised;
  Expected<orc::JITTargetMachineBuilder> builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder;
  if (!options.cpu.empty()) {
    builder->setCPU(options.cpu);
    builder->getFeatures() = SubtargetFeatures(options.features);
  } else if (!options.features.empty()) {
    builder->getFeatures() = SubtargetFeatures(options.features);
  }
  builder->setCodeGenOptLevel(options.optLevel == 0 ? CodeGenOptLevel::None
                                                    : CodeGenOptLevel::Less);
  // Contraction would change results; the expansions ask for fma where they want it.
  builder->getOptions().AllowFPOpFusion = FPOpFusion::Strict;
  return builder;
}

static Error optimise(llvm::Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, kPasses))
    return error;
  passes.run(module, modules);
  return Error::success();
}

static Error dumpAssembly(llvm::Module &module, TargetMachine &machine, raw_ostream &os) {
  module.print(os, nullptr);
  std::unique_ptr<llvm::Module> copy = CloneModule(module);
  SmallString<0> assembly;
  raw_svector_ostream stream(assembly);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    return jitError("the target cannot print assembly");
  passes.run(*copy);
  os << assembly;
  return Error::success();
}

Expected<std::unique_ptr<Jit>> Jit::compile(mlir::ModuleOp module, const JitOptions &options) {
  Expected<orc::JITTargetMachineBuilder> builder = hostMachine(options);
  if (!builder)
    return builder.takeError();
  Expected<std::unique_ptr<TargetMachine>> machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();

  auto context = std::make_unique<LLVMContext>();
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, *context, "hjx");
  if (!code)
    return jitError("translation to LLVM IR failed");
  // Without a triple llc turns memset into a loop over bytes.
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  if (options.optLevel > 0)
    if (Error error = optimise(*code, **machine))
      return error;
  if (options.dump)
    if (Error error = dumpAssembly(*code, **machine, *options.dump))
      return error;

  std::unique_ptr<Jit> result(new Jit);
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);
  orc::JITDylib &library = result->jit->getMainJITDylib();
  orc::SymbolMap symbols;
  for (const AbiSymbol &symbol : abiSymbols())
    symbols[result->jit->mangleAndIntern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address), JITSymbolFlags::Exported};
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  // The C library: memcpy and friends, and what mathematics has no expansion of ours.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      result->jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (Error error =
          result->jit->addIRModule(orc::ThreadSafeModule(std::move(code), std::move(context))))
    return error;
  return result;
}

Expected<void *> Jit::lookup(StringRef name) const {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}
