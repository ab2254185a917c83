// SPDX-License-Identifier: Apache-2.0
//
// Text → MLIR → hjx-expand-math → LLVM IR → ORC or PTX, with the shortest pipeline that
// works.
#include "test/unit/MathKernel.h"

#include "lib/Codegen/Math/ExpandMath.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace hjx::test {
namespace {

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(toString(value.takeError()).c_str());
  return std::move(*value);
}

bool isBuilderFunction(const KernelSpec &spec) { return spec.body.find('%') == std::string::npos; }

std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string kernelText(const KernelSpec &spec, unsigned index) {
  std::string text = R"(
    func.func @kernelINDEX(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %n: i64) {
      %zero = arith.constant 0 : i64
      %step = arith.constant STEP : i64
      scf.for %i = %zero to %n step %step : i64 {
        %pa = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELT
        %pb = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELT
        %pc = llvm.getelementptr %c[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELT
        %x = llvm.load %pa {alignment = 2 : i64} : !llvm.ptr -> TYPE
        %w = llvm.load %pb {alignment = 2 : i64} : !llvm.ptr -> TYPE
        BODY
        llvm.store %y, %pc {alignment = 2 : i64} : TYPE, !llvm.ptr
      }
      return
    })";
  std::string body = spec.body;
  if (isBuilderFunction(spec)) {
    body = "%y = func.call @" + spec.body + "INDEX(%x) : (TYPE) -> TYPE";
    text += "\n    func.func private @" + spec.body + "INDEX(TYPE) -> TYPE";
  }
  text = replaceAll(text, "BODY", body);
  text = replaceAll(text, "INDEX", std::to_string(index));
  text = replaceAll(text, "STEP", std::to_string(std::max(spec.lanes, 1)));
  text = replaceAll(text, "TYPE",
                    spec.lanes ? "vector<" + std::to_string(spec.lanes) + "xELT>" : "ELT");
  return replaceAll(text, "ELT", spec.element);
}

/// Replaces calls of the placeholders by what the builder-level functions emit.
void emitBuilderFunctions(ModuleOp module) {
  module.walk([](func::CallOp call) {
    ImplicitLocOpBuilder builder(call.getLoc(), call);
    bool isErfInv = call.getCallee().starts_with("erf_inv");
    Value x = call.getOperand(0);
    call.getResult(0).replaceAllUsesWith(isErfInv ? emitErfInv(builder, x)
                                                  : emitLogistic(builder, x));
    call.erase();
  });
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function.isDeclaration())
      function.erase();
}

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  mlir::math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::unique_ptr<llvm::Module> toLlvm(const std::vector<KernelSpec> &specs,
                                     llvm::LLVMContext &llvmContext) {
  std::string text;
  for (auto [i, spec] : llvm::enumerate(specs))
    text += kernelText(spec, i);
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    llvm::report_fatal_error(("cannot parse" + text).c_str());
  emitBuilderFunctions(*module);
  PassManager passes(context.get());
  passes.addPass(createExpandMath());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    llvm::report_fatal_error(("cannot lower" + text).c_str());
  return translateModuleToLLVMIR(*module, llvmContext);
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

} // namespace

struct Kernel::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Kernel::Kernel(const KernelSpec &spec) : code(std::make_unique<Code>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto host = check(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!spec.cpu.empty())
    host.setCPU(spec.cpu).getFeatures() = llvm::SubtargetFeatures();
  host.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = check(host.createTargetMachine());
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto module = toLlvm({spec}, *llvmContext);
  for (llvm::Function &function : *module)
    function.addFnAttr("prefer-vector-width", "256");
  optimize(*module, *machine);
  code->jit = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host).create());
  llvm::cantFail(code->jit->addIRModule({std::move(module), std::move(llvmContext)}));
  entry = check(code->jit->lookup("kernel0"))
              .toPtr<void(const void *, const void *, void *, int64_t)>();
}

Kernel::~Kernel() = default;
Kernel::Kernel(Kernel &&) = default;

std::string compileToPtx(const std::vector<KernelSpec> &specs, const std::string &chip) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip, "+ptx80", {}, std::nullopt));
  llvm::LLVMContext llvmContext;
  auto module = toLlvm(specs, llvmContext);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  optimize(*module, *machine);
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    llvm::report_fatal_error("NVPTX cannot emit assembly");
  passes.run(*module);
  return ptx.str().str();
}

} // namespace hjx::test
