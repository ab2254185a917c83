// SPDX-License-Identifier: Apache-2.0
//
// hjx-decompose-attention with a choice of what stays: see Passes.td.
#pragma once

#include "lib/Rules/Attention.h"

#include "mlir/Pass/Pass.h"

namespace hjx {

/// Says of attention, its tangent or its cotangent whether a target has a kernel for it.
using HasAttentionKernel = bool (*)(mlir::Operation *);

/// Writes out those of which `hasKernel` says no, or all without it.
std::unique_ptr<mlir::Pass> createDecomposeAttention(HasAttentionKernel hasKernel);

} // namespace hjx
