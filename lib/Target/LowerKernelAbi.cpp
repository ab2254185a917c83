// SPDX-License-Identifier: Apache-2.0
//
// The calling convention of kernels and of the entry.
//
//   func.call @k(%x, %y) : (memref<4xf32, strided<[2], offset: ?>>, ..)
//   func.call @k(%px, %py) : (!llvm.ptr, ..)      with px = &x[0], the offset applied
//
// A call that runs as a parallel loop puts its arguments into a block on the stack;
// a function of its own takes them out again:
//
//   func.call @k(%x, %y, %c0, %n) {hjx.grain = 32}
//   store %px, %py into %env
//   func.call @hjx_rt_parallel_for(@k_chunk, %env, %n, 32)
//   func @k_chunk(%env, %begin, %end) { .. call @k(%px, %py, %begin, %end) }
//
// Upstream's bare-pointer convention refuses dynamic offsets; here the offset is
// part of the address and a kernel sees every buffer begin at 0.
#include "lib/Target/Passes.h"

#include "lib/Codegen/Cpu/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_LOWERKERNELABI
#include "lib/Target/Passes.h.inc"

namespace {

Value castTo(ImplicitLocOpBuilder &b, Type type, Value value) {
  return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
}

struct LowerKernelAbi : impl::LowerKernelAbiBase<LowerKernelAbi> {
  void runOnOperation() override {
    LLVMTypeConverter typeConverter(&getContext());
    types = &typeConverter;
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      module.emitOpError("expected a function @main with a body");
      return signalPassFailure();
    }
    for (auto func : module.getOps<func::FuncOp>()) {
      if (failed(checkBuffers(func)))
        return signalPassFailure();
      if (func == main)
        lowerEntry(func);
      else
        lowerKernel(func);
    }
    SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      lowerCall(call);
      if (call->hasAttr(kGrainAttr))
        runInParallel(call);
    }
  }

private:
  LogicalResult checkBuffers(func::FuncOp func) {
    for (Type type : func.getArgumentTypes()) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref)
        continue;
      SmallVector<int64_t> strides;
      int64_t offset;
      if (memref.hasStaticShape() && memref.getNumElements() == 0)
        continue; // Strides of what is never touched.
      if (!memref.hasStaticShape() || failed(memref.getStridesAndOffset(strides, offset)) ||
          llvm::is_contained(strides, ShapedType::kDynamic))
        return func.emitOpError("expected buffers of static shape and strides, got ") << memref;
    }
    return success();
  }

  /// The buffer of `type` whose first element is at `pointer`.
  Value bufferAt(ImplicitLocOpBuilder &b, MemRefType type, Value pointer) {
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    auto descriptor = MemRefDescriptor::poison(b, b.getLoc(), types->convertType(type));
    descriptor.setAllocatedPtr(b, b.getLoc(), pointer);
    descriptor.setAlignedPtr(b, b.getLoc(), pointer);
    descriptor.setConstantOffset(b, b.getLoc(), 0);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      descriptor.setConstantSize(b, b.getLoc(), dim, size);
      descriptor.setConstantStride(b, b.getLoc(), dim,
                                   type.getNumElements() == 0 ? 0 : strides[dim]);
    }
    return castTo(b, type, descriptor);
  }

  /// The address of the first element of `buffer`.
  Value addressOf(ImplicitLocOpBuilder &b, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    MemRefDescriptor descriptor(castTo(b, types->convertType(type), buffer));
    Value aligned = descriptor.alignedPtr(b, b.getLoc());
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    if (offset == 0)
      return aligned;
    return LLVM::GEPOp::create(b, aligned.getType(), types->convertType(type.getElementType()),
                               aligned, descriptor.offset(b, b.getLoc()));
  }

  void lowerKernel(func::FuncOp func) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    SmallVector<Type> inputs(func.getArgumentTypes());
    for (Type &type : inputs)
      if (isa<MemRefType>(type))
        type = pointer;
    func.setType(FunctionType::get(&getContext(), inputs, func.getResultTypes()));
    if (func.isExternal())
      return;
    auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &func.front());
    for (BlockArgument argument : func.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type)
        continue;
      argument.setType(pointer);
      replaceArgument(argument, [&] { return bufferAt(b, type, argument); });
    }
  }

  void lowerEntry(func::FuncOp func) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Block &body = func.front();
    auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &body);
    unsigned numBuffers = body.getNumArguments();
    Value table = body.addArgument(pointer, func.getLoc());
    Value arena = body.addArgument(pointer, func.getLoc());
    for (unsigned index = 0; index < numBuffers; ++index) {
      BlockArgument argument = body.getArgument(index);
      Value address = arena;
      if (!func.getArgAttr(index, "hjx.arena")) {
        Value slot = LLVM::GEPOp::create(b, pointer, pointer, table,
                                         ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
        address = LLVM::LoadOp::create(b, pointer, slot);
      }
      argument.replaceAllUsesWith(bufferAt(b, cast<MemRefType>(argument.getType()), address));
    }
    body.eraseArguments(0, numBuffers);
    func.setArgAttrsAttr({});
    func.setType(FunctionType::get(&getContext(), {pointer, pointer}, {}));
    func.setName(kEntryName);
    func.setPublic();
  }

  static void replaceArgument(BlockArgument argument, function_ref<Value()> make) {
    SmallVector<OpOperand *> uses = llvm::map_to_vector(
        argument.getUses(), [](OpOperand &use) { return &use; });
    Value replacement = make();
    for (OpOperand *use : uses)
      use->set(replacement);
  }

  void lowerCall(func::CallOp call) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    for (OpOperand &operand : call->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()))
        operand.set(addressOf(b, operand.get()));
  }

  /// The fields of the block through which a parallel loop passes the arguments of `call`.
  LLVM::LLVMStructType environmentType(func::CallOp call) {
    SmallVector<Type> fields;
    for (Type type : TypeRange(call.getOperandTypes()).drop_back(2))
      fields.push_back(types->convertType(type));
    return LLVM::LLVMStructType::getLiteral(&getContext(), fields);
  }

  static Value fieldOf(ImplicitLocOpBuilder &b, LLVM::LLVMStructType type, Value environment,
                       int32_t field) {
    return LLVM::GEPOp::create(b, environment.getType(), type, environment,
                               ArrayRef<LLVM::GEPArg>{0, field});
  }

  /// The function that runs a chunk of the kernel of `call`.
  func::FuncOp chunkFunction(func::CallOp call) {
    SymbolTable symbols(getOperation());
    std::string name = (call.getCallee() + "_chunk").str();
    if (auto found = symbols.lookup<func::FuncOp>(name))
      return found;
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    ImplicitLocOpBuilder b(call.getLoc(), getOperation().getBody(), getOperation().begin());
    Type index = b.getIndexType();
    auto function =
        func::FuncOp::create(b, name, b.getFunctionType({pointer, index, index}, {}));
    function.setPrivate();
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    LLVM::LLVMStructType type = environmentType(call);
    SmallVector<Value> arguments;
    for (auto [field, fieldType] : llvm::enumerate(type.getBody())) {
      Value slot = fieldOf(b, type, body->getArgument(0), field);
      Value value = LLVM::LoadOp::create(b, fieldType, slot);
      Type wanted = call.getOperand(field).getType();
      arguments.push_back(fieldType == wanted ? value : castTo(b, wanted, value));
    }
    arguments.append({body->getArgument(1), body->getArgument(2)});
    func::CallOp::create(b, call.getCallee(), TypeRange(), arguments);
    func::ReturnOp::create(b);
    return function;
  }

  static constexpr llvm::StringLiteral kParallelFor = "hjx_rt_parallel_for";

  /// Matrix product kernels may have declared it already.
  void declareParallelFor() {
    if (getOperation().lookupSymbol(kParallelFor))
      return;
    auto b = OpBuilder::atBlockBegin(getOperation().getBody());
    Type pointer = LLVM::LLVMPointerType::get(&getContext()), i64 = b.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                            {pointer, pointer, i64, i64});
    LLVM::LLVMFuncOp::create(b, getOperation().getLoc(), kParallelFor, type);
  }

  void runInParallel(func::CallOp call) {
    auto caller = call->getParentOfType<func::FuncOp>();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    LLVM::LLVMStructType type = environmentType(call);
    // On the entry's stack frame: a call inside a loop must not grow it each time round.
    auto atEntry = ImplicitLocOpBuilder::atBlockBegin(call.getLoc(), &caller.front());
    Value one = arith::ConstantIntOp::create(atEntry, 1, 64);
    Value environment = LLVM::AllocaOp::create(atEntry, pointer, type, one);

    ImplicitLocOpBuilder b(call.getLoc(), call);
    for (auto [field, fieldType] : llvm::enumerate(type.getBody())) {
      Value value = call.getOperand(field);
      if (value.getType() != fieldType)
        value = castTo(b, fieldType, value);
      LLVM::StoreOp::create(b, value, fieldOf(b, type, environment, field));
    }
    func::FuncOp chunk = chunkFunction(call);
    Value function = castTo(
        b, pointer,
        func::ConstantOp::create(b, chunk.getFunctionType(), SymbolRefAttr::get(chunk)));
    Value numUnits = castTo(b, b.getI64Type(), call.getOperands().back());
    Value grain = arith::ConstantIntOp::create(
        b, call->getAttrOfType<IntegerAttr>(kGrainAttr).getInt(), 64);
    declareParallelFor();
    LLVM::CallOp::create(b, TypeRange(), kParallelFor,
                         ValueRange{function, environment, numUnits, grain});
    call.erase();
  }

  LLVMTypeConverter *types = nullptr;
};

} // namespace
} // namespace hjx
