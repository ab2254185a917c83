// SPDX-License-Identifier: Apache-2.0
//
// vmap: a function of single values as a function of batches.
//
//   auto dots = vmap(dot, {0, none});            // first argument mapped at axis 0, second shared
//   auto f = vmap(model, {{0, none}, 1}, 2);      // a tree of axes where arguments are trees
#pragma once

#include <hjx/detail/flat.h>

namespace hjx {

/// A subtree without a mapped axis.
struct NotMapped {};
inline constexpr NotMapped none{};

/// Mapped axes of a tree: one for all of its leaves, or one entry for each child. Fields of
/// structs count in the order of HJX_TREE, map entries by key.
class AxisTree {
public:
  AxisTree(int axis) : axis(axis) {}
  AxisTree(NotMapped) {}
  AxisTree(std::initializer_list<AxisTree> children) : children(children), isList(true) {}

  std::optional<int> axis;
  std::vector<AxisTree> children;
  bool isList = false;
};

namespace detail {

/// The axis of each leaf of a tree; kUnmapped for none.
constexpr int kUnmapped = std::numeric_limits<int>::min();
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
  std::vector<int> axes;

private:
  void enterChild();
  struct Level {
    const AxisTree *tree;
    size_t next = 0;
  };
  std::vector<Level> levels;
  const AxisTree *current;
  const char *what;
  Where where;
};

HJX_API ArrayList vmapFlat(Where where, const ArrayList &args, const std::vector<int> &inAxes,
                           const std::vector<std::string> &paths, const std::vector<int> &outAxes, FlatFunction f);

template <typename F>
class Vmapped : public Transformed<Vmapped<F>, F> {
public:
  Vmapped(F f, AxisTree inAxes, AxisTree outAxes, Where made)
      : Vmapped::Transformed(made), f(std::move(f)), inAxes(std::move(inAxes)), outAxes(std::move(outAxes)) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    AxisReader in(inAxes, "in_axes", where);
    walk(tuple, in);
    std::vector<int> out;
    Flattened<F, ArgTuple> flat(f, tuple);
    auto recordAxes = [&](const ArrayList &leaves) {
      ArrayList results = flat(leaves);
      AxisReader reader(outAxes, "out_axes", where);
      walk(*flat.result, reader);
      out = std::move(reader.axes);
      return results;
    };
    ArrayList results = vmapFlat(where, leavesOf(tuple), in.axes, pathsOf(structureOf(tuple, "args")), out, recordAxes);
    return flat.rebuild(results);
  }

private:
  F f;
  AxisTree inAxes, outAxes;
};

} // namespace detail

/// Returns f mapped over an axis of its arguments.
///
/// `in_axes`: one axis for all arguments, or a list with an entry for each; `none` shares an
/// argument. `out_axes`: where the mapped axis goes in results; `none` for results that do not
/// depend on mapped arguments.
/// Errors: hjx::Error if mapped axes differ in size (it names the leaves), nothing is mapped, or
///         the axes do not fit the trees.
template <typename F>
auto vmap(F f, AxisTree in_axes = 0, AxisTree out_axes = 0, Where where = Where::current()) {
  return detail::Vmapped<F>(std::move(f), std::move(in_axes), std::move(out_axes), where);
}

} // namespace hjx
