// SPDX-License-Identifier: Apache-2.0
//
// Refs of programs in files. Who runs a public function has arrays for it; a ref that
// it takes is one that is updated:
//
//   func.func @step(%r: !hjx.ref<T> {hjx.name = "count"}, %x) -> U
//
//   func.func @step(%v: T {hjx.name = "count"}, %x) -> (U, T {hjx.name = "count"})
//     %r = hjx.ref_new %v
//     %y = call @step_0(%r, %x)            what @step was, private
//     return %y, hjx.ref_freeze %r
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace hjx {

/// Gives public functions that take refs a signature of values: what written refs hold in the end
/// comes after the results, under the name and the role of the argument.
mlir::LogicalResult exposeRefs(mlir::ModuleOp module);

} // namespace hjx
