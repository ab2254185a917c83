// SPDX-License-Identifier: Apache-2.0
//
// memref<..xi1> becomes memref<..xi8> holding 0 or 1: see Passes.td for why.
//
//   %x = memref.load %m : memref<4xi1>       %b = memref.load %m : memref<4xi8>
//                                            %x = arith.cmpi ne, %b, %c0_i8
#include "lib/Codegen/Structured/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_WIDENBOOLS
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

bool holdsBool(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getElementType().isInteger(1);
}

MemRefType widened(Type type) {
  return cast<MemRefType>(cast<MemRefType>(type).clone(IntegerType::get(type.getContext(), 8)));
}

Value byteToBool(OpBuilder &b, Location loc, Value byte) {
  Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(byte.getType(), 0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, zero);
}

Value boolToByte(OpBuilder &b, Location loc, Value value) {
  return arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
}

void widenLoad(memref::LoadOp load) {
  OpBuilder b(load->getContext());
  b.setInsertionPointAfter(load);
  load.getResult().setType(b.getI8Type());
  Value value = byteToBool(b, load.getLoc(), load.getResult());
  load.getResult().replaceAllUsesExcept(value, value.getDefiningOp());
}

void widenStore(memref::StoreOp store) {
  OpBuilder b(store);
  store.getValueMutable().assign(boolToByte(b, store.getLoc(), store.getValue()));
}

void widenStructured(linalg::GenericOp op, ArrayRef<bool> operandWidened) {
  Block *body = op.getBody();
  OpBuilder b = OpBuilder::atBlockBegin(body);
  for (auto [argument, isWidened] : llvm::zip(body->getArguments(), operandWidened)) {
    if (!isWidened)
      continue;
    argument.setType(b.getI8Type());
    if (argument.use_empty())
      continue;
    Value value = byteToBool(b, op.getLoc(), argument);
    argument.replaceAllUsesExcept(value, value.getDefiningOp());
  }
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  for (OpOperand &operand : yield->getOpOperands())
    if (operandWidened[op.getNumDpsInputs() + operand.getOperandNumber()])
      operand.set(boolToByte(b, op.getLoc(), operand.get()));
}

void widenConstant(memref::GlobalOp global) {
  auto values = dyn_cast_if_present<DenseElementsAttr>(global.getInitialValueAttr());
  if (!values)
    return;
  Type byte = IntegerType::get(global.getContext(), 8);
  global.setInitialValueAttr(
      values.mapValues(byte, [](const APInt &value) { return value.zext(8); }));
}

struct WidenBools : impl::WidenBoolsBase<WidenBools> {
  void runOnOperation() override {
    // What an op must do depends on its old operand types: look first, retype after.
    SmallVector<memref::LoadOp> loads;
    SmallVector<memref::StoreOp> stores;
    SmallVector<std::pair<linalg::GenericOp, SmallVector<bool>>> structured;
    SmallVector<Value> values;
    auto note = [&](ValueRange range) {
      llvm::copy_if(range, std::back_inserter(values),
                    [](Value value) { return holdsBool(value.getType()); });
    };
    WalkResult result = getOperation().walk([&](Operation *op) {
      note(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          note(block.getArguments());
      if (auto global = dyn_cast<memref::GlobalOp>(op); global && holdsBool(global.getType())) {
        widenConstant(global);
        global.setType(widened(global.getType()));
      }
      if (llvm::none_of(op->getOperandTypes(), holdsBool))
        return WalkResult::advance();
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        loads.push_back(load);
      } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
        stores.push_back(store);
      } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        structured.emplace_back(generic, llvm::map_to_vector(op->getOperandTypes(), holdsBool));
      } else if (!isa<ViewLikeOpInterface, memref::CopyOp, RegionBranchTerminatorOpInterface,
                      RegionBranchOpInterface, scf::YieldOp>(op)) {
        op->emitOpError("holds booleans in memory; expected a load, a store, linalg.generic, a "
                        "view or structured control flow");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (Value value : values)
      value.setType(widened(value.getType()));
    llvm::for_each(loads, widenLoad);
    llvm::for_each(stores, widenStore);
    for (auto &[op, operandWidened] : structured)
      widenStructured(op, operandWidened);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        func.setType(FunctionType::get(&getContext(), func.front().getArgumentTypes(),
                                       func.getResultTypes()));
  }
};

} // namespace
} // namespace hjx
