// SPDX-License-Identifier: Apache-2.0
//
// Trees: values made of arrays, such as the parameters of a model. Every
// transform takes and returns trees, and leaves keep their names.
//
// A tree is an Array, a value of a hi-type or a ref; a tuple, pair, vector, std::array, optional or
// map<string, tree> of trees; or a struct whose fields are listed:
//
//   struct Linear { hjx::Array weight, bias; };
//   HJX_TREE(Linear, weight, bias)                 // in Linear's namespace
//
//   struct Model { std::vector<Linear> layers; int heads; };
//   HJX_TREE(Model, layers, heads)
//
//   for (auto &[path, leaf] : hjx::tree_leaves_with_path(model)) ...
//                                                  // layers[0].weight, layers[0].bias, ...
//
// Numbers, enums and strings in a tree (`heads`) are not leaves: they belong to its
// structure, which jit compiles in. List every field, so that none goes unseen.
// After JAX's pytrees; containers of varying length make the structure dynamic.
#pragma once

#include <hjx/array.h>

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

//===----------------------------------------------------------------------===//
// HJX_TREE
//===----------------------------------------------------------------------===//

#define HJX_DETAIL_PARENS ()
#define HJX_DETAIL_EXPAND(...) HJX_DETAIL_EXPAND3(HJX_DETAIL_EXPAND3(HJX_DETAIL_EXPAND3(__VA_ARGS__)))
#define HJX_DETAIL_EXPAND3(...) HJX_DETAIL_EXPAND2(HJX_DETAIL_EXPAND2(HJX_DETAIL_EXPAND2(__VA_ARGS__)))
#define HJX_DETAIL_EXPAND2(...) HJX_DETAIL_EXPAND1(HJX_DETAIL_EXPAND1(HJX_DETAIL_EXPAND1(__VA_ARGS__)))
#define HJX_DETAIL_EXPAND1(...) __VA_ARGS__
#define HJX_DETAIL_FIELDS(field, ...)                                                                        \
  hjxVisit(#field, hjxTree.field);                                                                           \
  __VA_OPT__(HJX_DETAIL_FIELDS_AGAIN HJX_DETAIL_PARENS(__VA_ARGS__))
#define HJX_DETAIL_FIELDS_AGAIN() HJX_DETAIL_FIELDS

/// Makes a struct a tree of the named fields (at most 27). Stands in the struct's namespace.
#define HJX_TREE(Type, ...)                                                                                  \
  [[maybe_unused]] inline const char *hjxTreeName(const Type *) { return #Type; }                            \
  template <typename HjxVisit>                                                                               \
  void hjxVisitFields(Type &hjxTree, HjxVisit &&hjxVisit) {                                                  \
    HJX_DETAIL_EXPAND(HJX_DETAIL_FIELDS(__VA_ARGS__))                                                        \
  }

namespace hjx {

namespace detail {

//===----------------------------------------------------------------------===//
// Visiting: one virtual interface, so that a user's type is instantiated once and
// all algorithms on trees live in the library.
//===----------------------------------------------------------------------===//

/// A handle class: an array, or a class that wraps the same kind of handle.
template <typename T>
concept Handle = std::is_same_v<T, Array> || requires(T &leaf) {
  { leaf.hjxHandle() } -> std::same_as<Array &>;
};
template <Handle T>
Array &handleOf(T &leaf) {
  if constexpr (std::is_same_v<T, Array>)
    return leaf;
  else
    return leaf.hjxHandle();
}

enum class NodeKind { Tuple, List, Map, Struct, Optional };

class HJX_API TreeVisitor {
public:
  virtual ~TreeVisitor();
  virtual void leaf(Array &array) = 0;
  virtual void begin(NodeKind kind, const char *type, size_t count) {}
  virtual void child(size_t index) {}
  virtual void child(const char *field) {}
  virtual void child(const std::string &key) {}
  virtual void end() {}
  /// Values that belong to the structure.
  virtual void integer(int64_t value) {}
  virtual void real(double value) {}
  virtual void text(std::string_view value) {}
};

struct AnyField {
  template <typename T>
  void operator()(const char *, T &) const {}
};

template <typename T>
struct IsTuple : std::false_type {};
template <typename... Ts>
struct IsTuple<std::tuple<Ts...>> : std::true_type {};
template <typename A, typename B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

template <typename T>
struct IsList : std::false_type {};
template <typename T, typename A>
struct IsList<std::vector<T, A>> : std::true_type {};
template <typename T, size_t n>
struct IsList<std::array<T, n>> : std::true_type {};

template <typename T>
struct IsMap : std::false_type {};
template <typename T, typename C, typename A>
struct IsMap<std::map<std::string, T, C, A>> : std::true_type {};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
concept TreeStruct = requires(T &tree) { hjxVisitFields(tree, AnyField()); };
template <typename T>
concept TreeText = std::is_same_v<T, std::string> || std::is_same_v<T, const char *> || std::is_same_v<T, std::string_view>;

template <typename T>
void walk(T &tree, TreeVisitor &visitor) {
  if constexpr (Handle<T>) {
    visitor.leaf(handleOf(tree));
  } else if constexpr (std::is_floating_point_v<T>) {
    visitor.real(tree);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    visitor.integer(static_cast<int64_t>(tree));
  } else if constexpr (TreeText<T>) {
    visitor.text(tree);
  } else if constexpr (IsTuple<T>::value) {
    visitor.begin(NodeKind::Tuple, "tuple", std::tuple_size_v<T>);
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((visitor.child(i), walk(std::get<i>(tree), visitor)), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
    visitor.end();
  } else if constexpr (IsList<T>::value) {
    visitor.begin(NodeKind::List, "list", tree.size());
    size_t index = 0;
    for (auto &item : tree) {
      visitor.child(index++);
      walk(item, visitor);
    }
    visitor.end();
  } else if constexpr (IsMap<T>::value) {
    visitor.begin(NodeKind::Map, "map", tree.size());
    for (auto &[key, item] : tree) {
      visitor.child(key);
      walk(item, visitor);
    }
    visitor.end();
  } else if constexpr (IsOptional<T>::value) {
    visitor.begin(NodeKind::Optional, "optional", tree.has_value());
    if (tree)
      walk(*tree, visitor);
    visitor.end();
  } else if constexpr (TreeStruct<T>) {
    visitor.begin(NodeKind::Struct, hjxTreeName(&tree), 0);
    hjxVisitFields(tree, [&](const char *name, auto &field) {
      visitor.child(name);
      walk(field, visitor);
    });
    visitor.end();
  } else {
    static_assert(TreeStruct<T>, "not a tree: expected an Array, a number, a string, a standard container of trees, or a "
                                 "struct with HJX_TREE(Type, fields...) in its namespace");
  }
}

template <typename T>
void walk(const T &tree, TreeVisitor &visitor) {
  walk(const_cast<T &>(tree), visitor); // Visitors of const trees change nothing.
}

/// Reads leaves in order, or writes them.
class HJX_API LeafReader final : public TreeVisitor {
public:
  void leaf(Array &array) override { leaves.push_back(array); }
  std::vector<Array> leaves;
};
class HJX_API LeafWriter final : public TreeVisitor {
public:
  explicit LeafWriter(const std::vector<Array> &leaves, size_t first = 0) : next(leaves.data() + first) {}
  void leaf(Array &array) override { array = *next++; }

private:
  const Array *next;
};

template <typename T>
std::vector<Array> leavesOf(const T &tree) {
  LeafReader reader;
  walk(tree, reader);
  return std::move(reader.leaves);
}

/// A hi value whose class says in C++, `using Tangent = Array;`, of what kind its tangents are.
template <typename T>
concept HasTangentClass = requires { typename T::HiType::Tangent; };
template <typename T>
concept ListOfTangentClass = IsList<T>::value && HasTangentClass<typename T::value_type>;

/// The tree of tangents, or of cotangents, of `like` with the given leaves: as `like`, with other
/// classes of leaves where hi-types say so. (Fields of structs keep their class.)
template <typename T>
auto tangentWithLeaves(const T &like, const std::vector<Array> &leaves, size_t &next) {
  if constexpr (HasTangentClass<T>) {
    typename T::HiType::Tangent tangent;
    handleOf(tangent) = leaves[next++];
    return tangent;
  } else if constexpr (IsTuple<T>::value) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      // Named, since deduction would take a tuple of one pair for that pair. Braces: in order.
      using Parts = std::tuple<decltype(tangentWithLeaves(std::get<i>(like), leaves, next))...>;
      Parts parts{tangentWithLeaves(std::get<i>(like), leaves, next)...};
      if constexpr (requires { like.first; })
        return std::pair(std::get<0>(parts), std::get<1>(parts));
      else
        return parts;
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (ListOfTangentClass<T>) {
    std::vector<typename T::value_type::HiType::Tangent> list;
    for (const auto &item : like)
      list.push_back(tangentWithLeaves(item, leaves, next));
    return list;
  } else {
    T tree = like;
    LeafWriter writer(leaves, next);
    walk(tree, writer);
    next += leavesOf(like).size();
    return tree;
  }
}
template <typename T>
auto tangentWithLeaves(const T &like, const std::vector<Array> &leaves) {
  size_t next = 0;
  return tangentWithLeaves(like, leaves, next);
}

/// `like` with leaves[first..] in place of its own.
template <typename T>
T withLeaves(const T &like, const std::vector<Array> &leaves, size_t first = 0) {
  T tree = like;
  LeafWriter writer(leaves, first);
  walk(tree, writer);
  return tree;
}

} // namespace detail

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A tree without its arrays: which containers, how long, which names and numbers.
class HJX_API TreeDef {
public:
  int num_leaves() const;
  bool operator==(const TreeDef &) const = default;
  std::string str() const;

  /// Where two structures differ first: "layers[1].bias: an array against optional without value";
  /// empty if they are equal.
  std::string difference(const TreeDef &other) const;

  /// One entry for each node and leaf, in order: its path and what it is.
  struct Entry {
    std::string path, what;
    bool isLeaf = false;
    bool operator==(const Entry &) const = default;
  };
  std::vector<Entry> entries;
};

namespace detail {
/// Records the structure of a tree, with paths that begin with a name.
class HJX_API StructureReader final : public TreeVisitor {
public:
  explicit StructureReader(std::string root = "");
  ~StructureReader() override;
  void leaf(Array &array) override;
  void begin(NodeKind kind, const char *type, size_t count) override;
  void child(size_t index) override;
  void child(const char *field) override;
  void child(const std::string &key) override;
  void end() override;
  void integer(int64_t value) override;
  void real(double value) override;
  void text(std::string_view value) override;

  TreeDef structure;

private:
  void add(std::string what, bool isLeaf = false);
  std::string path;
  std::vector<size_t> lengths; // Of the paths of the open nodes.
};

template <typename T>
TreeDef structureOf(const T &tree, std::string root = "") {
  StructureReader reader(std::move(root));
  walk(tree, reader);
  return std::move(reader.structure);
}

HJX_API void checkSameStructure(const TreeDef &expected, const TreeDef &got, const char *op, const std::string &what,
                                Where where);
HJX_API void checkLeafCount(size_t expected, size_t got, Where where);
HJX_API std::vector<std::string> pathsOf(const TreeDef &structure);
} // namespace detail

template <typename T>
TreeDef tree_structure(const T &tree) {
  return detail::structureOf(tree);
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// The arrays of a tree in order: fields as listed, map entries by key.
template <typename T>
std::vector<Array> tree_leaves(const T &tree) {
  return detail::leavesOf(tree);
}

/// The arrays of a tree with their paths, such as "layers[0].weight"; `root` goes before.
template <typename T>
std::vector<std::pair<std::string, Array>> tree_leaves_with_path(const T &tree, const std::string &root = "") {
  std::vector<std::string> paths = detail::pathsOf(detail::structureOf(tree, root));
  std::vector<Array> leaves = detail::leavesOf(tree);
  std::vector<std::pair<std::string, Array>> named;
  for (size_t i = 0; i < leaves.size(); ++i)
    named.emplace_back(std::move(paths[i]), std::move(leaves[i]));
  return named;
}

/// A tree of the structure of `like` with other arrays.
///
/// Errors: hjx::Error unless there are as many arrays as leaves.
template <typename T>
T tree_unflatten(const T &like, const std::vector<Array> &leaves, Where where = Where::current()) {
  detail::checkLeafCount(detail::leavesOf(like).size(), leaves.size(), where);
  return detail::withLeaves(like, leaves);
}

namespace detail {
/// A function of leaves that a caller owns for the duration of a call, and the line of that call:
/// it comes with the argument before the trees, because behind a pack of them nothing has a default.
template <typename... Leaves>
class LeafFunction {
public:
  template <typename F>
    requires std::is_invocable_r_v<Array, F &, Leaves...>
  LeafFunction(F &&f, Where where = Where::current())
      : where(where), object(const_cast<void *>(static_cast<const void *>(&f))),
        call([](void *object, Leaves... leaves) -> Array {
          return (*static_cast<std::remove_reference_t<F> *>(object))(leaves...);
        }) {}
  Array operator()(Leaves... leaves) const { return call(object, leaves...); }

  Where where;

private:
  void *object;
  Array (*call)(void *, Leaves...);
};
template <typename>
using LeafOf = const Array &;
} // namespace detail

/// f of each leaf, or of corresponding leaves of trees of one structure.
///
/// Errors: hjx::Error naming the first place where structures differ.
template <typename T, typename... Rest>
T tree_map(std::type_identity_t<detail::LeafFunction<detail::LeafOf<T>, detail::LeafOf<Rest>...>> f, const T &tree,
           const Rest &...rest) {
  if constexpr (sizeof...(Rest) > 0) {
    TreeDef expected = tree_structure(tree);
    (detail::checkSameStructure(expected, tree_structure(rest), "tree_map", "trees", f.where), ...);
  }
  std::vector<Array> results = detail::leavesOf(tree);
  [&](const auto &...others) {
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = f(results[i], others[i]...);
  }(detail::leavesOf(rest)...);
  return detail::withLeaves(tree, results);
}

/// f(path, leaf) of each leaf.
template <typename F, typename T>
T tree_map_with_path(F &&f, const T &tree) {
  std::vector<Array> results;
  for (auto &[path, leaf] : tree_leaves_with_path(tree))
    results.push_back(f(path, leaf));
  return detail::withLeaves(tree, results);
}

} // namespace hjx
