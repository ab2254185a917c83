// SPDX-License-Identifier: Apache-2.0
//
// Functions of arrays, named and behaving as in jax.numpy: operands broadcast and
// promote (hjx/dtype.h), integers become float32 where the result is not an
// integer, axes count from the end when negative. Every function works on
// concrete arrays (at once) and on traced ones (recorded), and takes the caller's
// line for its errors: hjx::Error "file:line: function: expected .., got ..".
#pragma once

#include <hjx/array.h>
#include <hjx/indexing.h>

#include <optional>
#include <string_view>

namespace hjx {

/// Axes of an array: all of them (`{}`), one, or several.
class Axes {
public:
  Axes() = default;
  Axes(int axis) : isAll(false), list{axis} {}
  Axes(std::initializer_list<int> axes) : isAll(false), list(axes) {}
  Axes(std::vector<int> axes) : isAll(false), list(std::move(axes)) {}

  bool isAll = true;
  std::vector<int> list;
};

/// `sum(x, -1, keepdims)`: reduced axes stay, with size 1.
inline constexpr bool keepdims = true;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

HJX_API Array add(ArrayLike lhs, ArrayLike rhs);
HJX_API Array subtract(ArrayLike lhs, ArrayLike rhs);
HJX_API Array multiply(ArrayLike lhs, ArrayLike rhs);
HJX_API Array divide(ArrayLike lhs, ArrayLike rhs);
HJX_API Array floor_divide(ArrayLike lhs, ArrayLike rhs);
/// The remainder with the divisor's sign (NumPy's %), and with the dividend's (C's fmod).
HJX_API Array remainder(ArrayLike lhs, ArrayLike rhs);
HJX_API Array fmod(ArrayLike lhs, ArrayLike rhs);
/// A C++ integer as exponent is computed by repeated multiplication.
HJX_API Array power(ArrayLike base, ArrayLike exponent);
HJX_API Array maximum(ArrayLike lhs, ArrayLike rhs);
HJX_API Array minimum(ArrayLike lhs, ArrayLike rhs);
HJX_API Array logaddexp(ArrayLike lhs, ArrayLike rhs);

HJX_API Array equal(ArrayLike lhs, ArrayLike rhs);
HJX_API Array not_equal(ArrayLike lhs, ArrayLike rhs);
HJX_API Array less(ArrayLike lhs, ArrayLike rhs);
HJX_API Array less_equal(ArrayLike lhs, ArrayLike rhs);
HJX_API Array greater(ArrayLike lhs, ArrayLike rhs);
HJX_API Array greater_equal(ArrayLike lhs, ArrayLike rhs);

HJX_API Array logical_and(ArrayLike lhs, ArrayLike rhs);
HJX_API Array logical_or(ArrayLike lhs, ArrayLike rhs);
HJX_API Array logical_not(ArrayLike x);
HJX_API Array bitwise_and(ArrayLike lhs, ArrayLike rhs);
HJX_API Array bitwise_or(ArrayLike lhs, ArrayLike rhs);
HJX_API Array bitwise_xor(ArrayLike lhs, ArrayLike rhs);
HJX_API Array bitwise_not(ArrayLike x);
HJX_API Array left_shift(ArrayLike x, ArrayLike amount);
/// Fills with the sign for signed types, with zeros for unsigned ones.
HJX_API Array right_shift(ArrayLike x, ArrayLike amount);

HJX_API Array negative(ArrayLike x);
HJX_API Array abs(ArrayLike x);
HJX_API Array sign(ArrayLike x);
HJX_API Array floor(ArrayLike x);
HJX_API Array ceil(ArrayLike x);
/// To the nearest integer, halves to even.
HJX_API Array round(ArrayLike x);
HJX_API Array sqrt(ArrayLike x);
HJX_API Array rsqrt(ArrayLike x);
HJX_API Array square(ArrayLike x);
HJX_API Array reciprocal(ArrayLike x);
HJX_API Array exp(ArrayLike x);
HJX_API Array exp2(ArrayLike x);
HJX_API Array expm1(ArrayLike x);
HJX_API Array log(ArrayLike x);
HJX_API Array log2(ArrayLike x);
HJX_API Array log10(ArrayLike x);
HJX_API Array log1p(ArrayLike x);
HJX_API Array sin(ArrayLike x);
HJX_API Array cos(ArrayLike x);
HJX_API Array tan(ArrayLike x);
HJX_API Array sinh(ArrayLike x);
HJX_API Array cosh(ArrayLike x);
HJX_API Array tanh(ArrayLike x);
HJX_API Array erf(ArrayLike x);
HJX_API Array erf_inv(ArrayLike x);
HJX_API Array isfinite(ArrayLike x);
HJX_API Array isinf(ArrayLike x);
HJX_API Array isnan(ArrayLike x);

/// Returns x where the condition holds, else y.
HJX_API Array where(ArrayLike condition, ArrayLike x, ArrayLike y);
/// Returns min(max(x, low), high).
HJX_API Array clip(ArrayLike x, ArrayLike low, ArrayLike high);
/// Returns x, through which no derivative flows.
HJX_API Array stop_gradient(ArrayLike x);
/// Returns the concrete x, which jit may then compile in although it is not an argument.
HJX_API Array constant(ArrayLike x);

/// Converts elements: floats to integers truncate, saturate and send NaN to 0.
HJX_API Array astype(ArrayLike x, DType type);
/// Reads the bits of elements as another type of the same size.
HJX_API Array bitcast(ArrayLike x, DType type);

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

HJX_API Array relu(ArrayLike x);
HJX_API Array sigmoid(ArrayLike x);
HJX_API Array silu(ArrayLike x);
HJX_API Array softplus(ArrayLike x);
/// By default the tanh approximation, as in JAX; else exactly, with erf.
HJX_API Array gelu(ArrayLike x, bool approximate = true);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Small integers and bools are summed as 32-bit integers; float16 and bfloat16 in float32.
HJX_API Array sum(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array prod(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array mean(ArrayLike x, Axes axes = {}, bool keepdims = false);
/// The mean squared distance from the mean, divided by (count - ddof).
HJX_API Array var(ArrayLike x, Axes axes = {}, bool keepdims = false, int ddof = 0);
HJX_API Array stddev(ArrayLike x, Axes axes = {}, bool keepdims = false, int ddof = 0);
/// Errors: hjx::Error for an empty reduction, which has no greatest element.
HJX_API Array max(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array min(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array all(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array any(ArrayLike x, Axes axes = {}, bool keepdims = false);
/// The first index of the extreme value, int32; without an axis, in the flattened array.
HJX_API Array argmax(ArrayLike x, std::optional<int> axis = {}, bool keepdims = false);
HJX_API Array argmin(ArrayLike x, std::optional<int> axis = {}, bool keepdims = false);
HJX_API Array cumsum(ArrayLike x, int axis = 0, bool reverse = false);
HJX_API Array logsumexp(ArrayLike x, Axes axes = {}, bool keepdims = false);
HJX_API Array softmax(ArrayLike x, int axis = -1);
HJX_API Array log_softmax(ArrayLike x, int axis = -1);

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// NumPy's matmul: the last two axes are matrices, leading axes broadcast, a
/// one-dimensional operand is a row on the left and a column on the right.
/// `accumulate` is the type of sums and result, for low-precision operands.
HJX_API Array matmul(ArrayLike lhs, ArrayLike rhs, std::optional<DType> accumulate = {});
/// NumPy's dot of vectors and matrices, and the outer product of vectors.
HJX_API Array dot(ArrayLike lhs, ArrayLike rhs);
HJX_API Array outer(ArrayLike lhs, ArrayLike rhs);

/// The dimensions of dot_general, pairwise.
struct DotDims {
  std::vector<int> lhs_contracting, rhs_contracting;
  std::vector<int> lhs_batching = {}, rhs_batching = {};
};
/// Sums products over the contracting dimensions. The result has the batching
/// dimensions, then the free ones of lhs, then those of rhs.
HJX_API Array dot_general(ArrayLike lhs, ArrayLike rhs, const DotDims &dims, std::optional<DType> accumulate = {});
/// Einstein summation of one or two operands: einsum("bij,bkj->bik", x, y).
HJX_API Array einsum(std::string_view spec, ArrayLike x);
HJX_API Array einsum(std::string_view spec, ArrayLike x, ArrayLike y);

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

HJX_API Array zeros(const Shape &shape, DType type = float32, Where where = Where::current());
HJX_API Array ones(const Shape &shape, DType type = float32, Where where = Where::current());
/// Without a type, of the value's.
HJX_API Array full(const Shape &shape, ArrayLike value, std::optional<DType> type = {});
HJX_API Array zeros_like(ArrayLike x);
HJX_API Array ones_like(ArrayLike x);
HJX_API Array full_like(ArrayLike x, ArrayLike value);
/// 0, 1, .. stop - 1, int32 by default.
HJX_API Array arange(int64_t stop, DType type = int32, Where where = Where::current());
HJX_API Array arange(int64_t start, int64_t stop, int64_t step = 1, DType type = int32,
                     Where where = Where::current());
/// `count` numbers, evenly from start to stop, both included.
HJX_API Array linspace(double start, double stop, int64_t count, DType type = float32,
                       Where where = Where::current());
HJX_API Array eye(int64_t rows, std::optional<int64_t> columns = {}, DType type = float32,
                  Where where = Where::current());
/// Each element's index along one axis.
HJX_API Array iota(const Shape &shape, int axis, DType type = int32, Where where = Where::current());
/// Ones where labels equal the class number, on a new last axis.
HJX_API Array one_hot(ArrayLike labels, int64_t num_classes, DType type = float32);
/// The elements on and below (above) the k-th diagonal of the last two axes, else 0.
HJX_API Array tril(ArrayLike x, int k = 0);
HJX_API Array triu(ArrayLike x, int k = 0);

//===----------------------------------------------------------------------===//
// Shape and order
//===----------------------------------------------------------------------===//

/// One size may be -1: it follows from the others.
HJX_API Array reshape(ArrayLike x, const Shape &shape);
HJX_API Array ravel(ArrayLike x);
/// Without axes, reverses all of them.
HJX_API Array transpose(ArrayLike x, Axes axes = {});
HJX_API Array swapaxes(ArrayLike x, int axis1, int axis2);
HJX_API Array moveaxis(ArrayLike x, int source, int destination);
/// Inserts axes of size 1 at places in the result.
HJX_API Array expand_dims(ArrayLike x, Axes axes);
/// Removes axes of size 1; without axes, all of them.
HJX_API Array squeeze(ArrayLike x, Axes axes = {});
HJX_API Array broadcast_to(ArrayLike x, const Shape &shape);
HJX_API Array flip(ArrayLike x, Axes axes = {});
/// Rolls elements along an axis; those that leave come back in at the other end.
HJX_API Array roll(ArrayLike x, int64_t shift, int axis);
HJX_API Array repeat(ArrayLike x, int64_t count, int axis);
HJX_API Array tile(ArrayLike x, const std::vector<int64_t> &counts);

HJX_API Array concatenate(const std::vector<Array> &arrays, int axis = 0, Where where = Where::current());
HJX_API Array stack(const std::vector<Array> &arrays, int axis = 0, Where where = Where::current());
/// Equal pieces, or pieces that begin at the given indices.
HJX_API std::vector<Array> split(ArrayLike x, int count, int axis = 0);
HJX_API std::vector<Array> split(ArrayLike x, const std::vector<int64_t> &indices, int axis = 0);
/// Elements to add before and after each axis.
HJX_API Array pad(ArrayLike x, const std::vector<std::pair<int64_t, int64_t>> &widths, ArrayLike value = 0);

//===----------------------------------------------------------------------===//
// Slices and indices
//===----------------------------------------------------------------------===//

/// The box [start, limit), every strides-th element.
HJX_API Array slice(ArrayLike x, const std::vector<int64_t> &start, const std::vector<int64_t> &limit,
                    const std::vector<int64_t> &strides = {});
/// A box of fixed size at a start that may be traced, as in jax.lax: a negative start counts from
/// the end, and a box that is not inside is moved there.
HJX_API Array dynamic_slice(ArrayLike x, const std::vector<Array> &start, const std::vector<int64_t> &sizes);
HJX_API Array dynamic_update_slice(ArrayLike x, ArrayLike update, const std::vector<Array> &start);
/// Elements along an axis; negative indices count from the end, others out of range give NaN
/// (for integers the least value), as in JAX.
HJX_API Array take(ArrayLike x, ArrayLike indices, int axis = 0);
/// x[i, indices[i, j]] for axis 1, and so on: indices have x's rank.
HJX_API Array take_along_axis(ArrayLike x, ArrayLike indices, int axis);

} // namespace hjx
