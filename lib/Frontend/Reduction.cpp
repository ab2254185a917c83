// SPDX-License-Identifier: Apache-2.0
//
// Reductions, with NumPy's axes and JAX's types: small integers are summed as 32
// bits, half floats in float32.
#include "lib/Frontend/Operands.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

/// Puts reduced axes back with size 1.
static Operand restoreAxes(OpScope &op, Operand reduced, ArrayRef<int64_t> axes, bool keepdims) {
  if (!keepdims)
    return reduced;
  SmallVector<int64_t> shape(reduced.shape());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  return reshapeTo(op, reduced, shape);
}

template <typename Op>
static Operand reduce(OpScope &op, Operand x, ArrayRef<int64_t> axes, bool keepdims) {
  Operand reduced = axes.empty() ? x : op.emit<Op>({x}, {.axes = dims(op, axes)});
  return restoreAxes(op, reduced, axes, keepdims);
}

static int64_t countOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  return count;
}

/// The type in which sums and products accumulate.
static DType accumulatorType(DType type) {
  if (type == DType::bool_ || type == DType::int8 || type == DType::int16)
    return DType::int32;
  if (type == DType::uint8 || type == DType::uint16)
    return DType::uint32;
  return type == DType::float16 || type == DType::bfloat16 ? DType::float32 : type;
}

template <typename Op>
static Array accumulate(const char *name, const ArrayLike &x, const Axes &axes, bool keepdims) {
  OpScope op(name, x.where);
  Operand operand = promote(op, {x.array}).front();
  SmallVector<int64_t> list = normalizeAxes(op, axes, operand.rank(), describe(operand));
  DType type = operand.dtype();
  Operand result = reduce<Op>(op, convert(op, operand, accumulatorType(type)), list, keepdims);
  return op.finish(is_floating(type) ? convert(op, result, type) : result);
}

Array hjx::sum(ArrayLike x, Axes axes, bool keepdims) { return accumulate<ir::ReduceSumOp>("sum", x, axes, keepdims); }
Array hjx::prod(ArrayLike x, Axes axes, bool keepdims) {
  return accumulate<ir::ReduceProdOp>("prod", x, axes, keepdims);
}

Array hjx::mean(ArrayLike x, Axes axes, bool keepdims) {
  OpScope op("mean", x.where);
  Operand operand = toFloat(op, x.array);
  SmallVector<int64_t> list = normalizeAxes(op, axes, operand.rank(), describe(operand));
  DType type = operand.dtype();
  Operand total = reduce<ir::ReduceSumOp>(op, convert(op, operand, accumulatorType(type)), list, keepdims);
  Operand count = splat(op, countOf(operand.shape(), list), total.dtype(), total.shape());
  Operand result = convert(op, op.emit<ir::DivOp>({total, count}), type);
  result.isWeak = operand.isWeak;
  return op.finish(result);
}

Array hjx::var(ArrayLike x, Axes axes, bool keepdims, int ddof) {
  OpScope op("var", x.where);
  Operand operand = toFloat(op, x.array);
  SmallVector<int64_t> list = normalizeAxes(op, axes, operand.rank(), describe(operand));
  DType type = operand.dtype();
  Array values = op.wrap(convert(op, operand, accumulatorType(type)));
  Array centered = values - mean(values, axes, hjx::keepdims);
  int64_t count = countOf(operand.shape(), list);
  if (ddof == 0)
    return op.finish(hjx::astype(mean(square(centered), axes, keepdims), type));
  double divisor = count > ddof ? double(count - ddof) : NAN; // No degree of freedom is left.
  return op.finish(hjx::astype(sum(square(centered), axes, keepdims) / divisor, type));
}

Array hjx::stddev(ArrayLike x, Axes axes, bool keepdims, int ddof) {
  OpScope op("stddev", x.where);
  return op.finish(sqrt(var(x, axes, keepdims, ddof)));
}

template <typename Op>
static Array extreme(const char *name, const ArrayLike &x, const Axes &axes, bool keepdims) {
  OpScope op(name, x.where);
  Operand operand = promote(op, {x.array}).front();
  SmallVector<int64_t> list = normalizeAxes(op, axes, operand.rank(), describe(operand));
  if (countOf(operand.shape(), list) == 0)
    op.fail("expected at least one element along the reduced axes, got " + describe(operand),
            "an empty array has no extreme element; handle that case apart");
  if (operand.dtype() == DType::bool_) {
    using OnBools = std::conditional_t<std::is_same_v<Op, ir::ReduceMaxOp>, ir::ReduceOrOp, ir::ReduceAndOp>;
    return op.finish(reduce<OnBools>(op, operand, list, keepdims));
  }
  return op.finish(reduce<Op>(op, operand, list, keepdims));
}

Array hjx::max(ArrayLike x, Axes axes, bool keepdims) { return extreme<ir::ReduceMaxOp>("max", x, axes, keepdims); }
Array hjx::min(ArrayLike x, Axes axes, bool keepdims) { return extreme<ir::ReduceMinOp>("min", x, axes, keepdims); }

template <typename Op>
static Array reduceBools(const char *name, const ArrayLike &x, const Axes &axes, bool keepdims) {
  OpScope op(name, x.where);
  Operand operand = useAs(op, x.array, DType::bool_);
  operand.isWeak = false;
  return op.finish(reduce<Op>(op, operand, normalizeAxes(op, axes, operand.rank(), describe(operand)), keepdims));
}

Array hjx::all(ArrayLike x, Axes axes, bool keepdims) { return reduceBools<ir::ReduceAndOp>("all", x, axes, keepdims); }
Array hjx::any(ArrayLike x, Axes axes, bool keepdims) { return reduceBools<ir::ReduceOrOp>("any", x, axes, keepdims); }

//===----------------------------------------------------------------------===//
// Positions and running sums
//===----------------------------------------------------------------------===//

template <typename Op>
static Array position(const char *name, const ArrayLike &x, std::optional<int> axis, bool keepdims) {
  OpScope op(name, x.where);
  Operand operand = promote(op, {x.array}).front();
  SmallVector<int64_t> axes = normalizeAxes(op, axis ? Axes(*axis) : Axes(), operand.rank(), describe(operand));
  if (countOf(operand.shape(), axes) == 0)
    op.fail("expected at least one element, got " + describe(operand),
            "an empty array has no extreme element; handle that case apart");
  Operand flat = operand;
  int64_t along = 0;
  if (axis)
    along = axes.front();
  else
    flat = reshapeTo(op, operand, {operand.type().getNumElements()});
  RankedTensorType type = ir::dropAxis(flat.type(), along).clone(elementTypeOf(DType::int32, &op.context()));
  Operand index = op.emitAs<Op>(type, {flat}, {.axis = op.builder().getI64IntegerAttr(along)});
  index.isWeak = false;
  return op.finish(restoreAxes(op, index, axes, keepdims));
}

Array hjx::argmax(ArrayLike x, std::optional<int> axis, bool keepdims) {
  return position<ir::ArgmaxOp>("argmax", x, axis, keepdims);
}
Array hjx::argmin(ArrayLike x, std::optional<int> axis, bool keepdims) {
  return position<ir::ArgminOp>("argmin", x, axis, keepdims);
}

Array hjx::cumsum(ArrayLike x, int axis, bool reverse) {
  OpScope op("cumsum", x.where);
  Operand operand = promote(op, {x.array}).front();
  if (operand.dtype() == DType::bool_)
    operand = convert(op, operand, DType::int32);
  int64_t along = normalizeAxis(op, axis, operand.rank(), describe(operand));
  return op.finish(op.emit<ir::CumsumOp>({operand}, {.axis = op.builder().getI64IntegerAttr(along),
                                                     .reverse = reverse ? op.builder().getUnitAttr() : UnitAttr()}));
}

//===----------------------------------------------------------------------===//
// Softmax and friends: exponentials of differences from the greatest element,
// which no derivative needs to see.
//===----------------------------------------------------------------------===//

/// Of no elements: -inf, with which logsumexp([]) is log(0), as in JAX.
static Array greatestOf(OpScope &op, const Array &values, const Axes &axes) {
  if (countOf(values.shape().vec(), normalizeAxes(op, axes, values.ndim(), describe(values))) == 0)
    return sum(values, axes, hjx::keepdims) - std::numeric_limits<double>::infinity();
  return stop_gradient(max(values, axes, hjx::keepdims));
}

Array hjx::logsumexp(ArrayLike x, Axes axes, bool keepdims) {
  OpScope op("logsumexp", x.where);
  Array values = op.wrap(toFloat(op, x.array));
  Array greatest = greatestOf(op, values, axes);
  greatest = hjx::where(isfinite(greatest), greatest, zeros_like(greatest)); // All -inf: the sum is 0, its log -inf.
  Array result = log(sum(exp(values - greatest), axes, hjx::keepdims)) + greatest;
  if (keepdims)
    return op.finish(result);
  return op.finish(squeeze(result, axes));
}

Array hjx::softmax(ArrayLike x, int axis) {
  OpScope op("softmax", x.where);
  Array values = op.wrap(toFloat(op, x.array));
  Array unnormalized = exp(values - greatestOf(op, values, axis));
  // One division a row: division is ten times as slow as multiplication.
  return op.finish(unnormalized * reciprocal(sum(unnormalized, axis, hjx::keepdims)));
}

Array hjx::log_softmax(ArrayLike x, int axis) {
  OpScope op("log_softmax", x.where);
  Array values = op.wrap(toFloat(op, x.array));
  Array shifted = values - greatestOf(op, values, axis);
  return op.finish(shifted - log(sum(exp(shifted), axis, hjx::keepdims)));
}
