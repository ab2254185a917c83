// SPDX-License-Identifier: Apache-2.0
//
// The pass around the walk of Lowering.h.
#include "lib/Lowering/Lowering.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_CONVERTHJXTOLINALG
#include "lib/Lowering/Passes.h.inc"

namespace {

/// Its values are its operand's: gone before clusters are looked for.
void eraseStopGradients(func::FuncOp func) {
  func.walk([](ir::StopGradientOp op) {
    op.replaceAllUsesWith(op.getOperand());
    op.erase();
  });
}

FailureOr<SmallVector<Type>> lowerTypes(func::FuncOp func, TypeRange types, StringRef what) {
  SmallVector<Type> lowered;
  for (auto [index, type] : llvm::enumerate(types)) {
    lowered.push_back(lowerType(type));
    if (!lowered.back())
      return func.emitOpError(what)
             << " " << index
             << ": expected an array of numbers or bools of static shape and without sharding, got "
             << type << "\n  help: run hjx-to-lo first; it lowers keys";
  }
  return lowered;
}

LogicalResult convert(func::FuncOp func, bool fuse) {
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return func.emitOpError("expected a body of one block");
  auto inputs = lowerTypes(func, func.getArgumentTypes(), "argument");
  auto results = lowerTypes(func, func.getResultTypes(), "result");
  if (failed(inputs) || failed(results))
    return failure();
  eraseStopGradients(func);
  const LoweringRules &rules = getLoweringRules();
  Clusters clusters(func, rules, fuse);

  Block &old = func.front();
  LocBuilder b(func.getLoc(), func.getContext());
  SmallVector<Location> locs =
      llvm::map_to_vector(old.getArguments(), [](BlockArgument arg) { return arg.getLoc(); });
  Block *fresh = b.createBlock(&func.getBody(), func.getBody().end(), *inputs, locs);
  Lowering lowering(rules, clusters, b);
  FailureOr<SmallVector<Value>> returned = lowering.emitBlock(old, fresh->getArguments());
  if (failed(returned))
    return failure();
  func::ReturnOp::create(b, old.getTerminator()->getLoc(), *returned);
  old.dropAllReferences();
  old.erase();
  func.setType(b.getFunctionType(*inputs, *results));
  return success();
}

struct ConvertHjxToLinalg : impl::ConvertHjxToLinalgBase<ConvertHjxToLinalg> {
  using ConvertHjxToLinalgBase::ConvertHjxToLinalgBase;
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(convert(func, fuse)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace hjx
