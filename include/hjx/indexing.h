// SPDX-License-Identifier: Apache-2.0
//
// NumPy's indexing: integers, slices, new axes, an ellipsis and integer arrays.
//
//   x[0]                       the first row
//   x[{every, -1}]               the last column
//   x[{Slice(0, 4), newaxis}]  rows 0..3, with a new axis after
//   x[ids]                     rows picked by an integer array
//   x.at({i, every}).set(row)    x with row i replaced (i may be traced)
//
// Numbers are checked against the shape. Integer arrays are not: negative ones
// count from the end; out of range, reads clamp and updates are dropped, as in
// JAX.
#pragma once

#include <hjx/array.h>

#include <limits>

namespace hjx {

/// start:stop:step, as in Python; negative numbers count from the end.
struct Slice {
  static constexpr int64_t none = std::numeric_limits<int64_t>::min();

  Slice() = default;
  Slice(int64_t start, int64_t stop = none, int64_t step = 1) : start(start), stop(stop), step(step) {}

  int64_t start = none, stop = none, step = 1;
};

/// One entry of a subscript.
class Index {
public:
  enum class Kind { Number, Slice, NewAxis, Ellipsis, Array };

  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  Index(T position, Where where = Where::current())
      : kind(Kind::Number), slice(static_cast<int64_t>(position)), where(where) {}
  Index(Slice slice, Where where = Where::current()) : kind(Kind::Slice), slice(slice), where(where) {}
  Index(const Array &positions, Where where = Where::current())
      : kind(Kind::Array), positions(positions), where(where) {}
  Index(Kind kind, Where where = Where::current()) : kind(kind), where(where) {}

  Kind kind;
  Slice slice; // A number is slice.start.
  Array positions;
  Where where;
};

/// The whole axis; a new axis of size 1; as many whole axes as are missing.
inline const Slice every;
inline constexpr Index::Kind newaxis = Index::Kind::NewAxis;
inline constexpr Index::Kind ellipsis = Index::Kind::Ellipsis;

/// The elements of an array that a subscript names; each method returns the array
/// with those elements changed.
class HJX_API Indexed {
public:
  Indexed(Array array, std::vector<Index> indices) : array(std::move(array)), indices(std::move(indices)) {}

  Array get() const;
  Array set(ArrayLike values) const;
  Array add(ArrayLike values) const;

private:
  Array array;
  std::vector<Index> indices;
};

} // namespace hjx
