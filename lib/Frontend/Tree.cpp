// SPDX-License-Identifier: Apache-2.0
//
// The structure of trees: paths, equality, the first difference.
#include "hjx/detail/flat.h"

#include "lib/Frontend/ArrayImpl.h"

using namespace hjx;
using namespace hjx::detail;

TreeVisitor::~TreeVisitor() = default;

//===----------------------------------------------------------------------===//
// StructureReader
//===----------------------------------------------------------------------===//

StructureReader::StructureReader(std::string root) : path(std::move(root)) {}
StructureReader::~StructureReader() = default;

void StructureReader::add(std::string what, bool isLeaf) { structure.entries.push_back({path, std::move(what), isLeaf}); }

void StructureReader::leaf(Array &) { add("an array", /*isLeaf=*/true); }
void StructureReader::integer(int64_t value) { add(std::to_string(value)); }
void StructureReader::real(double value) { add(std::to_string(value)); }
void StructureReader::text(std::string_view value) { add("\"" + std::string(value) + "\""); }

void StructureReader::begin(NodeKind kind, const char *type, size_t count) {
  switch (kind) {
  case NodeKind::Struct:
    add(type);
    break;
  case NodeKind::Optional:
    add(count ? "an optional with value" : "an optional without value");
    break;
  default:
    add("a " + std::string(type) + " of " + std::to_string(count));
  }
  lengths.push_back(path.size());
}

// A child's name replaces that of the child before it.
void StructureReader::child(size_t index) {
  path.resize(lengths.back());
  path += "[" + std::to_string(index) + "]";
}

void StructureReader::child(const char *field) {
  path.resize(lengths.back());
  path += path.empty() ? field : "." + std::string(field);
}

static bool isIdentifier(const std::string &key) {
  for (char c : key)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
      return false;
  return !key.empty() && !std::isdigit(static_cast<unsigned char>(key.front()));
}

void StructureReader::child(const std::string &key) {
  if (isIdentifier(key))
    return child(key.c_str());
  path.resize(lengths.back());
  path += "[\"" + key + "\"]";
}

void StructureReader::end() {
  path.resize(lengths.back());
  lengths.pop_back();
}

//===----------------------------------------------------------------------===//
// TreeDef
//===----------------------------------------------------------------------===//

int TreeDef::num_leaves() const {
  int count = 0;
  for (const Entry &entry : entries)
    count += entry.isLeaf;
  return count;
}

static std::string print(const TreeDef::Entry &entry) {
  return (entry.path.empty() ? "" : entry.path + ": ") + entry.what;
}

std::string TreeDef::str() const {
  std::string text;
  for (const Entry &entry : entries)
    text += print(entry) + "\n";
  return text;
}

std::string TreeDef::difference(const TreeDef &other) const {
  for (size_t i = 0; i < std::max(entries.size(), other.entries.size()); ++i) {
    if (i >= entries.size())
      return "nothing against " + print(other.entries[i]);
    if (i >= other.entries.size())
      return print(entries[i]) + " against nothing";
    if (entries[i] == other.entries[i])
      continue;
    if (entries[i].path == other.entries[i].path)
      return print(entries[i]) + " against " + other.entries[i].what;
    return print(entries[i]) + " against " + print(other.entries[i]);
  }
  return "";
}

void detail::checkSameStructure(const TreeDef &expected, const TreeDef &got, const char *op, const std::string &what,
                                Where where) {
  std::string difference = expected.difference(got);
  if (!difference.empty())
    fail(where, op, "expected one structure of " + what + ", they differ at " + difference,
         "use the same containers, lengths, numbers and strings in both");
}

void detail::checkLeafCount(size_t expected, size_t got, Where where) {
  if (expected != got)
    fail(where, "tree_unflatten", "expected " + std::to_string(expected) + " arrays, got " + std::to_string(got),
         "take the arrays from tree_leaves of an equal tree");
}

std::vector<std::string> detail::pathsOf(const TreeDef &structure) {
  std::vector<std::string> paths;
  for (const TreeDef::Entry &entry : structure.entries)
    if (entry.isLeaf)
      paths.push_back(entry.path);
  return paths;
}
