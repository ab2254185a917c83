// SPDX-License-Identifier: Apache-2.0
//
// A program that the reference interpreter runs in place of compiled code, for callers that
// hold their data in buffers: HJX_BACKEND=interpreter of hjx-run, to find out which of the two is
// wrong.
#pragma once

#include "lib/Execution/DeviceExecutable.h"

#include "mlir/IR/OwningOpRef.h"

namespace hjx {

/// On a cpu device. `program` is at stage traced, pure or lo; its context must outlive the result.
absl::StatusOr<std::unique_ptr<DeviceExecutable>> interpretFunction(mlir::OwningOpRef<mlir::ModuleOp> program,
                                                                     RuntimeDevice &device);

} // namespace hjx
