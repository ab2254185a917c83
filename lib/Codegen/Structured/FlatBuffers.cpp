// SPDX-License-Identifier: Apache-2.0
//
// Buffers and rows as kernels address them: see the header.
#include "lib/Codegen/Structured/FlatBuffers.h"

#include "lib/Codegen/Structured/RowLoops.h"

using namespace mlir;
using namespace hjx;

Value hjx::flatten(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t span = type.getNumElements() == 0 ? 0 : 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    span += span ? (size - 1) * stride : 0;
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return buffer;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, {1});
  auto flatType = MemRefType::get({span}, type.getElementType(), layout);
  OpFoldResult start = b.getIndexAttr(offset);
  if (ShapedType::isDynamic(offset))
    start = metadata.getOffset();
  return memref::ReinterpretCastOp::create(b, flatType, metadata.getBaseBuffer(), start,
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(span)},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

void hjx::keepOneRow(Value buffer, MutableArrayRef<LoopNest> nests, IRMapping &flatBuffers,
                     llvm::function_ref<Value(Type, int64_t)> make) {
  Stretch all{INT64_MAX, INT64_MIN};
  SmallVector<std::pair<LoopNest *, Access *>> accesses;
  for (LoopNest &nest : nests)
    for (Access &access : nest.accesses)
      if (!access.byValue && rootBuffer(access.operand) == buffer) {
        Stretch stretch = rowStretch(nest, access);
        all = {std::min(all.first, stretch.first), std::max(all.last, stretch.last)};
        accesses.emplace_back(&nest, &access);
      }
  Value row = make(cast<MemRefType>(buffer.getType()).getElementType(), all.last - all.first + 1);
  for (auto [nest, access] : accesses) {
    flatBuffers.map(access->operand, row);
    access->offset -= all.first;
    for (auto [info, stride] : llvm::zip(nest->loops, access->strides))
      if (info.row >= 0)
        stride = 0;
  }
}

Value hjx::takeDigit(ImplicitLocOpBuilder &b, Value &number, int64_t radix, bool hasMore) {
  if (!hasMore)
    return number;
  Value base = arith::ConstantIndexOp::create(b, radix);
  Value digit = arith::RemUIOp::create(b, number, base);
  number = arith::DivUIOp::create(b, number, base);
  return digit;
}

void hjx::eraseWithBuffers(ArrayRef<linalg::GenericOp> ops, Block &body) {
  for (linalg::GenericOp op : ops)
    op.erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

SmallVector<int64_t> hjx::rowDigits(const LoopNest &nest) {
  SmallVector<int64_t> digits;
  for (const Loop &loop : nest.loops) {
    if (loop.row < 0)
      continue;
    digits.resize(std::max<size_t>(digits.size(), loop.row + 1));
    digits[loop.row] = loop.size;
  }
  return digits;
}

int64_t hjx::numRowsOf(const LoopNest &nest) {
  int64_t rows = 1;
  for (int64_t size : rowDigits(nest))
    rows *= size;
  return rows;
}
