// SPDX-License-Identifier: Apache-2.0
//
// Matrices of low rank, kept as their factors: columns [m,r] times rows [r,n]. The functions
// below never multiply them out, in derivatives neither.
//
//   hjx::LowRank a = hjx::rank_one(u, v);                  // low_rank{[6,5],[1]}
//   hjx::Array y = hjx::matmul(x, a);                      // k (m + n) multiplications instead of k m n
//   hjx::Tuple bar = hjx::grad(loss)(a);                   // of the factors: tuple{f32[6,1],f32[1,5]}
//
// A matrix of low rank plus another has a higher rank, so that a tangent of this type would not
// stay in it. Tangents are those of the factors, as in LoRA (Hu et al. 2021): a tuple (hjx/types/tuple.h).
#pragma once

#include <hjx/types/tuple.h>

namespace hjx {

/// The type: low_rank{[6,5],[2]}; the last two axes are the matrix, others are many of them.
/// Components: f32 [.., m, r] and [.., r, n]. Mapped at an axis before the last two.
struct HJX_API LowRankType {
  Shape shape;
  int64_t rank = 1;

  static constexpr const char *name = "low_rank";
  HJX_PARAMS(shape, rank)
  using Tangent = Tuple;

  void verify() const;
  std::vector<Type> lo_types() const;
  Type tangent_type() const;
  Type dec_rank(int64_t size, const AxisSpec &spec) const;
  Type inc_rank(int64_t size, const AxisSpec &spec) const;
  AxisSpec leading_axis_spec() const;
};

using LowRank = HiValue<LowRankType>;

/// Returns columns rows, without computing it: [m,r] and [r,n], or many of them with equal leading axes.
HJX_API LowRank low_rank(const Array &columns, const Array &rows, Where where = Where::current());
/// Returns the outer product of two vectors.
HJX_API LowRank rank_one(const Array &column, const Array &row, Where where = Where::current());

/// Returns columns and rows.
HJX_API std::pair<Array, Array> factors(const LowRank &a, Where where = Where::current());
/// Returns the matrix with all its numbers.
HJX_API Array to_dense(const LowRank &a, Where where = Where::current());

/// Returns x a: [.., k, m] by [m, n], or a vector [m].
HJX_API Array matmul(const Array &x, const LowRank &a, Where where = Where::current());
/// Returns a x: [m, n] by [.., n, k], or a vector [n].
HJX_API Array matmul(const LowRank &a, const Array &x, Where where = Where::current());
/// Returns a b, of the smaller rank.
HJX_API LowRank matmul(const LowRank &a, const LowRank &b, Where where = Where::current());

/// Returns a + b; the ranks add up.
HJX_API LowRank add(const LowRank &a, const LowRank &b, Where where = Where::current());
/// Returns a times a scalar.
HJX_API LowRank scale(const LowRank &a, const Array &factor, Where where = Where::current());
HJX_API LowRank transpose(const LowRank &a, Where where = Where::current());

} // namespace hjx
