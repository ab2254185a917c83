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
  return op->emitOpError("has no ") << rule << " rule";
}

} // namespace hjx
