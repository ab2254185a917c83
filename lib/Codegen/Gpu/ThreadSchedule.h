// SPDX-License-Identifier: Apache-2.0
//
// How the iterations of a structured op are spread over threads.
//
// Concept. Neighbouring threads should touch neighbouring memory, and each thread at most 16
// bytes at a time. So one loop is the fastest: the one along which most operands are contiguous.
//
//   y[i, j] = exp(x[i, j])      j fastest, 4 elements a thread: unit u = (i, j / 4)
//   y[i] += x[i, j]  ("rows")   j is summed: a team of threads per i strides along j, and joins
//                               its sums by shuffles; long rows also through shared memory
//   y[j] += x[i, j]  ("columns") neighbouring threads have neighbouring j; stripes of i's are
//                               summed by different threads and joined through shared memory
//
// A reduction is a tile of `along` results times `across` threads per result, `splits` tiles per
// set of results when there are too few results to fill the device: then a second kernel joins.
// The tree that joins depends on these numbers alone: no atomics, the same bits every time.
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"

namespace hjx {

struct ThreadSchedule {
  llvm::SmallVector<unsigned> parallel;   // Slowest first, without row loops.
  llvm::SmallVector<unsigned> reductions; // Slowest first.
  int vectorLoop = -1;                    // The last of one of the two; -1: scalars.
  unsigned lanes = 1;                     // Elements per step of the vector loop; divides its size.
  bool reductionIsFastest = false;        // Rows, not columns.
  bool splitsReductions = false;          // All outputs have a combiner.

  /// The choice for `nest`. `bufferAlignment` gives the bytes to which the first element of an
  /// operand's buffer is aligned; the accesses of `nest` learn their own alignment.
  static ThreadSchedule choose(LoopNest &nest,
                               llvm::function_ref<int64_t(mlir::Value)> bufferAlignment);

  /// Steps of all parallel, and of all reduction loops.
  int64_t numUnits(const LoopNest &nest) const { return steps(nest, parallel); }
  int64_t numTerms(const LoopNest &nest) const { return steps(nest, reductions); }

  /// Gives up vectors of terms: within a thread, reductions keep their order.
  void keepReductionOrder(const LoopNest &nest);

private:
  int64_t steps(const LoopNest &nest, llvm::ArrayRef<unsigned> loops) const;
};

/// How threads of a block share a reduction.
struct ReductionTile {
  int64_t along = 1;  // Results at a time.
  int64_t across = 1; // Threads per result; a power of two.
  int64_t splits = 1; // Blocks per tile of results.
  bool isRow = false; // The threads of one result are neighbours.

  int64_t blockSize() const { return along * across; }

  /// For `numResults` results of `numTerms` steps each, with the whole device at hand.
  static ReductionTile forGrid(int64_t numResults, int64_t numTerms, bool isRow);
  /// With one block at hand.
  static ReductionTile forBlock(int64_t numResults, int64_t numTerms, bool isRow,
                                int64_t blockSize);
};

} // namespace hjx
