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

void AxisReader::leaf(Array &leaf) {
  const std::shared_ptr<ArrayImpl> &impl = Access::get(leaf);
  if (impl && impl->hi) {
    if (current->axis)
      fail(where, "vmap", "expected hjx::none or a mapping spec in " + std::string(what) + ", got the axis " +
                              std::to_string(*current->axis) + " for the non-array type " + describe(leaf),
           std::string(what) == "out_axes"
               ? "pass hjx::infer, which maps it at its leading axis, or the spec that the author of the type defines"
               : "give the spec that the author of the type defines, such as a string; hjx::AxisSpec(0) if it is a number");
    specs.push_back(specOfValue(*current));
    return;
  }
  if (current->isList)
    fail(where, "vmap", std::string("expected one axis in ") + what + " for an array, got a list of " +
                            std::to_string(current->children.size()),
         "write one number or hjx::none for each array");
  specs.push_back(specOfValue(*current));
}

/// A list is the spec of one value.
AxisSpec AxisReader::specOfValue(const AxisTree &axes) const {
  if (axes.isList) {
    std::vector<AxisSpec> list;
    for (const AxisTree &child : axes.children)
      list.push_back(specOfValue(child));
    return list;
  }
  return axes.spec ? *axes.spec : axes.axis ? AxisSpec(*axes.axis) : AxisSpec();
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
  SmallVector<Attribute> specs;
  int64_t size = -1;
};

/// The sizes of mapped axes of arrays agree, and tell those of other values.
int64_t sizeOfMapped(const Call &call, const ArrayList &args, const std::vector<AxisSpec> &inAxes,
                     const std::vector<std::string> &paths, std::optional<int64_t> given) {
  int64_t size = given.value_or(-1), first = -1;
  bool isMapped = false;
  for (size_t i = 0; i < args.size(); ++i) {
    Aval aval = avalOf(args[i], call.name(), call.where());
    isMapped |= !inAxes[i].is_none();
    if (inAxes[i].is_none() || aval.hi)
      continue;
    if (!inAxes[i].is_axis())
      call.fail("expected an axis or hjx::none for " + paths[i] + ", " + describe(aval) + ", got the spec " + to_string(inAxes[i]),
                "specs of other kinds are for hi-types");
    int64_t axis = normalizeAxis(call, inAxes[i].axis(), aval.shape.ndim(), paths[i] + ", " + describe(aval));
    int64_t own = aval.shape[axis];
    if (size >= 0 && own != size)
      call.fail("expected mapped axes of one size, got " + std::to_string(size) +
                    (first < 0 ? " as axis_size"
                               : " in " + paths[first] + " (" + describe(args[first]) + ", axis " +
                                     std::to_string(normalizeAxis(call, inAxes[first].axis(),
                                                                  avalOf(args[first], call.name(), call.where()).shape.ndim(), "")) +
                                     ")") +
                    " and " + std::to_string(own) + " in " + paths[i] + " (" + describe(aval) + ", axis " + std::to_string(axis) + ")",
                "map another axis, or share an argument with hjx::none");
    if (size < 0)
      first = i;
    size = own;
  }
  if (!isMapped)
    call.fail("expected at least one mapped argument, got none", "give one of them an axis in in_axes");
  if (size < 0)
    call.fail("expected axis_size, since none of the mapped arguments is an array", "pass it after out_axes: vmap(f, in_axes, out_axes, hjx::AxisSize{n})");
  return size;
}

/// An axis of an array counted from 0; the spec of another value as it is.
Attribute specOf(OpScope &op, const Aval &aval, const AxisSpec &spec, int64_t rank, const std::string &what) {
  if (aval.hi || spec.is_none())
    return attributeOf(spec, &op.context());
  if (!spec.is_axis())
    op.fail("expected an axis or hjx::none for " + what + ", got the spec " + to_string(spec), "specs of other kinds are for hi-types");
  return op.builder().getI64IntegerAttr(normalizeAxis(op, spec.axis(), rank, what));
}

/// The type without, or with, the mapped axis.
Aval changeRank(OpScope &op, const Aval &aval, int64_t size, Attribute spec, decltype(ir::decRank) &change) {
  auto type = change(typeOf(op, aval), size, spec, [&] { return emitError(op.builder().getLoc()); });
  if (failed(type))
    op.failWithDiagnostics();
  return avalOf(*type, aval.isWeak);
}

/// Which results of `function` may depend on arguments that are mapped. A ref depends on what is
/// written into it.
SmallVector<bool> dependentResults(func::FuncOp function, ArrayRef<Attribute> in, MLIRContext *context) {
  llvm::DenseSet<Value> mapped;
  auto isMapped = [&](Value value) { return mapped.contains(value); };
  Attribute shared = attributeOf(AxisSpec(), context);
  for (auto [argument, spec] : llvm::zip_equal(function.getArguments(), in))
    if (spec != shared)
      mapped.insert(argument);
  for (Operation &op : function.front().without_terminator()) {
    if (llvm::none_of(op.getOperands(), isMapped))
      continue;
    mapped.insert_range(op.getResults());
    for (Value operand : op.getOperands())
      if (isa<ir::RefType>(operand.getType()))
        mapped.insert(operand);
  }
  return llvm::map_to_vector(function.front().getTerminator()->getOperands(), isMapped);
}

/// The out spec that stands for `infer`.
AxisSpec inferredSpec(OpScope &op, const Aval &aval, bool isDependent) {
  if (!isDependent || !aval.hi)
    return isDependent ? AxisSpec(0) : AxisSpec();
  auto at = [&] { return emitError(op.builder().getLoc()); };
  auto leading = ir::leadingAxisSpec(typeOf(op, aval), at);
  auto spec = failed(leading) ? FailureOr<AxisSpec>() : axisSpecOf(*leading, at);
  if (failed(spec))
    op.failWithDiagnostics();
  return *spec;
}

MappedArguments readMapped(OpScope &op, const ArrayList &args, const std::vector<AxisSpec> &inAxes,
                           const std::vector<std::string> &paths, int64_t size) {
  MappedArguments mapped{.size = size};
  for (size_t i = 0; i < args.size(); ++i) {
    Aval aval = avalOf(args[i], op.name(), op.where());
    mapped.specs.push_back(specOf(op, aval, inAxes[i], aval.shape.ndim(), paths[i]));
    mapped.slices.push_back(inAxes[i].is_none() ? aval : changeRank(op, aval, size, mapped.specs.back(), ir::decRank));
  }
  return mapped;
}

} // namespace

ArrayList vmapFlat(Where where, const ArrayList &args, const std::vector<AxisSpec> &inAxes, const std::vector<std::string> &paths,
                   const std::vector<AxisSpec> &outAxes, std::optional<int64_t> axisSize, FlatFunction f) {
  for (const AxisSpec &spec : inAxes)
    if (spec.is_infer())
      fail(where, "vmap", "expected an axis, a mapping spec or hjx::none in in_axes, got infer", "infer is for out_axes");
  int64_t size = sizeOfMapped(Call("vmap", where), args, inAxes, paths, axisSize);
  return stage("vmap", where, args, [&](const ArrayList &args) {
    OpScope op("vmap", where);
    MappedArguments mapped = readMapped(op, args, inAxes, paths, size);
    TracedFunction traced = op.session().recordFunction("fn", mapped.slices, f, op, paths);
    SmallVector<mlir::Value> operands = operandsOf(op, args, traced, paths);
    SmallVector<Attribute> in(mapped.specs), out;
    in.resize(operands.size(), attributeOf(AxisSpec(), &op.context())); // Captures are shared.
    std::vector<Aval> avals = traced.results;
    SmallVector<bool> isDependent = dependentResults(traced.function, in, &op.context());
    for (size_t i = 0; i < avals.size(); ++i) {
      int64_t rank = avals[i].shape.ndim() + 1;
      AxisSpec spec = outAxes[i].is_infer() ? inferredSpec(op, avals[i], isDependent[i]) : outAxes[i];
      out.push_back(specOf(op, avals[i], spec, rank, "a result of " + plural(rank, "axis", "axes")));
      if (!spec.is_none())
        avals[i] = changeRank(op, avals[i], size, out.back(), ir::incRank);
    }
    auto vmap = ir::VmapOp::create(op.builder(), typesOf(op, avals), symbolOf(traced.function), operands,
                                   op.builder().getArrayAttr(in), op.builder().getArrayAttr(out), op.builder().getI64IntegerAttr(size));
    return wrapAll(op, vmap.getResults(), avals);
  }, paths);
}

} // namespace hjx::detail
