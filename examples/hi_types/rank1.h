// SPDX-License-Identifier: Apache-2.0
//
// A matrix of rank one, kept as a column and a row. Such matrices are not closed
// under addition, hence tangents are dense matrices. After JAX's hijax example.
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace rank1 {

using hjx::Array, hjx::Shape, hjx::Type;

/// The type: r1[6,5].
struct R1 {
  Shape shape;

  static constexpr const char *name = "r1";
  HJX_PARAMS(shape)
  using Tangent = Array;

  void verify() const {
    if (shape.ndim() != 2)
      throw hjx::Error("expected a shape of two dimensions, got " + to_string(shape), "a rank-1 value is a matrix", {});
  }
  std::vector<Type> lo_types() const { return {Type(hjx::float32, {shape[0]}), Type(hjx::float32, {shape[1]})}; }
  Type tangent_type() const { return Type(hjx::float32, shape); }
};
HJX_REGISTER_TYPE(R1)
using Rank1 = hjx::HiValue<R1>;

/// column · row, without computing it.
struct Outer {
  static constexpr const char *name = "outer";

  static Type infer(const Type &column, const Type &row) {
    for (const Type &x : {column, row})
      if (!x.is_array() || x.dtype() != hjx::float32 || x.shape().ndim() != 1)
        throw hjx::Error("expected two float32 vectors, got " + to_string(column) + " and " + to_string(row), "reshape the operands", {});
    return R1{{column.shape()[0], row.shape()[0]}};
  }
  static Rank1 expand(const Array &column, const Array &row) {
    return hjx::raise<Rank1>(R1{{column.shape(0), row.shape(0)}}, {column, row});
  }
  static std::pair<Rank1, std::pair<Array, Array>> vjp_forward(const Array &column, const Array &row);
  static std::pair<Array, Array> vjp_backward(const std::pair<Array, Array> &saved, const Array &bar) {
    const auto &[column, row] = saved;
    return {hjx::matmul(bar, row), hjx::matmul(column, bar)};
  }
};
HJX_REGISTER_PRIMITIVE(Outer)
inline Rank1 outer(const Array &column, const Array &row, hjx::Where where = hjx::Where::current()) {
  return hjx::call_primitive<Outer>(where, column, row);
}
inline std::pair<Rank1, std::pair<Array, Array>> Outer::vjp_forward(const Array &column, const Array &row) {
  return {outer(column, row), {column, row}};
}

/// The column and the row. Only forwards: it has no derivative.
struct Factors {
  static constexpr const char *name = "factors";

  static std::vector<Type> infer(const Type &matrix) { return matrix.as<R1>().lo_types(); }
  static std::pair<Array, Array> expand(const Rank1 &matrix) {
    auto [column, row] = hjx::lower<Array, Array>(matrix);
    return {column, row};
  }
};
HJX_REGISTER_PRIMITIVE(Factors)
inline std::pair<Array, Array> factors(const Rank1 &matrix, hjx::Where where = hjx::Where::current()) {
  return hjx::call_primitive<Factors>(where, matrix);
}

/// x · matrix in k (m + n) multiplications instead of k m n.
struct MatmulR1 {
  static constexpr const char *name = "matmul_r1";

  static Type infer(const Type &x, const Type &matrix) {
    bool fits = x.is_array() && x.dtype() == hjx::float32 && x.shape().ndim() == 2 && matrix.is<R1>() &&
                x.shape()[1] == matrix.as<R1>().shape[0];
    if (!fits)
      throw hjx::Error("expected f32[k,m] and r1[m,n], got " + to_string(x) + " and " + to_string(matrix), "transpose x", {});
    return Type(hjx::float32, {x.shape()[0], matrix.as<R1>().shape[1]});
  }
  static Array expand(const Array &x, const Rank1 &matrix) {
    auto [column, row] = hjx::lower<Array, Array>(matrix);
    return hjx::expand_dims(hjx::matmul(x, column), 1) * row;
  }
  static std::pair<Array, std::tuple<Array, Array, Array>> vjp_forward(const Array &x, const Rank1 &matrix);
  static std::pair<Array, Array> vjp_backward(const std::tuple<Array, Array, Array> &saved, const Array &bar) {
    const auto &[x, column, row] = saved;
    return {hjx::expand_dims(hjx::matmul(bar, row), 1) * column, hjx::matmul(x.T(), bar)};
  }
};
HJX_REGISTER_PRIMITIVE(MatmulR1)
inline Array matmul_r1(const Array &x, const Rank1 &matrix, hjx::Where where = hjx::Where::current()) {
  return hjx::call_primitive<MatmulR1>(where, x, matrix);
}
inline std::pair<Array, std::tuple<Array, Array, Array>> MatmulR1::vjp_forward(const Array &x, const Rank1 &matrix) {
  auto [column, row] = factors(matrix);
  return {matmul_r1(x, matrix), {x, column, row}};
}

} // namespace rank1
