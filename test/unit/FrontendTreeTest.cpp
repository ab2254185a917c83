// SPDX-License-Identifier: Apache-2.0
//
// Trees: leaves, paths, structure.
#include "FrontendTesting.h"

using namespace hjx;

namespace model {
struct Linear {
  Array weight, bias;
};
HJX_TREE(Linear, weight, bias)

struct Model {
  std::vector<Linear> layers;
  std::optional<Linear> head;
  std::map<std::string, Array> extra;
  int heads = 2;
};
HJX_TREE(Model, layers, head, extra, heads)
} // namespace model
using model::Linear;
using model::Model;

static Linear linear(double value) { return {full({2}, value), full({1}, -value)}; }

TEST(FrontendTree, PathsAreNames) {
  Model tree{{linear(1), linear(2)}, linear(3), {{"scale", Array(4.0)}, {"a b", Array(5.0)}}};
  std::vector<std::string> paths;
  for (auto &[path, leaf] : tree_leaves_with_path(tree, "params"))
    paths.push_back(path);
  EXPECT_THAT(paths, ::testing::ElementsAre("params.layers[0].weight", "params.layers[0].bias", "params.layers[1].weight",
                                          "params.layers[1].bias", "params.head.weight", "params.head.bias",
                                          "params.extra[\"a b\"]", "params.extra.scale"));
  EXPECT_EQ(tree_leaves_with_path(std::tuple(Array(1), std::pair(Array(2), Array(3))))[2].first, "[1][1]");
  EXPECT_EQ(tree_leaves_with_path(Array(1))[0].first, "");
}

TEST(FrontendTree, MapKeepsStructure) {
  Model tree{{linear(1)}, {}, {{"scale", Array(4.0)}}, 7};
  Model doubled = tree_map([](Array x) { return 2 * x; }, tree);
  EXPECT_CLOSE(doubled.layers[0].weight, array({2.0, 2.0}));
  EXPECT_EQ(doubled.heads, 7);
  EXPECT_FALSE(doubled.head);
  Model sum = tree_map([](Array x, Array y) { return x + y; }, tree, doubled);
  EXPECT_CLOSE(sum.extra.at("scale"), array(12.0f));
  auto named = tree_map_with_path([](std::string path, Array x) { return path == "extra.scale" ? x : zeros_like(x); }, tree);
  EXPECT_CLOSE(named.extra.at("scale"), array(4.0f));
  EXPECT_CLOSE(named.layers[0].bias, array({0.0}));
}

TEST(FrontendTree, UnflattenIsTheInverse) {
  Model tree{{linear(1)}, linear(2), {}};
  Model again = tree_unflatten(tree, tree_leaves(tree));
  EXPECT_EQ(tree_structure(again), tree_structure(tree));
  EXPECT_EQ(tree_structure(tree).num_leaves(), 4);
  EXPECT_HJX_ERROR(tree_unflatten(tree, {Array(1)}), "tree_unflatten: expected 4 arrays, got 1\n"
                                                     "  help: take the arrays from tree_leaves of an equal tree");
}

TEST(FrontendTree, StructuresSayWhereTheyDiffer) {
  auto difference = [](const Model &a, const Model &b) { return tree_structure(a).difference(tree_structure(b)); };
  EXPECT_EQ(difference({{linear(1)}}, {{linear(2)}}), "");
  EXPECT_EQ(difference({{linear(1)}}, {{linear(1), linear(2)}}), "layers: a list of 1 against a list of 2");
  EXPECT_EQ(difference({{}, linear(1)}, {}), "head: an optional with value against an optional without value");
  EXPECT_EQ(difference({{}, {}, {}, 2}, {{}, {}, {}, 3}), "heads: 2 against 3");
  EXPECT_EQ(difference({{}, {}, {{"a", Array(1)}}}, {{}, {}, {{"b", Array(1)}}}), "extra.a: an array against extra.b: an array");
  EXPECT_HJX_ERROR(tree_map([](Array x, Array y) { return x; }, std::vector<Array>{1, 2}, std::vector<Array>{1}),
                   "tree_map: expected one structure of trees, they differ at a list of 2 against a list of 1\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
}
