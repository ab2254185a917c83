// SPDX-License-Identifier: Apache-2.0
//
// hjx's own vector maths: rewrites the math dialect's functions into arithmetic, fma and
// bit operations on the same shape. The host and the GPU run the same expansion, so both
// return the same bits (NaN payloads excepted); no libm, libmvec or libdevice is needed.
//
//   %y = math.exp %x : vector<32xf32>    →    ~20 arith/math.fma ops on vector<32xf32>
//
// No branches, with one exception: sin, cos and tan test once whether any lane is beyond
// 2^40, and then reduce such angles exactly (an scf.if: expand before scf becomes cf).
//
// Why not upstream's expansions: its polynomial approximations are f32 only, flush
// subnormals and cover half of the functions; `math-expand-ops` also expands fma.
//
// What stays, since LLVM selects an instruction or a short inline sequence for it: absf,
// copysign, fma, sqrt, floor, ceil, trunc, round, roundeven, the is* tests, absi and the
// bit counts. That takes fma, and SSE4.1 for the rounding functions: x86-64-v3, AArch64
// and NVPTX have both. On an older x86 LLVM would call fmaf, floorf, …: the target must
// refuse such a processor. Nothing else here uses a rounding instruction.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Math/Passes.h.inc"

/// Adds one pattern per expanded operation. They match scalars and vectors of f32 and f64,
/// and of f16 and bf16 by way of f32; tensors are left alone.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

/// The inverse error function by Giles' polynomials, as XLA computes it.
mlir::Value emitErfInv(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);
/// 1 / (1 + exp(-x)) without overflow, precise in both tails.
mlir::Value emitLogistic(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

} // namespace hjx
