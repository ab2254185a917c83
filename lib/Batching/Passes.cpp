// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/Passes.h"

#include "lib/Batching/Batching.h"

using namespace mlir;

namespace hjx {
namespace {

struct VmapPass : PassWrapper<VmapPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VmapPass)
  StringRef getArgument() const override { return "hjx-vmap"; }
  StringRef getDescription() const override { return "Expand hjx.vmap requests, innermost first"; }

  void runOnOperation() override {
    Batcher batcher(getOperation(), getRuleRegistry());
    llvm::DenseSet<Operation *> visiting, done;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(expandIn(function, batcher, visiting, done)))
        return signalPassFailure();
  }

private:
  static LogicalResult expandIn(func::FuncOp function, Batcher &batcher, llvm::DenseSet<Operation *> &visiting,
                                llvm::DenseSet<Operation *> &done) {
    if (done.contains(function))
      return success();
    if (!visiting.insert(function).second)
      return function.emitOpError("maps itself: a function cannot be transformed inside its own body");
    SmallVector<ir::VmapOp> requests;
    function.walk([&](ir::VmapOp op) { requests.push_back(op); });
    for (ir::VmapOp op : requests) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
      if (failed(expandIn(callee, batcher, visiting, done)) || failed(batcher.expand(op)))
        return failure();
    }
    visiting.erase(function);
    done.insert(function);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createVmapPass() { return std::make_unique<VmapPass>(); }
void registerBatchingPasses() { PassRegistration<VmapPass>(); }

} // namespace hjx
