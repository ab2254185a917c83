// SPDX-License-Identifier: Apache-2.0
//
// How a mapped hi value is repeated, moved to another spec, taken behind a loop's axis or chosen
// among others, as a primitive: done to its components it would have no derivative, and when it is
// mapped a derivative may still be to come. A tangent is remapped as its own type says.
#pragma once

#include "lib/Batching/Batching.h"

namespace hjx {

/// What HiValues.h says of these, for hi values.
mlir::Value remapAt(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element, mlir::Attribute from, mlir::Attribute to,
                    int64_t size);
mlir::Value remapBackAt(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element, mlir::Attribute from, mlir::Attribute to,
                        int64_t size);
mlir::Value remapBehindLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Attribute from, mlir::Type type, int64_t length,
                            int64_t size);
mlir::Value remapBeforeLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type type, int64_t length, int64_t size);
mlir::Value remapSelect(mlir::ImplicitLocOpBuilder &b, mlir::Value which, mlir::ValueRange values);

/// Makes the primitive known.
void registerRemapPrimitive();

} // namespace hjx
