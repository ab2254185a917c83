// SPDX-License-Identifier: Apache-2.0
//
// Emits the loops of one structured op: scf.for around vector arithmetic.
//
// Order of loops. Parallel loops go outside, the one with the largest output stride
// outermost; the vector loop is the innermost parallel loop, or, if a reduction
// is contiguous, the innermost of all:
//
//   y[i, j] = exp(x[i, j])          for i, for j by 32: one load, one exp, one store
//   y[j] += x[i, j] (columns)       for j by 64, for i: the sums stay in registers
//   y[i] += x[i, j] (rows)          for i, for j by 32: 32 partial sums, then a tree
//
// Reductions. The partial sums of a row and the tree that joins them depend on the
// sizes alone, so the bits of a result do not depend on how rows are spread over
// threads.
//
// Remainders. Sizes are static, so what is left after whole vectors is cut into
// powers of two (29 = 16 + 8 + 4 + 1), each with vectors of exactly that size: no
// masks, nothing read or written out of bounds, the same arithmetic per element.
#pragma once

#include "lib/Codegen/Cpu/BodyEmitter.h"
#include "lib/Codegen/Cpu/LoopNest.h"

namespace hjx {

struct Schedule {
  llvm::SmallVector<unsigned> outer;      // Parallel loops but the vector loop, slowest first.
  llvm::SmallVector<unsigned> reductions; // Reduction loops but the vector loop.
  int vectorLoop = -1;                    // -1: scalars.
  unsigned lanes = 1;                     // A power of two, at most the vector loop's size.

  bool vectorIsReduction(const LoopNest &nest) const {
    return vectorLoop >= 0 && nest.loops[vectorLoop].isReduction;
  }
  /// The choice for `nest`.
  static Schedule choose(const LoopNest &nest);
};

/// Part of a parallel vector loop: `begin` is a multiple of the lanes, `end` is one or the size.
struct VectorRange {
  mlir::Value begin, end;
};

class NestEmitter {
public:
  NestEmitter(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest, const Schedule &schedule,
              const mlir::IRMapping &flatBuffers);

  /// Emits the nest for fixed values of its row loops; `range` limits the vector loop.
  void emit(llvm::ArrayRef<mlir::Value> rowIvs, std::optional<VectorRange> range = std::nullopt);

private:
  using Step = llvm::function_ref<void(mlir::Value iv, unsigned lanes)>;
  using Values = llvm::SmallVector<mlir::Value>;

  void emitOuter(unsigned depth);
  void emitElementwise();
  void emitVectorReduction();
  void forEachStep(Step step);
  Values emitReductionLoops(unsigned depth, mlir::ValueRange carried,
                            llvm::function_ref<Values(mlir::ValueRange)> body);
  Values results();
  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, value); }

  mlir::ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  const Schedule &schedule;
  BodyEmitter body;
  llvm::SmallVector<mlir::Value> ivs; // Per loop; null where not yet known.
  std::optional<VectorRange> range;
};

} // namespace hjx
