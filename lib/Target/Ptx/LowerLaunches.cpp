// SPDX-License-Identifier: Apache-2.0
//
// What the host does for a GPU program: see Passes.td.
//
//   gpu.launch_func @device::@k blocks in (48, 1, 1) threads in (256, 1, 1) args(%x, %n)
//
//   %args = array of 2 pointers on the stack: to the address of x[0], to n
//   call @hjx_rt_launch(%launcher, 3, 48, 1, 1, 256, 1, 1, 0, %args)
//
// What is a tensor map to the kernel is 128 bytes on the stack, that @hjx_rt_tensor_map wrote before.
#include "lib/Support/SizeBytes.h"
#include "lib/Target/BarePointers.h"
#include "lib/Target/Ptx/Ptx.h"
#include "lib/Target/Ptx/SharedMemory.h"
#include "runtime/Device.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "lib/Target/Ptx/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kLaunch = "hjx_rt_launch", kTensorMap = "hjx_rt_tensor_map",
                              kConstant = "hjx_rt_constant";

struct LowerLaunches : impl::LowerLaunchesBase<LowerLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      module.emitOpError("expected a function @main with a body");
      return signalPassFailure();
    }
    LLVMTypeConverter typeConverter(&getContext());
    types = &typeConverter;
    pointer = LLVM::LLVMPointerType::get(&getContext());
    numberKernels(module);
    declareRuntime(module);
    // Inserting fails only where the function has no body.
    (void)main.insertArgument(main.getNumArguments(), pointer, {}, main.getLoc());
    launcher = main.getArguments().back();
    frame = &main.front();

    SmallVector<gpu::LaunchFuncOp> launches;
    SmallVector<memref::LoadOp> loads;
    SmallVector<memref::GetGlobalOp> constants;
    WalkResult result = main.walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        launches.push_back(launch);
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        loads.push_back(load);
      else if (auto constant = dyn_cast<memref::GetGlobalOp>(op))
        constants.push_back(constant);
      else if (isa<memref::StoreOp, memref::CopyOp, vector::LoadOp, vector::StoreOp>(op))
        return op->emitOpError("on the host, of device memory: expected a kernel to do this"),
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (memref::GetGlobalOp constant : constants)
      lowerConstant(constant);
    for (memref::LoadOp load : loads)
      lowerLoad(load);
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(lowerLaunch(launch)))
        return signalPassFailure();
  }

private:
  void numberKernels(ModuleOp module) {
    if (gpu::GPUModuleOp device = deviceModule(module))
      for (auto function : device.getOps<FunctionOpInterface>()) {
        numbers.try_emplace(function.getName(), numbers.size());
        if (auto kernel = dyn_cast<gpu::GPUFuncOp>(*function)) {
          kernels[function.getName()] = kernel;
          sharedBytes[function.getName()] = SharedMemory::of(kernel).dynamicBytes();
        }
      }
  }

  void declareRuntime(ModuleOp module) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    Type nothing = LLVM::LLVMVoidType::get(&getContext());
    SmallVector<Type> launch = {pointer};
    launch.append(8, i32); // Kernel, blocks, threads, bytes of dynamic shared memory.
    launch.push_back(pointer);
    LLVM::LLVMFuncOp::create(b, kLaunch, LLVM::LLVMFunctionType::get(nothing, launch));
    LLVM::LLVMFuncOp::create(b, kTensorMap,
                             LLVM::LLVMFunctionType::get(
                                 nothing, {pointer, pointer, pointer, i32, i32, pointer}));
    LLVM::LLVMFuncOp::create(
        b, kReadName, LLVM::LLVMFunctionType::get(nothing, {pointer, pointer, i64, pointer}));
    LLVM::LLVMFuncOp::create(b, kConstant,
                             LLVM::LLVMFunctionType::get(pointer, {pointer, pointer, i64}));
  }

  /// A place on the stack frame of @main: one in a loop must not grow it each time round.
  Value stackSlot(Location loc, Type type, int64_t count = 1, unsigned alignment = 0) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(loc, frame);
    Value size = LLVM::ConstantOp::create(b, b.getI64Type(), count);
    return LLVM::AllocaOp::create(b, pointer, type, size, alignment);
  }

  Value number(ImplicitLocOpBuilder &b, Value index) {
    Value wide = UnrealizedConversionCastOp::create(b, b.getI64Type(), index).getResult(0);
    return LLVM::TruncOp::create(b, b.getI32Type(), wide);
  }

  LogicalResult lowerLaunch(gpu::LaunchFuncOp launch) {
    ImplicitLocOpBuilder b(launch.getLoc(), launch);
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, b.getI32Type(), value);
    };
    unsigned numArguments = launch.getNumKernelOperands();
    Value table = stackSlot(launch.getLoc(), pointer, std::max(numArguments, 1u));
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      Value slot;
      gpu::GPUFuncOp kernel = kernels.lookup(launch.getKernelName().getValue());
      if (auto map = kernel ? kernel.getArgAttrOfType<DictionaryAttr>(index, kTensorMapAttr)
                            : DictionaryAttr()) {
        slot = tensorMap(b, operand, map);
        if (!slot)
          return failure();
      } else {
        Value value = operand;
        if (isa<MemRefType>(operand.getType()))
          value = BarePointers(*types).addressOf(b, operand);
        else if (Type type = types->convertType(operand.getType()); type != operand.getType())
          value = UnrealizedConversionCastOp::create(b, type, operand).getResult(0);
        slot = stackSlot(launch.getLoc(), value.getType());
        LLVM::StoreOp::create(b, value, slot);
      }
      store(b, slot, table, pointer, index);
    }
    SmallVector<Value> operands = {launcher,
                                   constant(numbers.lookup(launch.getKernelName().getValue()))};
    for (gpu::KernelDim3 size : {launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues()})
      for (Value extent : {size.x, size.y, size.z})
        operands.push_back(number(b, extent));
    operands.push_back(constant(sharedBytes.lookup(launch.getKernelName().getValue())));
    operands.push_back(table);
    LLVM::CallOp::create(b, TypeRange(), kLaunch, operands);
    launch.erase();
    return success();
  }

  /// table[index] = value
  void store(ImplicitLocOpBuilder &b, Value value, Value table, Type type, size_t index) {
    Value entry = LLVM::GEPOp::create(b, pointer, type, table,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(b, value, entry);
  }

  /// A place that holds the map of `buffer` when the launch comes; null after an error.
  Value tensorMap(ImplicitLocOpBuilder &b, Value buffer, DictionaryAttr description) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    auto box = description.getAs<DenseI64ArrayAttr>("box");
    auto element = description.getAs<TypeAttr>("element");
    std::optional<TensorMap::Element> number =
        element ? tensorMapElement(element.getValue()) : std::nullopt;
    if (!type || !box || box.size() != type.getRank() || !number) {
      emitError(b.getLoc()) << "'" << kTensorMapAttr << "': expected the box of a buffer and an element "
                            << "type that tensor maps have, got " << description << " on "
                            << buffer.getType();
      return nullptr;
    }
    Type i64 = b.getI64Type();
    int64_t rank = type.getRank(), bytes = elementBytes(type);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value shape = stackSlot(b.getLoc(), i64, 3 * rank);
    auto toI64 = [&](Value index) -> Value { return arith::IndexCastOp::create(b, i64, index); };
    Value size = LLVM::ConstantOp::create(b, i64, bytes);
    for (int64_t axis = 0; axis < rank; ++axis) {
      store(b, toI64(metadata.getSizes()[axis]), shape, i64, axis);
      Value stride = LLVM::MulOp::create(b, toI64(metadata.getStrides()[axis]), size);
      store(b, stride, shape, i64, rank + axis);
      store(b, LLVM::ConstantOp::create(b, i64, box[axis]), shape, i64, 2 * rank + axis);
    }
    Value map = stackSlot(b.getLoc(), b.getI8Type(), TensorMap::kSizeBytes, TensorMap::kAlignment);
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, b.getI32Type(), value);
    };
    LLVM::CallOp::create(b, TypeRange(), kTensorMap,
                         ValueRange{launcher, map, BarePointers(*types).addressOf(b, buffer),
                                    constant(static_cast<int64_t>(*number)), constant(rank), shape});
    return map;
  }

  static std::optional<TensorMap::Element> tensorMapElement(Type type) {
    if (type.isInteger(8))
      return TensorMap::Element::U8;
    if (type.isF16())
      return TensorMap::Element::F16;
    if (type.isBF16())
      return TensorMap::Element::Bf16;
    if (type.isTF32())
      return TensorMap::Element::Tf32;
    return std::nullopt;
  }

  /// The data of a constant lies in the host's code; kernels see the device's copy.
  void lowerConstant(memref::GetGlobalOp constant) {
    ImplicitLocOpBuilder b(constant.getLoc(), constant->getBlock(), ++Block::iterator(constant));
    auto type = cast<MemRefType>(constant.getType());
    auto address = memref::ExtractAlignedPointerAsIndexOp::create(b, constant);
    Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
    Value host = LLVM::IntToPtrOp::create(b, pointer, number);
    int64_t bytes = sizeBytes(type);
    Value size = LLVM::ConstantOp::create(b, b.getI64Type(), bytes);
    Value device =
        LLVM::CallOp::create(b, pointer, kConstant, ValueRange{launcher, host, size}).getResult();
    constant.getResult().replaceAllUsesExcept(BarePointers(*types).bufferAt(b, type, device),
                                              address);
  }

  void lowerLoad(memref::LoadOp load) {
    ImplicitLocOpBuilder b(load.getLoc(), load);
    MemRefType type = load.getMemRefType();
    SmallVector<OpFoldResult> offsets, ones(type.getRank(), b.getIndexAttr(1));
    for (Value index : load.getIndices())
      offsets.push_back(index);
    auto element = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        {}, type, offsets, ones, ones));
    Value view = memref::SubViewOp::create(b, element, load.getMemRef(), offsets, ones, ones);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, view);
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, load.getMemRef());
    int64_t bytes = elementBytes(type);
    Value offset = arith::MulIOp::create(b, metadata.getOffset(),
                                         arith::ConstantIndexOp::create(b, bytes));
    Value address = arith::IndexCastOp::create(b, b.getI64Type(),
                                               arith::AddIOp::create(b, base, offset));
    Value device = LLVM::IntToPtrOp::create(b, pointer, address);
    Value host = stackSlot(load.getLoc(), types->convertType(type.getElementType()));
    Value size = LLVM::ConstantOp::create(b, b.getI64Type(), bytes);
    LLVM::CallOp::create(b, TypeRange(), kReadName, ValueRange{launcher, device, size, host});
    Value value = LLVM::LoadOp::create(b, types->convertType(type.getElementType()), host);
    if (value.getType() != load.getType())
      value = UnrealizedConversionCastOp::create(b, load.getType(), value).getResult(0);
    load.replaceAllUsesWith(value);
    load.erase();
  }

  LLVMTypeConverter *types = nullptr;
  Type pointer;
  Value launcher;
  Block *frame = nullptr;
  llvm::StringMap<gpu::GPUFuncOp> kernels;
  llvm::StringMap<int64_t> numbers, sharedBytes; // Of kernels; the bytes are of dynamic memory.
};

} // namespace
} // namespace hjx
