// SPDX-License-Identifier: Apache-2.0
//
// Kernels and launches: see the header.
#include "lib/Codegen/Gpu/KernelModule.h"

#include "lib/Codegen/Structured/Passes.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

static gpu::GPUModuleOp deviceOf(ModuleOp host, StringRef chip) {
  if (gpu::GPUModuleOp device = deviceModule(host))
    return device;
  auto b = ImplicitLocOpBuilder::atBlockEnd(host.getLoc(), host.getBody());
  host->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
  Attribute target = NVVM::NVVMTargetAttr::get(b.getContext(), /*optLevel=*/3, kPtxTriple,
                                               chip, PtxOptions().features);
  return gpu::GPUModuleOp::create(b, kDeviceModuleName, ArrayRef<Attribute>{target});
}

KernelCalls hjx::kernelCalls(ModuleOp module) {
  KernelCalls kernels;
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelAttr))
      kernels[function];
  module.walk([&](func::CallOp call) {
    auto it = kernels.find(symbols.lookup<func::FuncOp>(call.getCallee()));
    if (it != kernels.end())
      it->second.push_back(call);
  });
  return kernels;
}

KernelModule::KernelModule(ModuleOp host, StringRef chip)
    : device(deviceOf(host, chip)), chip(chip), symbols(device) {}

gpu::GPUFuncOp KernelModule::createKernel(Location loc, const Twine &name, TypeRange arguments) {
  OpBuilder b(loc.getContext());
  auto type = b.getFunctionType(arguments, {});
  auto kernel = gpu::GPUFuncOp::create(b, loc, name.str(), type);
  symbols.insert(kernel, device.getBody()->end()); // Makes the name unique.
  auto body = ImplicitLocOpBuilder::atBlockEnd(loc, &kernel.front());
  gpu::ReturnOp::create(body);
  return kernel;
}

gpu::GPUFuncOp KernelModule::share(StringRef key, llvm::function_ref<gpu::GPUFuncOp()> make) {
  auto [it, isNew] = shared.try_emplace(key);
  if (isNew)
    it->second = make();
  return it->second;
}

gpu::GPUFuncOp KernelModule::takeKernel(func::FuncOp function, ArrayRef<BufferFacts> facts) {
  gpu::GPUFuncOp kernel =
      createKernel(function.getLoc(), function.getName(), function.getArgumentTypes());
  Block &from = function.front(), &to = kernel.front();
  from.getTerminator()->erase();
  for (auto [argument, replacement] : llvm::zip(from.getArguments(), to.getArguments()))
    argument.replaceAllUsesWith(replacement);
  to.getOperations().splice(to.begin(), from.getOperations());
  Builder b(function.getContext());
  for (auto [index, fact] : llvm::enumerate(facts)) {
    if (!isa<MemRefType>(function.getArgumentTypes()[index]))
      continue;
    kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(fact.alignment));
    if (fact.isAlone)
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (!fact.isWritten)
      kernel.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  return kernel;
}

int64_t KernelModule::addCounters(int64_t count) {
  OpBuilder b(device.getContext());
  auto global = device.lookupSymbol<LLVM::GlobalOp>(kCounters);
  int64_t first = global ? static_cast<int64_t>(cast<LLVM::LLVMArrayType>(global.getGlobalType()).getNumElements()) : 0;
  auto type = LLVM::LLVMArrayType::get(b.getI32Type(), first + count);
  Attribute zeros = DenseElementsAttr::get(RankedTensorType::get({first + count}, b.getI32Type()), b.getI32IntegerAttr(0));
  if (global) {
    global.setGlobalType(type);
    global.setValueAttr(zeros);
    return first;
  }
  b.setInsertionPointToStart(device.getBody());
  constexpr auto kGlobal = static_cast<unsigned>(NVVM::NVVMMemorySpace::Global);
  LLVM::GlobalOp::create(b, device.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::Internal, kCounters, zeros,
                         /*alignment=*/0, kGlobal);
  return first;
}

void KernelModule::launch(ImplicitLocOpBuilder &b, const Launch &launch, ValueRange arguments) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto extent = [&](int64_t size) {
    return gpu::KernelDim3{arith::ConstantIndexOp::create(b, size), one, one};
  };
  gpu::LaunchFuncOp::create(b, launch.kernel, extent(launch.numBlocks), extent(launch.blockSize),
                            /*dynamicSharedMemorySize=*/Value(), arguments);
}
