// SPDX-License-Identifier: Apache-2.0
//
// Contractions. result[batch, free lhs, free rhs] = sum over contracting of
// lhs * rhs, one loop nest over the definition. Attention row by row, in double.
#include "lib/Interpreter/Evaluate.h"

#include "dialects/hjx/Attention.h"
#include "dialects/hjx/Shapes.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace hjx {

static LogicalResult evaluateDotGeneral(Evaluation &e) {
  auto op = cast<ir::DotGeneralOp>(e.op);
  const HostArray &lhs = e.operand(0), &rhs = e.operand(1);
  HostArray &result = e.results[0];
  SmallVector<int64_t> lhsFree =
      ir::dimsExcept(lhs.rank(), op.getLhsBatching(), op.getLhsContracting());
  SmallVector<int64_t> rhsFree =
      ir::dimsExcept(rhs.rank(), op.getRhsBatching(), op.getRhsContracting());
  size_t numBatching = op.getLhsBatching().size();
  SmallVector<int64_t> lhsIndex(lhs.rank()), rhsIndex(rhs.rank());
  auto place = [](MutableArrayRef<int64_t> index, ArrayRef<int64_t> dims,
                  ArrayRef<int64_t> values) {
    for (auto [dim, value] : llvm::zip_equal(dims, values))
      index[dim] = value;
  };

  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    place(lhsIndex, op.getLhsBatching(), index.take_front(numBatching));
    place(rhsIndex, op.getRhsBatching(), index.take_front(numBatching));
    place(lhsIndex, lhsFree, index.slice(numBatching, lhsFree.size()));
    place(rhsIndex, rhsFree, index.take_back(rhsFree.size()));
    double sum = 0;
    APInt integerSum(result.elementType().getIntOrFloatBitWidth(), 0);
    forEachIndex(
        ir::pickDims(lhs.shape(), op.getLhsContracting()), [&](ArrayRef<int64_t> contracted) {
          place(lhsIndex, op.getLhsContracting(), contracted);
          place(rhsIndex, op.getRhsContracting(), contracted);
          int64_t l = lhs.offsetOf(lhsIndex), r = rhs.offsetOf(rhsIndex);
          if (lhs.isFloat()) {
            sum += lhs.getFloat(l) * rhs.getFloat(r);
          } else {
            unsigned width = integerSum.getBitWidth();
            integerSum += lhs.getInteger(l).extOrTrunc(width) * rhs.getInteger(r).extOrTrunc(width);
          }
        });
    if (result.isFloat())
      result.setFloat(next++, sum);
    else
      result.setInteger(next++, integerSum);
  });
  return success();
}

namespace {
/// Query, key and value of one of the attention ops, as [batch, positions, heads, features].
class AttentionRows {
public:
  template <typename Op>
  AttentionRows(const Evaluation &e, Op op)
      : query(e.operand(0)), key(e.operand(1)), scale(op.getScale().convertToDouble()), causal(op.getCausal()),
        numHeads(query.dim(query.rank() - 2)), numRows(query.dim(query.rank() - 3)), numColumns(key.dim(key.rank() - 3)),
        features(key.dim(key.rank() - 1)), valueFeatures(e.operand(2).dim(key.rank() - 1)) {}

  /// For each batch and head: its number, t, and the places of t's row of query and of the columns that it sees.
  struct Row {
    int64_t batch, head, position, numSeen;
  };
  void forEach(function_ref<void(const Row &)> visit) const {
    int64_t numBatches = 1;
    for (int64_t size : query.shape().drop_back(3))
      numBatches *= size;
    for (int64_t batch = 0; batch < numBatches; ++batch)
      for (int64_t t = 0; t < numRows; ++t)
        for (int64_t head = 0; head < numHeads; ++head)
          visit({batch, head, t, causal ? std::min(t + 1, numColumns) : numColumns});
  }
  /// Of [batch, T, heads].
  int64_t number(const Row &row) const { return (row.batch * numRows + row.position) * numHeads + row.head; }
  /// Of [batch, S, heads].
  int64_t column(const Row &row, int64_t s) const { return (row.batch * numColumns + s) * numHeads + row.head; }
  /// Row `i` of x times row `j` of y, both of `size` numbers.
  static double dot(const HostArray &x, int64_t i, const HostArray &y, int64_t j, int64_t size) {
    double sum = 0;
    for (int64_t d = 0; d < size; ++d)
      sum += x.getFloat(i * size + d) * y.getFloat(j * size + d);
    return sum;
  }
  double score(const Row &row, int64_t s) const { return scale * dot(query, number(row), key, column(row, s), features); }

  const HostArray &query, &key;
  double scale;
  bool causal;
  int64_t numHeads, numRows, numColumns, features, valueFeatures;
};
} // namespace

static LogicalResult evaluateAttention(Evaluation &e) {
  AttentionRows a(e, cast<ir::AttentionOp>(e.op));
  const HostArray &value = e.operand(2);
  a.forEach([&](const AttentionRows::Row &row) {
    SmallVector<double> scores;
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t s = 0; s < row.numSeen; ++s) {
      scores.push_back(a.score(row, s));
      highest = scores[s] > highest || std::isnan(scores[s]) ? scores[s] : highest;
    }
    for (double score : scores)
      sum += std::exp(score - highest);
    double logsumexp = scores.empty() ? highest : highest + std::log(sum);
    e.results[1].setFloat(a.number(row), logsumexp);
    for (int64_t i = 0; i < a.valueFeatures; ++i) {
      double out = 0;
      for (int64_t s = 0; s < row.numSeen; ++s)
        out += std::exp(scores[s] - logsumexp) * value.getFloat(a.column(row, s) * a.valueFeatures + i);
      e.results[0].setFloat(a.number(row) * a.valueFeatures + i, out);
    }
  });
  return success();
}

static LogicalResult evaluateAttentionTangent(Evaluation &e) {
  AttentionRows a(e, cast<ir::AttentionTangentOp>(e.op));
  const HostArray &value = e.operand(2), &out = e.operand(3), &logsumexp = e.operand(4), &queryDot = e.operand(5),
                  &keyDot = e.operand(6), &valueDot = e.operand(7);
  int64_t width = a.valueFeatures;
  a.forEach([&](const AttentionRows::Row &row) {
    int64_t number = a.number(row);
    SmallVector<double> outDot(width, 0.0);
    double logsumexpDot = 0;
    for (int64_t s = 0; s < row.numSeen; ++s) {
      int64_t column = a.column(row, s);
      double weight = std::exp(a.score(row, s) - logsumexp.getFloat(number));
      double scoreDot = a.scale * (AttentionRows::dot(queryDot, number, a.key, column, a.features) +
                                   AttentionRows::dot(a.query, number, keyDot, column, a.features));
      logsumexpDot += weight * scoreDot;
      for (int64_t i = 0; i < width; ++i)
        outDot[i] += weight * (scoreDot * value.getFloat(column * width + i) + valueDot.getFloat(column * width + i));
    }
    e.results[1].setFloat(number, logsumexpDot);
    for (int64_t i = 0; i < width; ++i)
      e.results[0].setFloat(number * width + i, outDot[i] - logsumexpDot * out.getFloat(number * width + i));
  });
  return success();
}

static LogicalResult evaluateAttentionCotangent(Evaluation &e) {
  AttentionRows a(e, cast<ir::AttentionCotangentOp>(e.op));
  const HostArray &value = e.operand(2), &logsumexp = e.operand(3), &outBar = e.operand(4), &shift = e.operand(5);
  SmallVector<std::vector<double>> bars;
  for (unsigned i : {0, 1, 2})
    bars.emplace_back(e.results[i].numElements(), 0.0);
  int64_t width = a.valueFeatures;
  a.forEach([&](const AttentionRows::Row &row) {
    int64_t number = a.number(row);
    for (int64_t s = 0; s < row.numSeen; ++s) {
      int64_t column = a.column(row, s);
      double weight = std::exp(a.score(row, s) - logsumexp.getFloat(number));
      double scoreBar =
          weight * (AttentionRows::dot(outBar, number, value, column, width) - shift.getFloat(number)) * a.scale;
      for (int64_t d = 0; d < a.features; ++d) {
        bars[0][number * a.features + d] += scoreBar * a.key.getFloat(column * a.features + d);
        bars[1][column * a.features + d] += scoreBar * a.query.getFloat(number * a.features + d);
      }
      for (int64_t i = 0; i < width; ++i)
        bars[2][column * width + i] += weight * outBar.getFloat(number * width + i);
    }
  });
  for (auto [result, bar] : llvm::zip_equal(e.results, bars))
    for (auto [i, number] : llvm::enumerate(bar))
      result.setFloat(static_cast<int64_t>(i), number);
  return success();
}

void populateContractionEvaluateRules(EvaluateRules &rules) {
  rules.add<ir::AttentionOp>(evaluateAttention);
  rules.add<ir::AttentionTangentOp>(evaluateAttentionTangent);
  rules.add<ir::AttentionCotangentOp>(evaluateAttentionCotangent);
  rules.add<ir::DotGeneralOp>(evaluateDotGeneral);
}

} // namespace hjx
