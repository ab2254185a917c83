// SPDX-License-Identifier: Apache-2.0
//
// Reductions in lanes, and maxima that look for NaN on the side: see the header.
#include "lib/Codegen/Cpu/LaneReduction.h"

using namespace mlir;
using namespace hjx;

static Value splat(ImplicitLocOpBuilder &b, TypedAttr element, int64_t lanes) {
  auto type = VectorType::get({lanes}, element.getType());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(element)));
}

static std::pair<Value, Value> halves(ImplicitLocOpBuilder &b, Value vector) {
  int64_t half = cast<VectorType>(vector.getType()).getNumElements() / 2;
  auto part = [&](int64_t first) -> Value {
    return vector::ShuffleOp::create(b, vector, vector,
                                     llvm::to_vector(llvm::seq(first, first + half)));
  };
  return {part(0), part(half)};
}

/// The larger of two (or the smaller); `rhs` if there is a NaN. One instruction on x86.
Value LaneReduction::better(ImplicitLocOpBuilder &b, Value lhs, Value rhs) const {
  auto predicate =
      isa<arith::MaximumFOp>(combine.op) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value isBetter = arith::CmpFOp::create(b, predicate, lhs, rhs);
  return arith::SelectOp::create(b, isBetter, lhs, rhs);
}

LaneReduction::Values LaneReduction::start(ImplicitLocOpBuilder &b) const {
  TypedAttr identity = combine.identity();
  Values carried{splat(b, identity, lanes)};
  if (tracksNan()) {
    // As wide as the floats: what comparisons of them give on AVX2.
    Type word = b.getIntegerType(identity.getType().getIntOrFloatBitWidth());
    carried.push_back(splat(b, b.getIntegerAttr(word, 0), lanes / 2));
  }
  return carried;
}

LaneReduction::Values LaneReduction::add(ImplicitLocOpBuilder &b, ValueRange carried,
                                         Value partial) const {
  if (!tracksNan())
    return {combine.emit(b, carried[0], partial)};
  auto [low, high] = halves(b, partial);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, low, high);
  Value word = arith::ExtSIOp::create(b, carried[1].getType(), isNan);
  return {better(b, carried[0], partial), arith::OrIOp::create(b, carried[1], word)};
}

Value LaneReduction::join(ImplicitLocOpBuilder &b, ValueRange carried) const {
  if (!tracksNan())
    return combine.reduceLanes(b, carried[0]);
  Value best = carried[0];
  for (unsigned width = lanes; width > 1; width /= 2) {
    auto [low, high] = halves(b, best);
    best = better(b, low, high);
  }
  best = vector::ExtractOp::create(b, best, ArrayRef<int64_t>{0});
  auto floatType = cast<FloatType>(best.getType());
  Value nan = arith::ConstantOp::create(
      b, b.getFloatAttr(floatType, APFloat::getNaN(floatType.getFloatSemantics())));
  Value word = vector::ReductionOp::create(b, vector::CombiningKind::OR, carried[1]);
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(word.getType(), 0));
  Value anyNan = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, word, zero);
  return arith::SelectOp::create(b, anyNan, nan, best);
}
