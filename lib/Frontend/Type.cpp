// SPDX-License-Identifier: Apache-2.0
//
// Types as values, and their text.
#include "lib/Frontend/ArrayImpl.h"

#include <ostream>

using namespace hjx;
using namespace hjx::detail;

Type::Type(std::string name, std::vector<TypeParam> params)
    : data(std::make_shared<HiTypeData>(HiTypeData{std::move(name), std::move(params)})) {}

[[noreturn]] static void failNotArray(const Type &type, const char *question, Where where) {
  fail(where, question, "expected an array type, got the hi-type " + to_string(type), "ask the components, or the class of the type: type.as<T>()");
}

DType Type::dtype(Where where) const {
  if (data)
    failNotArray(*this, "dtype", where);
  return elementType;
}

const Shape &Type::shape(Where where) const {
  if (data)
    failNotArray(*this, "shape", where);
  return sizes;
}

const std::string &Type::name() const {
  static const std::string none;
  return data ? data->name : none;
}

const std::vector<TypeParam> &Type::params() const {
  static const std::vector<TypeParam> none;
  return data ? data->params : none;
}

bool Type::operator==(const Type &other) const {
  if (!data || !other.data)
    return data == other.data && elementType == other.elementType && sizes == other.sizes;
  return data == other.data || (data->name == other.data->name && data->params == other.data->params);
}

static std::string print(const TypeParam &param) {
  if (auto *type = std::get_if<Type>(&param))
    return to_string(*type);
  if (auto *text = std::get_if<std::string>(&param))
    return "\"" + *text + "\"";
  return to_string(std::get<Shape>(param));
}

/// A hi-type of one shape prints as an array does, others as a list: tup{f32[3],f32}.
std::string hjx::to_string(const Type &type) {
  if (type.is_array()) {
    std::string text = short_name(type.dtype());
    return type.shape().ndim() == 0 ? text : text + to_string(type.shape());
  }
  const std::vector<TypeParam> &params = type.params();
  if (params.size() == 1 && std::holds_alternative<Shape>(params[0]))
    return type.name() + print(params[0]);
  std::string text;
  for (const TypeParam &param : params)
    text += (text.empty() ? "" : ",") + print(param);
  return type.name() + "{" + text + "}";
}

std::ostream &hjx::operator<<(std::ostream &os, const Type &type) { return os << to_string(type); }
