// SPDX-License-Identifier: Apache-2.0
//
// The static parameters of users' classes of types and primitives: the fields that
// HJX_PARAMS lists, as plain data that a program can hold, and back.
#pragma once

#include <hjx/axis_spec.h>
#include <hjx/type.h>

#include <variant>

namespace hjx::detail {

/// A static parameter of a primitive.
using Param = std::variant<bool, int64_t, double, std::string, Shape, Type>;
using Params = std::vector<std::pair<std::string, Param>>;

/// Throws unless the numbers are equal; `op` may be null where the caller names it.
HJX_API void checkCount(const char *op, const char *what, size_t expected, size_t got, Where where);
[[noreturn]] HJX_API void failParam(const std::string &owner, const std::string &field, const char *expected);

template <typename T>
concept HasParams = requires(T &object) { object.hjxVisitParams([](const char *, auto &) {}); };

/// How many names are listed in `a, b, c`.
consteval size_t countNames(const char *list) {
  size_t count = 1;
  for (; *list; ++list)
    count += *list == ',';
  return count;
}

/// Becomes a value of any field.
struct AnyParam {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Fields>
constexpr size_t countFields() {
  if constexpr (requires { T{Fields()..., AnyParam()}; })
    return countFields<T, Fields..., AnyParam>();
  else
    return sizeof...(Fields);
}
/// HJX_PARAMS lists all fields, as far as they can be counted: one that it left out would be its default wherever the class
/// is made again from its parameters.
template <typename T>
constexpr bool listsAllFields() {
  if constexpr (!HasParams<T>)
    return std::is_empty_v<T>;
  else if constexpr (std::is_aggregate_v<T> && requires { T::hjxNumParams; })
    return countFields<T>() == T::hjxNumParams;
  else
    return true;
}

template <HasParams T>
void visitParams(const T &object, auto &&visit) {
  const_cast<T &>(object).hjxVisitParams(visit); // Visitors of const objects change nothing.
}

template <typename P>
Params paramsOf(const P &primitive) {
  Params params;
  if constexpr (HasParams<P>)
    visitParams(primitive, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Field, bool> || std::is_floating_point_v<Field> || std::is_convertible_v<Field, Param>)
        params.emplace_back(field, Param(value));
      else if constexpr (std::is_same_v<Field, std::vector<int64_t>>)
        params.emplace_back(field, Shape(value));
      else
        params.emplace_back(field, static_cast<int64_t>(value));
    });
  return params;
}

template <typename P>
P primitiveWith(const Params &params) {
  P primitive{};
  if constexpr (HasParams<P>)
    visitParams(primitive, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      const Param *param = nullptr;
      for (const auto &[name, candidate] : params)
        if (name == field)
          param = &candidate;
      auto read = [&]<typename Stored>(const char *expected, Stored) {
        if (!param || !std::holds_alternative<Stored>(*param))
          failParam(P::name, field, expected);
        if constexpr (std::is_same_v<Field, std::vector<int64_t>>)
          value = std::get<Shape>(*param).vec();
        else
          value = static_cast<Field>(std::get<Stored>(*param));
      };
      if constexpr (std::is_same_v<Field, bool>)
        read("a bool", bool());
      else if constexpr (std::is_floating_point_v<Field>)
        read("a float64", double());
      else if constexpr (std::is_same_v<Field, std::string>)
        read("a string", std::string());
      else if constexpr (std::is_same_v<Field, Type>)
        read("a type", Type());
      else if constexpr (std::is_same_v<Field, Shape> || std::is_same_v<Field, std::vector<int64_t>>)
        read("a list of sizes", Shape());
      else
        read("an integer", int64_t());
    });
  return primitive;
}

/// The parameters of a type: an integer is a shape of one, a vector of types what remains.
template <TypeClass T>
Type typeOfClass(const T &object) {
  std::vector<TypeParam> params;
  if constexpr (HasParams<T>)
    visitParams(object, [&](const char *, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Field, std::vector<Type>>)
        params.insert(params.end(), value.begin(), value.end());
      else if constexpr (std::is_integral_v<Field> || std::is_enum_v<Field>)
        params.push_back(Shape{static_cast<int64_t>(value)});
      else
        params.push_back(value);
    });
  return Type(T::name, std::move(params));
}

[[noreturn]] HJX_API void failType(const char *expected, const Type &got, Where where);

template <TypeClass T>
T classOfType(const Type &type, Where where) {
  if (!type.is<T>())
    failType(T::name, type, where);
  T object{};
  size_t next = 0;
  const std::vector<TypeParam> &params = type.params();
  if constexpr (HasParams<T>)
    visitParams(object, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      auto read = [&](const char *expected, auto question) -> const auto & {
        const auto *param = next < params.size() ? (params[next].*question)() : nullptr;
        if (!param)
          failParam(T::name, field, expected);
        ++next;
        return *param;
      };
      if constexpr (std::is_same_v<Field, std::vector<Type>>) {
        while (next < params.size())
          value.push_back(read("a type", &TypeParam::type));
      } else if constexpr (std::is_same_v<Field, std::string>) {
        value = read("a string", &TypeParam::text);
      } else if constexpr (std::is_same_v<Field, Type>) {
        value = read("a type", &TypeParam::type);
      } else if constexpr (std::is_same_v<Field, Shape>) {
        value = read("a shape", &TypeParam::shape);
      } else {
        const Shape &number = read("an integer", &TypeParam::shape);
        if (number.ndim() != 1)
          failParam(T::name, field, "an integer");
        value = static_cast<Field>(number[0]);
      }
    });
  checkCount(T::name, "parameters", next, params.size(), where);
  return object;
}

} // namespace hjx::detail
