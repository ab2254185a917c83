// SPDX-License-Identifier: Apache-2.0
//
// Passes from hjx to hjx. What each does is in Passes.td.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#include "lib/Transforms/Passes.h.inc"

/// All passes of this folder, and one pass per request.
void registerTransformsPasses();

} // namespace hjx
