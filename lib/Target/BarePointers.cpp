// SPDX-License-Identifier: Apache-2.0
//
// Descriptors from pointers and back: see the header.
#include "lib/Target/BarePointers.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

static Value castTo(ImplicitLocOpBuilder &b, Type type, Value value) {
  return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
}

LogicalResult BarePointers::check(FunctionOpInterface function) {
  for (Type type : function.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (memref.hasStaticShape() && memref.getNumElements() == 0)
      continue; // Strides of what is never touched.
    // Where a vector ends need not be known to address it.
    bool hasShape = memref.hasStaticShape() || memref.getRank() == 1;
    if (!hasShape || failed(memref.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return function->emitOpError("expected buffers of static shape and strides, got ") << memref;
  }
  return success();
}

Type BarePointers::pointerType(MemRefType type) const {
  return cast<LLVM::LLVMStructType>(types.convertType(type)).getBody()[1];
}

Value BarePointers::bufferAt(ImplicitLocOpBuilder &b, MemRefType type, Value pointer) const {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  auto descriptor = MemRefDescriptor::poison(b, b.getLoc(), types.convertType(type));
  descriptor.setAllocatedPtr(b, b.getLoc(), pointer);
  descriptor.setAlignedPtr(b, b.getLoc(), pointer);
  descriptor.setConstantOffset(b, b.getLoc(), 0);
  bool isEmpty = type.hasStaticShape() && type.getNumElements() == 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size))
      descriptor.setConstantSize(b, b.getLoc(), dim, size);
    descriptor.setConstantStride(b, b.getLoc(), dim, isEmpty ? 0 : strides[dim]);
  }
  return castTo(b, type, descriptor);
}

Value BarePointers::addressOf(ImplicitLocOpBuilder &b, Value buffer) const {
  auto type = cast<MemRefType>(buffer.getType());
  MemRefDescriptor descriptor(castTo(b, types.convertType(type), buffer));
  Value aligned = descriptor.alignedPtr(b, b.getLoc());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (offset == 0)
    return aligned;
  return LLVM::GEPOp::create(b, aligned.getType(), types.convertType(type.getElementType()),
                             aligned, descriptor.offset(b, b.getLoc()));
}

void BarePointers::lowerArgument(ImplicitLocOpBuilder &b, BlockArgument argument) const {
  auto type = cast<MemRefType>(argument.getType());
  argument.setType(pointerType(type));
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
  Value buffer = bufferAt(b, type, argument);
  for (OpOperand *use : uses)
    use->set(buffer);
}
