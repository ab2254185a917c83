// SPDX-License-Identifier: Apache-2.0
//
// Reductions, index of an extreme, running sums.
#include "lib/Interpreter/Evaluate.h"

#include "dialects/hjx/Shapes.h"

#include <cmath>

using namespace mlir;
using llvm::APSInt;

namespace hjx {

namespace {
/// How a reduction starts and combines; a null function means "not for floats".
struct Monoid {
  double floatIdentity;
  double (*combineFloats)(double, double);
  APInt (*integerIdentity)(unsigned width, bool isUnsigned);
  APInt (*combineIntegers)(const APSInt &, const APSInt &);
};
} // namespace

static EvaluateRule reduce(Monoid monoid) {
  return [=](Evaluation &e) {
    const HostArray &x = e.operand(0);
    HostArray &result = e.results[0];
    ArrayRef<int64_t> axes = cast<DenseI64ArrayAttr>(e.op->getAttr("axes")).asArrayRef();
    SmallVector<int64_t> kept = ir::dimsExcept(x.rank(), axes);
    SmallVector<int64_t> index(x.rank());
    int64_t next = 0;
    forEachIndex(result.shape(), [&](ArrayRef<int64_t> place) {
      for (auto [dim, i] : llvm::zip_equal(kept, place))
        index[dim] = i;
      double sum = monoid.floatIdentity;
      APSInt integerSum;
      if (!x.isFloat()) {
        bool isUnsigned = result.getInteger(next).isUnsigned();
        integerSum =
            APSInt(monoid.integerIdentity(x.elementType().getIntOrFloatBitWidth(), isUnsigned),
                   isUnsigned);
      }
      forEachIndex(ir::pickDims(x.shape(), axes), [&](ArrayRef<int64_t> reduced) {
        for (auto [dim, i] : llvm::zip_equal(axes, reduced))
          index[dim] = i;
        int64_t offset = x.offsetOf(index);
        if (x.isFloat())
          sum = monoid.combineFloats(sum, x.getFloat(offset));
        else
          integerSum = APSInt(monoid.combineIntegers(integerSum, x.getInteger(offset)),
                              integerSum.isUnsigned());
      });
      if (x.isFloat())
        result.setFloat(next++, sum);
      else
        result.setInteger(next++, integerSum);
    });
    return success();
  };
}

static APInt least(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
}
static APInt greatest(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width);
}
static APInt zero(unsigned width, bool) { return APInt::getZero(width); }
static APInt one(unsigned width, bool) { return APInt(width, 1); }
static APInt allOnes(unsigned width, bool) { return APInt::getAllOnes(width); }

/// The first NaN, else the first extreme element.
template <bool isMax> static LogicalResult evaluateArgReduce(Evaluation &e) {
  const HostArray &x = e.operand(0);
  int64_t axis = cast<IntegerAttr>(e.op->getAttr("axis")).getInt(), next = 0;
  auto isBetter = [&](int64_t candidate, int64_t best) {
    if (!x.isFloat()) {
      APSInt c = x.getInteger(candidate), b = x.getInteger(best);
      return isMax ? c > b : c < b;
    }
    double c = x.getFloat(candidate), b = x.getFloat(best);
    if (std::isnan(b))
      return false;
    return std::isnan(c) || (isMax ? c > b : c < b);
  };
  forEachIndex(e.results[0].shape(), [&](ArrayRef<int64_t> place) {
    SmallVector<int64_t> index(place);
    index.insert(index.begin() + axis, 0);
    int64_t best = 0, bestOffset = x.offsetOf(index);
    for (int64_t i = 1; i < x.dim(axis); ++i) {
      index[axis] = i;
      if (int64_t offset = x.offsetOf(index); isBetter(offset, bestOffset)) {
        best = i;
        bestOffset = offset;
      }
    }
    e.results[0].setInteger(next++, APInt(64, best));
  });
  return success();
}

static LogicalResult evaluateCumsum(Evaluation &e) {
  auto op = cast<ir::CumsumOp>(e.op);
  const HostArray &x = e.operand(0);
  int64_t axis = op.getAxis(), size = x.dim(axis);
  forEachIndex(ir::dropAxis(x.type(), axis).getShape(), [&](ArrayRef<int64_t> place) {
    SmallVector<int64_t> index(place);
    index.insert(index.begin() + axis, 0);
    double sum = 0;
    APInt integerSum(x.elementType().getIntOrFloatBitWidth(), 0);
    for (int64_t i = 0; i < size; ++i) {
      index[axis] = op.getReverse() ? size - 1 - i : i;
      int64_t offset = x.offsetOf(index);
      if (x.isFloat())
        e.results[0].setFloat(offset, sum += x.getFloat(offset));
      else
        e.results[0].setInteger(offset, integerSum += x.getInteger(offset));
    }
  });
  return success();
}

void populateReductionEvaluateRules(EvaluateRules &rules) {
  using namespace ir;
  // clang-format off
  constexpr double inf = std::numeric_limits<double>::infinity();
  rules.add<ReduceSumOp>(reduce({0, [](double x, double y) { return x + y; },
                                 zero, [](const APSInt &x, const APSInt &y) { return APInt(x) + y; }}));
  rules.add<ReduceProdOp>(reduce({1, [](double x, double y) { return x * y; },
                                  one, [](const APSInt &x, const APSInt &y) { return APInt(x) * y; }}));
  rules.add<ReduceMaxOp>(reduce({-inf, maximum, least, [](const APSInt &x, const APSInt &y) { return APInt(std::max(x, y)); }}));
  rules.add<ReduceMinOp>(reduce({inf, minimum, greatest, [](const APSInt &x, const APSInt &y) { return APInt(std::min(x, y)); }}));
  rules.add<ReduceAndOp>(reduce({0, nullptr, allOnes, [](const APSInt &x, const APSInt &y) { return APInt(x) & y; }}));
  rules.add<ReduceOrOp>(reduce({0, nullptr, zero, [](const APSInt &x, const APSInt &y) { return APInt(x) | y; }}));
  // clang-format on
  rules.add<ArgmaxOp>(evaluateArgReduce<true>);
  rules.add<ArgminOp>(evaluateArgReduce<false>);
  rules.add<CumsumOp>(evaluateCumsum);
}

} // namespace hjx
