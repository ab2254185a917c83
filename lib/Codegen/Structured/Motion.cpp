// SPDX-License-Identifier: Apache-2.0
#include "lib/Codegen/Structured/Motion.h"

using namespace mlir;

bool hjx::isMovable(Operation *op) {
  return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<memref::AllocOp>(op));
}

/// The op that makes `value` in the block of `position`, behind it; null if there is none.
static Operation *laterProducer(Value value, Operation *position) {
  Operation *producer = value.getDefiningOp();
  return producer && producer->getBlock() == position->getBlock() && !producer->isBeforeInBlock(position) ? producer
                                                                                                         : nullptr;
}

bool hjx::canMoveBefore(Value value, Operation *position) {
  Operation *producer = laterProducer(value, position);
  return !producer || (isMovable(producer) && llvm::all_of(producer->getOperands(), [&](Value operand) {
                         return canMoveBefore(operand, position);
                       }));
}

void hjx::moveBefore(Value value, Operation *position) {
  Operation *producer = laterProducer(value, position);
  if (!producer)
    return;
  for (Value operand : producer->getOperands())
    moveBefore(operand, position);
  producer->moveBefore(position);
}
