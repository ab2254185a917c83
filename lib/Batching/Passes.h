// SPDX-License-Identifier: Apache-2.0
//
// `hjx-vmap`: expands vmap requests alone, innermost first.
#pragma once

#include "mlir/Pass/Pass.h"

namespace hjx {

/// Replaces every hjx.vmap in the module by a call of a new private function.
/// Callees may hold further vmap requests but no other request.
std::unique_ptr<mlir::Pass> createVmapPass();
void registerBatchingPasses();

} // namespace hjx
