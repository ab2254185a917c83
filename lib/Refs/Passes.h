// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/Pass.h"

namespace hjx {

/// Replaces refs by values in every function.
std::unique_ptr<mlir::Pass> createDischargeRefs();
void registerRefsPasses();

} // namespace hjx
