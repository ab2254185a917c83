// SPDX-License-Identifier: Apache-2.0
//
// LLVM IR, optimisation and the NVPTX backend: see the header.
#include "lib/Target/Ptx/Ptx.h"

#include "lib/Support/Places.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace hjx;
using namespace llvm;

static Error ptxError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "ptx: " + message);
}

static Expected<std::unique_ptr<TargetMachine>> createMachine(const PtxOptions &options) {
  static bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  Triple triple(kPtxTriple);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return ptxError("this LLVM has no PTX backend: " + message);
  TargetOptions targetOptions;
  // Contraction would change results; the expansions ask for fma where they want it.
  targetOptions.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, options.chip, options.features, targetOptions, Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(options.chip))
    return ptxError("expected a chip such as sm_80 or sm_90, got '" + options.chip + "'");
  return machine;
}

static void optimise(llvm::Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  // Kernels come with their vectors; a GPU has nothing to gain from more.
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

/// Whether the backend selects instructions for a call of `intrinsic`; it aborts the process on
/// those that it does not.
static bool isSelectable(const Function &intrinsic) {
  if (intrinsic.getName().starts_with("llvm.nvvm."))
    return true;
  switch (intrinsic.getIntrinsicID()) {
  case Intrinsic::abs:
  case Intrinsic::assume:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ceil:
  case Intrinsic::copysign:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::fma:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::is_fpclass:
  case Intrinsic::lifetime_end:
  case Intrinsic::lifetime_start:
  case Intrinsic::maximum:
  case Intrinsic::maxnum:
  case Intrinsic::memcpy:
  case Intrinsic::memmove:
  case Intrinsic::memset:
  case Intrinsic::minimum:
  case Intrinsic::minnum:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::sadd_sat:
  case Intrinsic::scmp:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::sqrt:
  case Intrinsic::ssub_sat:
  case Intrinsic::trunc:
  case Intrinsic::uadd_sat:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ucmp:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::usub_sat:
    return true;
  default:
    return false;
  }
}

static Error screen(const llvm::Module &module) {
  for (const Function &function : module) {
    if (!function.isDeclaration() || function.use_empty() ||
        (function.isIntrinsic() && isSelectable(function)))
      continue;
    auto *user = dyn_cast<Instruction>(*function.user_begin());
    return ptxError("kernel '" + (user ? user->getFunction()->getName() : "?") + "' calls '" +
                    function.getName() +
                    "', for which a GPU has no code\n  help: expand it with hjx-expand-math");
  }
  return Error::success();
}

Expected<DeviceCode> hjx::emitPtx(mlir::gpu::GPUModuleOp device, const PtxOptions &options) {
  // The backend aborts on instructions that a chip does not have.
  for (mlir::Attribute attribute : device.getTargetsAttr() ? device.getTargetsAttr().getValue() : ArrayRef<mlir::Attribute>())
    if (auto target = dyn_cast<mlir::NVVM::NVVMTargetAttr>(attribute);
        target && target.getChip().ends_with("a") && target.getChip() != options.chip)
      return ptxError("expected chip " + target.getChip() + ", for which the kernels were generated, got '" +
                      options.chip + "'\n  help: generate the kernels for that chip, or name theirs");
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(options);
  if (!machine)
    return machine.takeError();
  DeviceCode code;
  SmallString<0> text;
  raw_svector_ostream stream(text);
  for (auto kernel : device.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (kernel->hasAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName())) {
      code.kernelNames.push_back(kernel.getName().str());
      code.kernelPlaces.push_back(placeOf(kernel.getLoc()));
    }
    if (auto bytes = kernel->getAttrOfType<mlir::IntegerAttr>(kDynamicSharedAttr))
      stream << "// " << kernel.getName() << ": " << bytes.getInt() << " bytes of dynamic shared memory\n";
  }

  LLVMContext context;
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(device, context, "device");
  if (!module)
    return ptxError("translation to LLVM IR failed");
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  optimise(*module, **machine);
  if (options.dumpIr)
    module->print(*options.dumpIr, nullptr);
  if (Error error = screen(*module))
    return error;
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    return ptxError("the backend cannot print assembly");
  passes.run(*module);
  code.ptx = text.str().str();
  return code;
}
