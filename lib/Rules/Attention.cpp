// SPDX-License-Identifier: Apache-2.0
//
// Attention in products and elementwise ops: see the header.
#include "lib/Rules/Attention.h"

#include "lib/Rules/Emit.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::emit;

/// What stands for a score that is hidden, as in OpenAI's GPT-2: finite, so that no row is ever NaN.
static constexpr double kHidden = -1e10;

namespace {

/// The dimensions of query [lead..., T, N, D], and of scores [lead..., N, T, S].
struct Dims {
  explicit Dims(Value query)
      : lead(typeOf(query).getRank() - 3), batch(ir::iotaDims(lead)), scoreBatch(ir::iotaDims(lead + 1)) {
    batch.push_back(lead + 1);
    swapHeads = ir::iotaDims(lead + 3);
    std::swap(swapHeads[lead], swapHeads[lead + 1]);
  }

  int64_t lead;
  SmallVector<int64_t> batch, scoreBatch, swapHeads;
};

/// scores where position t (the row) sees position s (the column), else kHidden.
Value hide(emit::Builder &b, Value scores, bool causal) {
  if (!causal)
    return scores;
  ArrayRef<int64_t> shape = typeOf(scores).getShape(), square = shape.take_back(2);
  auto positions = RankedTensorType::get(square, b.getI32Type());
  Value row = ir::IotaOp::create(b, positions, 0), column = ir::IotaOp::create(b, positions, 1);
  Value sees = compare(b, ir::ComparisonDirection::LE, column, row);
  int64_t rank = shape.size();
  sees = broadcastInDim(b, sees, shape, {rank - 2, rank - 1});
  return select(b, sees, scores, fullLike(b, scores, kHidden));
}

/// `rows`, of all dimensions of `like` but the last, at each place of that.
Value alongRows(emit::Builder &b, Value rows, Value like) {
  SmallVector<int64_t> shape(typeOf(rows).getShape());
  shape.push_back(1);
  return broadcastInDim(b, reshape(b, rows, shape), typeOf(like).getShape(), ir::iotaDims(shape.size()));
}

Value dot(emit::Builder &b, Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch, int64_t lhsDim,
          int64_t rhsDim, Type accumulate = {}) {
  auto accumType = accumulate && accumulate != typeOf(lhs).getElementType() ? TypeAttr::get(accumulate) : TypeAttr();
  return ir::DotGeneralOp::create(b, lhs, rhs, lhsBatch, rhsBatch, lhsDim, rhsDim, accumType);
}

/// Softmax as hjx::softmax writes it, between two products with heads in front: what a program that
/// spells attention out records. Of halves, scores and softmax are in f32.
SmallVector<Value> decompose(emit::Builder &b, ir::AttentionOp op) {
  Dims dims(op.getQuery());
  int64_t lead = dims.lead;
  Type wide = op.getLogsumexp().getType().getElementType();
  Value query = transpose(b, op.getQuery(), dims.swapHeads), key = transpose(b, op.getKey(), dims.swapHeads),
        value = transpose(b, op.getValue(), dims.swapHeads);
  key = moveAxis(b, key, lead + 2, lead + 1);
  Value scores = dot(b, query, key, dims.scoreBatch, dims.scoreBatch, lead + 2, lead + 1, wide);
  scores = mul(b, scores, fullLike(b, scores, op.getScale().convertToDouble()));
  scores = hide(b, scores, op.getCausal());
  int64_t last = lead + 2;
  Value highest = ir::ReduceMaxOp::create(b, scores, last);
  SmallVector<int64_t> column(typeOf(highest).getShape());
  column.push_back(1);
  Value shift = ir::StopGradientOp::create(b, reshape(b, highest, column));
  auto widen = [&](Value x) { return broadcastInDim(b, x, typeOf(scores).getShape(), ir::iotaDims(lead + 3)); };
  Value exps = exp(b, sub(b, scores, widen(shift)));
  Value sums = reshape(b, reduceSum(b, exps, last), column);
  // One division a row: division is ten times as slow as multiplication.
  Value weights = mul(b, exps, widen(div(b, fullLike(b, sums, 1), sums)));
  weights = convert(b, weights, typeOf(value).getElementType());
  Value out = transpose(b, dot(b, weights, value, dims.scoreBatch, dims.scoreBatch, lead + 2, lead + 1), dims.swapHeads);
  Value logsumexp;
  if (!op.getLogsumexp().use_empty()) {
    Value sum = add(b, shift, log(b, sums));
    logsumexp = moveAxis(b, reshape(b, sum, typeOf(highest).getShape()), lead, lead + 1);
  }
  return {out, logsumexp};
}

/// What tangent and cotangent begin with, in the type of logsumexp.
struct Weights {
  template <typename Op>
  Weights(emit::Builder &b, Op op)
      : dims(op.getQuery()), wide(typeOf(op.getLogsumexp()).getElementType()), query(convert(b, op.getQuery(), wide)),
        key(convert(b, op.getKey(), wide)), value(convert(b, op.getValue(), wide)) {
    scores = scaled(b, products(b, query, key), op);
    scores = hide(b, scores, op.getCausal());
    weights = exp(b, sub(b, scores, alongRows(b, headsFirst(b, op.getLogsumexp()), scores)));
  }

  /// [lead..., T, N] as [lead..., N, T], and back.
  Value headsFirst(emit::Builder &b, Value rows) const { return moveAxis(b, rows, dims.lead + 1, dims.lead); }
  /// rows columns^T, [lead..., N, T, S].
  Value products(emit::Builder &b, Value rows, Value columns) const {
    return dot(b, rows, columns, dims.batch, dims.batch, dims.lead + 2, dims.lead + 2);
  }
  /// scores x, or scores^T x, [lead..., T or S, N, features].
  Value combined(emit::Builder &b, Value scores, Value x, bool transposed = false) const {
    int64_t lead = dims.lead;
    return transpose(b, dot(b, scores, x, dims.scoreBatch, dims.batch, transposed ? lead + 1 : lead + 2, lead), dims.swapHeads);
  }
  template <typename Op>
  Value scaled(emit::Builder &b, Value x, Op op) const {
    return mul(b, x, fullLike(b, x, op.getScale().convertToDouble()));
  }

  Dims dims;
  Type wide;
  Value query, key, value, scores, weights;
};

SmallVector<Value> decompose(emit::Builder &b, ir::AttentionTangentOp op) {
  Weights w(b, op);
  auto widened = [&](Value x) { return convert(b, x, w.wide); };
  Value scoresDot = add(b, w.products(b, widened(op.getQueryDot()), w.key), w.products(b, w.query, widened(op.getKeyDot())));
  Value weighted = mul(b, w.weights, w.scaled(b, scoresDot, op));
  Value logsumexpDot = w.headsFirst(b, reduceSum(b, weighted, w.dims.lead + 2));
  Value outDot = add(b, w.combined(b, weighted, w.value), w.combined(b, w.weights, widened(op.getValueDot())));
  outDot = sub(b, outDot, mul(b, alongRows(b, logsumexpDot, outDot), widened(op.getOut())));
  return {convert(b, outDot, typeOf(op.getOut()).getElementType()), logsumexpDot};
}

SmallVector<Value> decompose(emit::Builder &b, ir::AttentionCotangentOp op) {
  Weights w(b, op);
  Value outBar = convert(b, op.getOutBar(), w.wide);
  Value weightsBar = w.products(b, outBar, w.value);
  Value scoresBar = mul(b, w.weights, sub(b, weightsBar, alongRows(b, w.headsFirst(b, op.getShift()), weightsBar)));
  scoresBar = w.scaled(b, scoresBar, op);
  SmallVector<Value> bars = {w.combined(b, scoresBar, w.key), w.combined(b, scoresBar, w.query, /*transposed=*/true),
                             w.combined(b, w.weights, outBar, /*transposed=*/true)};
  for (Value &bar : bars)
    bar = convert(b, bar, op.getQuery().getType().getElementType());
  return bars;
}

} // namespace

bool hjx::isAttention(Operation *op) { return isa<ir::AttentionOp, ir::AttentionTangentOp, ir::AttentionCotangentOp>(op); }

SmallVector<Value> hjx::decomposeAttention(ImplicitLocOpBuilder &b, Operation *op) {
  if (auto attention = dyn_cast<ir::AttentionOp>(op))
    return decompose(b, attention);
  if (auto tangent = dyn_cast<ir::AttentionTangentOp>(op))
    return decompose(b, tangent);
  return decompose(b, cast<ir::AttentionCotangentOp>(op));
}

static ArrayRef<int64_t> shapeOf(Operation *attention, unsigned operand) { return typeOf(attention->getOperand(operand)).getShape(); }

std::pair<int64_t, int64_t> hjx::featuresOf(Operation *attention) {
  return {shapeOf(attention, 0).back(), shapeOf(attention, 2).back()};
}

int64_t hjx::scoresBytes(Operation *attention) {
  // [..., queries, heads] of keys.
  int64_t bytes = typeOf(attention->getOperand(0)).getElementType().isF64() ? 8 : 4;
  for (int64_t size : shapeOf(attention, 0).drop_back())
    bytes *= size;
  return bytes * shapeOf(attention, 1).drop_back(2).back();
}

SmallVector<Value> hjx::padAttention(ImplicitLocOpBuilder &b, Operation *op, int64_t features) {
  auto rank = static_cast<int64_t>(shapeOf(op, 0).size());
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  auto isOfRows = [&](Value x) { return typeOf(x).getRank() < rank; }; // logsumexp, shift
  IRMapping padded;
  for (Value x : op->getOperands()) {
    if (isOfRows(x) || typeOf(x).getShape().back() == features)
      continue;
    SmallVector<int64_t> more(zeros);
    more.back() = features - typeOf(x).getShape().back();
    Value zero = emit::zeros(b, RankedTensorType::get({}, typeOf(x).getElementType()));
    padded.map(x, ir::PadOp::create(b, x, zero, zeros, more, zeros).getResult());
  }
  Operation *whole = b.clone(*op, padded);
  SmallVector<Value> results;
  for (Value result : whole->getResults()) {
    RankedTensorType type = typeOf(result);
    if (!isOfRows(result)) {
      SmallVector<int64_t> shape(type.getShape());
      shape.back() = features;
      result.setType(type.clone(shape));
      result = ir::SliceOp::create(b, result, zeros, type.getShape(), ones);
    }
    results.push_back(result);
  }
  return results;
}
