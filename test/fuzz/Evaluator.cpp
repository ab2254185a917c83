// SPDX-License-Identifier: Apache-2.0
//
// Values of types, blocks as functions, and the steps that hold no block.
#include "test/fuzz/Callee.h"
#include "test/fuzz/HiTypes.h"
#include "test/fuzz/Operations.h"

#include <cstring>

using namespace hjx;

namespace fuzz {

//===----------------------------------------------------------------------===//
// Lists of names and values
//===----------------------------------------------------------------------===//

std::vector<bool> Evaluator::mask(const Type &type) const {
  if (type.kind == Type::Array)
    return {type.isFloat()};
  if (!isLowered())
    return {hasTangent(type)};
  if (type.kind != Type::Tuple)
    return {false, false, true}; // Two components, and the carrier.
  std::vector<bool> all;
  for (const Type &element : type.elements) {
    std::vector<bool> part = mask(element);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

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
// Arguments and results
//===----------------------------------------------------------------------===//

/// Components of a sample, and a hi value made of them.
static Values sampleComponents(const Type &type, unsigned seed, bool hasCarriers) {
  if (type.kind == Type::Array)
    return {sampleOf(type, seed)};
  Values parts;
  if (type.kind == Type::Tuple) {
    for (const Type &element : type.elements)
      append(parts, sampleComponents(element, ++seed, hasCarriers));
    return parts;
  }
  if (type.kind == Type::Packed) {
    Shape rows(type.shape.begin(), type.shape.end() - 1);
    Array dense = sampleOf(arrayType(type.dtype, type.shape), seed);
    std::vector<double> half(rows.size(), 0.5);
    Array scale = type.dtype == float64 ? array(half, rows) : array(std::vector<float>(half.begin(), half.end()), rows);
    parts = {from_bytes(dense.bytes(), type.shape, type.dtype == float64 ? int64 : int32), scale};
  } else {
    parts = {sampleOf(arrayType(float32, {type.shape[0]}), seed), sampleOf(arrayType(float32, {type.shape[1]}), seed + 1)};
  }
  if (hasCarriers)
    parts.push_back(zeros(type.shape, type.dtype));
  return parts;
}

static AnyValue raised(const Type &type, const Values &components, size_t &next) {
  if (type.kind == Type::Array)
    return components[next++];
  if (type.kind == Type::Tuple) {
    TupleType object;
    Values elements;
    for (const Type &element : type.elements) {
      elements.push_back(raised(element, components, next));
      object.types.push_back(elements.back().type());
    }
    return raise<hjx::Tuple>(object, elements);
  }
  Values two{components[next], components[next + 1]};
  next += 2;
  if (type.kind == Type::Packed)
    return raise<Packed>(PackedClass{hjx::Type(type.dtype, type.shape)}, two);
  return raise<rank1::Rank1>(rank1::R1{type.shape}, two);
}

Values Evaluator::sampleArguments(unsigned seed) const {
  Values all;
  for (const Def &param : main.params) {
    Values components = sampleComponents(param.type, seed + 101 * param.id, isLowered());
    if (isLowered()) {
      append(all, components);
      continue;
    }
    size_t next = 0;
    AnyValue value = raised(param.type, components, next);
    if (param.type.isRef) {
      Ref ref;
      ref.hjxHandle() = hjx::detail::newRefFlat(value.hjxHandle(), Where::current());
      all.push_back(handleOfRef(ref));
    } else {
      all.push_back(value);
    }
  }
  return all;
}

std::vector<Type> Evaluator::resultTypes() const {
  std::vector<Type> list;
  for (Id id : main.results)
    list.push_back(types.at(id));
  for (const Def &def : main.params)
    if (def.type.isRef)
      list.push_back(heldBy(def.type));
  return list;
}

static std::vector<double> numbersOf(const Array &x) {
  if (x.dtype() == bool_) {
    std::vector<bool> bits = x.to_vector<bool>();
    return {bits.begin(), bits.end()};
  }
  if (x.dtype() == float64)
    return x.to_vector<double>();
  if (x.dtype() == float32) {
    std::vector<float> list = x.to_vector<float>();
    return {list.begin(), list.end()};
  }
  std::vector<int32_t> list = x.to_vector<int32_t>();
  return {list.begin(), list.end()};
}

/// The elements of an array whose bits are floats of a type.
static std::vector<double> bitsOf(const Array &bits, DType type) {
  return numbersOf(from_bytes(bits.bytes(), bits.shape(), type));
}

void Evaluator::decode(const Type &type, const Values &values, size_t &next, std::vector<Leaf> &leaves) const {
  if (type.kind == Type::Array) {
    Array x = values[next++].as<Array>();
    leaves.push_back({str(arrayType(x.dtype(), x.shape())), numbersOf(x)});
    return;
  }
  Values parts = values;
  size_t *at = &next, inner = 0;
  if (!isLowered()) { // One value: its components.
    parts = lower(values[next++]);
    at = &inner;
  }
  if (type.kind == Type::Tuple) {
    for (const Type &element : type.elements)
      decode(element, parts, *at, leaves);
    return;
  }
  Array first = parts[*at].as<Array>(), second = parts[*at + 1].as<Array>();
  *at += 2;
  std::vector<double> numbers = type.kind == Type::Packed ? bitsOf(first, type.dtype) : numbersOf(first), factors = numbersOf(second);
  std::vector<double> dense;
  if (type.kind == Type::Packed)
    for (size_t i = 0; i < numbers.size(); ++i)
      dense.push_back(numbers[i] * factors[i * factors.size() / numbers.size()]);
  else
    for (double x : numbers)
      for (double y : factors)
        dense.push_back(x * y);
  if (isLowered()) {
    std::vector<double> carrier = numbersOf(parts[(*at)++].as<Array>());
    for (size_t i = 0; i < dense.size(); ++i)
      dense[i] += carrier[i];
  }
  leaves.push_back({str(type), dense});
}

std::vector<Leaf> Evaluator::decoded(const std::vector<Type> &list, const Values &values) const {
  std::vector<Leaf> leaves;
  size_t next = 0;
  for (const Type &type : list)
    decode(type, values, next, leaves);
  return leaves;
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
      {"custom_vjp", &Evaluator::evaluateRule},
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

void Evaluator::evaluatePrimitive(const Step &step, Env &env) const {
  auto arg = [&](size_t i) { return env.at(step.args[i])[0]; };
  auto array = [&](size_t i) { return arg(i).as<Array>(); };
  auto packed = [&](size_t i) { return arg(i).as<Packed>(); };
  const Where where = Where::current();
  AnyValue &result = env[step.defs[0].id].emplace_back();
  if (step.op == "pack")
    result = step.attrs[0] ? call_primitive<PackReverse>(where, array(0)) : call_primitive<PackForward>(where, array(0));
  else if (step.op == "unpack")
    result = step.attrs[0] ? call_primitive<UnpackReverse>(where, packed(0)) : call_primitive<UnpackForward>(where, packed(0));
  else if (step.op == "rescale")
    result = call_primitive(Rescale{0.5}, where, packed(0));
  else if (step.op == "matmul_packed")
    result = step.attrs[0] ? call_primitive<MatmulReverse>(where, array(0), packed(1)) : call_primitive<MatmulForward>(where, array(0), packed(1));
  else if (step.op == "make_tup")
    result = tuple(flat(env, step.args));
  else if (step.op == "get_element")
    result = element(arg(0).as<hjx::Tuple>(), step.attrs[0]);
  else if (step.op == "outer_r1")
    result = rank1::outer(array(0), array(1));
  else
    result = rank1::matmul_r1(array(0), arg(1).as<rank1::Rank1>());
}

/// What the primitives stand for, on components and carriers.
void Evaluator::evaluateLowered(const Step &step, Env &env) const {
  auto component = [&](size_t i, size_t which = 0) { return env.at(step.args[i])[which].as<Array>(); };
  auto unpacked = [&](size_t i) { return fuzz::decode(component(i, 0), component(i, 1)) + component(i, 2); };
  Values result;
  if (step.op == "pack") {
    auto [bits, scale] = encode(stop_gradient(component(0)));
    result = {bits, scale, component(0) - stop_gradient(component(0))};
  } else if (step.op == "unpack") {
    result = {unpacked(0)};
  } else if (step.op == "rescale") {
    result = {component(0, 0), 0.5 * component(0, 1), 0.5 * component(0, 2)};
  } else if (step.op == "matmul_packed") {
    result = {matmul(component(0), unpacked(1)) / static_cast<int>(component(0).shape(1))};
  } else if (step.op == "make_tup") {
    result = flat(env, step.args);
  } else if (step.op == "get_element") {
    const Type tuple = types.at(step.args[0]);
    size_t first = 0;
    for (int64_t i = 0; i < step.attrs[0]; ++i)
      first += width(tuple.elements[i]);
    result = part(env.at(step.args[0]), first, width(tuple.elements[step.attrs[0]]));
  } else if (step.op == "outer_r1") {
    Array dense = outer(component(0), component(1));
    result = {stop_gradient(component(0)), stop_gradient(component(1)), dense - stop_gradient(dense)};
  } else {
    Array byColumn = expand_dims(matmul(component(0), component(1, 0)), 1) * component(1, 1);
    result = {byColumn + matmul(component(0), component(1, 2))};
  }
  env[step.defs[0].id] = result;
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
