// SPDX-License-Identifier: Apache-2.0
//
// vmap: a function of single values as a function of batches.
//
//   auto dots = vmap(dot, {0, none});            // first argument mapped at axis 0, second shared
//   auto f = vmap(model, {{0, none}, 1}, 2);      // a tree of axes where arguments are trees
#pragma once

#include <hjx/axis_spec.h>
#include <hjx/detail/flat.h>

namespace hjx {

/// Mapped axes of a tree: one for all of its leaves, or one entry for each child. Fields of
/// structs count in the order of HJX_TREE, map entries by key. A value of a hi-type takes a spec
/// of its author's: a string, a list, or any AxisSpec; not a plain axis.
class AxisTree {
public:
  AxisTree(int axis) : axis(axis) {}
  AxisTree(NotMapped) {}
  AxisTree(Inferred) : spec(AxisSpec(infer)) {}
  AxisTree(AxisSpec spec) : spec(std::move(spec)) {}
  AxisTree(const char *spec) : spec(spec) {}
  AxisTree(std::initializer_list<AxisTree> children) : children(children), isList(true) {}

  std::optional<int> axis;
  std::optional<AxisSpec> spec;
  std::vector<AxisTree> children;
  bool isList = false;
};

namespace detail {

/// The spec of each leaf of a tree.
class HJX_API AxisReader final : public TreeVisitor {
public:
  /// `what` names the argument in messages: "in_axes".
  AxisReader(const AxisTree &axes, const char *what, Where where);
  ~AxisReader() override;
  void leaf(Array &array) override;
  void begin(NodeKind kind, const char *type, size_t count) override;
  void child(size_t index) override;
  void child(const char *field) override;
  void child(const std::string &key) override;
  void end() override;
  std::vector<AxisSpec> specs;

private:
  void enterChild();
  AxisSpec specOfValue(const AxisTree &axes) const;
  struct Level {
    const AxisTree *tree;
    size_t next = 0;
  };
  std::vector<Level> levels;
  const AxisTree *current;
  const char *what;
  Where where;
};

HJX_API ArrayList vmapFlat(Where where, const ArrayList &args, const std::vector<AxisSpec> &inAxes,
                           const std::vector<std::string> &paths, const std::vector<AxisSpec> &outAxes,
                           std::optional<int64_t> size, FlatFunction f);

template <typename F>
class Vmapped : public Transformed<Vmapped<F>, F> {
public:
  Vmapped(F f, AxisTree inAxes, AxisTree outAxes, std::optional<int64_t> size, Where made)
      : Vmapped::Transformed(made), f(std::move(f)), inAxes(std::move(inAxes)), outAxes(std::move(outAxes)), size(size) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    AxisReader in(inAxes, "in_axes", where);
    walk(tuple, in);
    std::vector<AxisSpec> out;
    Flattened<F, ArgTuple> flat(f, tuple);
    auto recordAxes = [&](const ArrayList &leaves) {
      ArrayList results = flat(leaves);
      AxisReader reader(outAxes, "out_axes", where);
      walk(*flat.result, reader);
      out = std::move(reader.specs);
      return results;
    };
    ArrayList results = vmapFlat(where, leavesOf(tuple), in.specs, pathsOf(structureOf(tuple, "args")), out, size, recordAxes);
    return flat.rebuild(results);
  }

private:
  F f;
  AxisTree inAxes, outAxes;
  std::optional<int64_t> size;
};

} // namespace detail

/// Returns f mapped over an axis of its arguments.
///
/// `in_axes`: one axis for all arguments, or a list with an entry for each; `none` shares an
/// argument. `out_axes`: where the mapped axis goes in results; `none` for results that do not
/// depend on mapped arguments; `infer` where what the function does shall say.
/// `axis_size` is needed where no mapped argument is an array, which would tell it.
/// Errors: hjx::Error if mapped axes differ in size (it names the leaves), nothing is mapped, or
///         the axes do not fit the trees.
template <typename F>
auto vmap(F f, AxisTree in_axes = 0, AxisTree out_axes = 0, Where where = Where::current()) {
  return detail::Vmapped<F>(std::move(f), std::move(in_axes), std::move(out_axes), std::nullopt, where);
}
struct AxisSize {
  int64_t size;
};
template <typename F>
auto vmap(F f, AxisTree in_axes, AxisTree out_axes, AxisSize axis_size, Where where = Where::current()) {
  return detail::Vmapped<F>(std::move(f), std::move(in_axes), std::move(out_axes), axis_size.size, where);
}

} // namespace hjx
