// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/VertexCut.h"

#include <algorithm>

namespace hjx {

// Nodes 0 and 1 are source and sink; vertex v is nodes 2v + 2 (in) and 2v + 3 (out).
static unsigned inOf(unsigned vertex) { return 2 * vertex + 2; }
static unsigned outOf(unsigned vertex) { return 2 * vertex + 3; }

void VertexCut::addArc(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(arcs.size());
  arcs.push_back({to, capacity});
  outgoing[to].push_back(arcs.size());
  arcs.push_back({from, 0});
}

unsigned VertexCut::addVertex(int64_t cost) {
  unsigned vertex = (outgoing.size() - 2) / 2;
  outgoing.resize(outgoing.size() + 2);
  addArc(inOf(vertex), outOf(vertex), cost);
  return vertex;
}

void VertexCut::addEdge(unsigned from, unsigned to) { addArc(outOf(from), inOf(to), kInfinite); }
void VertexCut::markSource(unsigned vertex) { addArc(kSource, inOf(vertex), kInfinite); }
void VertexCut::markSink(unsigned vertex) { addArc(outOf(vertex), kSink, kInfinite); }

/// Distances to the sink along arcs with capacity left; is the source reached?
bool VertexCut::findLevels() {
  level.assign(outgoing.size(), -1);
  std::vector<unsigned> queue{kSink};
  level[kSink] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned arc : outgoing[queue[i]])
      if (unsigned from = arcs[arc].to; arcs[arc ^ 1].capacity > 0 && level[from] < 0) {
        level[from] = level[queue[i]] + 1;
        queue.push_back(from);
      }
  return level[kSource] >= 0;
}

/// Pushes flow along one path of descending levels; false when none is left.
/// Paths can be as long as the program, so this does not recurse.
bool VertexCut::augment() {
  llvm::SmallVector<unsigned> path; // arcs
  unsigned node = kSource;
  while (node != kSink) {
    unsigned &i = next[node];
    while (i < outgoing[node].size() &&
           (arcs[outgoing[node][i]].capacity <= 0 || level[arcs[outgoing[node][i]].to] != level[node] - 1))
      ++i;
    if (i < outgoing[node].size()) {
      path.push_back(outgoing[node][i]);
      node = arcs[path.back()].to;
    } else if (path.empty()) {
      return false;
    } else { // a dead end: its arc leads nowhere in this round
      node = arcs[path.pop_back_val() ^ 1].to;
      ++next[node];
    }
  }
  int64_t flow = kInfinite;
  for (unsigned arc : path)
    flow = std::min(flow, arcs[arc].capacity);
  for (unsigned arc : path) {
    arcs[arc].capacity -= flow;
    arcs[arc ^ 1].capacity += flow;
  }
  return true;
}

llvm::SmallVector<unsigned> VertexCut::solve() {
  while (findLevels()) {
    next.assign(outgoing.size(), 0);
    while (augment())
      ;
  }
  // The last search marked what still reaches the sink: the smallest such side.
  llvm::SmallVector<unsigned> cut;
  for (unsigned vertex = 0; outOf(vertex) < outgoing.size(); ++vertex)
    if (level[inOf(vertex)] < 0 && level[outOf(vertex)] >= 0)
      cut.push_back(vertex);
  return cut;
}

} // namespace hjx
