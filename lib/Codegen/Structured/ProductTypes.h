// SPDX-License-Identifier: Apache-2.0
//
// What a generator of matrix products must know, whatever the target.
#pragma once

#include "mlir/IR/Types.h"

#include <cstdint>

namespace hjx {

/// What products of f32 are made of: f32, or on tensor cores f32 rounded to TF32's 10 bits of
/// mantissa. Sums are f32 in both. Other types know one precision.
enum class MatmulPrecision { F32, Tf32 };

/// On a module, for all its products: "f32", which holds where it is absent, or "tf32".
constexpr llvm::StringLiteral kMatmulPrecisionAttr = "hjx.matmul_precision";

/// How a factor is stored: as its own type, or in bytes of signed whole numbers that become floats
/// where the kernel reads them (quantized weights): one to a byte, or one in its low or high half.
enum class Packing { None, Byte, LowNibble, HighNibble };

/// Element types of C = A * B.
struct ProductTypes {
  mlir::Type operandType;     ///< of A and B: f16, bf16, f32, f64, i8, i16, i32, i64
  mlir::Type accumulatorType; ///< f32 or f64 for float operands; any of the integers
  mlir::Type resultType; ///< of C: converted from the accumulator once, at the end; f16 and bf16
                         ///< only from f32
  bool unsignedOperands =
      false; ///< integer operands narrower than the accumulator extend with zeros
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None; ///< of float operands
  /// Packed numbers times a scale of their own, of the operand type, are what is multiplied. At most one is so.
  bool lhsIsScaled = false, rhsIsScaled = false;

  bool isPacked() const { return lhsPacking != Packing::None || rhsPacking != Packing::None; }
  bool isScaled() const { return lhsIsScaled || rhsIsScaled; }
};

/// Sizes of one (batched) product: C[b0,b1,m,n] = sum over k of A[b0,b1,m,k] * B[b0,b1,k,n].
struct ProductSizes {
  int64_t batch0 = 1, batch1 = 1, m = 0, n = 0, k = 0;
};

} // namespace hjx
