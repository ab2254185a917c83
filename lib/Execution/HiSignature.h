// SPDX-License-Identifier: Apache-2.0
//
// Public functions that take and give hi values, for callers that have arrays: files, and the
// buffers of a runner.
//
//   func @eval(%w: !hjx.quantized<"int8", 4x8, 4x1> {hjx.name = "w"})      becomes private, and
//   func @eval(%0: tensor<4x8xi8> {hjx.name = "w.0"},                      calls it with
//              %1: tensor<4x1xf32> {hjx.name = "w.1"})                     hjx.raise %0, %1
//
// Inside, values stay whole: the transforms come later.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace hjx {

/// Gives each public function with hi values in its type a type of arrays. Attributes are repeated
/// for the components, and names counted.
mlir::LogicalResult exposeComponents(mlir::ModuleOp module);

} // namespace hjx
