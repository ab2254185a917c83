// SPDX-License-Identifier: Apache-2.0
//
// From first-order hjx to linalg on tensors. What each pass does is in Passes.td.
#pragma once

#include "dialects/hjx/Hjx.h"
#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Lowering/Passes.h.inc"

class RuleRegistry;
/// Marks the ops that convert-hjx-to-linalg or hjx-lower-random lowers.
void registerLoweringRules(RuleRegistry &rules);

} // namespace hjx
