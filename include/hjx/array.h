// SPDX-License-Identifier: Apache-2.0
//
// Array: the value that every hjx program computes with.
//
// An Array is a handle, cheap to copy, of an immutable value. It is concrete (it
// holds numbers, and operations on it run at once) or traced (it stands for a
// value of a program that is being recorded inside jit, grad, vmap, scan ...).
// The same user code works on both; only asking a traced array for its numbers
// is an error.
//
//   hjx::Array x = hjx::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
//   hjx::Array y = 2 * x + 1;                    // float32, because numbers are weak
//   std::cout << y[{hjx::every, -1}];              // [ 7. 13.]
#pragma once

#include <hjx/dtype.h>
#include <hjx/error.h>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hjx {

class Array;
class Device;
class Index;
class Indexed;
class Ref;
class RefPart;

namespace detail {
struct ArrayImpl;
template <typename T>
concept Number = std::is_arithmetic_v<T>;
/// A type that can be an element type of an array.
template <typename T>
concept Element = Number<T> && !std::is_same_v<T, long double>;
struct Access;
} // namespace detail

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// The sizes of an array's dimensions; `{}` is the shape of a scalar.
class Shape {
public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) : sizes(sizes) {}
  Shape(std::vector<int64_t> sizes) : sizes(std::move(sizes)) {}
  template <typename Iterator>
  Shape(Iterator first, Iterator last) : sizes(first, last) {}

  int ndim() const { return static_cast<int>(sizes.size()); }
  /// Number of elements.
  int64_t size() const {
    int64_t product = 1;
    for (int64_t n : sizes)
      product *= n;
    return product;
  }
  /// A negative axis counts from the end. (x.shape(axis) names the caller's line in its error.)
  int64_t operator[](int axis) const { return sizes[checked(axis)]; }
  int64_t &operator[](int axis) { return sizes[checked(axis)]; }
  auto begin() const { return sizes.begin(); }
  auto end() const { return sizes.end(); }
  const std::vector<int64_t> &vec() const { return sizes; }
  bool operator==(const Shape &) const = default;

private:
  size_t checked(int axis) const {
    size_t place = axis < 0 ? axis + sizes.size() : axis;
    if (place >= sizes.size())
      failAxis(axis);
    return place;
  }
  [[noreturn]] HJX_API void failAxis(int axis) const;

  std::vector<int64_t> sizes;
};

/// "[2,3]"
HJX_API std::string to_string(const Shape &shape);
HJX_API std::ostream &operator<<(std::ostream &os, const Shape &shape);

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

class HJX_API Array {
public:
  /// No value: any use but assignment is an error. Stands for "no tangent" where
  /// derivatives of integers would be.
  Array() = default;

  /// A scalar of a weak type: see hjx/dtype.h.
  template <detail::Number T>
  Array(T value, Where where = Where::current()) : Array(literal(value, where)) {}

  bool has_value() const { return impl != nullptr; }
  const Shape &shape(Where where = Where::current()) const;
  /// The size of one dimension; a negative axis counts from the end.
  int64_t shape(int axis, Where where = Where::current()) const;
  int ndim(Where where = Where::current()) const;
  int64_t size(Where where = Where::current()) const;
  DType dtype(Where where = Where::current()) const;
  /// True when the type came from a C++ number and gives way to others.
  bool weak_type(Where where = Where::current()) const;
  /// True inside jit, grad, vmap, scan ...: the array has a type but no numbers.
  bool is_traced() const;

  /// Returns the only element, converted to T.
  ///
  /// Errors: hjx::Error if there is more than one element, T cannot hold the value
  ///         (floating to integer never converts: say astype), or the array is traced.
  template <detail::Element T>
  T item(Where where = Where::current()) const {
    T value;
    read("item", &value, dtype_of<T>(), where);
    return value;
  }

  /// Returns all elements in row-major order, converted to T as `item` does.
  template <detail::Element T>
  std::vector<T> to_vector(Where where = Where::current()) const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<uint8_t> bytes(countToRead("to_vector", where));
      read("to_vector", bytes.data(), DType::bool_, where);
      return std::vector<bool>(bytes.begin(), bytes.end());
    } else {
      std::vector<T> values(countToRead("to_vector", where));
      read("to_vector", values.data(), dtype_of<T>(), where);
      return values;
    }
  }

  /// Where a concrete array lies, and whether somebody put it there: see hjx/device.h.
  Device device(Where where = Where::current()) const;
  bool committed(Where where = Where::current()) const;
  /// False while the device may still be computing it: calls of programs return before they ran.
  bool is_ready(Where where = Where::current()) const;
  /// Waits until it is computed.
  ///
  /// Errors: hjx::Error if the device's work failed.
  const Array &block_until_ready(Where where = Where::current()) const;

  /// The elements of a concrete array, row-major; of one that lies on a GPU, a copy on the host that
  /// is made once. Valid while a handle lives.
  std::span<const std::byte> bytes(Where where = Where::current()) const;

  Array astype(DType type, Where where = Where::current()) const;
  /// One size may be -1: it follows from the others.
  Array reshape(const Shape &shape, Where where = Where::current()) const;
  /// All dimensions in reverse order.
  Array T(Where where = Where::current()) const;
  Array transpose(std::initializer_list<int> axes = {}, Where where = Where::current()) const;

  /// NumPy's basic and advanced indexing; see hjx/indexing.h.
  Array operator[](const Index &index) const;
  Array operator[](std::initializer_list<Index> indices) const;
  /// A place to update: `x.at({0, every}).set(v)` returns the changed array.
  Indexed at(const Index &index) const;
  Indexed at(std::initializer_list<Index> indices) const;

  /// The value of a concrete bool scalar, so that `if (x)` works outside of traces.
  ///
  /// Errors: hjx::Error on a traced array, whose value is not known while tracing.
  explicit operator bool() const;

private:
  friend struct detail::Access;
  explicit Array(std::shared_ptr<detail::ArrayImpl> impl) : impl(std::move(impl)) {}
  static Array literal(bool value, Where where);
  static Array literal(int64_t value, Where where);
  static Array literal(uint64_t value, Where where);
  static Array literal(double value, Where where);
  template <detail::Number T>
  static Array literal(T value, Where where) {
    if constexpr (std::is_floating_point_v<T>)
      return literal(static_cast<double>(value), where);
    else if constexpr (std::is_signed_v<T>)
      return literal(static_cast<int64_t>(value), where);
    else
      return literal(static_cast<uint64_t>(value), where);
  }
  /// Number of elements; throws for a traced array.
  int64_t countToRead(const char *op, Where where) const;
  void read(const char *op, void *to, DType type, Where where) const;

  std::shared_ptr<detail::ArrayImpl> impl;
};

/// NumPy's printing, elided in the middle when there are more than 1000 elements;
/// a traced array prints as its type.
HJX_API std::string to_string(const Array &array);
HJX_API std::ostream &operator<<(std::ostream &os, const Array &array);

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

namespace detail {
/// A number or a list of lists of them, as written in braces.
class Nested {
public:
  template <Number T>
  Nested(T value)
      : number(static_cast<double>(value)),
        integer(std::is_floating_point_v<T> ? 0 : static_cast<int64_t>(value)),
        type(std::is_same_v<T, bool>             ? DType::bool_
             : std::is_floating_point_v<T> ? DType::float32
                                           : DType::int32) {}
  Nested(std::initializer_list<Nested> items) : items(items), isList(true) {}

  double number = 0;
  int64_t integer = 0;
  DType type = DType::bool_;
  std::vector<Nested> items;
  bool isList = false;
};

HJX_API Array fromNested(const Nested &values, const DType *type, Where where);
HJX_API Array fromMemory(const void *data, size_t count, DType from, const Shape *shape,
                         const DType *type, Where where);
} // namespace detail

/// Returns an array of the numbers in nested braces, all lists of one depth of one length.
///
/// Types:  floats if any number is, as float32; else int32; of bools, bool; or `type`.
/// Errors: hjx::Error if the lists differ in length, or a number does not fit the type.
inline Array array(std::initializer_list<detail::Nested> values, Where where = Where::current()) {
  return detail::fromNested(detail::Nested(values), nullptr, where);
}
inline Array array(std::initializer_list<detail::Nested> values, DType type,
                   Where where = Where::current()) {
  return detail::fromNested(detail::Nested(values), &type, where);
}

/// Returns a scalar of a fixed (not weak) type: that of the C++ number, or `type`. A double, which
/// any C++ number with a point is, becomes a float32, as in braces.
template <detail::Element T>
Array array(T value, DType type = std::is_same_v<T, double> ? DType::float32 : dtype_of<T>(), Where where = Where::current()) {
  Shape scalar;
  return detail::fromMemory(&value, 1, dtype_of<T>(), &scalar, &type, where);
}

/// Returns an array of the given numbers, in row-major order; without a shape, of one dimension.
///
/// Types:  that of the memory, so that doubles stay float64.
/// Errors: hjx::Error if the shape does not have as many elements as there are numbers.
template <detail::Element T>
Array array(const std::vector<T> &values, Where where = Where::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return detail::fromMemory(bytes.data(), bytes.size(), DType::bool_, nullptr, nullptr, where);
  } else {
    return detail::fromMemory(values.data(), values.size(), dtype_of<T>(), nullptr, nullptr, where);
  }
}
template <detail::Element T>
Array array(const std::vector<T> &values, const Shape &shape, Where where = Where::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return detail::fromMemory(bytes.data(), bytes.size(), DType::bool_, &shape, nullptr, where);
  } else {
    return detail::fromMemory(values.data(), values.size(), dtype_of<T>(), &shape, nullptr, where);
  }
}
template <detail::Element T>
Array array(std::span<const T> values, const Shape &shape, Where where = Where::current()) {
  return detail::fromMemory(values.data(), values.size(), dtype_of<T>(), &shape, nullptr, where);
}

/// Returns an array that copies its storage from memory in the layout of `Array::bytes`.
HJX_API Array from_bytes(std::span<const std::byte> bytes, const Shape &shape, DType type,
                         Where where = Where::current());

/// Returns an array that has a type but no numbers: an argument for make_ir, eval_shape and
/// Module::add, which only look at types.
HJX_API Array abstract(const Shape &shape, DType type = float32, Where where = Where::current());

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// What an operation takes: an Array or a C++ number, together with the line of the call.
class HJX_API ArrayLike {
public:
  ArrayLike(const Array &array, Where where = Where::current()) : array(array), where(where) {}
  template <detail::Number T>
  ArrayLike(T value, Where where = Where::current()) : array(value, where), where(where) {}
  ArrayLike(const Indexed &indexed, Where where = Where::current());
  /// A part of a ref, which is read.
  ArrayLike(const RefPart &part, Where where = Where::current());
  /// A whole ref is not read by itself: refs also go where they are written.
  template <std::same_as<Ref> R>
  ArrayLike(const R &, Where = {}) {
    static_assert(sizeof(R) == 0, "expected an array, got a Ref: read it first, ref.get()");
  }

  Array array;
  Where where;
};

/// Arithmetic broadcasts as NumPy does and promotes as hjx/dtype.h says.
/// `/` of integers is a float; `%` has the divisor's sign.
HJX_API Array operator+(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator-(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator*(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator/(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator%(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator-(ArrayLike operand);

/// Comparisons are elementwise and give bool arrays.
HJX_API Array operator==(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator!=(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator<(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator<=(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator>(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator>=(ArrayLike lhs, ArrayLike rhs);

/// Bitwise on integers, logical on bools.
HJX_API Array operator&(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator|(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator^(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator~(ArrayLike operand);
HJX_API Array operator<<(ArrayLike lhs, ArrayLike rhs);
HJX_API Array operator>>(ArrayLike lhs, ArrayLike rhs);

HJX_API Array &operator+=(Array &lhs, ArrayLike rhs);
HJX_API Array &operator-=(Array &lhs, ArrayLike rhs);
HJX_API Array &operator*=(Array &lhs, ArrayLike rhs);
HJX_API Array &operator/=(Array &lhs, ArrayLike rhs);

} // namespace hjx
