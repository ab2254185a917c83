// SPDX-License-Identifier: Apache-2.0
//
// What sums of tensors look like.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

/// Whether `value` is a tensor of zeros that an op has just made.
bool isFilledWithZero(mlir::Value value);

/// Whether `op` adds two tensors, element by element, and does nothing else.
bool addsTensors(mlir::linalg::GenericOp op);

/// Whether `op`, which is elementwise, only adds something to the elements of its input number `input`.
bool onlyAddsTo(mlir::linalg::GenericOp op, unsigned input);

} // namespace hjx
