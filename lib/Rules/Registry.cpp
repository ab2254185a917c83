// SPDX-License-Identifier: Apache-2.0
#include "lib/Rules/Registry.h"

using namespace mlir;

namespace hjx {

SmallVector<StringRef> RuleRegistry::names() const {
  SmallVector<StringRef> all = llvm::to_vector(rules.keys());
  llvm::sort(all);
  return all;
}

void RuleRegistry::printSupportGrid(llvm::raw_ostream &os, MLIRContext *context) const {
  os << "| op | interpret | jvp | linearize | transpose | batch | lower |\n|---|---|---|---|---|---|---|\n";
  SmallVector<StringRef> ops;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == ir::HjxDialect::getDialectNamespace() || rules.contains(name.getStringRef()))
      ops.push_back(name.getStringRef());
  llvm::sort(ops);
  for (StringRef op : ops) {
    static const RuleSet none;
    auto it = rules.find(op);
    const RuleSet &set = it == rules.end() ? none : it->second;
    auto mark = [](bool has) { return has ? "yes" : "-"; };
    os << "| `" << op << "` | " << mark(set.interprets) << " | "
       << (set.hasZeroTangent ? "zero" : mark(bool(set.jvp))) << " | "
       << (set.linearize ? "yes" : set.hasZeroTangent ? "zero" : set.jvp ? "by jvp" : "-") << " | "
       << mark(bool(set.transpose)) << " | " << mark(bool(set.batch)) << " | " << mark(set.lowers) << " |\n";
  }
}

LogicalResult emitMissingRule(Operation *op, StringRef rule) {
  StringRef remedy = StringSwitch<StringRef>(rule)
                         .Case("jvp", "write a derivative of the function around it with custom_jvp or custom_vjp, or RuleSet::jvp of the op in lib/Autodiff/Rules")
                         .Case("transpose", "write the pull-back of the function around it with custom_vjp, or RuleSet::transpose of the op in lib/Autodiff/Rules")
                         .Case("batching", "run it on one element at a time in a scan, or write RuleSet::batch of the op in lib/Batching/Rules")
                         .Case("interpreter", "compile the function, or write the op's evaluation in lib/Interpreter")
                         .Default("write the op's pattern in lib/Lowering");
  return op->emitOpError("has no ") << rule << " rule; " << remedy;
}

} // namespace hjx
