// SPDX-License-Identifier: Apache-2.0
//
// Refs: mutable cells. A ref holds one array (or one hi value), which functions read
// and write in program order, eagerly and inside every transform:
//
//   hjx::Ref count = hjx::new_ref(hjx::zeros({3}));
//   auto step = hjx::jit([](hjx::Ref count, Array x) {
//     count.add(0, 1);                     // count[0] += 1, in place
//     count[{hjx::Slice(1, 3)}] = x;       // a part, as NumPy names it
//     return hjx::sum(count.get());
//   });
//   step(count, x);                        // the same cell, updated where it lies
//
// A ref may be an argument or be captured; it is never returned and never a carry of
// a loop, so that two refs are always two cells: a call that gets one twice is an
// error. As an xs of scan, the body sees the slice of its iteration as a ref.
//
// Derivatives go through refs that a function makes itself, and through those that are
// differentiated (vjp(...).with_refs, jvp). Others only pass by: what is read from them
// is a constant. After JAX's refs; scalars and starts of slices clamp when out of range,
// writes at integer arrays drop.
#pragma once

#include <hjx/indexing.h>
#include <hjx/tree.h>
#include <hjx/type.h>

namespace hjx {

class RefPart;

namespace detail {
using IndexList = std::vector<Index>;
HJX_API Array newRefFlat(const Array &init, Where where);
HJX_API Array emptyRefFlat(const Type &type, Where where);
HJX_API Array refGet(const char *op, const Array &ref, const IndexList &indices, Where where);
HJX_API Array refSwap(const char *op, const Array &ref, const IndexList &indices, const Array &value, Where where);
HJX_API void refAdd(const Array &ref, const IndexList &indices, const Array &value, Where where);
HJX_API Array freezeFlat(const Array &ref, Where where);
HJX_API const Shape &refShape(const Array &ref, Where where);
HJX_API Type refType(const Array &ref, Where where);
template <typename V>
concept HiHandle = Handle<V> && requires { typename V::HiType; };
} // namespace detail

/// A handle of a cell: copies name the same cell.
class HJX_API Ref {
public:
  Ref() = default;

  bool has_value() const { return handle.has_value(); }
  bool is_traced() const { return handle.is_traced(); }
  /// Of the value that it holds.
  Type type(Where where = Where::current()) const { return detail::refType(handle, where); }
  const Shape &shape(Where where = Where::current()) const { return detail::refShape(handle, where); }
  int64_t shape(int axis, Where where = Where::current()) const { return detail::refShape(handle, where)[axis]; }
  int ndim(Where where = Where::current()) const { return shape(where).ndim(); }
  int64_t size(Where where = Where::current()) const { return shape(where).size(); }
  DType dtype(Where where = Where::current()) const { return type(where).dtype(where); }

  /// What the ref holds now, or a part of it.
  ///
  /// Errors: hjx::Error if a static index is out of range, or the ref was frozen.
  Array get(Where where = Where::current()) const { return detail::refGet("get", handle, {}, where); }
  Array get(const Index &index) const { return detail::refGet("get", handle, {index}, index.where); }
  Array get(std::initializer_list<Index> indices) const { return detail::refGet("get", handle, indices, whereOf(indices)); }
  /// The same of a hi value: `ref.get_as<QArray>()`.
  template <detail::HiHandle V>
  V get_as(Where where = Where::current()) const {
    return AnyValue(detail::refGet("get", handle, {}, where)).template as<V>(where);
  }
  /// A part, where the type's class has index_shape and what goes with it (hjx/hi_type.h).
  template <detail::HiHandle V>
  V get_as(const Index &index) const {
    return get_as<V>({index});
  }
  template <detail::HiHandle V>
  V get_as(std::initializer_list<Index> indices) const {
    return AnyValue(detail::refGet("get", handle, indices, whereOf(indices))).template as<V>(whereOf(indices));
  }

  /// Writes all of it, or a part.
  ///
  /// Shapes: the value has the part's type; a C++ number takes its element type and fills it.
  /// Errors: hjx::Error if the types differ.
  void set(ArrayLike value) const { detail::refSwap("set", handle, {}, value.array, value.where); }
  void set(const Index &index, ArrayLike value) const { detail::refSwap("set", handle, {index}, value.array, value.where); }
  void set(std::initializer_list<Index> indices, ArrayLike value) const {
    detail::refSwap("set", handle, indices, value.array, value.where);
  }
  template <detail::HiHandle V>
  void set(const V &value, Where where = Where::current()) const {
    detail::refSwap("set", handle, {}, value.hjxHandle(), where);
  }
  template <detail::HiHandle V>
  void set(const Index &index, const V &value) const {
    detail::refSwap("set", handle, {index}, value.hjxHandle(), index.where);
  }
  template <detail::HiHandle V>
  void set(std::initializer_list<Index> indices, const V &value) const {
    detail::refSwap("set", handle, indices, value.hjxHandle(), whereOf(indices));
  }

  /// As set, and returns what was there.
  Array swap(ArrayLike value) const { return detail::refSwap("swap", handle, {}, value.array, value.where); }
  Array swap(const Index &index, ArrayLike value) const { return detail::refSwap("swap", handle, {index}, value.array, value.where); }
  Array swap(std::initializer_list<Index> indices, ArrayLike value) const {
    return detail::refSwap("swap", handle, indices, value.array, value.where);
  }

  /// Adds in place. Where integer arrays name one element twice, both are added.
  void add(ArrayLike value) const { detail::refAdd(handle, {}, value.array, value.where); }
  void add(const Index &index, ArrayLike value) const { detail::refAdd(handle, {index}, value.array, value.where); }
  void add(std::initializer_list<Index> indices, ArrayLike value) const { detail::refAdd(handle, indices, value.array, value.where); }
  template <detail::HiHandle V>
  void add(const V &value, Where where = Where::current()) const {
    detail::refAdd(handle, {}, value.hjxHandle(), where);
  }

  /// A part to read, assign or add to: `ref[0] = x; ref[{every, ids}] += y;`
  RefPart operator[](const Index &index) const;
  RefPart operator[](std::initializer_list<Index> indices) const;

  Array &hjxHandle() { return handle; }
  const Array &hjxHandle() const { return handle; }

private:
  static Where whereOf(std::initializer_list<Index> indices) { return indices.size() ? indices.begin()->where : Where(); }
  Array handle;
};

/// "Ref([1. 2.])", of what it holds; while tracing its type: "Traced<ref<f32[2]>>".
HJX_API std::string to_string(const Ref &ref);
HJX_API std::ostream &operator<<(std::ostream &os, const Ref &ref);

/// A part of a ref, which stands wherever an array does. `+=` adds in place.
class RefPart {
public:
  RefPart(Ref ref, std::vector<Index> indices, Where where) : ref(std::move(ref)), indices(std::move(indices)), where(where) {}
  RefPart(const RefPart &) = default;

  Array get() const { return detail::refGet("get", ref.hjxHandle(), indices, where); }
  operator Array() const { return get(); }
  const RefPart &operator=(ArrayLike value) const {
    detail::refSwap("set", ref.hjxHandle(), indices, value.array, value.where);
    return *this;
  }
  const RefPart &operator=(const RefPart &value) const { return *this = ArrayLike(value.get(), value.where); }
  const RefPart &operator+=(ArrayLike value) const {
    detail::refAdd(ref.hjxHandle(), indices, value.array, value.where);
    return *this;
  }
  const RefPart &operator-=(ArrayLike value) const { return *this += ArrayLike(-value, value.where); }
  const RefPart &operator*=(ArrayLike value) const { return *this = ArrayLike(get() * value, value.where); }
  const RefPart &operator/=(ArrayLike value) const { return *this = ArrayLike(get() / value, value.where); }

private:
  Ref ref;
  std::vector<Index> indices;
  Where where;
};

inline RefPart Ref::operator[](const Index &index) const { return {*this, {index}, index.where}; }
inline RefPart Ref::operator[](std::initializer_list<Index> indices) const { return {*this, indices, whereOf(indices)}; }

/// Returns a new cell that holds a copy of `init`.
///
/// Cost: one copy outside of transforms; inside them none.
inline Ref new_ref(ArrayLike init) {
  Ref ref;
  ref.hjxHandle() = detail::newRefFlat(init.array, init.where);
  return ref;
}
template <detail::HiHandle V>
Ref new_ref(const V &init, Where where = Where::current()) {
  Ref ref;
  ref.hjxHandle() = detail::newRefFlat(init.hjxHandle(), where);
  return ref;
}

/// Returns a new cell whose content is unspecified until it is written.
inline Ref empty_ref(const Type &type, Where where = Where::current()) {
  Ref ref;
  ref.hjxHandle() = detail::emptyRefFlat(type, where);
  return ref;
}
inline Ref empty_ref(const Shape &shape, DType type = float32, Where where = Where::current()) {
  return empty_ref(Type(type, shape), where);
}
/// `empty_ref({})` is a scalar.
inline Ref empty_ref(std::initializer_list<int64_t> shape, DType type = float32, Where where = Where::current()) {
  return empty_ref(Type(type, Shape(shape)), where);
}

/// Ends a ref's life and returns what it holds: a read that need not copy. Outside of transforms
/// it only reads.
///
/// Errors: hjx::Error unless the function that freezes the ref made it, and for later uses.
inline Array freeze(const Ref &ref, Where where = Where::current()) { return detail::freezeFlat(ref.hjxHandle(), where); }
/// One cell for each leaf of a tree, such as the gradients of parameters, and back.
template <typename T>
std::vector<Ref> new_refs(const T &tree, Where where = Where::current()) {
  std::vector<Ref> refs;
  for (const Array &leaf : detail::leavesOf(tree)) {
    refs.emplace_back();
    refs.back().hjxHandle() = detail::newRefFlat(leaf, where);
  }
  return refs;
}
template <typename T>
T freeze_tree(const T &like, const std::vector<Ref> &refs, Where where = Where::current()) {
  std::vector<Array> leaves;
  for (const Ref &ref : refs)
    leaves.push_back(freeze(ref, where));
  return tree_unflatten(like, leaves, where);
}

template <detail::HiHandle V>
V freeze_as(const Ref &ref, Where where = Where::current()) {
  return AnyValue(detail::freezeFlat(ref.hjxHandle(), where)).template as<V>(where);
}

} // namespace hjx
