// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/Residuals.h"

#include "dialects/hjx/Effects.h"
#include "lib/Autodiff/VertexCut.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && (isOpTriviallyDead(&op) || isa<ir::CustomLinOp>(op) || (isa<func::CallOp>(op) && ir::isRemovable(&op))))
      op.erase();
}

static llvm::SetVector<Value> usedFromOutside(Block &block) {
  llvm::SetVector<Value> values;
  for (Operation &op : block) // regions are isolated: their ops name nothing outside
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block)
        values.insert(operand);
  return values;
}

namespace {
/// What must run again so that the needed values follow from a cheapest cut.
struct Recomputed {
  llvm::SmallPtrSet<Operation *, 16> ops;
  llvm::SetVector<Value> asTwins; ///< values that are computed again as their twins
};
} // namespace

static Recomputed chooseRecomputed(ArrayRef<Value> needed, const ResidualPrices &prices) {
  VertexCut cut;
  llvm::MapVector<Value, unsigned> vertexOf;
  auto canRecompute = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && prices.canRecompute(op);
  };
  SmallVector<Value> worklist;
  auto visit = [&](Value value) {
    auto [known, isNew] = vertexOf.try_emplace(value, 0);
    if (isNew) {
      known->second = cut.addVertex(prices.cost(value));
      worklist.push_back(value);
    }
    return known->second;
  };
  for (Value value : needed)
    cut.markSink(visit(value));
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    unsigned vertex = vertexOf[value];
    if (Value twin = prices.twinOf(value)) {
      cut.addEdge(visit(twin), vertex);
      continue;
    }
    if (!canRecompute(value)) {
      cut.markSource(vertex);
      continue;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      cut.addEdge(visit(operand), vertex);
  }

  llvm::DenseSet<Value> kept;
  for (unsigned vertex : cut.solve())
    kept.insert(std::next(vertexOf.begin(), vertex)->first);
  Recomputed recomputed;
  worklist.assign(needed.begin(), needed.end());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (kept.contains(value))
      continue;
    if (Value twin = prices.twinOf(value)) {
      if (recomputed.asTwins.insert(value))
        worklist.push_back(twin);
    } else if (recomputed.ops.insert(value.getDefiningOp()).second) {
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
    }
  }
  return recomputed;
}

SmallVector<Value> captureResiduals(Block &fwd, Block &tan, const ResidualPrices &prices) {
  eraseDeadOps(tan);
  Recomputed recomputed = chooseRecomputed(usedFromOutside(tan).getArrayRef(), prices);
  IRMapping copies;
  OpBuilder builder(&tan.front()); // the blocks may belong to no op yet
  for (Operation &op : fwd) {
    for (Value operand : op.getOperands()) // a twin stands before the ops that use its value
      if (recomputed.asTwins.contains(operand))
        copies.map(operand, copies.lookupOrDefault(prices.twinOf(operand)));
    if (recomputed.ops.contains(&op))
      builder.clone(op, copies);
  }
  for (Value value : recomputed.asTwins)
    copies.map(value, copies.lookupOrDefault(prices.twinOf(value)));
  // An op with several results may be run again for one of them and have
  // another kept; then that one comes from the copy as well.
  for (Operation &op : tan)
    for (OpOperand &operand : op.getOpOperands())
      operand.set(copies.lookupOrDefault(operand.get()));
  return usedFromOutside(tan).takeVector();
}

/// Arithmetic, comparisons and changes of shape: as fast as reading the result.
static bool isCheap(Operation *op) {
  return isa<ir::NegOp, ir::AbsOp, ir::SignOp, ir::AddOp, ir::SubOp, ir::MulOp, ir::DivOp, ir::MaxOp, ir::MinOp, ir::NotOp,
             ir::AndOp, ir::OrOp, ir::CompareOp, ir::SelectNOp, ir::ConvertOp, ir::StopGradientOp, ir::ConstantOp, ir::IotaOp,
             ir::BroadcastInDimOp, ir::ReshapeOp, ir::TransposeOp, ir::SliceOp>(op);
}

static int64_t sizeBytes(Type type) {
  auto arrays = ir::flatLoTypes(type, [&] { return emitError(UnknownLoc::get(type.getContext())); });
  int64_t bytes = 0;
  for (Type lo : succeeded(arrays) ? ArrayRef<Type>(*arrays) : ArrayRef<Type>()) {
    auto array = cast<RankedTensorType>(lo);
    Type element = array.getElementType();
    // A key is two words.
    bytes += array.getNumElements() * (element.isIntOrFloat() ? elementBytes(element) : 8);
  }
  return bytes;
}

SmallVector<Value> captureResiduals(Block &fwd, Block &tan, function_ref<bool(Value)> isFree) {
  llvm::SmallDenseSet<Value> returned;
  if (fwd.mightHaveTerminator())
    returned.insert_range(fwd.getTerminator()->getOperands());
  auto cost = [&](Value value) { return isFree(value) || returned.contains(value) ? 0 : sizeBytes(value.getType()); };
  return captureResiduals(fwd, tan, ResidualPrices{isCheap, cost});
}

/// Replaces each primitive whose author says what to keep by its remat rule; fills what is kept, and
/// the twins of its results, which are made of that.
static void applyRematRules(Block &fwd, llvm::DenseSet<Value> &kept, llvm::DenseMap<Value, Value> &twins) {
  for (Operation &op : llvm::make_early_inc_range(fwd)) {
    auto call = dyn_cast<ir::CallPrimitiveOp>(op);
    if (!call || !call.getDef().has(ir::PrimitiveDef::Rule::Remat))
      continue;
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> results, saved, again;
    if (failed(call.getDef().remat(b, call.getCall(), call.getOperands(), results, saved)) ||
        failed(call.getDef().recompute(b, call.getCall(), saved, again)))
      return; // reported: the transform fails
    kept.insert_range(saved);
    for (auto [result, twin] : llvm::zip_equal(results, again))
      if (result != twin)
        twins[result] = twin;
    call->replaceAllUsesWith(results);
    call->erase();
  }
}

SmallVector<Value> captureResiduals(Block &fwd, Block &tan, ir::CheckpointPolicy policy) {
  if (policy == ir::CheckpointPolicy::EverythingSaveable)
    return captureResiduals(fwd, tan, [](Value value) { return isa<BlockArgument>(value); });
  llvm::DenseSet<Value> keptByAuthors;
  llvm::DenseMap<Value, Value> twins;
  eraseDeadOps(tan);
  applyRematRules(fwd, keptByAuthors, twins);
  auto isSaveable = [&](Operation *op) {
    auto dot = dyn_cast_or_null<ir::DotGeneralOp>(op);
    return dot && (policy == ir::CheckpointPolicy::DotsSaveable ||
                   (policy == ir::CheckpointPolicy::DotsWithNoBatchDimsSaveable && dot.getLhsBatching().empty()));
  };
  // What an op did with a ref is done, and what it read may be gone: never again, so its results are kept.
  auto canRecompute = [&](Operation *op) { return !isSaveable(op) && !ir::takesRef(op); };
  auto cost = [&](Value value) {
    if (isa<BlockArgument>(value) || isSaveable(value.getDefiningOp()) || keptByAuthors.contains(value))
      return int64_t(0);
    return ir::takesRef(value.getDefiningOp()) ? sizeBytes(value.getType()) : VertexCut::kInfinite;
  };
  return captureResiduals(fwd, tan, ResidualPrices{canRecompute, cost, &twins});
}

} // namespace hjx
