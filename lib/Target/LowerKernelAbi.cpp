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
#include "lib/Target/BarePointers.h"
#include "lib/Target/Passes.h"

#include "lib/Codegen/Cpu/Passes.h"

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
      if (failed(BarePointers::check(func)))
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
    for (BlockArgument argument : func.getArguments())
      if (isa<MemRefType>(argument.getType()))
        BarePointers(*types).lowerArgument(b, argument);
  }

  void lowerEntry(func::FuncOp func) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Block &body = func.front();
    auto b = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &body);
    // What follows the buffers, if anything, is passed on as it is.
    unsigned numBuffers = llvm::count_if(body.getArgumentTypes(), llvm::IsaPred<MemRefType>);
    Value table = body.insertArgument(numBuffers, pointer, func.getLoc());
    Value arena = body.insertArgument(numBuffers + 1, pointer, func.getLoc());
    for (unsigned index = 0; index < numBuffers; ++index) {
      BlockArgument argument = body.getArgument(index);
      Value address = arena;
      if (!func.getArgAttr(index, "hjx.arena")) {
        Value slot = LLVM::GEPOp::create(b, pointer, pointer, table,
                                         ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
        address = LLVM::LoadOp::create(b, pointer, slot);
      }
      argument.replaceAllUsesWith(
          BarePointers(*types).bufferAt(b, cast<MemRefType>(argument.getType()), address));
    }
    body.eraseArguments(0, numBuffers);
    func.setArgAttrsAttr({});
    func.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), {}));
    func.setName(kEntryName);
    func.setPublic();
  }

  void lowerCall(func::CallOp call) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    for (OpOperand &operand : call->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()))
        operand.set(BarePointers(*types).addressOf(b, operand.get()));
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
