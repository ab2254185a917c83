// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of gather and scatter, part of the Movement family.
#pragma once

#include "lib/Rules/Registry.h"

namespace hjx {

mlir::LogicalResult gatherJvp(JvpContext &c, ir::GatherOp op);
mlir::LogicalResult gatherTranspose(TransposeContext &c, ir::GatherOp op);
mlir::LogicalResult scatterTranspose(TransposeContext &c, ir::ScatterOp op);

} // namespace hjx
