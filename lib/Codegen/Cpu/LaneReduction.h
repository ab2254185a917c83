// SPDX-License-Identifier: Apache-2.0
//
// Partial results of a reduction, one in each lane of a vector.
//
// A maximum that keeps NaN takes four instructions a vector on x86: its own forgets a
// NaN that came before. So a maximum of floats carries two vectors, what the fast
// instruction makes of the values and whether there was a NaN, for which one
// comparison serves two vectors:
//
//   best = x < best ? best : x             NaN | x = x, which the next x may replace
//   nan |= isnan(low half of x) or isnan(high half of x)
//   result = any(nan) ? NaN : max(lanes of best)
#pragma once

#include "lib/Codegen/Structured/Combiner.h"

namespace hjx {

class LaneReduction {
public:
  using Values = llvm::SmallVector<mlir::Value, 2>;

  /// Of partial results that `combiner` joins.
  LaneReduction(const Combiner &combiner, unsigned lanes) : combine(combiner), lanes(lanes) {}

  const Combiner &combiner() const { return combine; }

  /// How many values the reduction carries from step to step.
  unsigned numCarried() const { return tracksNan() ? 2 : 1; }
  /// What it carries before the first step.
  Values start(mlir::ImplicitLocOpBuilder &b) const;
  /// What it carries after the step that gave `partial`, a vector of all lanes.
  Values add(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange carried, mlir::Value partial) const;
  /// The lanes joined, in a fixed tree.
  mlir::Value join(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange carried) const;

private:
  bool tracksNan() const {
    return mlir::isa<mlir::arith::MaximumFOp, mlir::arith::MinimumFOp>(combine.op);
  }
  mlir::Value better(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs, mlir::Value rhs) const;

  Combiner combine;
  unsigned lanes;
};

} // namespace hjx
