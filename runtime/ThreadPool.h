// SPDX-License-Identifier: Apache-2.0
//
// The one pool of the process. Matrix products, elementwise kernels and
// reductions all run here: two pools that do not know of each other cost torch
// half of its speed on the same machine.
//
// Concept. A parallel loop over [0, n) is cut into chunks whose bounds depend
// on n and the grain alone, never on the number of threads; threads take whole
// chunks. A kernel whose chunks write disjoint data therefore gives the same
// bits for any thread count. The caller takes part, so a pool of size 1 has no
// threads at all, and a loop of one chunk never leaves the caller.
//
// Waiting. Workers spin for some microseconds after a loop, because the next
// kernel of a step follows at once, and then sleep. On an oversubscribed machine
// a spinning barrier is what makes others 3 times slower: here the caller takes
// over every chunk that no worker has begun, waits only for those begun, and
// sleeps, too, when they take long.
#pragma once

#include <cstdint>
#include <memory>

namespace hjx {

class ThreadPool {
public:
  /// `body(env, begin, end)` handles the iterations [begin, end).
  using Body = void (*)(void *env, int64_t begin, int64_t end);

  /// Starts `numThreads - 1` workers; the calling thread is the other one.
  /// Fewer than 1 means the default (see `global`).
  explicit ThreadPool(int numThreads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The pool of the process, made at the first call: HJX_NUM_THREADS threads if
  /// that is set, else as many as the process may run on. Never destroyed.
  static ThreadPool &global();

  /// Changes the number of threads; waits for the loop that is running, if any.
  void resize(int numThreads);
  int numThreads() const;

  /// Runs `body` over [0, n) in chunks of `grain` iterations (the last may be
  /// shorter). Returns when all of them are done. May be called from several
  /// threads at once, and from inside a body: one loop at a time has the workers,
  /// the others run on their callers alone, in the same chunks.
  void parallelFor(Body body, void *env, int64_t n, int64_t grain);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace hjx
