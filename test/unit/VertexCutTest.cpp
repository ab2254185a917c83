// SPDX-License-Identifier: Apache-2.0
//
// The minimum vertex cut against all subsets of small random graphs, and on the
// examples of its header.
#include "lib/Autodiff/VertexCut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using hjx::VertexCut;
using testing::ElementsAre;

namespace {

TEST(VertexCutTest, PrefersWhatIsFree) {
  VertexCut cut;
  unsigned x = cut.addVertex(0), square = cut.addVertex(8);
  cut.addEdge(x, square);
  cut.markSource(x);
  cut.markSink(square);
  EXPECT_THAT(cut.solve(), ElementsAre(x));
}

TEST(VertexCutTest, KeepsOneInsteadOfTwo) {
  VertexCut cut;
  unsigned e = cut.addVertex(8), sum = cut.addVertex(8);
  cut.addEdge(e, sum);
  cut.markSource(e);
  cut.markSink(e);
  cut.markSink(sum);
  EXPECT_THAT(cut.solve(), ElementsAre(e));
}

TEST(VertexCutTest, OfEqualCutsTheNearestToTheSinks) {
  VertexCut cut;
  unsigned a = cut.addVertex(8), b = cut.addVertex(8), c = cut.addVertex(8);
  cut.addEdge(a, b);
  cut.addEdge(b, c);
  cut.markSource(a);
  cut.markSink(c);
  EXPECT_THAT(cut.solve(), ElementsAre(c));
}

TEST(VertexCutTest, LongChain) {
  VertexCut cut;
  unsigned first = cut.addVertex(1), last = first;
  for (int i = 0; i < 200000; ++i) {
    unsigned next = cut.addVertex(2);
    cut.addEdge(last, next);
    last = next;
  }
  cut.markSource(first);
  cut.markSink(last);
  EXPECT_THAT(cut.solve(), ElementsAre(first));
}

/// A random graph whose edges go from lower to higher vertices.
struct Graph {
  std::vector<int64_t> costs;
  std::vector<std::pair<unsigned, unsigned>> edges;
  std::vector<unsigned> sources, sinks;

  explicit Graph(std::mt19937 &random) : costs(7) {
    for (int64_t &cost : costs)
      cost = random() % 5;
    for (unsigned from = 0; from < costs.size(); ++from)
      for (unsigned to = from + 1; to < costs.size(); ++to)
        if (random() % 3 == 0)
          edges.push_back({from, to});
    for (unsigned v = 0; v < costs.size(); ++v) {
      if (random() % 3 == 0)
        sources.push_back(v);
      if (random() % 3 == 0)
        sinks.push_back(v);
    }
  }

  /// Does removing the vertices in `set` separate all sources from all sinks?
  bool isCut(unsigned set) const {
    unsigned reached = 0;
    for (unsigned v : sources)
      reached |= 1u << v;
    reached &= ~set;
    for (auto [from, to] : edges) // in ascending order of `from`: one pass is enough
      if (reached >> from & 1)
        reached |= (1u << to) & ~set;
    for (unsigned v : sinks)
      if (reached >> v & 1)
        return false;
    return true;
  }

  int64_t costOf(unsigned set) const {
    int64_t sum = 0;
    for (unsigned v = 0; v < costs.size(); ++v)
      sum += set >> v & 1 ? costs[v] : 0;
    return sum;
  }
};

TEST(VertexCutTest, CheapestOfAllSubsets) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Graph graph(random);
    VertexCut cut;
    for (int64_t cost : graph.costs)
      cut.addVertex(cost);
    for (auto [from, to] : graph.edges)
      cut.addEdge(from, to);
    for (unsigned v : graph.sources)
      cut.markSource(v);
    for (unsigned v : graph.sinks)
      cut.markSink(v);
    unsigned chosen = 0;
    for (unsigned v : cut.solve())
      chosen |= 1u << v;
    ASSERT_TRUE(graph.isCut(chosen)) << "round " << round;
    for (unsigned set = 0; set < 1u << graph.costs.size(); ++set)
      if (graph.isCut(set))
        ASSERT_LE(graph.costOf(chosen), graph.costOf(set)) << "round " << round;
  }
}

} // namespace
