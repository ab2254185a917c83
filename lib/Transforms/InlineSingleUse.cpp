// SPDX-License-Identifier: Apache-2.0
//
// Expansion makes many functions that exactly one call names; their bodies
// belong where they are called, where they simplify together with their
// arguments. MLIR's inliner would also copy functions of several uses.
#include "dialects/hjx/Hjx.h"
#include "lib/Transforms/Passes.h"

using namespace mlir;

namespace hjx {

#define GEN_PASS_DEF_INLINESINGLEUSE
#include "lib/Transforms/Passes.h.inc"

namespace {

/// Moves `callee`'s body to the place of `call`.
void inlineBody(func::CallOp call, func::FuncOp callee) {
  Block &body = callee.getBody().front();
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = body.getTerminator();
  call->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  call->getBlock()->getOperations().splice(call->getIterator(), body.getOperations());
  call.erase();
  callee.erase();
}

struct InlineSingleUse : impl::InlineSingleUseBase<InlineSingleUse> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<Operation *, SmallVector<Operation *, 2>> uses; // function -> ops that name it
    getOperation().walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        if (auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
          if (Operation *function = symbols.lookup(name.getValue()))
            uses[function].push_back(op);
    });
    // Calls move along with the bodies that hold them, so the order is free.
    for (auto &[op, users] : uses) {
      auto callee = dyn_cast<func::FuncOp>(op);
      auto call = users.size() == 1 ? dyn_cast<func::CallOp>(users.front()) : func::CallOp();
      if (callee && call && callee.isPrivate() && callee.getBody().hasOneBlock() && !callee->isAncestor(call))
        inlineBody(call, callee);
    }
  }
};

} // namespace
} // namespace hjx
