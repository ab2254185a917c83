// SPDX-License-Identifier: Apache-2.0
//
// The steps that hold blocks: calls, loops, branches, maps, derivatives and rules.
#include "test/fuzz/Callee.h"
#include "test/fuzz/Operations.h"

#include <hjx/hi_type.h>

#include <algorithm>
#include <set>

using namespace hjx;

namespace fuzz {

Values choose(const Array &predicate, const Values &yes, const Values &no) {
  Values result;
  for (size_t i = 0; i < yes.size(); ++i)
    result.push_back(where(predicate, yes[i].as<Array>(), no[i].as<Array>()));
  return result;
}

static Values sliced(const Values &all, int64_t k, const std::vector<int> &axes = {}) {
  Values result;
  for (size_t i = 0; i < all.size(); ++i)
    result.push_back(moveaxis(all[i].as<Array>(), axes.empty() ? 0 : axes[i], 0)[k]);
  return result;
}

/// Stacks lists of values, one by one; `none` is what there is of no rows.
static Values stacked(const std::vector<Values> &rows, const Values &none, const std::vector<int> &axes = {}) {
  if (rows.empty())
    return none;
  Values result;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    std::vector<Array> column;
    for (const Values &row : rows)
      column.push_back(row[i].as<Array>());
    result.push_back(moveaxis(stack(column), 0, axes.empty() ? 0 : axes[i]));
  }
  return result;
}

static Values zerosOfAll(const std::vector<Def> &defs) {
  Values all;
  for (const Def &def : defs)
    append(all, zerosOf(def.type));
  return all;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Evaluator::evaluateCall(const Step &step, Env &env) const {
  Callee callee = calleeOf(step.blocks[0], step.args);
  Values args = flat(env, step.args), results;
  append(args, flat(env, callee.external));
  if (form == Form::Unrolled) {
    results = call(callee, env, args);
  } else if (step.op == "checkpoint") {
    results = checkpoint([&](const Values &args) { return call(callee, env, args); },
                         step.attrs[0] ? Policy::dots_saveable : Policy::nothing_saveable)(args);
  } else {
    // Outside of other transforms, what jit finds around it must be marked as constants.
    Env captured = env;
    forEachUse(step.blocks[0], [&](Id id) {
      if (auto it = captured.find(id); it != captured.end() && (isLowered() || !types.at(id).isRef))
        for (AnyValue &value : it->second)
          if (value.has_value() && !value.is_traced())
            value = constant(value);
    });
    results = jit([&](const Values &args) { return call(callee, captured, args); })(args);
  }
  bind(env, step.defs, results);
  finish(callee, env, results, widthOf(step.defs));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// attrs: length, reverse, number of carries. args: carries, xs.
void Evaluator::evaluateScan(const Step &step, Env &env) const {
  const int64_t length = step.attrs[0];
  const size_t numCarries = step.attrs[2];
  const bool reverse = step.attrs[1];
  Callee callee = calleeOf(step.blocks[0], step.args);
  Values carry = flat(env, {step.args.begin(), step.args.begin() + numCarries});
  const Values xs = flat(env, {step.args.begin() + numCarries, step.args.end()});
  const size_t own = carry.size();
  append(carry, flat(env, callee.external)); // When lowered, refs from outside are carries.
  std::vector<Def> ends(step.defs.begin(), step.defs.begin() + numCarries), ys(step.defs.begin() + numCarries, step.defs.end());
  const size_t numYs = widthOf(ys), numRefs = widthOf(defsOf(callee.refParams));

  // (carry + external, x) -> (carry + external, ys + slices of refs)
  auto body = [&](const Values &carry, const Values &x) {
    Values args = part(carry, 0, own);
    append(args, x);
    append(args, part(carry, own));
    Values results = call(callee, env, args);
    Values next = part(results, 0, own), rows = part(results, own, numYs + numRefs);
    append(next, part(results, own + numYs + numRefs));
    return std::pair(next, rows);
  };
  Values rows;
  if (form == Form::Unrolled) {
    std::vector<Values> list(length);
    for (int64_t i = 0; i < length; ++i) {
      int64_t k = reverse ? length - 1 - i : i;
      std::tie(carry, list[k]) = body(carry, sliced(xs, k));
    }
    Values none = zerosOfAll(ys);
    append(none, zerosOfAll(defsOf(callee.refArgs)));
    rows = stacked(list, none);
  } else if (step.op == "foreach" && carry.empty()) {
    rows = foreach([&](const Values &x) { return body({}, x).second; }, xs);
  } else {
    std::tie(carry, rows) = scan(body, carry, xs, {.reverse = reverse, .length = length});
  }
  bind(env, ends, carry);
  bind(env, ys, rows);
  bind(env, defsOf(callee.refArgs), rows, numYs);
  bind(env, defsOf(callee.external), carry, own);
}

// fori: attrs: length. args: carries. fori_dynamic, while: args: length, carries, and, if attrs say where, a ref that
// the condition reads; attrs: bound of the length.
void Evaluator::evaluateLoop(const Step &step, Env &env) const {
  const bool isStatic = step.op == "fori";
  Callee callee = calleeOf(step.blocks[0], {});
  const size_t watched = step.attrs.size() > 1 ? step.attrs[1] : step.args.size(); // which is the last
  Values carry = flat(env, {step.args.begin() + !isStatic, step.args.begin() + watched});
  const size_t own = carry.size();
  append(carry, flat(env, callee.external));
  const Array length = isStatic ? Array() : env.at(step.args[0])[0].as<Array>();
  auto body = [&](const Array &i, const Values &carry) {
    Values args{i};
    append(args, carry);
    return call(callee, env, args);
  };
  auto goesOn = [&](const Array &i, const Values &carry) {
    if (watched == step.args.size())
      return i < length;
    Array held;
    if (isLowered()) {
      auto at = std::find(callee.external.begin(), callee.external.end(), step.args[watched]);
      held = carry[own + widthOf(defsOf({callee.external.begin(), at}))].as<Array>();
    } else {
      held = refOfHandle(env.at(step.args[watched])[0]).get();
    }
    return logical_and(i < length, sum(sin(held)) > -0.75);
  };
  if (form == Form::Unrolled) {
    for (int64_t i = 0; i < step.attrs[0]; ++i) {
      const Array number = array(static_cast<int32_t>(i));
      Values next = body(number, carry);
      carry = isStatic ? next : choose(goesOn(number, carry), next, carry);
    }
  } else if (isStatic) {
    carry = fori_loop(0, step.attrs[0], body, carry);
  } else if (step.op == "fori_dynamic") {
    carry = fori_loop(array(0), length, body, carry);
  } else {
    using State = std::pair<Array, Values>;
    auto next = [&](const State &state) { return State(state.first + 1, body(state.first, state.second)); };
    carry = while_loop([&](const State &state) { return goesOn(state.first, state.second); }, next, State(array(0), carry), step.attrs[0]).second;
  }
  bind(env, step.defs, carry);
  finish(callee, env, carry, widthOf(step.defs));
}

// args: a predicate or an index, operands.
void Evaluator::evaluateBranch(const Step &step, Env &env) const {
  std::vector<Id> operandIds(step.args.begin() + 1, step.args.end());
  std::vector<Callee> callees;
  std::set<Id> external;
  for (const Block &block : step.blocks) {
    callees.push_back(calleeOf(block, operandIds));
    external.insert(callees.back().external.begin(), callees.back().external.end());
  }
  for (Callee &callee : callees) // Every branch returns the refs that any of them uses.
    callee.external.assign(external.begin(), external.end());
  Values args = flat(env, operandIds);
  append(args, flat(env, callees[0].external));
  const Array index = env.at(step.args[0])[0].as<Array>();
  auto branch = [&](size_t i) { return [&, i](const Values &args) { return call(callees[i], env, args); }; };
  Values results;
  if (form == Form::Unrolled) {
    results = branch(step.op == "cond" ? 1 : callees.size() - 1)(args);
    if (step.op == "cond")
      results = choose(index, branch(0)(args), results);
    else
      for (size_t i = callees.size() - 1; i-- > 0;)
        results = choose(index <= static_cast<int>(i), branch(i)(args), results);
  } else if (step.op == "cond") {
    results = cond(index, branch(0), branch(1), args);
  } else {
    results = switch_(index, std::tuple{branch(0), branch(1), branch(2)}, args);
  }
  bind(env, step.defs, results);
  finish(callees[0], env, results, widthOf(step.defs));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

// attrs: size, an axis for each argument, an axis for each result. Refs are arguments; others are read.
void Evaluator::evaluateVmap(const Step &step, Env &env) const {
  Callee callee = calleeOf(step.blocks[0], step.args);
  callee.external.clear();
  AxisTree inSpecs{}, outSpecs{}; // Lists.
  std::vector<int> inAxes, outAxes; // Of components.
  auto add = [&](const Type &type, int axis, AxisTree &specs, std::vector<int> &axes) {
    axes.insert(axes.end(), width(type), axis);
    if (isLowered())
      specs.children.insert(specs.children.end(), width(type), AxisTree(axis));
    else
      specs.children.push_back(treeOf(heldBy(type), axis));
  };
  for (size_t i = 0; i < step.args.size(); ++i)
    add(types.at(step.args[i]), static_cast<int>(step.attrs[1 + i]), inSpecs, inAxes);
  for (size_t i = 0; i < step.defs.size(); ++i)
    add(step.defs[i].type, static_cast<int>(step.attrs[1 + step.args.size() + i]), outSpecs, outAxes);
  for (Id ref : callee.refArgs) // Behind the results, as they came.
    for (size_t i = 0; i < step.args.size(); ++i)
      if (step.args[i] == ref)
        add(types.at(ref), static_cast<int>(step.attrs[1 + i]), outSpecs, outAxes);

  Values args = flat(env, step.args), results;
  if (form == Form::Unrolled) {
    std::vector<Values> rows;
    for (int64_t k = 0; k < step.attrs[0]; ++k)
      rows.push_back(call(callee, env, sliced(args, k, inAxes)));
    Values none = zerosOfAll(step.defs);
    append(none, zerosOfAll(defsOf(callee.refArgs)));
    results = stacked(rows, none, outAxes);
  } else {
    auto f = [&](const Values &args) { return call(callee, env, args); };
    AxisTree in{};
    in.children = {inSpecs};
    results = vmap(f, in, outSpecs, AxisSize{step.attrs[0]})(args);
  }
  bind(env, step.defs, results);
  finish(callee, env, results, widthOf(step.defs));
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// The values at places of the mask, and the others.
static std::pair<Values, Values> separated(const Values &all, const std::vector<bool> &mask) {
  Values chosen, others;
  for (size_t i = 0; i < all.size(); ++i)
    (mask[i] ? chosen : others).push_back(all[i]);
  return {chosen, others};
}
static Values merged(const Values &chosen, const Values &others, const std::vector<bool> &mask) {
  Values all;
  size_t next = 0, other = 0;
  for (bool isChosen : mask)
    all.push_back(isChosen ? chosen[next++] : others[other++]);
  return all;
}

/// Tangents of all values: those given at places of the mask, else zeros, or nothing for integers.
static Values spread(const Values &all, std::vector<bool> mask, const Values &tangents) {
  Values result;
  size_t next = 0;
  mask.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (mask[i])
      result.push_back(tangents[next++]);
    else if (std::optional<hjx::Type> type = tangent_type(all[i].type()))
      result.push_back(zero_of(*type));
    else
      result.emplace_back();
  }
  return result;
}

/// The refs to which rules in the block add in the backward pass; a derivative in it has its own.
static std::vector<Id> stashesOf(const Block &block) {
  std::vector<Id> refs;
  for (const Step &step : block.steps) {
    std::vector<Id> found;
    if (step.op == "stash")
      found = {step.args[1]};
    else if (step.op != "grad")
      for (const Block &inner : step.blocks)
        for (Id ref : stashesOf(inner))
          found.push_back(ref);
    for (Id ref : found)
      if (std::find(refs.begin(), refs.end(), ref) == refs.end())
        refs.push_back(ref);
  }
  return refs;
}
/// The name of the zeros that are added where a rule adds to the ref, when lowered.
static Id stashOf(Id ref) { return ~ref; }

// attrs: number of differentiated arguments, whether the value is a result. The block returns a scalar
// and auxiliary values.
void Evaluator::evaluateGrad(const Step &step, Env &env) const {
  Callee callee = calleeOf(step.blocks[0], {});
  std::vector<bool> wanted = maskOf(step.blocks[0].params);
  size_t numDifferentiated = widthOf({step.blocks[0].params.begin(), step.blocks[0].params.begin() + step.attrs[0]});
  for (size_t i = numDifferentiated; i < wanted.size(); ++i)
    wanted[i] = false;
  auto [xs, rest] = separated(flat(env, step.args), wanted);
  const std::vector<Id> stashes = isLowered() ? stashesOf(step.blocks[0]) : std::vector<Id>();
  const size_t numXs = xs.size();
  for (Id ref : stashes)
    append(xs, zerosOf(heldBy(types.at(ref))));
  auto all = [&](const Values &xs, const Values &rest) {
    Env inner = env;
    for (size_t i = 0; i < stashes.size(); ++i)
      inner[stashOf(stashes[i])] = {xs[numXs + i]};
    return call(callee, inner, merged(xs, rest, wanted));
  };
  std::vector<Def> bars(step.defs.begin(), step.defs.begin() + step.attrs[0]), others(step.defs.begin() + step.attrs[0], step.defs.end());
  if (others.empty() && callee.external.empty()) {
    bind(env, bars, grad([&](const Values &xs, const Values &rest) { return all(xs, rest)[0].as<Array>(); })(xs, rest));
    return;
  }
  auto f = [&](const Values &xs, const Values &rest) {
    Values results = all(xs, rest);
    return std::pair(results[0].as<Array>(), part(results, 1));
  };
  auto [result, gradient] = value_and_grad(f, has_aux)(xs, rest);
  Values values{result.first};
  append(values, result.second);
  bind(env, bars, gradient);
  bind(env, others, values, !step.attrs[1]);
  finish(callee, env, values, widthOf(others) + !step.attrs[1]);
  for (size_t i = 0; i < stashes.size(); ++i) {
    AnyValue &held = env[stashes[i]][0];
    held = held.as<Array>() + stop_gradient(gradient[numXs + i].as<Array>());
  }
}

// args: x, a ref. x again; the rule adds the cotangent, without its own tangent, to the ref, and passes it on.
void Evaluator::evaluateStash(const Step &step, Env &env) const {
  const Array x = env.at(step.args[0])[0].as<Array>();
  if (isLowered()) {
    env[step.defs[0].id] = {x + env.at(stashOf(step.args[1]))[0].as<Array>()};
    return;
  }
  auto backward = [](Ref kept, Array bar) {
    kept.add(stop_gradient(bar));
    return std::pair(bar, Array());
  };
  env[step.defs[0].id] = {custom_vjp([](Array x, Ref) { return x; }, [](Array x, Ref kept) { return std::pair(x, kept); }, backward)(
      x, refOfHandle(env.at(step.args[1])[0]))};
}

// jvp, linearize. args: primals, tangents; jvp takes refs, too, and refs of their tangents.
void Evaluator::evaluateJvp(const Step &step, Env &env) const {
  const Block &block = step.blocks[0];
  Callee callee = calleeOf(block, step.args);
  const size_t numParams = block.params.size(), numResults = block.results.size();
  Values primals = flat(env, {step.args.begin(), step.args.begin() + numParams});
  Values tangents = spread(primals, maskOf(block.params), flat(env, {step.args.begin() + numParams, step.args.end()}));
  auto f = [&](const Values &xs) { return call(callee, env, xs); };
  Values results, dots;
  if (step.op == "jvp") {
    std::tie(results, dots) = jvp(f, primals, tangents);
  } else {
    auto [values, push] = linearize(f, primals);
    results = values;
    dots = push(tangents);
  }
  std::vector<Def> values(step.defs.begin(), step.defs.begin() + numResults), valueDots(step.defs.begin() + numResults, step.defs.end());
  bind(env, values, results);
  finish(callee, env, results, widthOf(values));
  for (size_t i = 0, next = widthOf(values); i < numParams && isLowered(); ++i)
    if (block.params[i].type.isRef)
      env[step.args[numParams + i]] = {dots[next++]};
  dots.resize(widthOf(values)); // Without those of refs that pass by.
  bind(env, valueDots, separated(dots, maskOf(values)).first);
}

// attrs: number of refs for gradients, then where each argument's goes: 0 back, 1 to a ref, 2 nowhere.
// args: operands, cotangents of the results, refs. An operand that is a ref has its gradient in a ref, or none.
void Evaluator::evaluateVjp(const Step &step, Env &env) const {
  const Block &block = step.blocks[0];
  Callee callee = calleeOf(block, step.args);
  const size_t numParams = block.params.size(), numResults = block.results.size(), numSinks = step.attrs[0];
  const auto first = step.args.begin(), end = step.args.end();
  const Values primals = flat(env, {first, first + numParams}), bars = flat(env, {first + numParams, end - numSinks});
  const std::vector<Id> sinks(end - numSinks, end);

  // Arguments in three groups by where their gradients go; what has none is captured.
  std::vector<int> group;
  Values groups[3];
  for (size_t i = 0, next = 0; i < numParams; ++i)
    for (bool isDifferentiated : mask(block.params[i].type)) {
      group.push_back(isDifferentiated ? static_cast<int>(step.attrs[1 + i]) : -1);
      if (isDifferentiated)
        groups[group.back()].push_back(primals[next]);
      ++next;
    }
  auto f = [&](const Values &a, const Values &b, const Values &c) {
    const Values *from[3] = {&a, &b, &c};
    size_t next[3] = {};
    Values all = primals;
    for (size_t i = 0; i < all.size(); ++i)
      if (group[i] >= 0)
        all[i] = (*from[group[i]])[next[group[i]]++];
    return call(callee, env, all);
  };
  std::vector<Def> values(step.defs.begin(), step.defs.begin() + numResults), gradients(step.defs.begin() + numResults, step.defs.end());

  Values results, back;
  if (groups[1].empty() && groups[2].empty()) {
    auto [result, pullBack] = vjp([&](const Values &a) { return f(a, {}, {}); }, groups[0]);
    results = result;
    back = std::get<0>(pullBack(spread(results, maskOf(values), bars)));
  } else {
    auto [result, pullBack] = vjp(f, groups[0], groups[1], groups[2]);
    results = result;
    const Values cotangent = spread(results, maskOf(values), bars);
    if (isLowered()) {
      auto [a, b, c] = pullBack.with_refs(grad_value, grad_value, dont_want)(cotangent);
      back = a;
      size_t next = 0;
      finish(callee, env, results, widthOf(values)); // The function before its gradient.
      for (Id sink : sinks)
        for (AnyValue &held : env[sink])
          held = held.as<Array>() + b[next++].as<Array>();
    } else {
      std::vector<Ref> refs;
      for (Id sink : sinks)
        refs.push_back(refOfHandle(env.at(sink)[0]));
      back = std::get<0>(pullBack.with_refs(grad_value, refs, dont_want)(cotangent));
    }
  }
  bind(env, values, results);
  bind(env, gradients, back);
  finish(callee, env, results, widthOf(values));
}

//===----------------------------------------------------------------------===//
// Rules of the user
//===----------------------------------------------------------------------===//

// Blocks: the function, and a coefficient c of its type. The derivative with respect to the first argument
// is c, which is not the true one; that with respect to others is a mean.
void Evaluator::evaluateRule(const Step &step, Env &env) const {
  Callee function = calleeOf(step.blocks[0], {}), coefficient = calleeOf(step.blocks[1], {});
  const Values args = flat(env, step.args);
  auto f = [&](const Values &x) { return call(function, {}, x)[0].as<Array>(); };
  auto c = [&](const Values &x) { return call(coefficient, {}, x)[0].as<Array>(); };
  AnyValue &result = env[step.defs[0].id].emplace_back();
  if (step.op == "custom_jvp") {
    auto rule = [&](const std::tuple<Values> &x, const std::tuple<Values> &dots) {
      const Values &dot = std::get<0>(dots);
      Array sum = c(std::get<0>(x)) * dot[0].as<Array>();
      for (size_t i = 1; i < dot.size(); ++i)
        sum = sum + 0.25 * meanOf(dot[i].as<Array>());
      return std::pair(f(std::get<0>(x)), sum);
    };
    result = custom_jvp(f, rule)(args);
    return;
  }
  auto forward = [&](const Values &x) { return std::pair(f(x), x); };
  auto backward = [&](const Values &x, const Array &bar) {
    Values bars{c(x) * bar};
    for (size_t i = 1; i < x.size(); ++i)
      bars.push_back(0.25 * full_like(x[i].as<Array>(), 1) * meanOf(bar));
    return bars;
  };
  result = custom_vjp(f, forward, backward)(args);
}

} // namespace fuzz
