// SPDX-License-Identifier: Apache-2.0
//
// Fills the registry from every verb. The only place that knows all of them.
#include "lib/Batching/Batching.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Lowering/Passes.h"
#include "lib/Rules/Registry.h"

namespace hjx {

const RuleRegistry &getRuleRegistry() {
  static const RuleRegistry registry = [] {
    RuleRegistry rules;
    registerBatchRules(rules);
    registerInterpreterRules(rules);
    registerLoweringRules(rules);
    return rules;
  }();
  return registry;
}

} // namespace hjx
