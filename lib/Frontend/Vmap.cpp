// SPDX-License-Identifier: Apache-2.0
//
// vmap: axes of trees, and the request.
#include "lib/Frontend/Request.h"

#include <hjx/vmap.h>

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// AxisReader: walks a tree beside the tree of its axes.
//===----------------------------------------------------------------------===//

AxisReader::AxisReader(const AxisTree &axes, const char *what, Where where) : current(&axes), what(what), where(where) {}
AxisReader::~AxisReader() = default;

void AxisReader::leaf(Array &) {
  if (current->isList)
    fail(where, "vmap", std::string("expected one axis in ") + what + " for an array, got a list of " +
                            std::to_string(current->children.size()),
         "write one number or hjx::none for each array");
  axes.push_back(current->axis.value_or(kUnmapped));
}

void AxisReader::begin(NodeKind kind, const char *type, size_t count) {
  if (kind == NodeKind::Struct || kind == NodeKind::Optional || !current->isList)
    count = current->children.size(); // Checked when the node ends.
  if (current->isList && current->children.size() != count)
    fail(where, "vmap", std::string("expected ") + std::to_string(count) + " entries in " + what + " for a " + type + ", got " +
                            std::to_string(current->children.size()),
         "give one entry for each, or one axis for all");
  levels.push_back({current});
}

void AxisReader::enterChild() {
  Level &level = levels.back();
  if (!level.tree->isList)
    return;
  if (level.next >= level.tree->children.size())
    fail(where, "vmap", "expected an entry in " + std::string(what) + " for each field of a struct, got " + std::to_string(level.next),
         "give one entry for each field, or one axis for all");
  current = &level.tree->children[level.next++];
}
void AxisReader::child(size_t) { enterChild(); }
void AxisReader::child(const char *) { enterChild(); }
void AxisReader::child(const std::string &) { enterChild(); }

void AxisReader::end() {
  const Level &level = levels.back();
  if (level.tree->isList && level.next < level.tree->children.size())
    fail(where, "vmap", "expected " + std::to_string(level.next) + " entries in " + what + " for a struct, got " +
                            std::to_string(level.tree->children.size()),
         "give one entry for each field, or one axis for all");
  current = level.tree;
  levels.pop_back();
}

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

namespace {

struct MappedArguments {
  std::vector<Aval> slices; // Types of one element of the batch.
  SmallVector<int64_t> axes;
  int64_t size = -1;
};

MappedArguments readMapped(const Call &call, const ArrayList &args, const std::vector<int> &inAxes,
                           const std::vector<std::string> &paths) {
  MappedArguments mapped;
  size_t first = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    Aval aval = avalOf(args[i], call.name(), call.where());
    if (inAxes[i] == kUnmapped) {
      mapped.axes.push_back(-1);
      mapped.slices.push_back(aval);
      continue;
    }
    if (!aval.isArray())
      call.fail("expected hjx::none for " + paths[i] + ", got the axis " + std::to_string(inAxes[i]) + " for the non-array type " +
                    describe(aval),
                "share it");
    int64_t axis = normalizeAxis(call, inAxes[i], aval.shape.ndim(), paths[i] + ", " + describe(aval));
    int64_t size = aval.shape[axis];
    if (mapped.size >= 0 && size != mapped.size)
      call.fail("expected mapped axes of one size, got " + std::to_string(mapped.size) + " in " + paths[first] + " (" +
                    describe(args[first]) + ", axis " + std::to_string(mapped.axes[first]) + ") and " + std::to_string(size) +
                    " in " + paths[i] + " (" + describe(aval) + ", axis " + std::to_string(axis) + ")",
                "map another axis, or share an argument with hjx::none");
    if (mapped.size < 0)
      first = i;
    mapped.size = size;
    mapped.axes.push_back(axis);
    std::vector<int64_t> shape = aval.shape.vec();
    shape.erase(shape.begin() + axis);
    mapped.slices.push_back({aval.dtype, shape, aval.isWeak});
  }
  if (mapped.size < 0)
    call.fail("expected at least one mapped argument, got none", "give one of them an axis in in_axes");
  return mapped;
}

} // namespace

ArrayList vmapFlat(Where where, const ArrayList &args, const std::vector<int> &inAxes, const std::vector<std::string> &paths,
                   const std::vector<int> &outAxes, FlatFunction f) {
  MappedArguments mapped = readMapped(Call("vmap", where), args, inAxes, paths);
  return stage("vmap", where, args, [&](const ArrayList &args) {
    OpScope op("vmap", where);
    TracedFunction traced = op.session().recordFunction("fn", mapped.slices, f, op);
    SmallVector<Value> operands = operandsOf(op, args, traced);
    SmallVector<int64_t> in(mapped.axes), out;
    in.resize(operands.size(), -1); // Captures are shared.
    SmallVector<mlir::Type> types;
    std::vector<Aval> avals = traced.results;
    for (size_t i = 0; i < avals.size(); ++i) {
      if (outAxes[i] == kUnmapped) {
        out.push_back(-1);
      } else {
        if (!avals[i].isArray())
          op.fail("expected hjx::none for a result, got the axis " + std::to_string(outAxes[i]) + " for the non-array type " +
                      describe(avals[i]),
                  "return its components");
        int64_t rank = avals[i].shape.ndim() + 1;
        out.push_back(normalizeAxis(op, outAxes[i], rank, "a result of " + plural(rank, "axis", "axes")));
        std::vector<int64_t> shape = avals[i].shape.vec();
        shape.insert(shape.begin() + out.back(), mapped.size);
        avals[i].shape = shape;
      }
      types.push_back(typeOf(op, avals[i]));
    }
    auto vmap = ir::VmapOp::create(op.builder(), types, traced.name(), operands, in, out, mapped.size);
    return wrapAll(op, vmap.getResults(), avals);
  });
}

} // namespace hjx::detail
