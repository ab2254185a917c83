// SPDX-License-Identifier: Apache-2.0
//
// Blocks as functions, and the steps on arrays and refs.
#include "test/fuzz/Callee.h"
#include "test/fuzz/Operations.h"

using namespace hjx;

namespace fuzz {

//===----------------------------------------------------------------------===//
// Lists of names and values
//===----------------------------------------------------------------------===//

Values Evaluator::flat(const Env &env, const std::vector<Id> &ids) const {
  Values all;
  for (Id id : ids)
    append(all, env.at(id));
  return all;
}

void Evaluator::bind(Env &env, const std::vector<Def> &defs, const Values &values, size_t next) const {
  for (const Def &def : defs) {
    size_t count = width(def.type);
    env[def.id] = part(values, next, count);
    next += count;
  }
}

std::vector<Def> Evaluator::defsOf(const std::vector<Id> &ids) const {
  std::vector<Def> defs;
  for (Id id : ids)
    defs.push_back({id, types.at(id)});
  return defs;
}

size_t Evaluator::widthOf(const std::vector<Def> &defs) const { return maskOf(defs).size(); }

std::vector<bool> Evaluator::maskOf(const std::vector<Def> &defs) const {
  std::vector<bool> all;
  for (const Def &def : defs) {
    std::vector<bool> part = mask(def.type);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Blocks as functions
//===----------------------------------------------------------------------===//

void Evaluator::run(const Block &block, Env &env) const {
  for (const Step &step : block.steps)
    evaluate(step, env);
}

Evaluator::Callee Evaluator::calleeOf(const Block &block, const std::vector<Id> &args) const {
  Callee callee{&block, {}, {}, {}};
  if (!isLowered())
    return callee;
  for (size_t i = 0; i < args.size() && i < block.params.size(); ++i)
    if (block.params[i].type.isRef) {
      callee.refParams.push_back(block.params[i].id);
      callee.refArgs.push_back(args[i]);
    }
  callee.external = externalRefs(block, types);
  return callee;
}

Values Evaluator::call(const Callee &callee, const Env &env, const Values &args) const {
  Env inner = env;
  bind(inner, callee.block->params, args);
  if (size_t count = widthOf(callee.block->params); args.size() > count)
    bind(inner, defsOf(callee.external), args, count);
  run(*callee.block, inner);
  Values results = flat(inner, callee.block->results);
  append(results, flat(inner, callee.refParams));
  append(results, flat(inner, callee.external));
  return results;
}

void Evaluator::finish(const Callee &callee, Env &env, const Values &results, size_t first) const {
  bind(env, defsOf(callee.refArgs), results, first);
  bind(env, defsOf(callee.external), results, first + widthOf(defsOf(callee.refArgs)));
}

Values Evaluator::operator()(const Values &args) const {
  Env env;
  bind(env, main.params, args);
  run(main, env);
  Values results = flat(env, main.results);
  if (isLowered())
    for (const Def &def : main.params)
      if (def.type.isRef)
        append(results, env.at(def.id));
  return results;
}

//===----------------------------------------------------------------------===//
// Steps without blocks
//===----------------------------------------------------------------------===//

void Evaluator::evaluate(const Step &step, Env &env) const {
  using Handler = void (Evaluator::*)(const Step &, Env &) const;
  static const std::map<std::string, Handler> handlers{
      {"new_ref", &Evaluator::evaluateRef},        {"empty_ref", &Evaluator::evaluateRef},
      {"get", &Evaluator::evaluateRef},            {"set", &Evaluator::evaluateRef},
      {"swap", &Evaluator::evaluateRef},           {"add", &Evaluator::evaluateRef},
      {"freeze", &Evaluator::evaluateRef},         {"jit", &Evaluator::evaluateCall},
      {"checkpoint", &Evaluator::evaluateCall},    {"scan", &Evaluator::evaluateScan},
      {"foreach", &Evaluator::evaluateScan},       {"fori", &Evaluator::evaluateLoop},
      {"fori_dynamic", &Evaluator::evaluateLoop},  {"while", &Evaluator::evaluateLoop},
      {"cond", &Evaluator::evaluateBranch},        {"switch", &Evaluator::evaluateBranch},
      {"vmap", &Evaluator::evaluateVmap},          {"grad", &Evaluator::evaluateGrad},
      {"jvp", &Evaluator::evaluateJvp},            {"linearize", &Evaluator::evaluateJvp},
      {"vjp", &Evaluator::evaluateVjp},            {"custom_jvp", &Evaluator::evaluateRule},
      {"custom_vjp", &Evaluator::evaluateRule},    {"stash", &Evaluator::evaluateStash},
      {"map_optional", &Evaluator::evaluateMapOptional},
  };
  if (isOperation(step.op))
    evaluateArrays(step, env);
  else if (auto it = handlers.find(step.op); it != handlers.end())
    (this->*it->second)(step, env);
  else if (isLowered())
    evaluateLowered(step, env);
  else
    evaluatePrimitive(step, env);
}

std::vector<Array> indicesOf(const Step &step, const std::map<Id, Values> &env) {
  std::vector<Array> indices;
  for (const Entry &entry : step.index)
    if (entry.kind == Entry::At)
      indices.push_back(env.at(entry.id)[0].as<Array>());
  return indices;
}

void Evaluator::evaluateArrays(const Step &step, Env &env) const {
  std::vector<Array> args;
  for (Id id : step.args)
    args.push_back(env.at(id)[0].as<Array>());
  env[step.defs[0].id] = {compute(step, args, indicesOf(step, env))};
}

void Evaluator::evaluateRef(const Step &step, Env &env) const {
  const std::string &op = step.op;
  std::vector<Index> index = indexOf(step.index, indicesOf(step, env));
  const Where where = Where::current();
  if (op == "new_ref" || op == "empty_ref") {
    const Def &def = step.defs[0];
    if (isLowered()) { // What an empty ref holds is never read.
      env[def.id] = op == "new_ref" ? env.at(step.args[0]) : Values{sampleOf(heldBy(def.type), 0)};
    } else {
      env[def.id] = {op == "new_ref" ? hjx::detail::newRefFlat(env.at(step.args[0])[0].hjxHandle(), where)
                                     : hjx::detail::emptyRefFlat(hjx::Type(def.type.dtype, def.type.shape), where)};
    }
    return;
  }

  if (!isLowered()) {
    const Array ref = env.at(step.args[0])[0].hjxHandle();
    Array value = step.args.size() > 1 ? env.at(step.args[1])[0].hjxHandle() : Array();
    if (op == "get")
      env[step.defs[0].id] = {hjx::detail::refGet("get", ref, index, where)};
    else if (op == "freeze")
      env[step.defs[0].id] = {hjx::detail::freezeFlat(ref, where)};
    else if (op == "add")
      hjx::detail::refAdd(ref, index, value, where);
    else if (Array old = hjx::detail::refSwap(op.c_str(), ref, index, value, where); op == "swap")
      env[step.defs[0].id] = {old};
    return;
  }

  Values &held = env[step.args[0]];
  auto read = [&] { return index.empty() ? held : Values{getPart(held[0].as<Array>(), index)}; };
  if (op == "get" || op == "freeze" || op == "swap")
    env[step.defs[0].id] = read();
  if (op == "set" || op == "swap")
    held = index.empty() ? env.at(step.args[1]) : Values{setPart(held[0].as<Array>(), index, env.at(step.args[1])[0].as<Array>())};
  if (op == "add") {
    Values value = env.at(step.args[1]);
    if (!index.empty())
      held = {addToPart(held[0].as<Array>(), index, value[0].as<Array>())};
    else
      for (size_t i = 0; i < held.size(); ++i)
        held[i] = held[i].as<Array>() + value[i].as<Array>();
  }
}

} // namespace fuzz
