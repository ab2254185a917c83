// SPDX-License-Identifier: Apache-2.0
//
// hjx-interpret: numbers in lit tests.
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_INTERPRET
#include "lib/Interpreter/Passes.h.inc"

namespace {

struct Interpret : impl::InterpretBase<Interpret> {
  void runOnOperation() override {
    bool ranAny = false, anyFailed = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal() || function.getNumArguments() != 0)
        continue;
      ranAny = true;
      anyFailed |= failed(interpret(function, {}));
    }
    if (!ranAny)
      getOperation().emitError(
          "hjx-interpret: expected a public function without arguments to run");
    if (!ranAny || anyFailed)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace hjx
