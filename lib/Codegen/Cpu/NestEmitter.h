// SPDX-License-Identifier: Apache-2.0
//
// Emits the loops of one structured op: scf.for around vector arithmetic.
//
// The order of the loops is that of VectorSchedule.h; the innermost is that of
// SweepEmitter.h, but for column sums, whose reduction loops are inside it.
#pragma once

#include "lib/Codegen/Cpu/SweepEmitter.h"

namespace hjx {

class NestEmitter {
public:
  NestEmitter(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorSchedule &schedule,
              const mlir::IRMapping &flatBuffers);

  /// Emits the nest for fixed values of its row loops; `range` limits the vector loop.
  void emit(llvm::ArrayRef<mlir::Value> rowIvs, std::optional<VectorRange> range = std::nullopt);

private:
  void emitOuter(unsigned depth);
  void emitSweep();
  void emitColumnSums();
  Values emitReductionLoops(unsigned depth, mlir::ValueRange carried,
                            llvm::function_ref<Values(mlir::ValueRange)> body);
  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, value); }

  mlir::ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  const VectorSchedule &schedule;
  const mlir::IRMapping &flatBuffers;
  Values ivs; // Per loop; null where not yet known.
  std::optional<VectorRange> range;
};

} // namespace hjx
