// SPDX-License-Identifier: Apache-2.0
//
// Types as values, and their text.
#include "lib/Frontend/ArrayImpl.h"

#include <hjx/axis_spec.h>

#include <ostream>

using namespace hjx;
using namespace hjx::detail;

Type::Type(std::string name, std::vector<TypeParam> params)
    : data(std::make_shared<HiTypeData>(HiTypeData{std::move(name), std::move(params)})) {}

TypeParam::TypeParam(const Type &type) : kind(Kind::Type), inner(std::make_shared<Type>(type)) {}

bool TypeParam::operator==(const TypeParam &other) const {
  if (kind != other.kind)
    return false;
  return kind == Kind::Type ? *inner == *other.inner : sizes == other.sizes && string == other.string;
}

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
  if (const Type *type = param.type())
    return to_string(*type);
  if (const std::string *text = param.text())
    return "\"" + *text + "\"";
  return to_string(*param.shape());
}

/// A hi-type of one shape prints as an array does, others as a list: tup{f32[3],f32}.
std::string hjx::to_string(const Type &type) {
  if (type.is_array()) {
    std::string text = short_name(type.dtype());
    return type.shape().ndim() == 0 ? text : text + to_string(type.shape());
  }
  const std::vector<TypeParam> &params = type.params();
  if (params.size() == 1 && params[0].shape())
    return type.name() + print(params[0]);
  std::string text;
  for (const TypeParam &param : params)
    text += (text.empty() ? "" : ",") + print(param);
  return type.name() + "{" + text + "}";
}

std::ostream &hjx::operator<<(std::ostream &os, const Type &type) { return os << to_string(type); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

hjx::Type detail::typeOfLeaf(const Array &leaf, Where where) {
  Aval aval = avalOf(leaf, "type", where);
  if (aval.isRef)
    fail(where, "type", "expected a value, got the ref " + describe(leaf), "read what it holds: ref.get()");
  return aval.type();
}

void detail::checkLeaf(const Array &leaf, const char *hiType, Where where) {
  if (!leaf.has_value())
    return;
  const ArrayImpl &impl = Access::leaf(leaf, "as", where);
  if (!hiType) {
    if (impl.hi && !impl.isRef)
      fail(where, "as", "expected an array, got the non-array type " + describe(leaf),
           "name its class: value.as<T>(), or get<T>(tuple, i) of a tuple");
    Access::checked(leaf, "as", where);
    return;
  }
  if (!impl.hi || impl.isRef || impl.hi->name != hiType)
    fail(where, "as", "expected a value of the hi-type " + std::string(hiType) + ", got " + describe(leaf),
         "look at value.type() first");
}

std::string hjx::to_string(const AnyValue &value) { return to_string(value.hjxHandle()); }
std::ostream &hjx::operator<<(std::ostream &os, const AnyValue &value) { return os << to_string(value); }

//===----------------------------------------------------------------------===//
// Mapping specs
//===----------------------------------------------------------------------===//

[[noreturn]] static void failSpec(const char *expected, const AxisSpec &spec, Where where) {
  fail(where, "AxisSpec", "expected " + std::string(expected) + ", got " + to_string(spec), "see which specs the type understands");
}

int AxisSpec::axis(Where where) const {
  if (!is_axis())
    failSpec("an axis", *this, where);
  return static_cast<int>(number);
}

const std::string &AxisSpec::text(Where where) const {
  if (!is_text())
    failSpec("a string", *this, where);
  return string;
}

const std::vector<AxisSpec> &AxisSpec::list(Where where) const {
  if (!is_list())
    failSpec("a list of specs", *this, where);
  return entries;
}

bool AxisSpec::operator==(const AxisSpec &other) const {
  return kind == other.kind && number == other.number && string == other.string && entries == other.entries;
}

std::string hjx::to_string(const AxisSpec &spec) {
  if (spec.is_none())
    return "none";
  if (spec.is_infer())
    return "infer";
  if (spec.is_axis())
    return std::to_string(spec.axis());
  if (spec.is_text())
    return "\"" + spec.text() + "\"";
  std::string text;
  for (const AxisSpec &entry : spec.list())
    text += (text.empty() ? "" : ", ") + to_string(entry);
  return "(" + text + ")";
}
