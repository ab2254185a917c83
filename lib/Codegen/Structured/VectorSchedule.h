// SPDX-License-Identifier: Apache-2.0
//
// In which order a processor's core walks over a structured op, and which loop its
// vectors run along.
//
// Order of loops. Parallel loops go outside, the one with the largest output stride
// outermost; the vector loop is the innermost parallel loop, or, if a reduction
// is contiguous, the innermost of all:
//
//   y[i, j] = exp(x[i, j])          for i, for j by 32: one load, one exp, one store
//   y[j] += x[i, j] (columns)       for j by 64, for i: the sums stay in registers
//   y[i] += x[i, j] (rows)          for i, for j by 32: 32 partial sums, then a tree
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"

namespace hjx {

struct VectorSchedule {
  llvm::SmallVector<unsigned> outer;      // Parallel loops but the vector loop, slowest first.
  llvm::SmallVector<unsigned> reductions; // Reduction loops but the vector loop.
  int vectorLoop = -1;                    // -1: scalars.
  unsigned lanes = 1;                     // A power of two, at most the vector loop's size.

  bool vectorIsReduction(const LoopNest &nest) const {
    return vectorLoop >= 0 && nest.loops[vectorLoop].isReduction;
  }
  /// The choice for `nest`.
  static VectorSchedule choose(const LoopNest &nest);
};

} // namespace hjx
