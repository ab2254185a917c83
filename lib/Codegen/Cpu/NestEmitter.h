// SPDX-License-Identifier: Apache-2.0
//
// Emits the loops of one structured op: scf.for around vector arithmetic.
//
// The order of the loops is that of VectorSchedule.h.
//
// Reductions. The partial sums of a row and the tree that joins them depend on the
// sizes alone, so the bits of a result do not depend on how rows are spread over
// threads.
//
// Remainders. Sizes are static, so what is left after whole vectors is cut into
// powers of two (29 = 16 + 8 + 4 + 1), each with vectors of exactly that size: no
// masks, nothing read or written out of bounds, the same arithmetic per element.
#pragma once

#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/VectorSchedule.h"

namespace hjx {

/// Part of a parallel vector loop: `begin` is a multiple of the lanes, `end` is one or the size.
struct VectorRange {
  mlir::Value begin, end;
};

class NestEmitter {
public:
  NestEmitter(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorSchedule &schedule,
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
  const VectorSchedule &schedule;
  BodyEmitter body;
  llvm::SmallVector<mlir::Value> ivs; // Per loop; null where not yet known.
  std::optional<VectorRange> range;
};

} // namespace hjx
