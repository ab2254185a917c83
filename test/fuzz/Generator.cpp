// SPDX-License-Identifier: Apache-2.0
//
// Names, types and plain steps.
#include "test/fuzz/GeneratorScope.h"

using namespace hjx;

namespace fuzz {

static const auto isArray = [](const Type &type) { return type.kind == Type::Array; };
static const auto isFloat = [](const Type &type) { return type.isFloat(); };

static bool isIndexLike(const Type &type) { return type.isInt() && type.shape.ndim() <= 1; }

Generator::Generator(unsigned seed, const DrawOptions &options) : options(options), random(seed * 2654435761u + 17), seed(seed) {
  bool isDouble = options.isSmooth || chance(0.75);
  mainFloat = isDouble ? float64 : float32;
  otherFloat = isDouble ? float32 : float64;
}

Program draw(unsigned seed, const DrawOptions &options) { return Generator(seed, options).draw(); }

Program Generator::draw() {
  Program program{seed, {}};
  Scope scope{&program.main, {}};
  scope.derivatives = options.isSmooth; // All of it will be differentiated.
  scope.allowsRank1 = !options.isSmooth;
  addParam(scope, arrayType(mainFloat, someShape(1)));
  addParam(scope, arrayType(mainFloat, someShape()));
  if (!options.isSmooth) {
    addParam(scope, arrayType(int32));
    if (chance(0.5))
      addParam(scope, arrayType(int32, {static_cast<int64_t>(2 + below(2))}));
    if (chance(0.3))
      addParam(scope, arrayType(bool_));
    if (chance(0.4))
      addParam(scope, someType(scope, false));
    for (size_t i = below(3); i > 0; --i)
      addParam(scope, refOf(chance(0.3) ? someType(scope, false) : arrayType(someFloat(), someShape(1))));
  }
  budget = static_cast<int>(options.numSteps) * 3;
  fill(scope, options.numSteps);
  // The last values are results, and all arrays count.
  std::vector<Id> rest, last;
  for (const Name &name : scope.names)
    if (!name.type.isRef) {
      if (name.type.kind == Type::Array)
        rest.push_back(name.id);
      if (name.id >= static_cast<Id>(program.main.params.size()))
        last.push_back(name.id);
    }
  if (options.isSmooth)
    last.clear();
  program.main.results.assign(last.size() > 4 ? last.end() - 4 : last.begin(), last.end());
  program.main.results.push_back(collect(scope, rest));
  return program;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void Generator::emitStep(Scope &scope, Step step) {
  scope.block->steps.push_back(std::move(step));
  --budget;
}

Id Generator::emit(Scope &scope, std::string op, std::vector<Id> args, Type type, std::vector<int64_t> attrs, std::vector<Entry> index) {
  Def def = define(std::move(type));
  emitStep(scope, {std::move(op), std::move(args), {def}, std::move(attrs), std::move(index)});
  show(scope, def);
  return def.id;
}

Id Generator::addParam(Scope &scope, Type type, Access access) {
  Def def = define(std::move(type));
  scope.block->params.push_back(def);
  scope.names.push_back({def.id, def.type, access});
  return def.id;
}

void Generator::emitBounded(Scope &scope, std::string op, std::vector<Id> args, Type type) {
  Def def = define(std::move(type));
  emitStep(scope, {std::move(op), std::move(args), {def}});
  showBounded(scope, def);
}

Id Generator::collect(Scope &scope, const std::vector<Id> &args) { return emit(scope, "collect", args, arrayType(mainFloat)); }

void Generator::showBounded(Scope &scope, const Def &def) {
  if (def.type.isFloat())
    emit(scope, "sin", {def.id}, def.type);
  else
    show(scope, def);
}

Id Generator::need(Scope &scope, const Type &type) {
  if (chance(0.9))
    if (auto name = findValue(scope, [&](const Type &other) { return other == type; }))
      return name->id;
  return make(scope, type);
}

Id Generator::make(Scope &scope, const Type &type) {
  if (type.kind != Type::Array)
    return makeHi(scope, type, [&](const Type &part) { return need(scope, part); });
  if (type.isBool()) {
    if (auto name = findValue(scope, isIndexLike); name && chance(0.8)) {
      Id fitted = name->type.shape == type.shape ? name->id : emit(scope, "fit", {name->id}, arrayType(int32, type.shape));
      return emit(scope, "even", {fitted}, type);
    }
  } else if (auto name = findValue(scope, [&](const Type &other) { return other.kind == Type::Array && (other.isInt() || (type.isFloat() && other.isFloat() && (!options.isSmooth || other.dtype == type.dtype))); });
             name && chance(0.9)) {
    return emit(scope, "fit", {name->id}, type);
  }
  return emit(scope, "constant", {}, type, {static_cast<int64_t>(below(1000))});
}

Id Generator::makeHi(Scope &scope, const Type &type, const std::function<Id(const Type &)> &part) {
  Recipe recipe = recipeOf(type);
  std::vector<Id> parts;
  for (const Type &each : recipe.parts)
    parts.push_back(part(each));
  std::vector<int64_t> attrs;
  if (type.kind == Type::Packed)
    attrs = {flavour(scope)};
  return emit(scope, recipe.op, parts, type, attrs);
}

Id Generator::needStopped(Scope &scope, const Type &type) {
  if (type.kind != Type::Array)
    return makeHi(scope, type, [&](const Type &part) { return needStopped(scope, part); });
  return type.isFloat() ? emit(scope, "stop", {need(scope, type)}, type) : need(scope, type);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Shape Generator::someShape(int leastRank) {
  size_t rank = leastRank + below(3 - leastRank);
  std::vector<int64_t> sizes(rank);
  for (int64_t &size : sizes)
    size = chance(0.02) ? 0 : 2 + below(2);
  return sizes;
}

Type Generator::somePacked() {
  std::vector<int64_t> sizes = someShape(1).vec();
  sizes.back() = std::max<int64_t>(sizes.back(), 2); // There is a largest number of each row.
  return packedType(mainFloat, sizes);
}

Type Generator::someQuantized() {
  const Shape shape = someShape(1);
  std::vector<int64_t> scales(shape.ndim(), 1);
  if (chance(0.8)) { // For each row or column, or one for all.
    scales = shape.vec();
    int64_t &along = scales[below(shape.ndim())];
    along = chance(0.2) ? along : 1;
  }
  return quantizedType(chance(0.4), shape, scales);
}

Type Generator::someType(const Scope &scope, bool needsTangent) {
  switch (below(options.isSmooth ? 9 : 12)) {
  case 0:
  case 1:
    return somePacked();
  case 2:
  case 3: {
    Type tuple{Type::Tuple, mainFloat, {}, {}};
    for (size_t i = 1 + below(2); i > 0; --i)
      tuple.elements.push_back(arrayType(mainFloat, someShape()));
    tuple.elements.push_back(chance(0.4) ? somePacked() : chance(0.3) ? tuple : arrayType(mainFloat, someShape()));
    return tuple;
  }
  case 4:
    if (scope.allowsRank1)
      return {Type::Rank1, float32, {static_cast<int64_t>(2 + below(2)), static_cast<int64_t>(2 + below(2))}, {}};
    break;
  case 5:
    if (!needsTangent)
      return arrayType(int32, someShape());
    break;
  case 6:
    return optionalType(chance(0.5) ? somePacked() : options.isSmooth || chance(0.5) ? arrayType(mainFloat, someShape()) : someQuantized());
  case 9:
  case 10:
    return someQuantized();
  case 11:
    return lowRankType({static_cast<int64_t>(2 + below(2)), static_cast<int64_t>(2 + below(2))}, 1 + below(2));
  }
  return arrayType(someFloat(), someShape());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Scope Generator::inside(const Scope &scope, Block &block) {
  Scope inner = scope;
  inner.block = &block;
  ++inner.depth;
  return inner;
}

void Generator::fill(Scope &scope, size_t numSteps) {
  for (size_t i = 0; i < numSteps && budget > 0; ++i)
    for (int tries = 0; tries < 10 && !drawStep(scope); ++tries) {
    }
}

Name Generator::someResult(Scope &scope, const std::function<bool(const Type &)> &fits) {
  if (auto name = findValue(scope, fits))
    return *name;
  Id id = make(scope, arrayType(mainFloat));
  return {id, arrayType(mainFloat)};
}

bool Generator::drawStep(Scope &scope) {
  struct Kind {
    bool (Generator::*draw)(Scope &);
    int weight;
    bool isNested = false, isSmooth = true;
  };
  static const std::vector<Kind> kinds{
      {&Generator::drawUnary, 5},          {&Generator::drawBinary, 8},     {&Generator::drawProduct, 4},
      {&Generator::drawReduction, 3},      {&Generator::drawMovement, 4},   {&Generator::drawIndexing, 5},
      {&Generator::drawInteger, 3},        {&Generator::drawHi, 5},         {&Generator::drawNewRef, 3},
      {&Generator::drawAccess, 10},        {&Generator::drawFreeze, 1},     {&Generator::drawCall, 3, true},
      {&Generator::drawScan, 5, true},     {&Generator::drawLoop, 3, true}, {&Generator::drawBranch, 3, true},
      {&Generator::drawVmap, 4, true},     {&Generator::drawGrad, 3, true}, {&Generator::drawJvp, 2, true},
      {&Generator::drawVjp, 4, true},      {&Generator::drawRule, 2, true, false},
      {&Generator::drawStash, 3},
  };
  int total = 0;
  auto allowed = [&](const Kind &kind) { return (!kind.isNested || (scope.depth < 3 && budget > 6)) && (kind.isSmooth || !options.isSmooth); };
  for (const Kind &kind : kinds)
    total += allowed(kind) ? kind.weight : 0;
  int number = static_cast<int>(below(total));
  for (const Kind &kind : kinds)
    if (allowed(kind) && (number -= kind.weight) < 0)
      return (this->*kind.draw)(scope);
  return false;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

bool Generator::drawUnary(Scope &scope) {
  auto x = findValue(scope, isFloat);
  if (!x)
    return false;
  if (!options.isSmooth && chance(0.1))
    emit(scope, "stop", {x->id}, x->type);
  else if (x->type.shape.ndim() && chance(0.15))
    emit(scope, "softmax", {x->id}, x->type, {static_cast<int64_t>(below(x->type.shape.ndim()))});
  else
    emit(scope, oneOf<std::string>({"sin", "cos", "tanh", "gauss", "logistic", "root", "negate"}), {x->id}, x->type);
  return true;
}

bool Generator::drawBinary(Scope &scope) {
  auto x = findValue(scope, isFloat);
  if (!x)
    return false;
  if (x->type.shape.ndim() && chance(0.3)) { // Broadcast.
    Shape shape = chance(0.5) ? Shape{} : Shape{x->type.shape[-1]};
    emit(scope, oneOf<std::string>({"times", "average", "difference"}), {x->id, need(scope, arrayType(x->type.dtype, shape))}, x->type);
  } else if (chance(0.15)) {
    emit(scope, "select", {need(scope, arrayType(bool_, x->type.shape)), x->id, need(scope, x->type)}, x->type);
  } else {
    emit(scope, oneOf<std::string>({"times", "average", "difference", "ratio"}), {x->id, need(scope, x->type)}, x->type);
  }
  return true;
}

bool Generator::drawProduct(Scope &scope) {
  auto x = findValue(scope, [](const Type &type) { return type.isFloat() && type.shape.ndim() >= 1 && type.shape.ndim() <= 2; });
  if (!x)
    return false;
  const Shape &shape = x->type.shape;
  DType dtype = x->type.dtype;
  int64_t n = 2 + below(2);
  if (shape.ndim() == 1 && chance(0.4)) {
    emit(scope, "outer", {x->id, need(scope, arrayType(dtype, {n}))}, arrayType(dtype, {shape[0], n}));
    return true;
  }
  bool isMatrix = chance(0.6);
  std::vector<int64_t> result(shape.begin(), shape.end() - 1);
  if (isMatrix)
    result.push_back(n);
  Type right = arrayType(dtype, isMatrix ? Shape{shape[-1], n} : Shape{shape[-1]});
  emit(scope, "matmul", {x->id, need(scope, right)}, arrayType(dtype, result));
  return true;
}

bool Generator::drawReduction(Scope &scope) {
  auto x = findValue(scope, [](const Type &type) { return type.isFloat() && type.shape.ndim() >= 1; });
  if (!x)
    return false;
  int64_t axis = below(x->type.shape.ndim());
  if (chance(0.4)) {
    emit(scope, "cumsum", {x->id}, x->type, {axis, static_cast<int64_t>(below(2))});
  } else if (chance(0.3)) {
    emit(scope, "mean", {x->id}, arrayType(x->type.dtype), {-1});
  } else {
    std::vector<int64_t> sizes = x->type.shape.vec();
    sizes.erase(sizes.begin() + axis);
    emit(scope, "mean", {x->id}, arrayType(x->type.dtype, sizes), {axis});
  }
  return true;
}

bool Generator::drawMovement(Scope &scope) {
  auto x = findValue(scope, [](const Type &type) { return isArray(type) && type.shape.ndim() >= 1; });
  if (!x)
    return false;
  const Shape &shape = x->type.shape;
  int64_t axis = below(shape.ndim());
  switch (below(6)) {
  case 0: {
    std::vector<int64_t> sizes(shape.vec().rbegin(), shape.vec().rend());
    emit(scope, "transpose", {x->id}, arrayType(x->type.dtype, sizes));
    break;
  }
  case 1:
    emit(scope, "flip", {x->id}, x->type, {axis});
    break;
  case 2:
    emit(scope, "roll", {x->id}, x->type, {axis, static_cast<int64_t>(1 + below(2))});
    break;
  case 3: {
    std::vector<int64_t> attrs, sizes;
    for (int64_t size : shape) {
      int64_t start = size ? below(std::min<int64_t>(size, 2)) : 0, stride = 1 + below(2);
      attrs.insert(attrs.end(), {start, size, stride});
      sizes.push_back((size - start + stride - 1) / stride);
    }
    emit(scope, "slice", {x->id}, arrayType(x->type.dtype, sizes), attrs);
    break;
  }
  case 4:
    if (x->type.isBool())
      return false;
    emit(scope, "shift", {x->id}, x->type);
    break;
  default:
    emit(scope, "join", {x->id, need(scope, x->type)}, x->type, {static_cast<int64_t>(below(shape[0] + 1))});
    break;
  }
  return true;
}

std::vector<Entry> Generator::someIndex(Scope &scope, const Shape &shape, Shape &partShape, bool isUnique) {
  std::vector<Entry> index;
  std::vector<int64_t> sizes;
  size_t used = shape.ndim() ? 1 + below(shape.ndim()) : 0;
  bool hasArray = false, hasScalar = false;
  const bool hasStrides = chance(0.5); // Or traced integers: an update of an array takes one of them.
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    int64_t size = shape[axis];
    if (axis >= static_cast<int>(used)) { // Axes that are not named are whole.
      sizes.push_back(size);
      continue;
    }
    switch (below(size ? 5 : 2)) {
    case 0:
      index.push_back({});
      sizes.push_back(size);
      break;
    case 1: {
      int64_t start = size ? below(size) : 0, step = 1 + hasStrides;
      index.push_back({Entry::Slice, start, size, step});
      sizes.push_back((size - start + step - 1) / step);
      break;
    }
    case 2:
      if (!hasScalar && !hasArray && !hasStrides) { // Integer arrays and integers together have rules of their own.
        hasArray = true;
        int64_t count = isUnique ? 2 : 2 + below(2);
        Id ids = isUnique ? -1 : need(scope, arrayType(int32, {count}));
        // A permutation: (constant scalar + 0, 1) % size are two places.
        if (isUnique) {
          Id base = need(scope, arrayType(int32));
          ids = emit(scope, "two_places", {base}, arrayType(int32, {2}), {size});
        } else {
          ids = emit(scope, "modulo", {ids}, arrayType(int32, {count}), {size});
        }
        index.push_back({Entry::At, 0, 0, 1, ids});
        sizes.push_back(count);
        break;
      }
      [[fallthrough]];
    case 3:
      if (!hasArray || hasStrides) {
        hasScalar = true;
        index.push_back({Entry::Number, static_cast<int64_t>(below(size)) - (chance(0.2) ? size : 0), 0, 1});
        break;
      }
      [[fallthrough]];
    default:
      if (hasArray || hasStrides) {
        index.push_back({});
        sizes.push_back(size);
        break;
      }
      hasScalar = true;
      index.push_back({Entry::At, 0, 0, 1, emit(scope, "modulo", {need(scope, arrayType(int32))}, arrayType(int32), {size})});
      break;
    }
  }
  partShape = sizes;
  return index;
}

bool Generator::drawIndexing(Scope &scope) {
  auto x = findValue(scope, [](const Type &type) { return isArray(type) && type.shape.ndim() >= 1; });
  if (!x)
    return false;
  Shape partShape;
  switch (below(5)) {
  case 0: {
    std::vector<Entry> index = someIndex(scope, x->type.shape, partShape, false);
    emit(scope, "pick", {x->id}, arrayType(x->type.dtype, partShape), {}, index);
    break;
  }
  case 1: {
    std::vector<Entry> index = someIndex(scope, x->type.shape, partShape, true);
    emit(scope, "put", {x->id, need(scope, arrayType(x->type.dtype, partShape))}, x->type, {}, index);
    break;
  }
  case 2: {
    if (!x->type.isFloat())
      return false;
    std::vector<Entry> index = someIndex(scope, x->type.shape, partShape, false);
    emit(scope, "accumulate", {x->id, need(scope, arrayType(x->type.dtype, partShape))}, x->type, {}, index);
    break;
  }
  case 3: {
    int64_t axis = below(x->type.shape.ndim()), count = 2 + below(2);
    if (!x->type.shape[axis])
      return false;
    Id ids = emit(scope, "modulo", {need(scope, arrayType(int32, {count}))}, arrayType(int32, {count}), {x->type.shape[axis]});
    std::vector<int64_t> sizes = x->type.shape.vec();
    sizes[axis] = count;
    emit(scope, "take", {x->id, ids}, arrayType(x->type.dtype, sizes), {axis});
    break;
  }
  default: {
    int64_t count = x->type.shape[0] ? 1 + below(x->type.shape[0]) : 0;
    std::vector<int64_t> sizes = x->type.shape.vec();
    sizes[0] = count;
    emit(scope, "window", {x->id, need(scope, arrayType(int32))}, arrayType(x->type.dtype, sizes), {count});
    break;
  }
  }
  return true;
}

bool Generator::drawInteger(Scope &scope) {
  if (auto x = findValue(scope, isFloat); x && x->type.dtype == float64 && mainFloat == float64 && !options.isSmooth && chance(0.1)) {
    emit(scope, "above", {x->id}, arrayType(bool_, x->type.shape));
    return true;
  }
  auto x = findValue(scope, [](const Type &type) { return type.isInt() || type.isBool(); });
  if (!x)
    return false;
  if (x->type.isBool()) {
    emit(scope, "both", {x->id, need(scope, x->type)}, x->type);
    return true;
  }
  switch (below(5)) {
  case 0:
    emit(scope, "less", {x->id, need(scope, x->type)}, arrayType(bool_, x->type.shape));
    break;
  case 1:
    emit(scope, "isum", {x->id}, arrayType(int32));
    break;
  case 2:
    if (!x->type.shape.ndim() || !x->type.shape.size())
      return false;
    emit(scope, "argmax", {x->id}, arrayType(int32));
    break;
  default:
    emit(scope, oneOf<std::string>({"iadd", "imul", "imax"}), {x->id, need(scope, x->type)}, x->type);
    break;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Hi values and refs
//===----------------------------------------------------------------------===//

bool Generator::drawHi(Scope &scope) {
  auto hi = findValue(scope, [&](const Type &type) {
    return type.kind != Type::Array && !(type.kind == Type::Rank1 && !scope.allowsRank1);
  });
  if (!hi || chance(0.4)) {
    Type type = someType(scope, false);
    make(scope, type.kind == Type::Array ? somePacked() : type);
    return true;
  }
  const Type &type = hi->type;
  switch (type.kind) {
  case Type::Packed:
    if (type.shape.ndim() == 2 && chance(0.4))
      emit(scope, "matmul_packed", {need(scope, arrayType(type.dtype, {2, type.shape[0]})), hi->id}, arrayType(type.dtype, {2, type.shape[1]}), {flavour(scope)});
    else if (allowsReverseOnly(scope) || chance(0.7))
      emit(scope, "unpack", {hi->id}, arrayType(type.dtype, type.shape), {flavour(scope)});
    else
      emit(scope, "rescale", {hi->id}, type);
    break;
  case Type::Tuple: {
    int64_t index = below(type.elements.size());
    emit(scope, "get_element", {hi->id}, type.elements[index], {index});
    break;
  }
  case Type::Quantized:
    return drawQuantized(scope, *hi);
  case Type::LowRank:
    return drawLowRank(scope, *hi);
  case Type::Optional:
    return drawOptional(scope, *hi);
  default:
    emitBounded(scope, "matmul_r1", {need(scope, arrayType(float32, {2, type.shape[0]})), hi->id}, arrayType(float32, {2, type.shape[1]}));
    break;
  }
  return true;
}

bool Generator::drawQuantized(Scope &scope, const Name &q) {
  const Shape &shape = q.type.shape;
  auto matrix = [](int64_t m, int64_t n) { return arrayType(float32, {m, n}); };
  switch (shape.ndim() == 2 ? below(5) : 0) {
  case 1:
    emit(scope, "matmul_q", {need(scope, matrix(2, shape[0])), q.id}, matrix(2, shape[1]));
    return true;
  case 2:
    emit(scope, "matmul_q_transposed", {need(scope, matrix(2, shape[1])), q.id}, matrix(2, shape[0]));
    return true;
  case 3:
    emit(scope, "q_matmul", {q.id, need(scope, matrix(shape[1], 2))}, matrix(shape[0], 2));
    return true;
  case 4:
    if (int64_t count = 2 + below(2); shape[0]) {
      Id ids = emit(scope, "modulo", {need(scope, arrayType(int32, {count}))}, arrayType(int32, {count}), {shape[0]});
      emit(scope, "take_q", {q.id, ids}, matrix(count, shape[1]));
      return true;
    }
    return false;
  default:
    emit(scope, "dequantize", {q.id}, arrayType(float32, shape));
    return true;
  }
}

bool Generator::drawLowRank(Scope &scope, const Name &a) {
  const Shape &shape = a.type.shape;
  if (shape.ndim() != 2) { // Many of them: for maps and loops.
    emitBounded(scope, "to_dense", {a.id}, arrayType(float32, shape));
    return true;
  }
  const int64_t rank = a.type.rank;
  switch (below(7)) {
  case 0:
    emitBounded(scope, "matmul_low", {need(scope, arrayType(float32, {2, shape[0]})), a.id}, arrayType(float32, {2, shape[1]}));
    break;
  case 1:
    emitBounded(scope, "low_matmul", {a.id, need(scope, arrayType(float32, {shape[1], 2}))}, arrayType(float32, {shape[0], 2}));
    break;
  case 2: {
    Type other = lowRankType({shape[1], static_cast<int64_t>(2 + below(2))}, 1 + below(2));
    emit(scope, "compose", {a.id, need(scope, other)}, lowRankType({shape[0], other.shape[1]}, std::min(rank, other.rank)));
    break;
  }
  case 3: {
    Type other = lowRankType(shape, 1 + below(2));
    if (rank > 2)
      return false;
    emit(scope, "add_low", {a.id, need(scope, other)}, lowRankType(shape, rank + other.rank));
    break;
  }
  case 4:
    emit(scope, "scale_low", {a.id, need(scope, arrayType(float32))}, a.type);
    break;
  case 5:
    emit(scope, "transpose_low", {a.id}, lowRankType({shape[1], shape[0]}, rank));
    break;
  default: {
    std::vector<Def> factors;
    for (const Type &factor : tangentOf(a.type).elements)
      factors.push_back(define(factor));
    emitStep(scope, {"factors", {a.id}, factors});
    for (const Def &factor : factors)
      showBounded(scope, factor);
  }
  }
  return true;
}

bool Generator::drawOptional(Scope &scope, const Name &o) {
  if (o.type.shape.ndim() || chance(0.2)) {
    emit(scope, "has_value", {o.id}, arrayType(bool_, o.type.shape));
    return true;
  }
  const Type &value = o.type.elements[0];
  if (chance(0.5) || scope.depth >= 3 || budget <= 6) {
    emit(scope, "value_or", {o.id, need(scope, value)}, value);
    return true;
  }
  Step step{"map_optional", {o.id}, {}, {}, {}, {}};
  step.blocks.resize(1);
  Scope inner = inside(scope, step.blocks[0]);
  hideRank1(inner);
  limit(inner, Access::Read); // The function is traced for its type, too.
  addParam(inner, value);
  fillSome(inner);
  Name result = someResult(inner, [](const Type &type) { return type.kind != Type::Rank1; });
  step.blocks[0].results.push_back(result.id);
  step.defs.push_back(define(optionalType(result.type)));
  return close(scope, std::move(step));
}

bool Generator::drawNewRef(Scope &scope) {
  if (chance(0.1)) {
    Type type = arrayType(someFloat(), someShape());
    Id value = need(scope, type); // What an empty ref holds is not to be read.
    Id ref = emit(scope, "empty_ref", {}, refOf(type));
    emitStep(scope, {"set", {ref, value}, {}});
    return true;
  }
  auto value = findValue(scope, [&](const Type &) { return true; });
  if (!value)
    return false;
  emit(scope, "new_ref", {value->id}, refOf(value->type));
  return true;
}

bool Generator::drawAccess(Scope &scope) {
  auto ref = findRef(scope, Access::Read);
  if (!ref)
    return false;
  Type held = heldBy(ref->type);
  bool isWhole = held.kind != Type::Array || chance(0.4);
  size_t kind = ref->access == Access::Read ? 0 : below(4);
  if (kind == 3 && held.kind != Type::Array && held.kind != Type::Tuple)
    kind = 1;
  if (kind == 3 && held.kind == Type::Tuple && (!hasTangent(held) || !(tangentOf(held) == held)))
    kind = 1;
  if (kind == 3 && !held.isFloat() && held.kind == Type::Array)
    kind = 1; // Integers would grow.
  std::vector<Entry> index;
  Type part = held;
  if (!isWhole)
    index = someIndex(scope, held.shape, part.shape, kind == 1 || kind == 2);
  if (kind == 0) {
    emit(scope, "get", {ref->id}, part, {}, index);
    return true;
  }
  Id value = ref->access == Access::Write ? need(scope, part) : needStopped(scope, part);
  if (kind == 2)
    emit(scope, "swap", {ref->id, value}, part, {}, index);
  else
    emitStep(scope, {kind == 1 ? "set" : "add", {ref->id, value}, {}, {}, index});
  return true;
}

bool Generator::drawFreeze(Scope &scope) {
  auto ref = find(scope, [&](const Name &name) { return name.type.isRef && name.owner == scope.block; });
  if (!ref)
    return false;
  emit(scope, "freeze", {ref->id}, heldBy(ref->type));
  hide(scope, ref->id);
  return true;
}

} // namespace fuzz
