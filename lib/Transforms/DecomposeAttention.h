// SPDX-License-Identifier: Apache-2.0
//
// hjx-decompose-attention with a choice of what stays: see Passes.td.
#pragma once

#include "lib/Rules/Attention.h"

#include "mlir/Pass/Pass.h"

namespace hjx {

/// Writes out what the target has no kernels for, or all if there is none.
std::unique_ptr<mlir::Pass> createDecomposeAttention(AttentionSupportOf target);

} // namespace hjx
