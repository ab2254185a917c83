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
  }
  return type.isRef ? "ref{" + text + "}" : text;
}

Type arrayType(hjx::DType dtype, hjx::Shape shape) { return {Type::Array, dtype, std::move(shape), {}}; }
Type packedType(hjx::DType dtype, hjx::Shape shape) { return {Type::Packed, dtype, std::move(shape), {}}; }
Type refOf(Type type) {
  type.isRef = true;
  return type;
}
Type heldBy(Type ref) {
  ref.isRef = false;
  return ref;
}

bool hasTangent(const Type &type) {
  if (type.kind == Type::Tuple)
    return std::all_of(type.elements.begin(), type.elements.end(), hasTangent);
  return type.kind != Type::Array || type.isFloat();
}

static Type mapElements(Type type, const std::function<Type(const Type &)> &f) {
  for (Type &element : type.elements)
    element = f(element);
  return type;
}

Type tangentOf(const Type &type) {
  return type.kind == Type::Tuple ? mapElements(type, tangentOf) : arrayType(type.dtype, type.shape);
}

bool canLead(const Type &type) {
  if (type.kind == Type::Tuple)
    return std::all_of(type.elements.begin(), type.elements.end(), canLead);
  return type.kind != Type::Rank1 && type.shape.ndim() < 3;
}

Type withLeading(const Type &type, int64_t size) {
  if (type.kind == Type::Tuple)
    return mapElements(type, [&](const Type &element) { return withLeading(element, size); });
  Type result = type;
  std::vector<int64_t> sizes = type.shape.vec();
  sizes.insert(sizes.begin(), size);
  result.shape = sizes;
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
  int minimum = type.kind == Type::Packed ? 2 : 1; // A packed value keeps a row.
  return type.kind == Type::Rank1 || type.shape.ndim() < minimum ? -1 : type.shape[0];
}

Type withoutLeading(const Type &type) {
  if (type.kind == Type::Tuple)
    return mapElements(type, withoutLeading);
  Type result = type;
  result.shape = hjx::Shape(type.shape.begin() + 1, type.shape.end());
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
