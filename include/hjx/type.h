// SPDX-License-Identifier: Apache-2.0
//
// Types as values, and values of any type: what an array and a value of a user's
// hi-type have in common.
//
//   hjx::Type x(hjx::float32, {2, 3});             // f32[2,3]
//   hjx::Type q = Q8{.shape = {2, 3}};             // q8[2,3], see hjx/hi_type.h
//
// A hi-type is its name and its parameters: shapes, types and strings. In the IR it
// is `!hjx.q8<2x3>`. Types are compared by structure and belong to no program.
#pragma once

#include <hjx/tree.h>

namespace hjx {

class Type;

namespace detail {
struct HiTypeData;
}

/// One parameter of a hi-type: a shape, a string or a type.
class HJX_API TypeParam {
public:
  TypeParam(Shape shape) : kind(Kind::Shape), sizes(std::move(shape)) {}
  TypeParam(std::string text) : kind(Kind::Text), string(std::move(text)) {}
  TypeParam(const Type &type);

  /// The parameter, or null if it is of another kind.
  const Shape *shape() const { return kind == Kind::Shape ? &sizes : nullptr; }
  const std::string *text() const { return kind == Kind::Text ? &string : nullptr; }
  const Type *type() const { return inner.get(); }

  bool operator==(const TypeParam &other) const;

private:
  enum class Kind { Shape, Text, Type } kind;
  Shape sizes;
  std::string string;
  std::shared_ptr<const Type> inner;
};

namespace detail {
/// A user's class of types: it has a name, and HJX_PARAMS lists its fields (hjx/hi_type.h).
template <typename T>
concept TypeClass = requires(T &type) {
  { T::name } -> std::convertible_to<std::string>;
  type.lo_types();
};
template <TypeClass T>
Type typeOfClass(const T &object);
template <TypeClass T>
T classOfType(const Type &type, Where where);
} // namespace detail

class HJX_API Type {
public:
  /// A float32 scalar.
  Type() = default;
  Type(DType dtype, Shape shape = {}) : elementType(dtype), sizes(std::move(shape)) {}
  /// A hi-type by name; hjx/hi_type.h makes them of the user's classes.
  Type(std::string name, std::vector<TypeParam> params);
  template <detail::TypeClass T>
  Type(const T &object) : Type(detail::typeOfClass(object)) {}

  bool is_array() const { return !data; }
  /// Of an array type.
  ///
  /// Errors: hjx::Error for a hi-type.
  DType dtype(Where where = Where::current()) const;
  const Shape &shape(Where where = Where::current()) const;
  /// Of a hi-type; "" and none for an array type.
  const std::string &name() const;
  const std::vector<TypeParam> &params() const;

  /// The object of a user's class that the type stands for.
  ///
  /// Errors: hjx::Error if the type is another.
  template <detail::TypeClass T>
  T as(Where where = Where::current()) const {
    return detail::classOfType<T>(*this, where);
  }
  template <detail::TypeClass T>
  bool is() const {
    return name() == T::name;
  }

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

//===----------------------------------------------------------------------===//
// Values of any type
//===----------------------------------------------------------------------===//

namespace detail {
HJX_API Type typeOfLeaf(const Array &leaf, Where where);
/// Throws unless the leaf is an array, or of the hi-type of that name.
HJX_API void checkLeaf(const Array &leaf, const char *hiType, Where where);
} // namespace detail

/// An array or a value of a hi-type: a leaf of trees. Empty where there is nothing, such as the
/// tangent of an integer.
class HJX_API AnyValue {
public:
  AnyValue() = default;
  AnyValue(const Array &array) : handle(array) {}
  template <detail::Number T>
  AnyValue(T number, Where where = Where::current()) : handle(number, where) {}

  bool has_value() const { return handle.has_value(); }
  bool is_traced() const { return handle.is_traced(); }
  Type type(Where where = Where::current()) const { return detail::typeOfLeaf(handle, where); }

  /// The value as an Array, or as a class of the user's (hjx/hi_type.h).
  ///
  /// Errors: hjx::Error if the value is of another type.
  template <detail::Handle T>
  T as(Where where = Where::current()) const {
    if constexpr (std::is_same_v<T, Array>)
      detail::checkLeaf(handle, nullptr, where);
    else if constexpr (requires { T::HiType::name; })
      detail::checkLeaf(handle, T::HiType::name, where);
    T leaf;
    detail::handleOf(leaf) = handle;
    return leaf;
  }

  Array &hjxHandle() { return handle; }
  const Array &hjxHandle() const { return handle; }

private:
  Array handle;
};

/// The type, and for a concrete value its components.
HJX_API std::string to_string(const AnyValue &value);
HJX_API std::ostream &operator<<(std::ostream &os, const AnyValue &value);

} // namespace hjx
