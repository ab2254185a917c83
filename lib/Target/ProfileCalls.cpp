// SPDX-License-Identifier: Apache-2.0
//
// Times each call that @main makes: see Passes.td. Sums per function go into a
// table that the module exports, so that a profile costs two clock reads a call
// and no code without it.
#include "lib/Target/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_PROFILECALLS
#include "lib/Target/Passes.h.inc"

namespace {

struct ProfileCalls : impl::ProfileCallsBase<ProfileCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    llvm::MapVector<StringRef, SmallVector<func::CallOp>> callsOf;
    main.walk([&](func::CallOp call) { callsOf[call.getCallee()].push_back(call); });

    MLIRContext *context = &getContext();
    ImplicitLocOpBuilder b(module.getLoc(), module.getBody(), module.getBody()->begin());
    Type pointer = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type();
    auto clock = LLVM::LLVMFuncOp::create(b, "hjx_rt_now_ns",
                                          LLVM::LLVMFunctionType::get(i64, {}));
    int64_t numCells = 2 * std::max<int64_t>(callsOf.size(), 1);
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(i64, numCells), /*isConstant=*/false,
                           LLVM::Linkage::External, kProfileTableName,
                           b.getI64TensorAttr(SmallVector<int64_t>(numCells, 0)));
    SmallVector<Attribute> names;
    for (auto [slot, entry] : llvm::enumerate(callsOf)) {
      names.push_back(b.getStringAttr(entry.first));
      for (func::CallOp call : entry.second) {
        b.setLoc(call.getLoc());
        b.setInsertionPoint(call);
        Value start = LLVM::CallOp::create(b, clock, ValueRange()).getResult();
        b.setInsertionPointAfter(call);
        Value elapsed = arith::SubIOp::create(
            b, LLVM::CallOp::create(b, clock, ValueRange()).getResult(), start);
        Value table = LLVM::AddressOfOp::create(b, pointer, kProfileTableName);
        addTo(b, table, 2 * slot, elapsed);
        addTo(b, table, 2 * slot + 1, arith::ConstantIntOp::create(b, 1, 64));
      }
    }
    module->setAttr(kProfileNamesAttr, b.getArrayAttr(names));
  }

private:
  static void addTo(ImplicitLocOpBuilder &b, Value table, int32_t slot, Value amount) {
    Value address = LLVM::GEPOp::create(b, table.getType(), b.getI64Type(), table,
                                        ArrayRef<LLVM::GEPArg>{slot});
    Value old = LLVM::LoadOp::create(b, b.getI64Type(), address);
    LLVM::StoreOp::create(b, arith::AddIOp::create(b, old, amount).getResult(), address);
  }
};

} // namespace
} // namespace hjx
