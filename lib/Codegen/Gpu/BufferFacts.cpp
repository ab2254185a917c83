// SPDX-License-Identifier: Apache-2.0
//
// Facts from views and uses: see the header.
#include "lib/Codegen/Gpu/BufferFacts.h"

#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

#include <numeric>

using namespace mlir;
using namespace hjx;

/// Every buffer of the runtime and of the memory plan is aligned to this and more.
static constexpr int64_t kBufferAlignment = 16;

static int64_t alignmentOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = elementBytes(type);
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? kBufferAlignment : bytes;
  Operation *op = buffer.getDefiningOp();
  if (isa<memref::AllocOp>(op))
    return kBufferAlignment;
  if (isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
    return alignmentOf(op->getOperand(0));
  auto subview = dyn_cast<memref::SubViewOp>(op);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!subview || failed(subview.getSourceType().getStridesAndOffset(strides, offset)))
    return bytes;
  int64_t alignment = alignmentOf(subview.getSource());
  for (auto [start, stride] : llvm::zip(subview.getMixedOffsets(), strides)) {
    if (stride == ShapedType::kDynamic)
      return bytes;
    int64_t step = getConstantIntValue(start).value_or(1) * stride * bytes;
    alignment = std::gcd(alignment, step);
  }
  return alignment;
}

/// The largest power of two that divides both the bytes from the first element of `type` to the
/// last, and `alignment`. LLVM reads whole aligned vectors where it wants a part of one: told more
/// than this, it would read behind the end of a buffer of 12 bytes.
static int64_t alignmentWithin(MemRefType type, int64_t alignment) {
  SmallVector<int64_t> strides;
  int64_t offset, last = 0, bytes = elementBytes(type);
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)))
    return bytes;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (stride == ShapedType::kDynamic)
      return bytes;
    last += (size - 1) * stride;
  }
  return type.getNumElements() == 0 ? alignment : std::gcd(alignment, (last + 1) * bytes);
}

/// Whether two buffers with this root are known to be one and the same memory only when their
/// roots are the same value.
static bool isRoot(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa_and_present<memref::AllocOp, memref::GetGlobalOp>(value.getDefiningOp());
}

static bool mayOverlap(Value a, Value b) {
  Value first = rootBuffer(a), second = rootBuffer(b);
  return first == second || !isRoot(first) || !isRoot(second);
}

static void findWrites(func::FuncOp kernel, MutableArrayRef<BufferFacts> facts) {
  auto note = [&](Value buffer) {
    auto argument = dyn_cast<BlockArgument>(rootBuffer(buffer));
    if (argument && argument.getOwner() == &kernel.front())
      facts[argument.getArgNumber()].isWritten = true;
  };
  kernel.walk([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      llvm::for_each(generic.getDpsInits(), note);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      note(store.getMemRef());
  });
}

SmallVector<BufferFacts> hjx::bufferFacts(func::FuncOp kernel, ArrayRef<func::CallOp> calls) {
  SmallVector<BufferFacts> facts(kernel.getNumArguments());
  findWrites(kernel, facts);
  for (func::CallOp call : calls) {
    for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      int64_t alignment =
          alignmentWithin(cast<MemRefType>(operand.getType()), alignmentOf(operand));
      facts[index].alignment = std::gcd(facts[index].alignment, alignment);
      for (unsigned other = 0; other < index; ++other) {
        Value second = call.getOperand(other);
        if (!isa<MemRefType>(second.getType()) ||
            (!facts[index].isWritten && !facts[other].isWritten) || !mayOverlap(operand, second))
          continue;
        facts[index].isAlone = facts[other].isAlone = false;
      }
    }
  }
  return facts;
}
