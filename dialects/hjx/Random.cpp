// SPDX-License-Identifier: Apache-2.0
//
// Random: result types.
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/Random.cpp.inc"

void HjxDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Random.cpp.inc"
      >();
}

static RankedTensorType keysOf(ArrayRef<int64_t> shape, MLIRContext *context) {
  return RankedTensorType::get(shape, KeyType::get(context, "threefry2x32"));
}

void Threefry2x32Op::build(OpBuilder &, OperationState &state, Value key0, Value key1, Value count0, Value count1) {
  state.addOperands({key0, key1, count0, count1});
  state.addTypes({key0.getType(), key0.getType()});
}

LogicalResult RandomWrapOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (type.getRank() == 0 || type.getShape().back() != 2)
    return emitOptionalError(loc, "random_wrap: (C1) expected a last dimension of 2, got ", type);
  results.push_back(keysOf(type.getShape().drop_back(), context));
  return success();
}

LogicalResult RandomUnwrapOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(adaptor.getOperand().getType()).getShape());
  shape.push_back(2);
  results.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult RandomSeedOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  results.push_back(keysOf(cast<RankedTensorType>(adaptor.getSeed().getType()).getShape(), context));
  return success();
}

static FailureOr<SmallVector<int64_t>> appendShape(StringRef op, std::optional<Location> loc, Value keys, ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; })) {
    (void)emitOptionalError(loc, op, " expected a shape without negative sizes, got [", shape, "]");
    return failure();
  }
  SmallVector<int64_t> all(cast<RankedTensorType>(keys.getType()).getShape());
  llvm::append_range(all, shape);
  return all;
}

LogicalResult RandomSplitOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &results) {
  auto shape = appendShape("random_split: (C1)", loc, adaptor.getKeys(), adaptor.getShape());
  if (failed(shape))
    return failure();
  results.push_back(keysOf(*shape, context));
  return success();
}

LogicalResult RandomFoldInOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  auto keys = cast<RankedTensorType>(adaptor.getKeys().getType()), data = cast<RankedTensorType>(adaptor.getData().getType());
  if (keys.getShape() != data.getShape())
    return emitOptionalError(loc, "random_fold_in: (C1) expected data with the keys' shape ", keys, ", got ", data);
  results.push_back(keys);
  return success();
}

LogicalResult RandomBitsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  int64_t width = adaptor.getWidth();
  if (!llvm::is_contained({8, 16, 32, 64}, width))
    return emitOptionalError(loc, "random_bits: (C1) expected width 8, 16, 32 or 64, got ", width);
  auto shape = appendShape("random_bits: (C2)", loc, adaptor.getKeys(), adaptor.getShape());
  if (failed(shape))
    return failure();
  results.push_back(RankedTensorType::get(*shape, IntegerType::get(context, width, IntegerType::Unsigned)));
  return success();
}
