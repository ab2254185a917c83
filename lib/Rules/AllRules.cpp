// SPDX-License-Identifier: Apache-2.0
//
// Fills the registry, and the list of transforms, from every verb. The only
// place that knows all of them.
#include "lib/Autodiff/Requests.h"
#include "lib/Batching/Batching.h"
#include "lib/Batching/Passes.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Lowering/Passes.h"
#include "lib/Rules/Registry.h"

namespace hjx {

const RuleRegistry &getRuleRegistry() {
  static const RuleRegistry registry = [] {
    RuleRegistry rules;
    registerAutodiffRules(rules);
    registerBatchRules(rules);
    registerInterpreterRules(rules);
    registerLoweringRules(rules);
    return rules;
  }();
  return registry;
}

llvm::ArrayRef<TransformVerb> getTransformVerbs() {
  static const TransformVerb verbs[] = {getAutodiffVerb(), getBatchingVerb()};
  return verbs;
}

} // namespace hjx
