// SPDX-License-Identifier: Apache-2.0
//
// Two primitives, a value from its factors and back; what matrices do is written with them.
#include <hjx/types/low_rank.h>

namespace hjx {

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

void LowRankType::verify() const {
  if (shape.ndim() < 2)
    throw Error("expected a shape of at least two axes, got " + to_string(shape), "the last two are the matrix", {});
  if (rank < 1)
    throw Error("expected a rank of at least 1, got " + std::to_string(rank), "zeros have rank 1 too, with a factor of zeros", {});
}

std::vector<Type> LowRankType::lo_types() const {
  std::vector<int64_t> columns = shape.vec(), rows = shape.vec();
  columns.back() = rank;
  rows[rows.size() - 2] = rank;
  return {Type(float32, columns), Type(float32, rows)};
}

Type LowRankType::tangent_type() const { return TupleType{lo_types()}; }

static size_t mappedAxis(const LowRankType &type, const AxisSpec &spec, int end) {
  int axis = spec.is_axis() ? spec.axis() : end;
  if (axis < 0 || axis >= end)
    throw Error("expected an axis before the matrix, below " + std::to_string(end) + ", as the mapping spec of " + to_string(Type(type)) +
                    ", got " + to_string(spec),
                "rows and columns are not mapped: take the factors", {});
  return static_cast<size_t>(axis);
}

Type LowRankType::dec_rank(int64_t size, const AxisSpec &spec) const {
  std::vector<int64_t> sizes = shape.vec();
  size_t axis = mappedAxis(*this, spec, shape.ndim() - 2);
  if (sizes[axis] != size)
    throw Error("expected " + std::to_string(size) + " elements along axis " + std::to_string(axis) + " of " + to_string(Type(*this)) +
                    ", got " + std::to_string(sizes[axis]),
                "mapped axes have one size", {});
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  return LowRankType{sizes, rank};
}

Type LowRankType::inc_rank(int64_t size, const AxisSpec &spec) const {
  std::vector<int64_t> sizes = shape.vec();
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(mappedAxis(*this, spec, shape.ndim() - 1)), size);
  return LowRankType{sizes, rank};
}

AxisSpec LowRankType::leading_axis_spec() const { return 0; }

HJX_REGISTER_TYPE(LowRankType)

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

namespace {

struct MakeLowRank {
  static constexpr const char *name = "hjx.low_rank";

  static Type infer(const Type &columns, const Type &rows) {
    bool fits = true;
    for (const Type *x : {&columns, &rows})
      fits = fits && x->is_array() && x->dtype() == float32 && x->shape().ndim() >= 2;
    fits = fits && columns.shape().ndim() == rows.shape().ndim() && columns.shape()[-1] == rows.shape()[-2];
    for (int axis = 0; fits && axis < columns.shape().ndim() - 2; ++axis)
      fits = columns.shape()[axis] == rows.shape()[axis];
    if (!fits)
      throw Error("expected f32[..,m,r] and f32[..,r,n], got " + to_string(columns) + " and " + to_string(rows),
                  "for two vectors: rank_one(column, row)", {});
    LowRankType type{columns.shape(), columns.shape()[-1]};
    type.shape[-1] = rows.shape()[-1];
    type.verify();
    return type;
  }
  static LowRank expand(const Array &columns, const Array &rows) {
    return raise<LowRank>(infer(Type(float32, columns.shape()), Type(float32, rows.shape())).as<LowRankType>(), {columns, rows});
  }
  static std::pair<LowRank, Tuple> jvp(const Array &columns, const Array &rows, const Array &columns_dot, const Array &rows_dot) {
    return {low_rank(columns, rows), tuple({columns_dot, rows_dot})};
  }
};
HJX_REGISTER_PRIMITIVE(MakeLowRank)

struct Factors {
  static constexpr const char *name = "hjx.factors";

  static std::vector<Type> infer(const Type &a) { return a.as<LowRankType>().lo_types(); }
  static std::pair<Array, Array> expand(const LowRank &a) {
    auto [columns, rows] = lower<Array, Array>(a);
    return {columns, rows};
  }
  static std::pair<std::pair<Array, Array>, std::pair<Array, Array>> jvp(const LowRank &a, const Tuple &dot) {
    std::vector<AnyValue> dots = elements(dot);
    return {factors(a), {dots[0].as<Array>(), dots[1].as<Array>()}};
  }
};
HJX_REGISTER_PRIMITIVE(Factors)

/// One matrix, whose sizes are `shape`.
Shape matrixOf(const LowRank &a, const char *op, Where where) {
  LowRankType type = a.hi_type(where);
  if (type.shape.ndim() != 2)
    throw Error(std::string(op) + ": expected one matrix, got " + to_string(a.type()), "map over the others with hjx::vmap", where);
  return type.shape;
}

[[noreturn]] void failSizes(const char *op, const std::string &x, const std::string &y, Where where) {
  throw Error(std::string(op) + ": expected sizes that fit, got " + x + " and " + y, "transpose an operand", where);
}

std::string describe(const Array &x) { return to_string(Type(x.dtype(), x.shape())); }

} // namespace

LowRank low_rank(const Array &columns, const Array &rows, Where where) { return call_primitive<MakeLowRank>(where, columns, rows); }

std::pair<Array, Array> factors(const LowRank &a, Where where) { return call_primitive<Factors>(where, a); }

LowRank rank_one(const Array &column, const Array &row, Where where) {
  if (column.ndim(where) != 1 || row.ndim(where) != 1)
    throw Error("rank_one: expected two vectors, got " + describe(column) + " and " + describe(row), "for matrices: low_rank", where);
  return low_rank(expand_dims(column, 1), expand_dims(row, 0), where);
}

Array to_dense(const LowRank &a, Where where) {
  auto [columns, rows] = factors(a, where);
  return matmul({columns, where}, {rows, where});
}

Array matmul(const Array &x, const LowRank &a, Where where) {
  Shape shape = matrixOf(a, "matmul", where);
  if (x.ndim(where) == 0 || x.shape(-1) != shape[0])
    failSizes("matmul", describe(x), to_string(a.type()), where);
  auto [columns, rows] = factors(a, where);
  return matmul({matmul({x, where}, {columns, where}), where}, {rows, where});
}

Array matmul(const LowRank &a, const Array &x, Where where) {
  Shape shape = matrixOf(a, "matmul", where);
  if (x.ndim(where) == 0 || x.shape(x.ndim() == 1 ? -1 : -2) != shape[1])
    failSizes("matmul", to_string(a.type()), describe(x), where);
  auto [columns, rows] = factors(a, where);
  return matmul({columns, where}, {matmul({rows, where}, {x, where}), where});
}

LowRank matmul(const LowRank &a, const LowRank &b, Where where) {
  if (matrixOf(a, "matmul", where)[1] != matrixOf(b, "matmul", where)[0])
    failSizes("matmul", to_string(a.type()), to_string(b.type()), where);
  auto [aColumns, aRows] = factors(a, where);
  auto [bColumns, bRows] = factors(b, where);
  Array between = matmul({aRows, where}, {bColumns, where});
  return a.hi_type().rank <= b.hi_type().rank ? low_rank(aColumns, matmul({between, where}, {bRows, where}), where)
                                              : low_rank(matmul({aColumns, where}, {between, where}), bRows, where);
}

LowRank add(const LowRank &a, const LowRank &b, Where where) {
  if (a.hi_type(where).shape != b.hi_type(where).shape)
    throw Error("add: expected two matrices of one shape, got " + to_string(a.type()) + " and " + to_string(b.type()), "transpose an operand", where);
  auto [aColumns, aRows] = factors(a, where);
  auto [bColumns, bRows] = factors(b, where);
  return low_rank(concatenate({aColumns, bColumns}, -1, where), concatenate({aRows, bRows}, -2, where), where);
}

LowRank scale(const LowRank &a, const Array &factor, Where where) {
  if (factor.ndim(where) != 0 || !is_floating(factor.dtype()))
    throw Error("scale: expected a float scalar, got " + describe(factor), "scale the factors for anything else", where);
  auto [columns, rows] = factors(a, where);
  return low_rank(multiply({columns, where}, {factor.astype(float32), where}), rows, where);
}

LowRank transpose(const LowRank &a, Where where) {
  auto [columns, rows] = factors(a, where);
  return low_rank(swapaxes({rows, where}, -1, -2), swapaxes({columns, where}, -1, -2), where);
}

} // namespace hjx
