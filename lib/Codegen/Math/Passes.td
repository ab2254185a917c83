// SPDX-License-Identifier: Apache-2.0
//
// The pass around the vector maths.

#ifndef HJX_CODEGEN_MATH_PASSES
#define HJX_CODEGEN_MATH_PASSES

include "mlir/Pass/PassBase.td"

def ExpandMath : Pass<"hjx-expand-math"> {
  let summary = "Expand math functions into arithmetic, the same on every target";
  let description = [{
    Replaces the functions of the math dialect, on scalars and on vectors of any
    rank of f16, bf16, f32 and f64, by arith operations, `math.fma` and bit
    operations on the same shape. The code is free of branches, but for one `scf.if`
    in sin, cos and tan around angles beyond 2^40. No call to a mathematical
    library is left; a function that has no expansion is an error, because LLVM
    would call a library for it or fail to select it. Functions on tensors are
    left alone. See lib/Codegen/Math/ExpandMath.h.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

#endif
