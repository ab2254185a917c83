// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/RuleScope.h"

#include <cstdio>

using namespace mlir;

namespace hjx::detail {

/// The frame of a rule. While the frontend records into the very block (a zero in grad), that is
/// the frame already.
RuleScope::RuleScope(ImplicitLocOpBuilder &b, const std::string &name) : name(name), call(this->name.c_str(), Where()) {
  frame = Frame::current();
  if (frame && frame->builder.getInsertionBlock() == b.getInsertionBlock())
    return;
  ownSession.emplace(b.getContext(), ir::moduleAround(b.getInsertionBlock()));
  ownFrame.emplace(*ownSession, b);
  frame = &*ownFrame;
}

Array RuleScope::wrap(Value value) { return value ? frame->wrap(value, /*isWeak=*/false, Where()) : Array(); }
Value RuleScope::use(const Array &leaf) { return leaf.has_value() ? frame->use(leaf, call) : Value(); }

ArrayList RuleScope::wrap(ArrayRef<Value> values) {
  ArrayList leaves;
  for (Value value : values)
    leaves.push_back(wrap(value));
  return leaves;
}

SmallVector<Value> RuleScope::use(ArrayRef<Array> leaves) {
  return llvm::map_to_vector(leaves, [&](const Array &leaf) { return use(leaf); });
}

void RuleScope::checkDiagnostics() {
  std::string diagnostics = frame->session.takeDiagnostics();
  if (diagnostics.empty())
    return;
  Explained explained = explain(diagnostics);
  throw Error(explained.message, explained.help, Where());
}

LogicalResult askUser(ir::EmitError emitError, llvm::function_ref<void()> question) {
  try {
    question();
    return success();
  } catch (const Error &error) {
    InFlightDiagnostic diagnostic = emitError() << error.message();
    if (!error.help().empty())
      diagnostic << "; " << error.help();
  } catch (const std::exception &error) {
    emitError() << error.what();
  }
  return failure();
}

LogicalResult runRule(ImplicitLocOpBuilder &b, const std::string &name, llvm::function_ref<void(RuleScope &)> rule) {
  return askUser([&] { return emitError(b.getLoc()) << "\"" << name << "\": "; },
                 [&] {
                   RuleScope scope(b, name);
                   rule(scope);
                   scope.checkDiagnostics();
                 });
}

bool reportTwice(bool isAdded, const char *kind, const std::string &name) {
  if (!isAdded)
    std::fprintf(stderr, "hjx: the %s '%s' is registered twice, or its name is taken by the dialect; the first one stays\n", kind,
                 name.c_str());
  return isAdded;
}

} // namespace hjx::detail
