// SPDX-License-Identifier: Apache-2.0
//
// LLVM IR, optimisation and ORC: see the header.
#include "lib/Target/Jit.h"

#include "lib/Target/SplitModule.h"
#include "runtime/Abi.h"
#include "runtime/ThreadPool.h"

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

namespace {

/// One part of the program on its way to an object file.
struct Part {
  std::unique_ptr<LLVMContext> context;
  std::unique_ptr<llvm::Module> code;
  std::unique_ptr<TargetMachine> machine;
  std::unique_ptr<MemoryBuffer> object;
  std::optional<Error> failure;

  Error compile(const JitOptions &options) {
    if (options.optLevel > 0)
      if (Error error = optimise(*code, *machine))
        return error;
    if (options.dump)
      if (Error error = dumpAssembly(*code, *machine, *options.dump))
        return error;
    return orc::SimpleCompiler(*machine)(*code).moveInto(object);
  }
};

} // namespace

/// How many parts to compile `module` in: by its size alone, so that the code of a program is the
/// same for any number of threads. More parts than threads balance their sizes. An assembly dump
/// is of the whole.
static unsigned choosePartCount(mlir::ModuleOp module, const JitOptions &options) {
  constexpr int64_t kMinPartOps = 1500; // Smaller ones cost more than they save.
  constexpr int64_t kMaxParts = 16;
  if (options.dump)
    return 1;
  int64_t numOps = 0;
  module.walk([&](mlir::Operation *) { ++numOps; });
  return std::clamp<int64_t>(numOps / kMinPartOps, 1, kMaxParts);
}

/// Translation touches the MLIR context and stays on this thread; what LLVM does to the parts does
/// not, and takes ten times as long.
static Expected<std::vector<Part>> translate(mlir::ModuleOp module,
                                             orc::JITTargetMachineBuilder &builder,
                                             unsigned numParts) {
  std::vector<Part> parts;
  for (mlir::OwningOpRef<mlir::ModuleOp> &source : splitModule(module, numParts)) {
    Part &part = parts.emplace_back();
    Expected<std::unique_ptr<TargetMachine>> machine = builder.createTargetMachine();
    if (!machine)
      return machine.takeError();
    part.machine = std::move(*machine);
    part.context = std::make_unique<LLVMContext>();
    part.code = mlir::translateModuleToLLVMIR(*source, *part.context, "hjx");
    if (!part.code)
      return jitError("translation to LLVM IR failed");
    // Without a triple llc turns memset into a loop over bytes.
    part.code->setTargetTriple(part.machine->getTargetTriple());
    part.code->setDataLayout(part.machine->createDataLayout());
  }
  return parts;
}

Expected<std::unique_ptr<Jit>> Jit::compile(mlir::ModuleOp module, const JitOptions &options) {
  Expected<orc::JITTargetMachineBuilder> builder = hostMachine(options);
  if (!builder)
    return builder.takeError();
  Expected<std::vector<Part>> parts =
      translate(module, *builder, choosePartCount(module, options));
  if (!parts)
    return parts.takeError();
  struct Work {
    std::vector<Part> &parts;
    const JitOptions &options;
  } work{*parts, options};
  ThreadPool::global().parallelFor(
      [](void *env, int64_t begin, int64_t end) {
        auto &[parts, options] = *static_cast<Work *>(env);
        for (int64_t i = begin; i < end; ++i)
          if (Error error = parts[i].compile(options))
            parts[i].failure = std::move(error);
      },
      &work, parts->size(), /*grain=*/1);
  Error error = Error::success();
  for (Part &part : *parts)
    if (part.failure)
      error = joinErrors(std::move(error), std::move(*part.failure));
  if (error)
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
  for (Part &part : *parts)
    if (Error error = result->jit->addObjectFile(std::move(part.object)))
      return error;
  return result;
}

Expected<void *> Jit::lookup(StringRef name) const {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}
