// SPDX-License-Identifier: Apache-2.0
//
// Values of hi-types: made of components and taken apart, zeros and sums.
#include "lib/Frontend/RuleScope.h"
#include "lib/Frontend/Run.h"

#include <hjx/hi_type.h>

using namespace mlir;

namespace hjx::detail {

static void checkComponents(const Call &call, const hjx::Type &type, const ArrayList &components) {
  Layout layout = layoutOf(type, call);
  checkCount(call.name(), ("components of " + to_string(type)).c_str(), layout.parts.size(), components.size(), call.where());
  for (auto [i, part] : llvm::enumerate(layout.parts)) {
    Aval got = avalOf(components[i], call.name(), call.where());
    if (!got.sameType(part.aval))
      call.fail("expected " + describe(part.aval) + " as component " + std::to_string(i) + " of " + to_string(type) + ", got " +
                    describe(got),
                "the class of the type says its components in lo_types");
  }
}

Array raiseFlat(const hjx::Type &type, const ArrayList &components, Where where) {
  checkOneClass("hi-type", type.name(), where);
  checkComponents(Call("raise", where), type, components);
  auto isConcrete = [](const Array &component) { return Access::get(component)->isConcrete(); };
  if (llvm::all_of(components, isConcrete))
    return makeConcrete(type, components, where);
  OpScope op("raise", where);
  Value value = ir::RaiseOp::create(op.builder(), typeOf(op, type), valuesOf(op, components));
  return op.wrap({value});
}

ArrayList lowerFlat(const Array &value, Where where) {
  Call call("lower", where);
  ArrayImpl &impl = Access::alive(value, call.name(), where);
  if (!impl.hi || impl.isRef)
    call.fail("expected a value of a hi-type, got " + describe(value), "arrays have no components");
  if (impl.parts)
    return *impl.parts;
  if (!impl.value)
    call.fail("expected a value with components, got the abstract " + describe(value), "pass a value that is made of numbers");
  OpScope op("lower", where);
  std::vector<Aval> avals;
  for (const Layout &part : layoutOf(avalOf(value, call.name(), where), call).parts)
    avals.push_back(part.aval);
  auto lower = ir::LowerOp::create(op.builder(), typesOf(op, avals), op.frame().use(value, op));
  return wrapAll(op, lower.getResults(), avals);
}

Array constantFlat(const Array &value, Where where) {
  ArrayImpl &impl = Access::alive(value, "constant", where);
  if (impl.isArray())
    return constant({value, where});
  if (!impl.parts || impl.isRef)
    fail(where, "constant", "expected a concrete value, got " + describe(value), "freeze values before the traced function is called");
  ArrayList parts;
  for (const Array &part : *impl.parts)
    parts.push_back(constantFlat(part, where));
  Array frozen = makeConcrete(avalOf(value, "constant", where), std::move(parts), where);
  Access::get(frozen)->isFrozen = true;
  return frozen;
}

Array abstractFlat(const hjx::Type &type, Where where) {
  (void)layoutOf(type, Call("abstract_value", where)); // Throws for parameters that make no type.
  return makeAbstract(type, where);
}

Array zeroFlat(const hjx::Type &type, Where where) {
  OpScope op("zero_of", where);
  return op.finish(zeroOf(op, type));
}

Array sumFlat(const Array &x, const Array &y, Where where) {
  OpScope op("sum_of", where);
  Aval left = avalOf(x, op.name(), op.where()), right = avalOf(y, op.name(), op.where());
  if (!left.sameType(right))
    op.fail("expected two values of one type, got " + describe(left) + " and " + describe(right), "convert one of them");
  Value sum = ir::makeSum(op.builder(), op.frame().use(x, op), op.frame().use(y, op));
  op.checkDiagnostics();
  return op.finish(op.wrap({sum}));
}

Array zeroTangent(const hjx::Type &type) {
  std::optional<hjx::Type> tangent = tangentTypeOf(type);
  return tangent ? zeroFlat(*tangent, Where()) : Array();
}

void checkCount(const char *op, const char *what, size_t expected, size_t got, Where where) {
  if (expected == got)
    return;
  std::string subject = op ? std::string(op) + ": " : "", things = what;
  if (expected == 1 && things.back() == 's')
    things.pop_back();
  throw Error(subject + "expected " + std::to_string(expected) + " " + things + ", got " + std::to_string(got), "compare with the class",
              where);
}

void failParam(const std::string &owner, const std::string &field, const char *expected) {
  throw Error(owner + ": expected " + expected + " as the parameter " + field, "give the parameters that HJX_PARAMS lists", Where());
}

void failType(const char *expected, const hjx::Type &got, Where where) {
  throw Error(std::string("expected the hi-type ") + expected + ", got " + to_string(got), "look at the type's name first", where);
}

} // namespace hjx::detail
