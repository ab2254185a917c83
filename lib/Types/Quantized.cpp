// SPDX-License-Identifier: Apache-2.0
//
// Quantised arrays, with the public API alone: what a user could have written.
#include <hjx/types/quantized.h>

namespace hjx {

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static bool isInt4(const QuantizedType &type) { return type.format == "int4"; }
/// A little below the largest float: 127 times a scale that was rounded up is still finite.
static constexpr float kLargestFloat = 3.4e38f;
static double largestOf(const QuantizedType &type) { return isInt4(type) ? 7 : 127; }

void QuantizedType::verify() const {
  if (format != "int8" && format != "int4")
    throw Error("expected the format \"int8\" or \"int4\", got \"" + format + "\"", "those are what numbers are stored as", {});
  bool fits = shape.ndim() == scales.ndim();
  for (int axis = 0; fits && axis < shape.ndim(); ++axis)
    fits = scales[axis] == shape[axis] || (scales[axis] > 0 && shape[axis] % scales[axis] == 0);
  if (!fits)
    throw Error("expected scales whose sizes divide those of the shape " + to_string(shape) + ", got " + to_string(scales),
                "1 is one scale for all of an axis, its size one for each index, a divisor one for each group", {});
  if (isInt4(*this) && shape.ndim() == 0)
    throw Error("expected a shape of at least one axis for \"int4\", got []", "its numbers lie two to a byte along the last axis", {});
}

std::vector<Type> QuantizedType::lo_types() const {
  std::vector<int64_t> stored = shape.vec();
  if (isInt4(*this))
    stored.back() = (stored.back() + 1) / 2;
  return {Type(int8, stored), Type(float32, scales)};
}

Type QuantizedType::tangent_type() const { return Type(float32, shape); }

/// The axis that a spec says, of a type that has `ndim` axes with it.
static int mappedAxis(const QuantizedType &type, const AxisSpec &spec, int ndim) {
  int end = isInt4(type) ? ndim - 1 : ndim;
  int axis = spec.is_axis() ? spec.axis() : ndim;
  axis += axis < 0 ? ndim : 0;
  if (axis < 0 || axis >= end)
    throw Error("expected an axis below " + std::to_string(end) + " as the mapping spec of " + to_string(Type(type)) + ", got " +
                    to_string(spec),
                isInt4(type) ? "the last axis of \"int4\" is packed and stays whole" : "say hjx::AxisSpec(0) for the first", {});
  return axis;
}

Type QuantizedType::dec_rank(int64_t size, const AxisSpec &spec) const {
  int axis = mappedAxis(*this, spec, shape.ndim());
  if (shape[axis] != size)
    throw Error("expected the size " + std::to_string(shape[axis]) + " of the mapped axis " + std::to_string(axis) + " of " +
                    to_string(Type(*this)) + ", got " + std::to_string(size),
                "pass {.length = " + std::to_string(shape[axis]) + "} to scan, hjx::AxisSize{" + std::to_string(shape[axis]) + "} to vmap", {});
  if (scales[axis] != size)
    throw Error("expected " + std::to_string(size) + " scales along the mapped axis " + std::to_string(axis) + " of " +
                    to_string(Type(*this)) + ", got " + std::to_string(scales[axis]),
                "each element of a mapped array has scales of its own: quantize along another axis", {});
  auto without = [&](const Shape &sizes) {
    std::vector<int64_t> rest = sizes.vec();
    rest.erase(rest.begin() + axis);
    return rest;
  };
  return QuantizedType{format, without(shape), without(scales)};
}

Type QuantizedType::inc_rank(int64_t size, const AxisSpec &spec) const {
  int axis = mappedAxis(*this, spec, shape.ndim() + 1);
  auto with = [&](const Shape &sizes) {
    std::vector<int64_t> all = sizes.vec();
    all.insert(all.begin() + axis, size);
    return all;
  };
  return QuantizedType{format, with(shape), with(scales)};
}

AxisSpec QuantizedType::leading_axis_spec() const { return 0; }

HJX_REGISTER_TYPE(QuantizedType)

namespace {

//===----------------------------------------------------------------------===//
// Scales and packed numbers
//===----------------------------------------------------------------------===//

/// Axis a of n elements, where `scales` has s of them, as two: s and n / s. [4,8] with [4,2] is [4,1,2,4].
Shape groupedShape(const Shape &shape, const Shape &scales) {
  std::vector<int64_t> sizes;
  for (int axis = 0; axis < shape.ndim(); ++axis)
    sizes.insert(sizes.end(), {scales[axis], scales[axis] > 0 ? shape[axis] / scales[axis] : 1});
  return sizes;
}

/// The scales beside the groups: [4,2] is [4,1,2,1].
Array besideGroups(const Array &scales) {
  std::vector<int> axes;
  for (int axis = 0; axis < scales.ndim(); ++axis)
    axes.push_back(2 * axis + 1);
  return expand_dims(scales, axes);
}

/// Scales of one axis, for each of its `size` elements.
Array spread(const Array &scales, int64_t size) {
  int64_t count = scales.size();
  return count == size ? scales.reshape({size}) : broadcast_to(scales.reshape({count, 1}), {count, size / count}).reshape({size});
}

Array low(const Array &bytes) { return right_shift(left_shift(bytes, array<int8_t>(4)), array<int8_t>(4)); }
Array high(const Array &bytes) { return right_shift(bytes, array<int8_t>(4)); }

/// even[0], odd[0], even[1], ... along the last axis, `size` in all.
Array interleave(const Array &even, const Array &odd, int64_t size) {
  std::vector<int64_t> sizes = even.shape().vec(), start(sizes.size(), 0);
  sizes.back() *= 2;
  Array both = stack({even, odd}, even.ndim()).reshape(sizes);
  if (sizes.back() == size)
    return both;
  sizes.back() = size;
  return slice(both, start, sizes);
}

/// The elements of even (0) or odd (1) index along the last axis, as many as there are bytes: an odd axis ends in a zero.
Array everyOther(const Array &x, int64_t first) {
  std::vector<int64_t> start(x.ndim(), 0), steps(x.ndim(), 1), limit = x.shape().vec();
  std::vector<std::pair<int64_t, int64_t>> widths(x.ndim());
  start.back() = std::min(first, limit.back());
  steps.back() = 2;
  widths.back().second = first * (limit.back() % 2);
  return pad(slice(x, start, limit, steps), widths);
}

Array pack(const Array &values) {
  Array even = everyOther(values, 0), odd = everyOther(values, 1);
  return bitwise_or(bitwise_and(even, array<int8_t>(15)), left_shift(odd, array<int8_t>(4)));
}

/// The numbers, one to a byte.
Array unpacked(const QuantizedType &type, const Array &stored) {
  return isInt4(type) ? interleave(low(stored), high(stored), type.shape[-1]) : stored;
}

//===----------------------------------------------------------------------===//
// Making and undoing
//===----------------------------------------------------------------------===//

struct Quantize {
  std::string format;
  Shape scales;

  static constexpr const char *name = "hjx.quantize";
  HJX_PARAMS(format, scales)

  Type infer(const Type &x) const {
    if (!x.is_array() || x.dtype() != float32)
      throw Error("expected a float32 array, got " + to_string(x), "convert it: x.astype(hjx::float32)", {});
    QuantizedType type{format, x.shape(), scales};
    type.verify();
    return type;
  }
  Quantized expand(const Array &x) const {
    QuantizedType type{format, x.shape(), scales};
    if (x.size() == 0)
      return raise<Quantized>(type, {zeros(type.lo_types()[0].shape(), int8), zeros(scales)});
    Shape grouped = groupedShape(type.shape, scales);
    std::vector<int> within;
    for (int axis = 0; axis < x.ndim(); ++axis)
      within.push_back(2 * axis + 1);
    Array numbers = where(isnan(x), 0.0f, x).reshape(grouped);
    Array largest = x.ndim() == 0 ? abs(numbers) : max(abs(numbers), within, keepdims);
    Array scale = minimum(largest, kLargestFloat) / largestOf(type);
    Array rounded = round(numbers / where(scale == 0, 1.0f, scale));
    Array values = clip(rounded, -largestOf(type), largestOf(type)).astype(int8).reshape(x.shape());
    return raise<Quantized>(type, {isInt4(type) ? pack(values) : values, scale.reshape(scales)});
  }
  // q = round(x / s) s;  q_dot = x_dot, straight through the rounding.
  std::pair<Quantized, Array> jvp(const Array &x, const Array &x_dot) const { return {call_primitive(*this, x), x_dot}; }
};
HJX_REGISTER_PRIMITIVE(Quantize)

struct Dequantize {
  static constexpr const char *name = "hjx.dequantize";

  static Type infer(const Type &q) { return q.as<QuantizedType>().tangent_type(); }
  static Array expand(const Quantized &q) {
    QuantizedType type = q.hi_type();
    auto [stored, scales] = lower<Array, Array>(q);
    Array values = unpacked(type, stored).astype(float32);
    if (type.shape == type.scales)
      return values * scales;
    return (values.reshape(groupedShape(type.shape, type.scales)) * besideGroups(scales)).reshape(type.shape);
  }
  // x = v s;  x_dot = q_dot.
  static std::pair<Array, Array> jvp(const Quantized &q, const Array &q_dot) { return {dequantize(q), q_dot}; }
};
HJX_REGISTER_PRIMITIVE(Dequantize)

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// x[.., k] by weights[k,n], or [n,k] if transposed, of which each axis may be two: those of groupedShape.
Array productWith(const Array &x, const Array &weights, bool transposed) {
  int perAxis = weights.ndim() / 2, summed = transposed ? perAxis : 0, kept = perAxis - summed, last = x.ndim() - 1;
  DotDims dims;
  std::vector<int64_t> sizes(x.shape().begin(), x.shape().end() - 1), resultSizes = sizes;
  int64_t n = 1;
  for (int axis = 0; axis < perAxis; ++axis) {
    sizes.push_back(weights.shape(summed + axis));
    n *= weights.shape(kept + axis);
    dims.lhs_contracting.push_back(last + axis);
    dims.rhs_contracting.push_back(summed + axis);
  }
  resultSizes.push_back(n);
  return dot_general(x.reshape(sizes), weights, dims).reshape(resultSizes);
}

/// x[.., k] times the stored numbers, each times its scale if there are scales: [.., n].
Array packedProduct(const QuantizedType &type, const Array &x, const Array &stored, const std::optional<Array> &scales, bool transposed) {
  auto product = [&](const Array &x, const Array &bytes, const std::optional<Array> &scales, auto numbersIn) {
    if (!scales)
      return productWith(x, numbersIn(bytes).astype(float32), transposed);
    Array numbers = numbersIn(bytes.reshape(groupedShape(bytes.shape(), scales->shape()))).astype(float32);
    return productWith(x, numbers * besideGroups(*scales), transposed);
  };
  auto whole = [](const Array &bytes) { return bytes; };
  if (!isInt4(type))
    return product(x, stored, scales, whole);
  // The scales of the numbers of even or odd index along the packed axis.
  int64_t count = scales ? scales->shape(1) : 1, size = type.shape[1];
  auto half = [&](int64_t first) { return scales && count == size ? std::optional(everyOther(*scales, first)) : scales; };
  if (count != 1 && count != size && size / count % 2 != 0) // Groups share bytes.
    return product(x, unpacked(type, stored), scales, whole);
  // The packed axis is summed over: x in two halves, too.
  if (transposed)
    return product(everyOther(x, 0), stored, half(0), low) + product(everyOther(x, 1), stored, half(1), high);
  return interleave(product(x, stored, half(0), low), product(x, stored, half(1), high), size);
}

struct QuantizedMatmul {
  bool transposed = false;

  static constexpr const char *name = "hjx.quantized_matmul";
  HJX_PARAMS(transposed)

  Type infer(const Type &x, const Type &q) const {
    bool fits = x.is_array() && x.dtype() == float32 && x.shape().ndim() > 0 && q.is<QuantizedType>();
    QuantizedType type = fits ? q.as<QuantizedType>() : QuantizedType();
    if (!fits || type.shape.ndim() != 2 || x.shape()[-1] != type.shape[transposed ? 1 : 0])
      throw Error(std::string("expected f32[..,k] and a quantized array ") + (transposed ? "[n,k]" : "[k,n]") + ", got " + to_string(x) +
                      " and " + to_string(q),
                  "contracted sizes are equal; convert x to float32, and map over other axes with hjx::vmap", {});
    std::vector<int64_t> sizes = x.shape().vec();
    sizes.back() = type.shape[transposed ? 0 : 1];
    return Type(float32, sizes);
  }

  Array expand(const Array &x, const Quantized &q) const {
    QuantizedType type = q.hi_type();
    auto [stored, scales] = lower<Array, Array>(q);
    int summed = transposed ? 1 : 0, kept = 1 - summed;
    int64_t groups = type.scales[summed], k = type.shape[summed], n = type.shape[kept];
    if (x.size() == 0 || n == 0)
      return zeros(infer(Type(float32, x.shape()), type).shape());
    if (groups == 1) // s[n]: y[n] = s[n] sum_k x[k] v[k,n]
      return packedProduct(type, x, stored, std::nullopt, transposed) * spread(scales, n);
    if (type.scales[kept] == 1) // s[k]: y[n] = sum_k (x[k] s[k]) v[k,n]
      return packedProduct(type, x * spread(scales, k), stored, std::nullopt, transposed);
    // s[k,n], for groups of one or both: y[n] = sum_k x[k] (v[k,n] s[k,n])
    return packedProduct(type, x, stored, scales, transposed);
  }

  std::pair<Array, std::optional<Array>> jvp(const Array &x, const Quantized &q, const std::optional<Array> &x_dot,
                                             const std::optional<Array> &q_dot) const {
    // y = x q;  y_dot = x_dot q + x q_dot, and q_dot is dense.
    std::optional<Array> y_dot;
    if (x_dot)
      y_dot = call_primitive(*this, *x_dot, q);
    if (q_dot) {
      Array more = hjx::matmul(x, transposed ? q_dot->T() : *q_dot);
      y_dot = y_dot ? *y_dot + more : more;
    }
    return {call_primitive(*this, x, q), y_dot};
  }
  // y = x q, linear in x:  x_bar = y_bar q^T.
  std::pair<Array, Array> transpose(const Array &, const Quantized &q, const Array &y_bar) const {
    return {call_primitive(QuantizedMatmul{!transposed}, y_bar, q), Array()};
  }
};
HJX_REGISTER_PRIMITIVE(QuantizedMatmul)

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

struct QuantizedTake {
  static constexpr const char *name = "hjx.quantized_take";

  static Type infer(const Type &q, const Type &ids) {
    if (!q.is<QuantizedType>() || q.as<QuantizedType>().shape.ndim() == 0 || !ids.is_array() || !is_integer(ids.dtype()))
      throw Error("expected a quantized array of at least one axis and integer ids, got " + to_string(q) + " and " + to_string(ids),
                  "ids are indices along axis 0", {});
    std::vector<int64_t> sizes = ids.shape().vec();
    Shape shape = q.as<QuantizedType>().shape;
    sizes.insert(sizes.end(), shape.begin() + 1, shape.end());
    return Type(float32, sizes);
  }
  static Array expand(const Quantized &q, const Array &ids) {
    QuantizedType type = q.hi_type();
    if (type.shape.ndim() == 1 && isInt4(type))
      return hjx::take(dequantize(q), ids);
    auto [stored, scales] = lower<Array, Array>(q);
    int64_t group = type.scales[0] > 0 ? type.shape[0] / type.scales[0] : 1;
    QuantizedType taken{type.format, withRows(ids, type.shape), withRows(ids, type.scales)};
    return dequantize(raise<Quantized>(taken, {hjx::take(stored, ids), hjx::take(group == 1 ? scales : repeat(scales, group, 0), ids)}));
  }
  // y = q[ids];  y_dot = q_dot[ids].
  static std::pair<Array, Array> jvp(const Quantized &q, const Array &ids, const Array &q_dot, const std::optional<Array> &) {
    return {hjx::take(q, ids), hjx::take(q_dot, ids)};
  }

private:
  /// `shape` with the axes of ids in place of the first.
  static Shape withRows(const Array &ids, const Shape &shape) {
    std::vector<int64_t> sizes = ids.shape().vec();
    sizes.insert(sizes.end(), shape.begin() + 1, shape.end());
    return sizes;
  }
};
HJX_REGISTER_PRIMITIVE(QuantizedTake)

} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Quantized quantize(const Array &x, const QuantizeOptions &options, Where where) {
  int ndim = x.ndim(where);
  Shape scales = x.shape(where);
  if (!options.axis) {
    scales = std::vector<int64_t>(static_cast<size_t>(ndim), 1);
    if (options.group != 0)
      throw Error("quantize: expected group 0 without an axis, got " + std::to_string(options.group), "give the axis of the groups", where);
  } else {
    int axis = *options.axis < 0 ? *options.axis + ndim : *options.axis;
    if (axis < 0 || axis >= ndim)
      throw Error("quantize: expected an axis of " + to_string(Type(x.dtype(), x.shape())) + ", got " + std::to_string(*options.axis),
                  "axis = std::nullopt is one scale for all", where);
    if (options.group < 0 || (options.group > 0 && scales[axis] % options.group != 0))
      throw Error("quantize: expected a group that divides the " + std::to_string(scales[axis]) + " elements of axis " +
                      std::to_string(axis) + ", got " + std::to_string(options.group),
                  "0 is all of the axis", where);
    scales[axis] = options.group > 0 ? scales[axis] / options.group : 1;
  }
  return call_primitive(Quantize{options.format, scales}, where, x);
}

Array dequantize(const Quantized &q, Where where) { return call_primitive<Dequantize>(where, q); }

Array matmul(const Array &x, const Quantized &q, Where where) {
  return detail::composite("matmul", where, [&] { return call_primitive(QuantizedMatmul{false}, where, x, q); });
}

Array matmul_transposed(const Array &x, const Quantized &q, Where where) {
  return detail::composite("matmul_transposed", where, [&] { return call_primitive(QuantizedMatmul{true}, where, x, q); });
}

Array matmul(const Quantized &q, const Array &x, Where where) {
  return detail::composite("matmul", where, [&] {
    QuantizedMatmul product{true}; // q x = (x^T q^T)^T
    return x.ndim() < 2 ? call_primitive(product, where, x, q) : swapaxes(call_primitive(product, where, swapaxes(x, -1, -2), q), -1, -2);
  });
}

Array take(const Quantized &q, const Array &ids, Where where) {
  return detail::composite("take", where, [&] { return call_primitive<QuantizedTake>(where, q, ids); });
}

} // namespace hjx
