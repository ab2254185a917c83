// SPDX-License-Identifier: Apache-2.0
//
// What autodiff offers to the others: its rules, and the expansion of
// hjx.jvp, hjx.vjp and hjx.linearize.
#pragma once

#include "lib/Rules/Registry.h"
#include "lib/Transforms/ExpandTransforms.h"

namespace hjx {

/// Fills the slots jvp, linearize and transpose of every family.
void registerAutodiffRules(RuleRegistry &rules);

/// Requests and expander for the driver.
TransformVerb getAutodiffVerb();

} // namespace hjx
