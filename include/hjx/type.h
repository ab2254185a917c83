// SPDX-License-Identifier: Apache-2.0
//
// Types as values: what a leaf of a tree is, an array or a user's hi-type.
//
//   hjx::Type x(hjx::float32, {2, 3});             // f32[2,3]
//   hjx::Type q = Q8{.shape = {2, 3}};             // q8[2,3], see hjx/hi_type.h
//
// A hi-type is its name and its parameters: shapes, types and strings. In the IR it
// is `!hjx.q8<2x3>`. Types are compared by structure and belong to no program.
#pragma once

#include <hjx/array.h>

#include <variant>

namespace hjx {

class Type;

namespace detail {
struct HiTypeData;
}

/// One parameter of a hi-type.
using TypeParam = std::variant<Shape, std::string, Type>;

class HJX_API Type {
public:
  /// A float32 scalar.
  Type() = default;
  Type(DType dtype, Shape shape = {}) : elementType(dtype), sizes(std::move(shape)) {}
  /// A hi-type by name; hjx/hi_type.h makes them of the user's classes.
  Type(std::string name, std::vector<TypeParam> params);

  bool is_array() const { return !data; }
  /// Of an array type.
  ///
  /// Errors: hjx::Error for a hi-type.
  DType dtype(Where where = Where::current()) const;
  const Shape &shape(Where where = Where::current()) const;
  /// Of a hi-type; "" and none for an array type.
  const std::string &name() const;
  const std::vector<TypeParam> &params() const;

  bool operator==(const Type &other) const;

private:
  friend struct detail::Access;
  DType elementType = DType::float32;
  Shape sizes;
  std::shared_ptr<const detail::HiTypeData> data;
};

/// "f32[2,3]", "q8[2,3]"
HJX_API std::string to_string(const Type &type);
HJX_API std::ostream &operator<<(std::ostream &os, const Type &type);

namespace detail {
struct HiTypeData {
  std::string name;
  std::vector<TypeParam> params;
};
} // namespace detail

} // namespace hjx
