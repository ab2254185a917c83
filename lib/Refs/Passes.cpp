// SPDX-License-Identifier: Apache-2.0
#include "lib/Refs/Passes.h"

#include "lib/Refs/Discharge.h"

using namespace mlir;

namespace hjx {
namespace {

struct DischargeRefs : PassWrapper<DischargeRefs, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DischargeRefs)
  StringRef getArgument() const override { return "hjx-discharge-refs"; }
  StringRef getDescription() const override { return "Replace refs by values: arguments that are written become results too"; }

  /// A caller copies its callees as they were, so it comes first.
  SmallVector<func::FuncOp> callersFirst() {
    SmallVector<func::FuncOp> calleesFirst;
    llvm::SmallPtrSet<Operation *, 8> seen;
    std::function<void(func::FuncOp)> visit = [&](func::FuncOp f) {
      if (!f || !seen.insert(f).second)
        return;
      f.walk([&](func::CallOp call) { visit(getOperation().lookupSymbol<func::FuncOp>(call.getCallee())); });
      calleesFirst.push_back(f);
    };
    for (func::FuncOp f : getOperation().getOps<func::FuncOp>())
      visit(f);
    return llvm::to_vector(llvm::reverse(calleesFirst));
  }

  void runOnOperation() override {
    // The sum of two values of a hi-type reports an error and goes on with any value.
    bool hasError = false;
    ScopedDiagnosticHandler note(&getContext(), [&](Diagnostic &diagnostic) {
      hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure(); // the next handler prints it
    });
    Discharger discharger(getOperation());
    // Functions that others call are made anew, once for each mask, and called no more.
    SmallVector<func::FuncOp> leftover;
    for (func::FuncOp f : callersFirst()) {
      if (!hasRefs(f) || f.isExternal())
        continue;
      if (f.isPrivate())
        leftover.push_back(f);
      else if (failed(discharger.dischargeInPlace(f)))
        return signalPassFailure();
    }
    // Those that only make refs may be called by functions without.
    for (func::FuncOp f : leftover)
      if (llvm::none_of(f.getArgumentTypes(), llvm::IsaPred<ir::RefType>) && failed(discharger.dischargeInPlace(f)))
        return signalPassFailure();
    for (bool changed = true; changed;) {
      changed = false;
      llvm::erase_if(leftover, [&](func::FuncOp f) {
        if (llvm::none_of(f.getArgumentTypes(), llvm::IsaPred<ir::RefType>) || !SymbolTable::symbolKnownUseEmpty(f, getOperation()))
          return false;
        f.erase();
        return changed = true;
      });
    }
    if (hasError)
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createDischargeRefs() { return std::make_unique<DischargeRefs>(); }
void registerRefsPasses() { PassRegistration<DischargeRefs>(); }

} // namespace hjx
