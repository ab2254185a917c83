// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/Pass.h"

namespace hjx {

/// Replaces every value of a hi-type by its components, and calls of primitives by their expansions.
std::unique_ptr<mlir::Pass> createLowerHi();
void registerHiTypesPasses();

} // namespace hjx
