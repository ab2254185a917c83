// SPDX-License-Identifier: Apache-2.0
#include "lib/Codegen/Structured/BufferEffects.h"

#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace hjx;

BufferEffects BufferEffects::of(Operation *root) {
  BufferEffects effects;
  root->walk([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (OpOperand *input : generic.getDpsInputOperands())
        if (isa<MemRefType>(input->get().getType()))
          effects.addRead(input->get());
      for (Value output : generic.getDpsInits()) {
        effects.addRead(output);
        effects.addWrite(output);
      }
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      effects.addRead(load.getMemRef());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      effects.addWrite(store.getMemRef());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      for (OpOperand &operand : call->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()))
          continue;
        effects.addRead(operand.get());
        if (!callee.getArgAttr(operand.getOperandNumber(), kReadOnlyAttr))
          effects.addWrite(operand.get());
      }
    } else if (!isMemoryEffectFree(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
               !isa<memref::AllocOp, linalg::YieldOp>(op)) {
      effects.unknown = true;
    }
  });
  return effects;
}

void BufferEffects::addAll(const BufferEffects &other) {
  reads.insert(other.reads.begin(), other.reads.end());
  writes.insert(other.writes.begin(), other.writes.end());
  unknown |= other.unknown;
}

bool BufferEffects::conflictsWith(const BufferEffects &other) const {
  auto meet = [](const auto &a, const auto &b) {
    const auto &small = a.size() < b.size() ? a : b, &large = a.size() < b.size() ? b : a;
    return llvm::any_of(small, [&](Value value) { return large.contains(value); });
  };
  return unknown || other.unknown || meet(reads, other.writes) || meet(writes, other.reads) ||
         meet(writes, other.writes);
}

void BufferEffects::add(llvm::SmallDenseSet<Value> &set, Value buffer) {
  Value root = rootBuffer(buffer);
  if (!overlapsNoOther(root))
    unknown = true;
  set.insert(root);
}

/// The part of a buffer that `view` is a view of.
static memref::SubViewOp partOf(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>()) {
    if (auto part = dyn_cast<memref::SubViewOp>(*op))
      return part;
    view = op.getViewSource();
  }
  return {};
}

bool hjx::areDisjoint(Value a, Value b) {
  memref::SubViewOp first = partOf(a), second = partOf(b);
  if (!first || !second || first.getSource() != second.getSource() || !first.hasUnitStride() || !second.hasUnitStride())
    return false;
  auto isStatic = [](ArrayRef<int64_t> numbers) { return llvm::none_of(numbers, ShapedType::isDynamic); };
  ArrayRef<int64_t> begins[] = {first.getStaticOffsets(), second.getStaticOffsets()};
  ArrayRef<int64_t> sizes[] = {first.getStaticSizes(), second.getStaticSizes()};
  if (!isStatic(begins[0]) || !isStatic(begins[1]) || !isStatic(sizes[0]) || !isStatic(sizes[1]))
    return false;
  for (size_t axis = 0; axis < begins[0].size(); ++axis)
    if (begins[0][axis] + sizes[0][axis] <= begins[1][axis] || begins[1][axis] + sizes[1][axis] <= begins[0][axis])
      return true;
  return false;
}
