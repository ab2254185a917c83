// SPDX-License-Identifier: Apache-2.0
//
// Kernels as functions of pointers: see Passes.td.
#include "lib/Target/BarePointers.h"
#include "lib/Target/Ptx/Ptx.h"
#include "lib/Target/Ptx/SharedMemory.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_LOWERDEVICEABI
#include "lib/Target/Ptx/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kDynamicShared = "hjx_dynamic_shared";

struct LowerDeviceAbi : impl::LowerDeviceAbiBase<LowerDeviceAbi> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    configureGpuToNVVMTypeConverter(types);
    BarePointers pointers(types);
    for (auto kernel : llvm::to_vector(getOperation().getOps<gpu::GPUFuncOp>())) {
      if (failed(lowerTensorMaps(kernel)) || failed(BarePointers::check(kernel)))
        return signalPassFailure();
      lower(kernel, pointers);
    }
  }

private:
  /// Buffers of which the kernel gets a map: what it casts to a pointer is that of the map.
  LogicalResult lowerTensorMaps(gpu::GPUFuncOp kernel) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto arguments = kernel.getArguments().take_front(kernel.getNumArguments());
    for (BlockArgument argument : arguments) {
      if (!kernel.getArgAttr(argument.getArgNumber(), kTensorMapAttr))
        continue;
      for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
        if (!isa<UnrealizedConversionCastOp>(user) || user->getResultTypes() != TypeRange(pointer))
          return user->emitOpError("on an argument with '")
                 << kTensorMapAttr << "': expected a cast to " << pointer;
        user->replaceAllUsesWith(ValueRange{argument});
        user->erase();
      }
      argument.setType(pointer);
    }
    SmallVector<Type> types = llvm::to_vector(ValueRange(arguments).getTypes());
    kernel.setFunctionType(FunctionType::get(&getContext(), types, {}));
    return success();
  }

  void lower(gpu::GPUFuncOp kernel, const BarePointers &pointers) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), &kernel.front());
    unsigned numArguments = kernel.getNumArguments();
    SharedMemory memory = SharedMemory::of(kernel);
    placeSharedMemory(b, kernel, memory, pointers);
    for (BlockArgument argument : kernel.front().getArguments().take_front(numArguments))
      if (isa<MemRefType>(argument.getType()))
        pointers.lowerArgument(b, argument);
    kernel.front().eraseArguments(numArguments, kernel.front().getNumArguments() - numArguments);

    b.setInsertionPoint(kernel);
    auto type = b.getFunctionType(kernel.front().getArgumentTypes(), {});
    auto function = func::FuncOp::create(b, kernel.getName(), type);
    function->setAttr(kThreadsAttr, kernel.getKnownBlockSizeAttr());
    StringRef minBlocks = NVVM::NVVMDialect::getMinctasmAttrName();
    if (Attribute number = kernel->getAttr(minBlocks))
      function->setAttr(minBlocks, number);
    if (memory.isDynamic())
      function->setAttr(kDynamicSharedAttr, b.getI64IntegerAttr(memory.dynamicBytes()));
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

  void placeSharedMemory(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel, const SharedMemory &memory,
                         const BarePointers &pointers) {
    bool isOneArray = memory.isDynamic() || memory.takesTurns;
    for (auto [index, attribution] : llvm::enumerate(kernel.getWorkgroupAttributions())) {
      Value buffer = attribution;
      auto type = cast<MemRefType>(buffer.getType());
      auto pointer = cast<LLVM::LLVMPointerType>(pointers.pointerType(type));
      std::string name = memory.isDynamic() ? kDynamicShared.str() : (kernel.getName() + "_shared").str();
      if (memory.isDynamic())
        declare(kernel, name, b.getI8Type(), 0, LLVM::Linkage::External, SharedMemory::kMostAlignment);
      else if (isOneArray)
        declare(kernel, name, b.getI8Type(), memory.sizeBytes, LLVM::Linkage::Internal,
                *llvm::max_element(memory.alignments));
      else
        declare(kernel, name += std::to_string(index), type.getElementType(), type.getNumElements(),
                LLVM::Linkage::Internal, memory.alignments[index]);
      Value address = LLVM::AddressOfOp::create(b, pointer, name);
      if (isOneArray) {
        auto offset = static_cast<int32_t>(memory.offsets[index]);
        address = LLVM::GEPOp::create(b, pointer, b.getI8Type(), address, LLVM::GEPArg(offset));
      }
      buffer.replaceAllUsesWith(pointers.bufferAt(b, type, address));
    }
  }

  /// Makes sure that there is such an array in shared memory.
  void declare(gpu::GPUFuncOp kernel, StringRef name, Type elementType, int64_t size,
               LLVM::Linkage linkage, int64_t alignment) {
    if (getOperation().lookupSymbol(name))
      return;
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    constexpr auto kShared = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(elementType, size), /*isConstant=*/false,
                           linkage, name, /*value=*/Attribute(), alignment, kShared);
  }
};

} // namespace
} // namespace hjx
