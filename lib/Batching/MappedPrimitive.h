// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/hjx/MappedPrimitive.h"

namespace hjx {

/// The mapped form of `primitive`: each rule is the primitive's own, emitted for one element and then
/// batched. How residuals are mapped follows from the forward half, which the backward half batches
/// again, for the answer alone.
std::unique_ptr<ir::PrimitiveDef> makeMappedPrimitive(const ir::PrimitiveDef &primitive);

} // namespace hjx
