// SPDX-License-Identifier: Apache-2.0
//
// How much memory arrays take: an element has whole bytes, also an i1 or an i4. One place, so that
// whoever plans, allocates, copies or addresses buffers has the same numbers.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace hjx {

/// Of a number, or of an element of an array or a vector.
inline int64_t elementBytes(mlir::Type type) {
  return static_cast<int64_t>(llvm::divideCeil(mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8));
}

/// Of all elements of `type`, whose shape is static, without gaps that its strides leave.
inline int64_t sizeBytes(mlir::ShapedType type) { return type.getNumElements() * elementBytes(type); }

} // namespace hjx
