// SPDX-License-Identifier: Apache-2.0
//
// Kernels as functions of pointers: see Passes.td.
#include "lib/Target/BarePointers.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_LOWERDEVICEABI
#include "lib/Target/Ptx/Passes.h.inc"

namespace {

// Vector loads take up to 16 bytes at once.
constexpr int64_t kSharedAlignment = 16;

struct LowerDeviceAbi : impl::LowerDeviceAbiBase<LowerDeviceAbi> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    configureGpuToNVVMTypeConverter(types);
    BarePointers pointers(types);
    for (auto kernel : llvm::to_vector(getOperation().getOps<gpu::GPUFuncOp>())) {
      if (failed(BarePointers::check(kernel)))
        return signalPassFailure();
      lower(kernel, pointers);
    }
  }

private:
  void lower(gpu::GPUFuncOp kernel, const BarePointers &pointers) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), &kernel.front());
    unsigned numArguments = kernel.getNumArguments();
    placeSharedMemory(b, kernel, pointers);
    for (BlockArgument argument : kernel.front().getArguments().take_front(numArguments))
      if (isa<MemRefType>(argument.getType()))
        pointers.lowerArgument(b, argument);
    kernel.front().eraseArguments(numArguments, kernel.front().getNumArguments() - numArguments);

    b.setInsertionPoint(kernel);
    auto type = b.getFunctionType(kernel.front().getArgumentTypes(), {});
    auto function = func::FuncOp::create(b, kernel.getName(), type);
    function->setAttr(kThreadsAttr, kernel.getKnownBlockSizeAttr());
    if (ArrayAttr attributes = kernel.getAllArgAttrs())
      function.setAllArgAttrs(attributes);
    function.getBody().takeBody(kernel.getBody());
    for (auto exit : llvm::to_vector(function.getOps<gpu::ReturnOp>())) {
      b.setInsertionPoint(exit);
      func::ReturnOp::create(b);
      exit.erase();
    }
    kernel.erase();
  }

  void placeSharedMemory(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel,
                         const BarePointers &pointers) {
    for (auto [index, attribution] : llvm::enumerate(kernel.getWorkgroupAttributions())) {
      Value buffer = attribution;
      auto type = cast<MemRefType>(buffer.getType());
      auto pointer = cast<LLVM::LLVMPointerType>(pointers.pointerType(type));
      Type elementType = type.getElementType();
      auto arrayType = LLVM::LLVMArrayType::get(elementType, type.getNumElements());
      std::string name = (kernel.getName() + "_shared" + Twine(index)).str();
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(kernel);
        LLVM::GlobalOp::create(b, arrayType, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                               /*value=*/Attribute(), kSharedAlignment, pointer.getAddressSpace());
      }
      Value address = LLVM::AddressOfOp::create(b, pointer, name);
      buffer.replaceAllUsesWith(pointers.bufferAt(b, type, address));
    }
  }
};

} // namespace
} // namespace hjx
