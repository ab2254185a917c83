// SPDX-License-Identifier: Apache-2.0
//
// Attention: result types.
#include "dialects/hjx/Attention.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/Attention.cpp.inc"

namespace {
/// The types of attention's results.
struct AttentionTypes {
  RankedTensorType out, logsumexp;
};
} // namespace

/// (C1) to (C3).
static FailureOr<AttentionTypes> inferAttention(StringRef op, std::optional<Location> loc, Type queryType, Type keyType,
                                                Type valueType) {
  auto query = cast<RankedTensorType>(queryType), key = cast<RankedTensorType>(keyType), value = cast<RankedTensorType>(valueType);
  Type element = query.getElementType();
  if (key.getElementType() != element || value.getElementType() != element)
    return emitOptionalError(loc, op, ": (C1) expected query, key and value of one element type, got ", query, ", ", key, " and ", value);
  int64_t rank = query.getRank();
  auto agree = [&](RankedTensorType other) {
    return other.getRank() == rank && other.getShape().drop_back(3) == query.getShape().drop_back(3) &&
           other.getDimSize(rank - 2) == query.getDimSize(rank - 2);
  };
  if (rank < 3 || !agree(key) || !agree(value))
    return emitOptionalError(loc, op, ": (C2) expected query, key and value [..., positions, heads, features] with the same leading "
                             "dimensions and heads, got ", query, ", ", key, " and ", value);
  if (key.getShape().back() != query.getShape().back() || value.getDimSize(rank - 3) != key.getDimSize(rank - 3))
    return emitOptionalError(loc, op, ": (C3) expected query and key of the same features, key and value of the same positions, got ",
                             query, ", ", key, " and ", value);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  Type wide = element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext()) : element;
  return AttentionTypes{RankedTensorType::get(shape, element), RankedTensorType::get(query.getShape().drop_back(), wide)};
}

/// (C4) for one operand.
static LogicalResult expectOperand(StringRef op, std::optional<Location> loc, StringRef name, Value operand, Type expected) {
  if (operand.getType() == expected)
    return success();
  return emitOptionalError(loc, op, ": (C4) expected ", name, " of type ", expected, ", got ", operand.getType());
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  FailureOr<AttentionTypes> types =
      inferAttention("attention", loc, adaptor.getQuery().getType(), adaptor.getKey().getType(), adaptor.getValue().getType());
  if (failed(types))
    return failure();
  results.assign({types->out, types->logsumexp});
  return success();
}

LogicalResult AttentionTangentOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  StringRef op = "attention_tangent";
  Type query = adaptor.getQuery().getType(), key = adaptor.getKey().getType(), value = adaptor.getValue().getType();
  FailureOr<AttentionTypes> types = inferAttention(op, loc, query, key, value);
  if (failed(types) || failed(expectOperand(op, loc, "out", adaptor.getOut(), types->out)) ||
      failed(expectOperand(op, loc, "logsumexp", adaptor.getLogsumexp(), types->logsumexp)) ||
      failed(expectOperand(op, loc, "query_dot", adaptor.getQueryDot(), query)) ||
      failed(expectOperand(op, loc, "key_dot", adaptor.getKeyDot(), key)) ||
      failed(expectOperand(op, loc, "value_dot", adaptor.getValueDot(), value)))
    return failure();
  results.assign({types->out, types->logsumexp});
  return success();
}

LogicalResult AttentionCotangentOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  StringRef op = "attention_cotangent";
  Type query = adaptor.getQuery().getType(), key = adaptor.getKey().getType(), value = adaptor.getValue().getType();
  FailureOr<AttentionTypes> types = inferAttention(op, loc, query, key, value);
  if (failed(types) || failed(expectOperand(op, loc, "logsumexp", adaptor.getLogsumexp(), types->logsumexp)) ||
      failed(expectOperand(op, loc, "out_bar", adaptor.getOutBar(), types->out)) ||
      failed(expectOperand(op, loc, "shift", adaptor.getShift(), types->logsumexp)))
    return failure();
  results.assign({query, key, value});
  return success();
}
