// SPDX-License-Identifier: Apache-2.0
#include "lib/Codegen/Math/LargeAngles.h"
#include "lib/Codegen/Math/Coefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace hjx::math {
namespace {

struct Product {
  Int low, high;
};
Product multiplyExtended(Int a, Int b) {
  auto op = arith::MulUIExtendedOp::create(*a.builder, a.value, b.value);
  return {{{a.builder, op.getLow()}}, {{a.builder, op.getHigh()}}};
}

/// 1 where a + b overflowed into `sum`.
Int carryOf(Int sum, Int b) {
  Mask overflowed{
      {sum.builder, sum.make<arith::CmpIOp>(arith::CmpIPredicate::ult, sum.value, b.value)}};
  return {{sum.builder, sum.make<arith::ExtUIOp>(sum.value.getType(), overflowed.value)}};
}

Float toFloat(Int x) {
  return {{x.builder, x.make<arith::SIToFPOp>(x.builder->getF64Type(), x.value)}};
}
Int toInt(Float x) {
  return {{x.builder, x.make<arith::FPToSIOp>(x.builder->getI64Type(), x.value)}};
}

/// Four consecutive words of 0.(2/pi), from word `index` on; a zero word comes first.
SmallVector<Int> wordsOfTwoOverPi(Int index) {
  SmallVector<Int> words = {index.constant(0)};
  for (uint64_t word : kTwoOverPi)
    words.push_back(index.constant(int64_t(word)));
  // Each bit of the index halves the candidates.
  for (int64_t bit : {16, 8, 4, 2, 1}) {
    Mask isSet = notEqual(index & bit, 0);
    SmallVector<Int> rest;
    for (int64_t i = 0; i < 3 + bit; ++i)
      rest.push_back(size_t(i + bit) < words.size() ? select(isSet, words[i + bit], words[i])
                                                    : words[i]);
    words = rest;
  }
  return words;
}

/// For a finite scalar x >= 1.
Angle reduceExactly(Float x) {
  Int all = bits(x);
  Int mantissa = (all & 0xfffffffffffff) | 0x10000000000000;
  // x / 4 = mantissa * 2^(position - 64): bits of 2/pi before `position` give whole turns.
  Int position = (all >> 52) - (1023 + 52 + 2 - 64);
  SmallVector<Int> words = wordsOfTwoOverPi(position >> 6);
  Int shift = position & 63;
  auto window = [&](int i) { return (words[i] << shift) | ((words[i + 1] >> 1) >> (63 - shift)); };

  // The fraction of a turn as a 128-bit number, high:low.
  Product middle = multiplyExtended(mantissa, window(1));
  Int fromLast = multiplyExtended(mantissa, window(2)).high;
  Int low = middle.low + fromLast;
  Int high = mantissa * window(0) + middle.high + carryOf(low, fromLast);

  // Nearest quarter turn, and the signed rest in units of 2^-62 quarters: top + low * 2^-64.
  Int quadrant = (high + (int64_t(1) << 61)) >> 62;
  Int top = high - (quadrant << 62);
  Float sum = toFloat(top);
  Float lowFraction = toFloat(low >> 1) * 0x1p-63;
  Float rest = toFloat(top - toInt(sum)) + lowFraction;
  // Times pi/2, both as unevaluated sums.
  double piHigh = 0x1.921fb54442d18p-62, piLow = 0x1.1a62633145c07p-116;
  Float product = sum * piHigh;
  Float error = fma(sum, piHigh, -product);
  return {product + fma(rest, piHigh, fma(sum, piLow, error)), quadrant};
}

template <typename T, typename Position> T extract(T x, Position at) {
  return {{x.builder, x.template make<vector::ExtractOp>(x.value, at)}};
}
template <typename T, typename Position> T insert(T part, T into, Position at) {
  return {{into.builder, into.template make<vector::InsertOp>(part.value, into.value, at)}};
}

/// A loop over the lanes: straight code on whole vectors would be thousands of instructions.
Angle reduceLanes(Float x, Mask isLarge, Angle fast) {
  ImplicitLocOpBuilder &b = *x.builder;
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value end =
      arith::ConstantIndexOp::create(b, cast<VectorType>(x.value.getType()).getNumElements());
  auto loop = scf::ForOp::create(b, zero, end, one, ValueRange{fast.r.value, fast.quadrant.value});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  Float r{{&b, loop.getRegionIterArg(0)}};
  Int quadrant{{&b, loop.getRegionIterArg(1)}};
  Mask isLaneLarge = extract(isLarge, i);
  // 1 stands in for what must not be converted.
  Angle exact = reduceExactly(select(isLaneLarge, extract(x, i), 1.0));
  r = insert(select(isLaneLarge, exact.r, extract(r, i)), r, i);
  quadrant = insert(select(isLaneLarge, exact.quadrant, extract(quadrant, i)), quadrant, i);
  scf::YieldOp::create(b, ValueRange{r.value, quadrant.value});
  return {{{&b, loop.getResult(0)}}, {{&b, loop.getResult(1)}}};
}

/// Splits a vector of rank 0 or above 1 into scalars or vectors of one rank less.
Angle reduceByParts(Float magnitude, double limit, Angle fast) {
  auto type = cast<VectorType>(magnitude.value.getType());
  for (int64_t i = 0, end = type.getRank() ? type.getDimSize(0) : 1; i < end; ++i) {
    SmallVector<int64_t, 1> at(type.getRank() ? 1 : 0, i);
    Angle part = {extract(fast.r, ArrayRef(at)), extract(fast.quadrant, ArrayRef(at))};
    part = withLargeAngles(extract(magnitude, ArrayRef(at)), limit, part);
    fast = {insert(part.r, fast.r, ArrayRef(at)),
            insert(part.quadrant, fast.quadrant, ArrayRef(at))};
  }
  return fast;
}

} // namespace

Angle withLargeAngles(Float magnitude, double limit, Angle fast) {
  ImplicitLocOpBuilder &b = *magnitude.builder;
  auto type = dyn_cast<VectorType>(magnitude.value.getType());
  if (type && type.getRank() != 1)
    return reduceByParts(magnitude, limit, fast);
  Mask isLarge = (magnitude > limit) & (magnitude < std::numeric_limits<double>::infinity());
  Value any = type ? isLarge.make<vector::ReductionOp>(vector::CombiningKind::OR, isLarge.value)
                   : isLarge.value;
  auto branch =
      scf::IfOp::create(b, TypeRange{fast.r.value.getType(), fast.quadrant.value.getType()}, any,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Angle exact = type ? reduceLanes(magnitude, isLarge, fast) : reduceExactly(magnitude);
  scf::YieldOp::create(b, ValueRange{exact.r.value, exact.quadrant.value});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{fast.r.value, fast.quadrant.value});
  return {{{&b, branch.getResult(0)}}, {{&b, branch.getResult(1)}}};
}

} // namespace hjx::math
