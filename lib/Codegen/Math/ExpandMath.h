// SPDX-License-Identifier: Apache-2.0
//
// hjx's own vector maths: rewrites the math dialect's functions into arithmetic, fma and
// bit operations on the same shape. The host and the GPU run the same expansion, so both
// return the same bits (NaN payloads excepted); no libm, libmvec or libdevice is needed.
//
//   %y = math.exp %x : vector<32xf32>    →    ~20 arith/math.fma ops on vector<32xf32>
//
// Why not upstream's expansions: `math-polynomial-approximation` is f32 only, flushes
// subnormals and covers half of the functions; `math-expand-ops` also expands fma.
//
// What stays, since LLVM selects one instruction (or a short inline sequence) for it:
// absf, copysign, fma, sqrt, floor, ceil, trunc, roundeven, round, the is* tests, integer
// bit counts. This needs fma and, for the rounding functions, SSE4.1: every x86-64-v3
// processor, AArch64, and NVPTX. On an older x86 LLVM calls fmaf, floorf, … instead.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace hjx {

/// Adds one pattern per expanded operation. They match scalars and vectors of f32 and f64,
/// and of f16 and bf16 by way of f32; tensors are left alone.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

/// `hjx-expand-math`: applies the patterns, and fails on an operation that would have
/// become a library call.
std::unique_ptr<mlir::Pass> createExpandMathPass();
void registerExpandMathPass();

/// The inverse error function by Giles' polynomials, as XLA computes it.
mlir::Value emitErfInv(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);
/// 1 / (1 + exp(-x)) without overflow, precise in both tails.
mlir::Value emitLogistic(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

} // namespace hjx
