// SPDX-License-Identifier: Apache-2.0
//
// The steps that hold blocks.
#include "test/fuzz/GeneratorScope.h"

#include <algorithm>

using namespace hjx;

namespace fuzz {

static const auto isAny = [](const Type &) { return true; };
static bool isFloatRef(const Type &type) { return heldBy(type).isFloat(); }
/// Of floats, with a shape that stacks: results of loops and maps.
static bool isStackable(const Type &type) { return canLead(type) && (type.kind != Type::Array || type.shape.ndim() < 3); }

/// A ref that is passed is not to be captured as well.
static void pass(Scope &inner, Id ref) { std::erase_if(inner.names, [&](const Name &name) { return name.id == ref; }); }

void hideRank1(Scope &inner) {
  inner.allowsRank1 = false;
  std::erase_if(inner.names, [](const Name &name) { return name.type.kind == Type::Rank1; });
}

void limit(Scope &inner, Access most) {
  for (Name &name : inner.names)
    name.access = std::min(name.access, most);
}

bool Generator::close(Scope &scope, Step step, bool isDerivative) {
  std::vector<Def> defs = step.defs;
  emitStep(scope, std::move(step));
  for (const Def &def : defs)
    isDerivative ? showBounded(scope, def) : show(scope, def);
  return true;
}

//===----------------------------------------------------------------------===//
// Calls, loops, branches
//===----------------------------------------------------------------------===//

bool Generator::drawCall(Scope &scope) {
  Step step{chance(0.6) ? "jit" : "checkpoint", {}, {}, {static_cast<int64_t>(below(2))}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  for (size_t i = below(3); i > 0; --i)
    if (auto value = findValue(scope, isAny)) {
      step.args.push_back(value->id);
      addParam(inner, value->type);
    }
  if (chance(0.5))
    if (auto ref = findRef(scope, Access::Read)) {
      step.args.push_back(ref->id);
      pass(inner, ref->id);
      addParam(inner, ref->type, ref->access);
    }
  fillSome(inner);
  for (size_t i = 1 + below(2); i > 0; --i) {
    Name result = someResult(inner, isAny);
    step.blocks[0].results.push_back(result.id);
    step.defs.push_back(define(result.type));
  }
  return close(scope, std::move(step));
}

bool Generator::drawScan(Scope &scope) {
  const int64_t length = someLength();
  const bool isForeach = chance(0.3);
  Step step{isForeach ? "foreach" : "scan", {}, {}, {}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  hideRank1(inner);
  std::vector<Type> carries;
  for (size_t i = isForeach ? 0 : below(3); i > 0; --i) {
    Type type = chance(0.6) ? arrayType(mainFloat, someShape()) : someType(scope, false);
    if (auto value = findValue(scope, isAny); value && chance(0.5))
      type = value->type;
    if (type.kind == Type::Rank1)
      continue;
    step.args.push_back(need(scope, type));
    carries.push_back(type);
    addParam(inner, type);
  }
  for (size_t i = isForeach + below(2); i > 0; --i) {
    auto leads = [&](const Type &type) { // The length of a foreach is that of an array.
      return leadingSize(type) == length && !(isForeach && type.kind != Type::Array);
    };
    auto found = findValue(scope, leads);
    Type type = found && chance(0.7) ? found->type : arrayType(chance(0.3) ? int32 : mainFloat, {length});
    step.args.push_back(found && type == found->type ? found->id : need(scope, type));
    addParam(inner, withoutLeading(type));
  }
  if (chance(0.5))
    if (auto ref = findRef(scope, Access::Read, [&](const Type &type) { return type.kind == Type::Array && leadingSize(type) == length; })) {
      step.args.push_back(ref->id);
      pass(inner, ref->id);
      addParam(inner, withoutLeading(ref->type), ref->access);
    }
  step.attrs = {length, isForeach ? 0 : static_cast<int64_t>(below(2)), static_cast<int64_t>(carries.size())};
  fillSome(inner);
  for (const Type &type : carries) {
    step.blocks[0].results.push_back(need(inner, type));
    step.defs.push_back(define(type));
  }
  for (size_t i = below(3); i > 0; --i) {
    Name y = someResult(inner, isStackable);
    step.blocks[0].results.push_back(y.id);
    step.defs.push_back(define(withLeading(y.type, length)));
  }
  return close(scope, std::move(step));
}

bool Generator::drawLoop(Scope &scope) {
  // A loop with bounds of the run time alone is not differentiable backwards.
  std::string op = chance(0.5) ? "fori" : scope.derivatives == 0 && chance(0.5) ? "fori_dynamic" : "while";
  Step step{op, {}, {}, {op == "fori" ? someLength() : 3}, {}, {}};
  step.blocks.resize(1);
  if (op != "fori")
    step.args.push_back(need(scope, arrayType(int32)));
  Scope inner = inside(scope, step.blocks[0]);
  hideRank1(inner);
  addParam(inner, arrayType(int32));
  // The condition may read a ref, which the body then reads too (and may write).
  std::optional<Name> watched;
  if (op == "while" && chance(0.5))
    watched = findRef(scope, Access::Read, isFloatRef);
  if (watched)
    emit(inner, "get", {watched->id}, heldBy(watched->type));
  std::vector<Type> carries;
  for (size_t i = below(3); i > 0; --i) {
    auto value = findValue(scope, isAny);
    Type type = value && chance(0.5) && value->type.kind != Type::Rank1 ? value->type : arrayType(mainFloat, someShape());
    carries.push_back(type);
    step.args.push_back(need(scope, type));
    addParam(inner, type);
  }
  fillSome(inner);
  for (const Type &type : carries) {
    step.blocks[0].results.push_back(need(inner, type));
    step.defs.push_back(define(type));
  }
  if (watched) {
    step.attrs.push_back(static_cast<int64_t>(step.args.size()));
    step.args.push_back(watched->id);
  }
  return close(scope, std::move(step));
}

bool Generator::drawBranch(Scope &scope) {
  const bool isCond = chance(0.7);
  Step step{isCond ? "cond" : "switch", {need(scope, arrayType(isCond ? bool_ : int32))}, {}, {}, {}, {}};
  step.blocks.resize(isCond ? 2 : 3);
  std::vector<Name> operands;
  if (chance(0.5))
    if (auto value = findValue(scope, isAny))
      operands.push_back(*value);
  if (chance(0.4))
    if (auto ref = findRef(scope, Access::Read))
      operands.push_back(*ref);
  for (const Name &operand : operands)
    step.args.push_back(operand.id);
  std::vector<Type> results;
  for (size_t i = 1 + below(2); i > 0; --i) {
    auto value = findValue(scope, isAny);
    results.push_back(value && chance(0.7) ? value->type : arrayType(mainFloat, someShape()));
    step.defs.push_back(define(results.back()));
  }
  for (Block &block : step.blocks) {
    Scope inner = inside(scope, block);
    for (const Name &operand : operands) {
      if (operand.type.isRef)
        pass(inner, operand.id);
      addParam(inner, operand.type, operand.access);
    }
    fill(inner, below(3));
    for (const Type &type : results)
      block.results.push_back(need(inner, type));
  }
  return close(scope, std::move(step));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static Type without(const Type &type, int axis) {
  if (type.kind != Type::Array)
    return withoutLeading(type);
  Type result = type;
  std::vector<int64_t> sizes = type.shape.vec();
  sizes.erase(sizes.begin() + axis);
  result.shape = sizes;
  return result;
}
static Type with(const Type &type, int axis, int64_t size) {
  if (type.kind != Type::Array)
    return withLeading(type, size);
  Type result = type;
  std::vector<int64_t> sizes = type.shape.vec();
  sizes.insert(sizes.begin() + axis, size);
  result.shape = sizes;
  return result;
}
/// The axes that can be mapped.
static std::vector<int> axesOf(const Type &type, int64_t size) {
  std::vector<int> axes;
  if (type.kind != Type::Array)
    return leadingSize(type) == size ? std::vector<int>{0} : axes;
  for (int axis = 0; axis < type.shape.ndim(); ++axis)
    if (type.shape[axis] == size)
      axes.push_back(axis);
  return axes;
}

bool Generator::drawVmap(Scope &scope) {
  const int64_t size = someLength();
  auto fits = [&](const Type &type) { return !axesOf(type, size).empty(); };
  Step step{"vmap", {}, {}, {size}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  hideRank1(inner);
  limit(inner, Access::Read);
  auto add = [&](const Name &name) {
    int axis = oneOf(axesOf(name.type, size));
    step.args.push_back(name.id);
    step.attrs.push_back(axis);
    addParam(inner, without(name.type, axis), name.access);
  };
  for (size_t i = 1 + below(2); i > 0; --i) {
    auto value = findValue(scope, fits);
    if (!value) {
      Type type = arrayType(mainFloat, {size});
      value = Name{need(scope, type), type};
    }
    add(*value);
  }
  if (chance(0.5))
    if (auto ref = findRef(scope, Access::Read, [&](const Type &type) { return type.kind == Type::Array && fits(heldBy(type)); })) {
      pass(inner, ref->id);
      add(*ref);
    }
  fillSome(inner);
  for (size_t i = 1 + below(2); i > 0; --i) {
    Name result = someResult(inner, isStackable);
    int axis = result.type.kind == Type::Array ? static_cast<int>(below(result.type.shape.ndim() + 1)) : 0;
    step.blocks[0].results.push_back(result.id);
    step.attrs.push_back(axis);
    step.defs.push_back(define(with(result.type, axis, size)));
  }
  return close(scope, std::move(step));
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

std::optional<Name> Generator::differentiable(Scope &scope) {
  return findValue(scope, [&](const Type &type) {
    return hasTangent(type) && !(type.kind == Type::Rank1 && scope.derivatives > 0);
  });
}

/// A derivative begins: refs from outside pass by.
void Generator::enterDerivative(Scope &inner) {
  if (++inner.derivatives > 1)
    hideRank1(inner); // What its rules keep has no derivative.
  inner.stash.reset();
  // What is stopped is no true derivative.
  limit(inner, options.isSmooth ? Access::Read : Access::WriteStopped);
}

bool Generator::drawGrad(Scope &scope) {
  Step step{"grad", {}, {}, {}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  enterDerivative(inner);
  std::vector<Id> all;
  for (size_t i = 1 + below(2); i > 0; --i)
    if (auto x = differentiable(scope)) {
      step.args.push_back(x->id);
      step.defs.push_back(define(tangentOf(x->type)));
      all.push_back(addParam(inner, x->type));
    }
  if (step.args.empty())
    return false;
  int64_t numDifferentiated = step.args.size(), hasValue = below(2);
  // Rules take cotangents of an argument to a ref: at its place surely, and maybe deeper inside.
  if (const Def &param = step.blocks[0].params[0]; param.type.isFloat() && allowsReverseOnly(inner) && !options.isSmooth && chance(0.4)) {
    auto ref = findRef(scope, Access::WriteStopped, [&](const Type &type) { return type == refOf(param.type); });
    Id id = ref ? ref->id : emit(scope, "new_ref", {need(scope, param.type)}, refOf(param.type));
    if (!ref)
      inner.names.push_back({id, refOf(param.type), Access::WriteStopped});
    inner.stash = std::pair(param.id, id);
    drawStash(inner);
  }
  if (chance(0.3))
    if (auto rest = findValue(scope, [](const Type &type) { return type.isInt() || type.isFloat(); })) {
      step.args.push_back(rest->id);
      addParam(inner, rest->type);
    }
  fillSome(inner);
  std::vector<Id> arrays;
  for (const Name &name : inner.names)
    if (name.type.kind == Type::Array && !name.type.isRef && name.id >= all[0])
      arrays.push_back(name.id);
  step.blocks[0].results.push_back(collect(inner, arrays));
  if (hasValue) {
    step.defs.push_back(define(arrayType(mainFloat)));
    if (chance(0.5)) {
      Name aux = someResult(inner, isAny);
      step.blocks[0].results.push_back(aux.id);
      step.defs.push_back(define(aux.type));
    }
  }
  step.attrs = {numDifferentiated, hasValue};
  return close(scope, std::move(step), /*isDerivative=*/true);
}

bool Generator::drawJvp(Scope &scope) {
  const bool isLinearize = chance(0.4);
  Step step{isLinearize ? "linearize" : "jvp", {}, {}, {}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  enterDerivative(inner);
  inner.isForward = true;
  hideRank1(inner);
  inner.isPushed |= isLinearize;
  std::vector<Type> types;
  for (size_t i = 1 + below(2); i > 0; --i)
    if (auto x = differentiable(scope); x && x->type.kind != Type::Rank1) {
      step.args.push_back(x->id);
      types.push_back(x->type);
      addParam(inner, x->type);
    }
  if (step.args.empty())
    return false;
  std::optional<Name> ref; // One that is differentiated, as nothing else uses it.
  Id refDot = -1;
  if (!isLinearize && chance(0.3))
    ref = findRef(scope, Access::Write, isFloatRef);
  if (ref) {
    auto dot = findRef(scope, Access::Write, [&](const Type &type) { return type == ref->type; });
    refDot = dot && dot->id != ref->id ? dot->id : emit(scope, "new_ref", {need(scope, heldBy(ref->type))}, ref->type);
    pass(inner, ref->id);
    pass(inner, refDot);
    step.args.push_back(ref->id);
    addParam(inner, ref->type);
  }
  for (const Type &type : types)
    step.args.push_back(need(scope, tangentOf(type)));
  if (ref)
    step.args.push_back(refDot);
  fillSome(inner);
  std::vector<Def> dots;
  for (size_t i = 1 + below(2); i > 0; --i) {
    Name result = someResult(inner, [&](const Type &type) {
      return hasTangent(type) && type.kind != Type::Rank1;
    });
    step.blocks[0].results.push_back(result.id);
    step.defs.push_back(define(result.type));
    dots.push_back(define(tangentOf(result.type)));
  }
  step.defs.insert(step.defs.end(), dots.begin(), dots.end());
  return close(scope, std::move(step), /*isDerivative=*/true);
}

bool Generator::drawVjp(Scope &scope) {
  Step step{"vjp", {}, {}, {0}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  enterDerivative(inner);
  std::vector<Id> sinks;
  std::vector<Def> gradients;
  for (size_t i = 1 + below(3); i > 0; --i) {
    auto x = chance(0.25) ? findRef(scope, Access::Write, isFloatRef) : differentiable(scope);
    if (!x || std::find(sinks.begin(), sinks.end(), x->id) != sinks.end() ||
        (x->type.isRef && std::find(step.args.begin(), step.args.end(), x->id) != step.args.end()))
      continue;
    Type bar = tangentOf(heldBy(x->type));
    size_t kind = x->type.isRef ? 1 + below(2) : below(3);
    if (x->type.isRef)
      pass(inner, x->id);
    if (kind == 1) { // Each sink is a ref of its own, which the function does not use.
      auto sink = find(scope, [&](const Name &name) {
        return name.access == Access::Write && name.type == refOf(bar) && name.id != x->id &&
               std::find(step.args.begin(), step.args.end(), name.id) == step.args.end();
      });
      Id id = sink ? sink->id : emit(scope, "new_ref", {need(scope, bar)}, refOf(bar));
      if (std::find(sinks.begin(), sinks.end(), id) != sinks.end()) {
        kind = x->type.isRef ? 2 : 0;
      } else {
        sinks.push_back(id);
        pass(inner, id);
      }
    }
    if (kind == 0)
      gradients.push_back(define(bar));
    step.args.push_back(x->id);
    step.attrs.push_back(static_cast<int64_t>(kind));
    addParam(inner, x->type);
  }
  if (step.args.empty())
    return false;
  fillSome(inner);
  std::vector<Type> bars;
  for (size_t i = 1 + below(2); i > 0; --i) {
    Name result = someResult(inner, [&](const Type &type) {
      return hasTangent(type) && type.kind != Type::Rank1;
    });
    step.blocks[0].results.push_back(result.id);
    step.defs.push_back(define(result.type));
    bars.push_back(tangentOf(result.type));
  }
  for (const Type &bar : bars)
    step.args.push_back(need(scope, bar));
  step.args.insert(step.args.end(), sinks.begin(), sinks.end());
  step.attrs[0] = sinks.size();
  step.defs.insert(step.defs.end(), gradients.begin(), gradients.end());
  return close(scope, std::move(step), /*isDerivative=*/true);
}

bool Generator::drawRule(Scope &scope) {
  auto x = findValue(scope, [](const Type &type) { return type.isFloat(); });
  if (!x)
    return false;
  // A pull-back cannot be pushed.
  Step step{scope.isForward || chance(0.5) ? "custom_jvp" : "custom_vjp", {x->id}, {define(x->type)}, {}, {}, {}};
  std::vector<Type> types{x->type};
  if (chance(0.4))
    if (auto y = findValue(scope, [&](const Type &type) { return type.isFloat() && type.dtype == x->type.dtype; })) {
      step.args.push_back(y->id);
      types.push_back(y->type);
    }
  step.blocks.resize(2);
  for (Block &block : step.blocks) {
    Scope inner = inside(scope, block);
    inner.names.clear(); // A rule finds nothing around it.
    for (const Type &type : types)
      addParam(inner, type);
    fillSome(inner);
    block.results.push_back(need(inner, x->type));
  }
  return close(scope, std::move(step));
}

bool Generator::drawStash(Scope &scope) {
  if (!scope.stash)
    return false;
  auto isVisible = [&](Id id, Access least) { return find(scope, [&](const Name &name) { return name.id == id && name.access >= least; }).has_value(); };
  auto [x, ref] = *scope.stash;
  if (!isVisible(x, Access::Read) || !isVisible(ref, Access::WriteStopped))
    return false;
  Type type = find(scope, [&, x = x](const Name &name) { return name.id == x; })->type;
  emit(scope, "stash", {x, ref}, type);
  return true;
}

} // namespace fuzz
