// SPDX-License-Identifier: Apache-2.0
//
// Values of hi-types: their components when lowered, samples, the numbers that they stand
// for, and the primitives on them, by the library and by hand.
#include "test/fuzz/Callee.h"
#include "test/fuzz/HiTypes.h"
#include "test/fuzz/Operations.h"

#include <hjx/types/low_rank.h>
#include <hjx/types/optional.h>
#include <hjx/types/quantized.h>

#include <random>

using namespace hjx;

namespace fuzz {

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

std::vector<Component> componentsOf(const Type &type) {
  const auto integers = type.dtype == float64 ? int64 : int32;
  switch (type.kind) {
  case Type::Array:
    return {{type, type.isFloat()}};
  case Type::Packed: // The last is the carrier, as of the next two.
    return {{arrayType(integers, type.shape)}, {arrayType(type.dtype, Shape(type.shape.begin(), type.shape.end() - 1))}, {tangentOf(type), true}};
  case Type::Rank1:
    return {{arrayType(float32, {type.shape[0]})}, {arrayType(float32, {type.shape[1]})}, {tangentOf(type), true}};
  case Type::Quantized:
    return {{arrayType(int8, type.shape)}, {arrayType(float32, type.scales)}, {tangentOf(type), true}};
  case Type::LowRank:
    return {{tangentOf(type).elements[0], true}, {tangentOf(type).elements[1], true}};
  case Type::Tuple:
  case Type::Optional:
    break;
  }
  std::vector<Component> all;
  if (type.kind == Type::Optional)
    all.push_back({arrayType(bool_, type.shape)});
  for (const Type &element : type.elements)
    for (Component &component : componentsOf(element))
      all.push_back(std::move(component));
  return all;
}

std::vector<bool> Evaluator::mask(const Type &type) const {
  if (!isLowered())
    return {hasTangent(type)};
  std::vector<bool> all;
  for (const Component &component : componentsOf(type))
    all.push_back(component.isDifferentiable);
  return all;
}

Values zerosOf(const Type &type) {
  Values all;
  for (const Component &component : componentsOf(type))
    all.push_back(zeros(component.type.shape, component.type.dtype));
  return all;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

template <typename T>
static Array filled(const Shape &shape, T value) {
  return array(std::vector<T>(shape.size(), value), shape);
}

/// Numbers of four bits in order, two to a byte, each row by itself.
static std::vector<int8_t> packed4(const std::vector<int8_t> &numbers, int64_t row) {
  std::vector<int8_t> bytes;
  for (size_t first = 0; row && first < numbers.size(); first += row)
    for (int64_t i = 0; i < row; i += 2)
      bytes.push_back(static_cast<int8_t>((numbers[first + i] & 15) | (i + 1 < row ? numbers[first + i + 1] << 4 : 0)));
  return bytes;
}
static std::vector<double> unpacked4(const std::vector<double> &bytes, int64_t row) {
  std::vector<double> numbers;
  for (size_t first = 0, stride = (row + 1) / 2; row && first < bytes.size(); first += stride)
    for (int64_t i = 0; i < row; ++i) {
      int byte = static_cast<int>(bytes[first + i / 2]), bits = (i % 2 ? byte >> 4 : byte) & 15;
      numbers.push_back(bits < 8 ? bits : bits - 16);
    }
  return numbers;
}

/// Components of a sample; for a hi value, those of the library.
static Values sampleComponents(const Type &type, unsigned seed, bool isLowered) {
  Values parts;
  switch (type.kind) {
  case Type::Array:
    return {sampleOf(type, seed)};
  case Type::Optional:
    parts = {sampleOf(arrayType(bool_, type.shape), seed + 50)};
    [[fallthrough]];
  case Type::Tuple:
    for (const Type &element : type.elements)
      append(parts, sampleComponents(element, ++seed, isLowered));
    return parts;
  case Type::LowRank:
    return sampleComponents(tangentOf(type), seed, isLowered);
  case Type::Packed: {
    Shape rows(type.shape.begin(), type.shape.end() - 1);
    Array dense = sampleOf(arrayType(type.dtype, type.shape), seed);
    parts = {from_bytes(dense.bytes(), type.shape, type.dtype == float64 ? int64 : int32),
             type.dtype == float64 ? filled(rows, 0.5) : filled(rows, 0.5f)};
    break;
  }
  case Type::Quantized: {
    std::mt19937 random(seed);
    std::vector<int8_t> numbers(type.shape.size());
    for (int8_t &number : numbers)
      number = static_cast<int8_t>(static_cast<int>(random() % 15) - 7);
    std::vector<int64_t> stored = type.shape.vec();
    if (type.isInt4 && !isLowered) {
      numbers = packed4(numbers, stored.back());
      stored.back() = (stored.back() + 1) / 2;
    }
    parts = {array(numbers, Shape(stored)), filled(type.scales, 0.125f)};
    break;
  }
  case Type::Rank1:
    parts = {sampleOf(arrayType(float32, {type.shape[0]}), seed), sampleOf(arrayType(float32, {type.shape[1]}), seed + 1)};
    break;
  }
  if (isLowered)
    parts.push_back(zeros(type.shape, type.dtype));
  return parts;
}

static QuantizedType quantizedClass(const Type &type) { return {type.isInt4 ? "int4" : "int8", type.shape, type.scales}; }

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
  if (type.kind == Type::Optional) {
    AnyValue flag = components[next++], value = raised(type.elements[0], components, next);
    return raise<hjx::Optional>(OptionalType{flag.type(), value.type()}, {flag, value});
  }
  Values two{components[next], components[next + 1]};
  next += 2;
  if (type.kind == Type::Packed)
    return raise<Packed>(PackedClass{hjx::Type(type.dtype, type.shape)}, two);
  if (type.kind == Type::Quantized)
    return raise<hjx::Quantized>(quantizedClass(type), two);
  if (type.kind == Type::LowRank)
    return raise<hjx::LowRank>(LowRankType{type.shape, type.rank}, two);
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

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::vector<Type> Evaluator::resultTypes() const {
  std::vector<Type> list;
  for (Id id : main.results)
    list.push_back(types.at(id));
  for (const Def &def : main.params)
    if (def.type.isRef)
      list.push_back(heldBy(def.type));
  return list;
}

template <typename T>
static std::vector<double> doublesOf(const Array &x) {
  std::vector<T> list = x.to_vector<T>();
  return {list.begin(), list.end()};
}

static std::vector<double> numbersOf(const Array &x) {
  return x.dtype() == bool_     ? doublesOf<bool>(x)
         : x.dtype() == float64 ? doublesOf<double>(x)
         : x.dtype() == float32 ? doublesOf<float>(x)
         : x.dtype() == int8    ? doublesOf<int8_t>(x)
                                : doublesOf<int32_t>(x);
}

/// The elements of an array whose bits are floats of a type.
static std::vector<double> bitsOf(const Array &bits, DType type) {
  return numbersOf(from_bytes(bits.bytes(), bits.shape(), type));
}

/// The place of the scale of element `i` of the shape.
static size_t scaleOf(size_t i, const Shape &shape, const Shape &scales) {
  size_t place = 0, stride = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    size_t at = i % shape[axis];
    i /= shape[axis];
    place += stride * (at * scales[axis] / shape[axis]);
    stride *= scales[axis];
  }
  return place;
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
  if (type.kind == Type::Optional) { // What it would hold does not count where it holds nothing.
    std::vector<double> flags = numbersOf(parts[(*at)++].as<Array>());
    std::vector<Leaf> held;
    decode(type.elements[0], parts, *at, held);
    for (Leaf &leaf : held)
      for (size_t i = 0; i < leaf.numbers.size(); ++i)
        leaf.numbers[i] *= flags[i * flags.size() / leaf.numbers.size()];
    leaves.push_back({"flags", flags});
    leaves.insert(leaves.end(), held.begin(), held.end());
    return;
  }
  if (type.kind == Type::Tuple || type.kind == Type::LowRank) {
    const Type whole = type.kind == Type::Tuple ? type : tangentOf(type);
    for (const Type &element : whole.elements)
      decode(element, parts, *at, leaves);
    return;
  }
  Array first = parts[*at].as<Array>(), second = parts[*at + 1].as<Array>();
  *at += 2;
  std::vector<double> numbers = type.kind == Type::Packed ? bitsOf(first, type.dtype) : numbersOf(first), factors = numbersOf(second);
  if (type.isInt4 && !isLowered())
    numbers = unpacked4(numbers, type.shape[-1]);
  std::vector<double> dense;
  if (type.kind == Type::Rank1)
    for (double x : numbers)
      for (double y : factors)
        dense.push_back(x * y);
  else
    for (size_t i = 0; i < numbers.size(); ++i)
      dense.push_back(numbers[i] * factors[type.kind == Type::Packed ? i * factors.size() / numbers.size() : scaleOf(i, type.shape, type.scales)]);
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
// By the library
//===----------------------------------------------------------------------===//

static AxisSpec specOf(const Type &type, int axis) {
  if (type.kind == Type::Packed)
    return "leading";
  if (type.kind != Type::Tuple && type.kind != Type::Optional)
    return axis;
  std::vector<AxisSpec> list;
  if (type.kind == Type::Optional)
    list.push_back(axis);
  for (const Type &element : type.elements)
    list.push_back(specOf(element, axis));
  return list;
}

AxisTree treeOf(const Type &type, int axis) { return type.kind == Type::Array ? AxisTree(axis) : AxisTree(specOf(type, axis)); }

/// Numbers of [0, 4) as floats whose quotients by the largest are far from the middle of two numbers.
static Array levels(const Array &numbers) { return (2 * numbers - 3).astype(float32) / 4; }

/// x and the tangent of y.
static Array withTangentOf(const Array &x, const Array &y) { return x + (y - stop_gradient(y)); }

/// Quantizes to the type; maps over axes that no options quantize along.
static hjx::Quantized quantizeTo(const Type &type, const Array &x) {
  const Shape &shape = type.shape, &scales = type.scales;
  const bool isShared = scales.size() == 1;
  std::vector<int> along;
  for (int axis = 0; axis < shape.ndim(); ++axis)
    if (scales[axis] != shape[axis])
      along.push_back(axis);
  const std::string format = type.isInt4 ? "int4" : "int8";
  if (isShared)
    return quantize(x, {.format = format, .axis = std::nullopt});
  if (along.empty())
    return quantize(x, {.format = format, .axis = -1, .group = 1});
  if (along.size() == 1)
    return quantize(x, {.format = format, .axis = along[0]});
  return vmap([&](Array x) { return quantizeTo(withoutLeading(type), x); }, 0, AxisSpec(0), AxisSize{shape[0]})(x);
}

static hjx::Optional optionalOf(const Type &type, const Array &flag, const AnyValue &value) {
  if (!type.shape.ndim())
    return optional(flag, value);
  return vmap([&](Array flag, AnyValue value) { return optionalOf(withoutLeading(type), flag, value); },
              AxisTree{0, treeOf(type.elements[0], 0)}, treeOf(type, 0), AxisSize{type.shape[0]})(flag, value);
}

void Evaluator::evaluatePrimitive(const Step &step, Env &env) const {
  using Function = std::function<Values(const Step &, const Values &)>;
  auto isReverse = [](const Step &step) { return step.attrs[0] != 0; };
  auto one = [](auto f) { return [f](const Step &, const Values &x) { return Values{f(x)}; }; };
  auto array = [](const AnyValue &x) { return x.as<Array>(); };
  auto packed = [](const AnyValue &x) { return x.as<Packed>(); };
  auto quantized = [](const AnyValue &x) { return x.as<hjx::Quantized>(); };
  auto low = [](const AnyValue &x) { return x.as<hjx::LowRank>(); };
  static const Where where = Where::current();
  static const std::map<std::string, Function> functions{
      {"pack", [=](const Step &step, const Values &x) -> Values {
         if (isReverse(step))
           return {call_primitive<PackReverse>(where, array(x[0]))};
         return {call_primitive<PackForward>(where, array(x[0]))};
       }},
      {"unpack", [=](const Step &step, const Values &x) -> Values {
         return {isReverse(step) ? call_primitive<UnpackReverse>(where, packed(x[0])) : call_primitive<UnpackForward>(where, packed(x[0]))};
       }},
      {"rescale", one([=](const Values &x) { return call_primitive(Rescale{0.5}, where, packed(x[0])); })},
      {"matmul_packed", [=](const Step &step, const Values &x) -> Values {
         return {isReverse(step) ? call_primitive<MatmulReverse>(where, array(x[0]), packed(x[1]))
                                 : call_primitive<MatmulForward>(where, array(x[0]), packed(x[1]))};
       }},
      {"make_tup", one([=](const Values &x) { return tuple(x); })},
      {"get_element", [](const Step &step, const Values &x) -> Values { return {element(x[0].as<hjx::Tuple>(), step.attrs[0])}; }},
      {"outer_r1", one([=](const Values &x) { return rank1::outer(array(x[0]), array(x[1])); })},
      {"matmul_r1", one([=](const Values &x) { return rank1::matmul_r1(array(x[0]), x[1].as<rank1::Rank1>()); })},
      {"quantize", [=](const Step &step, const Values &x) -> Values {
         return {quantizeTo(step.defs[0].type, withTangentOf(levels(array(x[0])), array(x[1])))};
       }},
      {"dequantize", one([=](const Values &x) { return dequantize(quantized(x[0])); })},
      {"matmul_q", one([=](const Values &x) { return perTerm(matmul(array(x[0]), quantized(x[1])), array(x[0]).shape(1)); })},
      {"matmul_q_transposed", one([=](const Values &x) { return perTerm(matmul_transposed(array(x[0]), quantized(x[1])), array(x[0]).shape(1)); })},
      {"q_matmul", one([=](const Values &x) { return perTerm(matmul(quantized(x[0]), array(x[1])), array(x[1]).shape(0)); })},
      {"take_q", one([=](const Values &x) { return take(quantized(x[0]), array(x[1])); })},
      {"low_rank", one([=](const Values &x) { return low_rank(array(x[0]), array(x[1])); })},
      {"to_dense", one([=](const Values &x) { return to_dense(low(x[0])); })},
      {"factors", [=](const Step &, const Values &x) -> Values {
         auto [columns, rows] = factors(low(x[0]));
         return {columns, rows};
       }},
      {"matmul_low", one([=](const Values &x) { return matmul(array(x[0]), low(x[1])); })},
      {"low_matmul", one([=](const Values &x) { return matmul(low(x[0]), array(x[1])); })},
      {"compose", one([=](const Values &x) { return scale(matmul(low(x[0]), low(x[1])), full({}, 0.125, float32)); })},
      {"add_low", one([=](const Values &x) { return add(low(x[0]), low(x[1])); })},
      {"scale_low", one([=](const Values &x) { return scale(low(x[0]), array(x[1])); })},
      {"transpose_low", one([=](const Values &x) { return transpose(low(x[0])); })},
      {"optional", [=](const Step &step, const Values &x) -> Values { return {optionalOf(step.defs[0].type, array(x[0]), x[1])}; }},
      {"has_value", one([=](const Values &x) { return has_value(x[0].as<hjx::Optional>()); })},
      {"value_or", one([=](const Values &x) { return value_or(x[0].as<hjx::Optional>(), x[1]); })},
  };
  bind(env, step.defs, functions.at(step.op)(step, flat(env, step.args)));
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

/// Scales as a dense array: each repeated for what it is of.
static Array spreadTo(Array scales, const Shape &shape) {
  for (int axis = 0; axis < shape.ndim(); ++axis)
    if (scales.shape(axis) != shape[axis])
      scales = repeat(scales, shape[axis] / scales.shape(axis), axis);
  return scales;
}

/// What the primitives stand for, on components and carriers.
void Evaluator::evaluateLowered(const Step &step, Env &env) const {
  const std::string &op = step.op;
  auto component = [&](size_t i, size_t which = 0) { return env.at(step.args[i])[which].as<Array>(); };
  auto unpacked = [&](size_t i) { return fuzz::decode(component(i, 0), component(i, 1)) + component(i, 2); };
  auto dequantized = [&](size_t i) {
    return component(i, 0).astype(float32) * spreadTo(component(i, 1), component(i, 0).shape()) + component(i, 2);
  };
  auto dense = [&](size_t i) { return matmul(component(i, 0), component(i, 1)); };
  auto product = [](const Array &x, const Array &y) { return perTerm(matmul(x, y), y.shape(0)); };
  Values result;
  if (op == "pack") {
    auto [bits, scale] = encode(stop_gradient(component(0)));
    result = {bits, scale, component(0) - stop_gradient(component(0))};
  } else if (op == "unpack") {
    result = {unpacked(0)};
  } else if (op == "rescale") {
    result = {component(0, 0), 0.5 * component(0, 1), 0.5 * component(0, 2)};
  } else if (op == "matmul_packed") {
    result = {product(component(0), unpacked(1))};
  } else if (op == "make_tup") {
    result = flat(env, step.args);
  } else if (op == "get_element") {
    const Type tuple = types.at(step.args[0]);
    size_t first = 0;
    for (int64_t i = 0; i < step.attrs[0]; ++i)
      first += width(tuple.elements[i]);
    result = part(env.at(step.args[0]), first, width(tuple.elements[step.attrs[0]]));
  } else if (op == "outer_r1") {
    Array dense = outer(component(0), component(1));
    result = {stop_gradient(component(0)), stop_gradient(component(1)), dense - stop_gradient(dense)};
  } else if (op == "matmul_r1") {
    Array byColumn = expand_dims(matmul(component(0), component(1, 0)), 1) * component(1, 1);
    result = {byColumn + matmul(component(0), component(1, 2))};
  } else if (op == "quantize") {
    const Type &type = step.defs[0].type;
    const double most = type.isInt4 ? 7 : 127;
    Array x = levels(component(0)), largest = abs(x);
    if (x.size())
      for (int axis = 0; axis < x.ndim(); ++axis) // One scale for an axis, or all.
        if (type.scales[axis] != type.shape[axis])
          largest = max(largest, axis, keepdims);
    Array scale = x.size() ? largest / most : zeros(type.scales);
    Array numbers = round(x / spreadTo(scale, type.shape)).astype(int8);
    result = {numbers, scale, component(1) - stop_gradient(component(1))};
  } else if (op == "dequantize") {
    result = {dequantized(0)};
  } else if (op == "matmul_q") {
    result = {product(component(0), dequantized(1))};
  } else if (op == "matmul_q_transposed") {
    result = {product(component(0), dequantized(1).T())};
  } else if (op == "q_matmul") {
    result = {product(dequantized(0), component(1))};
  } else if (op == "take_q") {
    result = {take(dequantized(0), component(1), 0)};
  } else if (op == "low_rank" || op == "optional") {
    result = flat(env, step.args);
  } else if (op == "to_dense") {
    result = {dense(0)};
  } else if (op == "factors") {
    result = env.at(step.args[0]);
  } else if (op == "matmul_low") {
    result = {matmul(component(0), dense(1))};
  } else if (op == "low_matmul") {
    result = {matmul(dense(0), component(1))};
  } else if (op == "compose") { // The factors of the smaller rank stay.
    Array between = matmul(component(0, 1), component(1, 0));
    bool isFirst = between.shape(0) <= between.shape(1);
    result = isFirst ? Values{0.125 * component(0, 0), matmul(between, component(1, 1))} : Values{0.125 * matmul(component(0, 0), between), component(1, 1)};
  } else if (op == "add_low") {
    result = {concatenate({component(0, 0), component(1, 0)}, 1), concatenate({component(0, 1), component(1, 1)}, 0)};
  } else if (op == "scale_low") {
    result = {component(0, 0) * component(1), component(0, 1)};
  } else if (op == "transpose_low") {
    result = {component(0, 1).T(), component(0, 0).T()};
  } else if (op == "has_value") {
    result = {component(0)};
  } else if (op == "value_or") {
    result = choose(component(0), part(env.at(step.args[0]), 1), env.at(step.args[1]));
  } else {
    throw std::logic_error("no operation " + op);
  }
  bind(env, step.defs, result);
}

// args: an optional. The block is a function of what it holds, and runs only if it does; refs are read.
void Evaluator::evaluateMapOptional(const Step &step, Env &env) const {
  Callee callee = calleeOf(step.blocks[0], {});
  callee.external.clear();
  const Values args = flat(env, step.args);
  if (!isLowered()) {
    hjx::Optional mapped = hjx::map(args[0].as<hjx::Optional>(), [&](const AnyValue &value) { return call(callee, env, {value})[0]; });
    env[step.defs[0].id] = {mapped};
    return;
  }
  const Array flag = args[0].as<Array>();
  Values mapped{flag};
  append(mapped, choose(flag, call(callee, env, part(args, 1)), zerosOf(step.defs[0].type.elements[0])));
  env[step.defs[0].id] = mapped;
}

} // namespace fuzz
