// SPDX-License-Identifier: Apache-2.0
//
// Minimum vertex cut: the cheapest set of vertices that meets every path from a
// source to a sink. Residual selection is this problem: vertices are values,
// edges lead from operands to results of ops that may be computed again, sources
// are values that cannot be, sinks are the values needed, the cost is bytes.
//
//   x (free) --> x*x --> needed          cut {x}: keep what is there, square again
//   exp(x) --+--> 1 + exp(x) --> needed  cut {exp(x)}: one array instead of two
//            +--> needed
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace hjx {

class VertexCut {
public:
  /// A cost that no cut may pay.
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  unsigned addVertex(int64_t cost);
  void addEdge(unsigned from, unsigned to);
  void markSource(unsigned vertex);
  void markSink(unsigned vertex);

  /// The vertices of a cheapest cut; of several, the one nearest the sinks.
  llvm::SmallVector<unsigned> solve();

private:
  // Dinic's algorithm on the graph where each vertex v is an arc 2v -> 2v + 1 of
  // capacity cost; arcs come in pairs, arc ^ 1 being the reverse.
  struct Arc {
    unsigned to;
    int64_t capacity;
  };
  void addArc(unsigned from, unsigned to, int64_t capacity);
  bool findLevels();
  bool augment();

  static constexpr unsigned kSource = 0, kSink = 1;
  std::vector<Arc> arcs;
  std::vector<llvm::SmallVector<unsigned, 4>> outgoing{2};
  std::vector<int> level;
  std::vector<unsigned> next;
};

} // namespace hjx
