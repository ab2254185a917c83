// SPDX-License-Identifier: Apache-2.0
//
// Applies the memory plan: allocations become views of the arena. A step then
// allocates nothing, and its peak is known from the IR alone.
//
//   %0 = memref.alloc() : memref<4x8xf32>
//   %0 = memref.view %arena[%c256][] : memref<1024xi8> to memref<4x8xf32>
#include "lib/Codegen/Structured/MemoryPlan.h"
#include "lib/Codegen/Structured/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_PLANMEMORY
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

void placeInArena(func::FuncOp func, const MemoryPlan &plan,
                  ArrayRef<memref::AllocOp> allocations) {
  ImplicitLocOpBuilder b(func.getLoc(), func);
  auto arenaType = MemRefType::get({plan.sizeBytes}, b.getI8Type());
  // Inserting fails only where the function has no body.
  (void)func.insertArgument(func.getNumArguments(), arenaType,
                            b.getDictionaryAttr(b.getNamedAttr("hjx.arena", b.getUnitAttr())),
                            func.getLoc());
  Value arena = func.getArguments().back();
  b.setInsertionPointToStart(&func.front());
  for (auto [index, entry] : llvm::enumerate(plan.entries)) {
    memref::AllocOp allocation = allocations[index];
    b.setLoc(allocation.getLoc());
    Value offset = arith::ConstantIndexOp::create(b, entry.offset);
    Value view = memref::ViewOp::create(b, allocation.getType(), arena, offset, ValueRange{});
    allocation.replaceAllUsesWith(view);
  }
  // Only now: the first allocation may be where the builder inserts.
  for (memref::AllocOp allocation : allocations)
    allocation.erase();
  func->setAttr(kMemoryPlanAttr, plan.toAttribute(func.getContext()));
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal() || func.isPrivate())
        continue;
      SmallVector<memref::AllocOp> allocations;
      FailureOr<MemoryPlan> plan = planMemory(func, allocations);
      if (failed(plan))
        return signalPassFailure();
      placeInArena(func, *plan, allocations);
    }
  }
};

} // namespace
} // namespace hjx
