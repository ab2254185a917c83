// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Program.h"

#include <algorithm>
#include <set>

namespace fuzz {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string str(const Type &type) {
  std::string text;
  switch (type.kind) {
  case Type::Array:
    text = std::string(hjx::short_name(type.dtype)) + (type.shape.ndim() ? hjx::to_string(type.shape) : "");
    break;
  case Type::Packed:
    text = "packed{" + std::string(hjx::short_name(type.dtype)) + hjx::to_string(type.shape) + "}";
    break;
  case Type::Rank1:
    text = "r1" + hjx::to_string(type.shape);
    break;
  case Type::Tuple:
    for (const Type &element : type.elements)
      text += (text.empty() ? "" : ",") + str(element);
    text = "tup{" + text + "}";
    break;
  case Type::Quantized:
    text = (type.isInt4 ? "int4{f32" : "int8{f32") + hjx::to_string(type.shape) + "," + hjx::to_string(type.scales) + "}";
    break;
  case Type::LowRank:
    text = "low_rank{f32" + hjx::to_string(type.shape) + "," + std::to_string(type.rank) + "}";
    break;
  case Type::Optional:
    text = "optional" + (type.shape.ndim() ? hjx::to_string(type.shape) : "") + "{" + str(type.elements[0]) + "}";
    break;
  }
  return type.isRef ? "ref{" + text + "}" : text;
}

Type arrayType(hjx::DType dtype, hjx::Shape shape) { return {Type::Array, dtype, std::move(shape), {}}; }
Type packedType(hjx::DType dtype, hjx::Shape shape) { return {Type::Packed, dtype, std::move(shape), {}}; }
Type quantizedType(bool isInt4, hjx::Shape shape, hjx::Shape scales) {
  Type type{Type::Quantized, hjx::float32, std::move(shape), {}};
  type.isInt4 = isInt4;
  type.scales = std::move(scales);
  return type;
}
Type lowRankType(hjx::Shape shape, int64_t rank) {
  Type type{Type::LowRank, hjx::float32, std::move(shape), {}};
  type.rank = rank;
  return type;
}
Type optionalType(Type value) { return {Type::Optional, value.dtype, {}, {value}}; }
Type refOf(Type type) {
  type.isRef = true;
  return type;
}
Type heldBy(Type ref) {
  ref.isRef = false;
  return ref;
}

/// The type of [.., first, second] for a matrix [.., m, n].
static Type factorType(const Type &matrix, int64_t first, int64_t second) {
  std::vector<int64_t> sizes(matrix.shape.begin(), matrix.shape.end() - 2);
  sizes.insert(sizes.end(), {first, second});
  return arrayType(hjx::float32, sizes);
}
static Type columnsOf(const Type &matrix) { return factorType(matrix, matrix.shape[-2], matrix.rank); }
static Type rowsOf(const Type &matrix) { return factorType(matrix, matrix.rank, matrix.shape[-1]); }

Recipe recipeOf(const Type &type) {
  switch (type.kind) {
  case Type::Packed:
    return {"pack", {arrayType(type.dtype, type.shape)}};
  case Type::Rank1:
    return {"outer_r1", {arrayType(hjx::float32, {type.shape[0]}), arrayType(hjx::float32, {type.shape[1]})}};
  case Type::Quantized: // The numbers as integers, which no rounding moves, and what brings the tangent.
    return {"quantize", {arrayType(hjx::int32, type.shape), arrayType(hjx::float32, type.shape)}};
  case Type::LowRank:
    return {"low_rank", {columnsOf(type), rowsOf(type)}};
  case Type::Optional:
    return {"optional", {arrayType(hjx::bool_, type.shape), type.elements[0]}};
  default:
    return {"make_tup", type.elements};
  }
}

bool hasTangent(const Type &type) {
  if (!type.elements.empty())
    return std::all_of(type.elements.begin(), type.elements.end(), hasTangent);
  return type.kind != Type::Array || type.isFloat();
}

static Type mapElements(Type type, const std::function<Type(const Type &)> &f) {
  for (Type &element : type.elements)
    element = f(element);
  return type;
}

Type tangentOf(const Type &type) {
  switch (type.kind) {
  case Type::Tuple:
    return mapElements(type, tangentOf);
  case Type::Optional:
    return tangentOf(type.elements[0]);
  case Type::LowRank:
    return {Type::Tuple, hjx::float32, {}, {columnsOf(type), rowsOf(type)}};
  default:
    return arrayType(type.dtype, type.shape);
  }
}

bool canLead(const Type &type) {
  if (!std::all_of(type.elements.begin(), type.elements.end(), canLead))
    return false;
  return type.kind != Type::Rank1 && type.shape.ndim() < (type.kind == Type::LowRank ? 4 : 3);
}

static hjx::Shape withLeading(const hjx::Shape &shape, int64_t size) {
  std::vector<int64_t> sizes = shape.vec();
  sizes.insert(sizes.begin(), size);
  return sizes;
}
static hjx::Shape withoutLeading(const hjx::Shape &shape) { return hjx::Shape(shape.begin() + 1, shape.end()); }

Type withLeading(const Type &type, int64_t size) {
  Type result = mapElements(type, [&](const Type &element) { return withLeading(element, size); });
  if (type.kind != Type::Tuple)
    result.shape = withLeading(type.shape, size);
  if (type.kind == Type::Quantized)
    result.scales = withLeading(type.scales, size);
  return result;
}

int64_t leadingSize(const Type &type) {
  if (type.kind == Type::Tuple) {
    int64_t size = type.elements.empty() ? -1 : leadingSize(type.elements[0]);
    for (const Type &element : type.elements)
      if (leadingSize(element) != size)
        return -1;
    return size;
  }
  // A packed value keeps a row, as one of int4 does; a matrix stays one.
  int minimum = type.kind == Type::Packed || type.isInt4 ? 2 : type.kind == Type::LowRank ? 3 : 1;
  if (type.kind == Type::Rank1 || type.shape.ndim() < minimum || (type.kind == Type::Quantized && type.scales[0] != type.shape[0]) ||
      (type.kind == Type::Optional && leadingSize(type.elements[0]) != type.shape[0]))
    return -1;
  return type.shape[0];
}

Type withoutLeading(const Type &type) {
  Type result = mapElements(type, [](const Type &element) { return withoutLeading(element); });
  if (type.kind != Type::Tuple)
    result.shape = withoutLeading(type.shape);
  if (type.kind == Type::Quantized)
    result.scales = withoutLeading(type.scales);
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string name(Id id) { return "v" + std::to_string(id); }

template <typename List, typename F>
static std::string join(const List &list, const F &f) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "" : ", ") + f(item);
  return text;
}

static std::string str(const Entry &entry) {
  switch (entry.kind) {
  case Entry::Every:
    return ":";
  case Entry::Number:
    return std::to_string(entry.start);
  case Entry::Slice:
    return std::to_string(entry.start) + ":" + std::to_string(entry.stop) + ":" + std::to_string(entry.step);
  case Entry::At:
    return name(entry.id);
  }
  return "";
}

static std::string typed(const Def &def) { return name(def.id) + ": " + str(def.type); }

static void print(const Block &block, std::string indent, std::string &text) {
  for (const Step &step : block.steps) {
    text += indent + join(step.defs, typed) + (step.defs.empty() ? "" : " = ") + step.op + "(" + join(step.args, name) + ")";
    if (!step.index.empty())
      text += "[" + join(step.index, [](const Entry &entry) { return str(entry); }) + "]";
    if (!step.attrs.empty())
      text += " <" + join(step.attrs, [](int64_t attr) { return std::to_string(attr); }) + ">";
    for (const Block &inner : step.blocks) {
      text += " {(" + join(inner.params, typed) + ") ->\n";
      print(inner, indent + "  ", text);
      text += indent + "}";
    }
    text += "\n";
  }
  text += indent + "return " + join(block.results, name) + "\n";
}

std::string str(const Program &program) {
  std::string text = "main(" + join(program.main.params, typed) + "):\n";
  print(program.main, "  ", text);
  return text;
}

size_t numSteps(const Block &block) {
  size_t count = block.steps.size();
  for (const Step &step : block.steps)
    for (const Block &inner : step.blocks)
      count += numSteps(inner);
  return count;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void forEachUse(const Step &step, const std::function<void(Id)> &visit) {
  for (Id id : step.args)
    visit(id);
  for (const Entry &entry : step.index)
    if (entry.kind == Entry::At)
      visit(entry.id);
  for (const Block &block : step.blocks)
    forEachUse(block, visit);
}

void forEachUse(const Block &block, const std::function<void(Id)> &visit) {
  for (const Step &step : block.steps)
    forEachUse(step, visit);
  for (Id id : block.results)
    visit(id);
}

static void collectDefs(const Block &block, std::map<Id, Type> &defs) {
  for (const Def &def : block.params)
    defs[def.id] = def.type;
  for (const Step &step : block.steps) {
    for (const Def &def : step.defs)
      defs[def.id] = def.type;
    for (const Block &inner : step.blocks)
      collectDefs(inner, defs);
  }
}

std::map<Id, Type> typesOf(const Program &program) {
  std::map<Id, Type> defs;
  collectDefs(program.main, defs);
  return defs;
}

std::vector<Id> externalRefs(const Block &block, const std::map<Id, Type> &types) {
  std::map<Id, Type> own;
  collectDefs(block, own);
  std::set<Id> refs;
  forEachUse(block, [&](Id id) {
    if (types.at(id).isRef && !own.count(id))
      refs.insert(id);
  });
  return {refs.begin(), refs.end()};
}

static std::string findBrokenName(const Block &block, std::set<Id> visible, std::set<Id> &all) {
  auto define = [&](const Def &def) { return all.insert(def.id).second && visible.insert(def.id).second; };
  for (const Def &def : block.params)
    if (!define(def))
      return name(def.id) + " is defined twice";
  for (const Step &step : block.steps) {
    for (Id id : step.args)
      if (!visible.count(id))
        return name(id) + " is used before it is defined";
    for (const Entry &entry : step.index)
      if (entry.kind == Entry::At && !visible.count(entry.id))
        return name(entry.id) + " is used before it is defined";
    for (const Block &inner : step.blocks)
      if (std::string broken = findBrokenName(inner, visible, all); !broken.empty())
        return broken;
    for (const Def &def : step.defs)
      if (!define(def))
        return name(def.id) + " is defined twice";
    if (step.op == "freeze")
      visible.erase(step.args[0]);
  }
  for (Id id : block.results)
    if (!visible.count(id))
      return name(id) + " is returned before it is defined";
  return "";
}

std::string findBrokenName(const Program &program) {
  std::set<Id> all;
  return findBrokenName(program.main, {}, all);
}

} // namespace fuzz
