// SPDX-License-Identifier: Apache-2.0
//
// Products, loops of one op and single stores to calls of kernels: see Passes.td.
//
//   scf.for %i .. {                                  call @loops_addf(%index, %x, %y)
//     %0 = memref.load %index[%i]
//     %1 = memref.load %x[%i] ..
//     memref.store %2, %y[%0]
//   } {hjx.nest}
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/Product.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Codegen/Structured/SharedFunctions.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Gpu/ProductEpilogue.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_OUTLINELOOPS
#define GEN_PASS_DEF_OUTLINEREDUCTIONS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Views of a buffer whose offset the caller has applied, in a function made from a piece of it.
void inferViewTypes(Operation *root) {
  root->walk([](memref::SubViewOp view) {
    MemRefType type = view.getType();
    auto inferred = memref::SubViewOp::inferRankReducedResultType(
        type.getShape(), view.getSourceType(), view.getMixedOffsets(), view.getMixedSizes(),
        view.getMixedStrides());
    view.getResult().setType(cast<MemRefType>(inferred));
  });
}

class LoopOutliner {
public:
  explicit LoopOutliner(ModuleOp module) : functions(module) {}

  /// `ops`, of one block and in its order, become a call in place of the last one.
  void outline(ArrayRef<Operation *> ops, StringRef name) {
    llvm::SetVector<Value> captured;
    llvm::SmallPtrSet<Operation *, 8> inside(ops.begin(), ops.end());
    for (Operation *op : ops) {
      captured.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), captured);
    }
    SmallVector<Value> arguments;
    for (Value value : captured)
      if (!matchPattern(value, m_Constant()) && !inside.contains(value.getDefiningOp()))
        arguments.push_back(value);
    Operation *last = ops.back();
    OwningOpRef<func::FuncOp> kernel = SharedFunctions::create(last->getLoc(), arguments);
    (*kernel)->setAttr(kKernelAttr, UnitAttr::get(last->getContext()));
    auto b = ImplicitLocOpBuilder::atBlockBegin(last->getLoc(), &kernel->front());
    IRMapping mapping;
    mapping.map(ArrayRef<Value>(arguments), kernel->getArguments());
    for (Value value : captured)
      if (matchPattern(value, m_Constant()))
        b.clone(*value.getDefiningOp(), mapping);
    for (Operation *op : ops)
      inferViewTypes(b.clone(*op, mapping));
    func::ReturnOp::create(b);
    markReadOnly(*kernel);
    ImplicitLocOpBuilder atCall(last->getLoc(), last);
    SharedFunctions::call(atCall, functions.share(std::move(kernel), name), arguments);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
  }

private:
  static void markReadOnly(func::FuncOp kernel) {
    llvm::SmallDenseSet<Value> written;
    kernel.walk([&](Operation *op) {
      if (auto store = dyn_cast<memref::StoreOp>(op))
        written.insert(rootBuffer(store.getMemRef()));
      else if (auto generic = dyn_cast<linalg::GenericOp>(op))
        for (Value output : generic.getDpsInits())
          written.insert(rootBuffer(output));
    });
    for (BlockArgument argument : kernel.getArguments())
      if (isa<MemRefType>(argument.getType()) && !written.contains(argument))
        kernel.setArgAttr(argument.getArgNumber(), kReadOnlyAttr,
                          UnitAttr::get(kernel.getContext()));
  }

  SharedFunctions functions;
};

/// The store and what it needs from ops of its block, so far as these may move to it.
SmallVector<Operation *> withProducers(memref::StoreOp store) {
  llvm::SetVector<Operation *> slice;
  std::function<void(Value)> visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != store->getBlock() || op->getNumRegions() > 0 ||
        isa<ViewLikeOpInterface>(op) || matchPattern(value, m_Constant()))
      return;
    if (isa<memref::LoadOp>(op)) {
      for (Operation *between = op; between != store; between = between->getNextNode())
        if (!isa<memref::LoadOp>(between) && !isMemoryEffectFree(between))
          return;
    } else if (!isMemoryEffectFree(op)) {
      return;
    }
    for (Value operand : op->getOperands())
      visit(operand);
    slice.insert(op);
  };
  for (Value operand : store->getOperands())
    visit(operand);
  slice.insert(store);
  return slice.takeVector();
}

struct OutlineLoops : impl::OutlineLoopsBase<OutlineLoops> {
  void runOnOperation() override {
    LoopOutliner outliner(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isPrivate())
        continue;
      SmallVector<scf::ForOp> nests;
      func.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        if (!loop->hasAttr(kNestAttr))
          return WalkResult::advance();
        nests.push_back(loop);
        return WalkResult::skip();
      });
      for (scf::ForOp nest : nests)
        outliner.outline({nest}, "loops");
      SmallVector<memref::StoreOp> stores;
      func.walk([&](memref::StoreOp store) {
        if (!store->getParentOfType<linalg::LinalgOp>())
          stores.push_back(store);
      });
      for (memref::StoreOp store : stores)
        outliner.outline(withProducers(store), "store");
      SmallVector<linalg::GenericOp> products;
      func.walk([&](linalg::GenericOp op) {
        if (Product::match(op))
          products.push_back(op);
      });
      for (linalg::GenericOp op : products)
        outliner.outline(groupProduct(op, *Product::match(op)), "matmul");
    }
  }
};

/// The fill with zeros from which a reduction that is in no group starts; null if there is none.
linalg::GenericOp startOf(linalg::GenericOp op) {
  if (op->hasAttr(kGroupAttr) || op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 || failed(LoopNest::get(op)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation())
    return nullptr;
  linalg::GenericOp fill = zeroFillBefore(op, op.getDpsInits()[0]);
  return fill && !fill->hasAttr(kGroupAttr) && fill.getNumDpsInits() == 1 ? fill : nullptr;
}

struct OutlineReductions : impl::OutlineReductionsBase<OutlineReductions> {
  void runOnOperation() override {
    LoopOutliner outliner(getOperation());
    SmallVector<linalg::GenericOp> reductions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isPrivate())
        func.walk([&](linalg::GenericOp op) {
          if (op.getNumReductionLoops() > 0)
            reductions.push_back(op);
        });
    for (linalg::GenericOp op : reductions)
      if (linalg::GenericOp fill = startOf(op))
        outliner.outline({fill, op}, "reduce");
  }
};

} // namespace
} // namespace hjx
