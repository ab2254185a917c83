// SPDX-License-Identifier: Apache-2.0
//
// The interpreter as a pass, so that lit tests can hold numbers.
#ifndef HJX_INTERPRETER_PASSES
#define HJX_INTERPRETER_PASSES

include "mlir/Pass/PassBase.td"

def Interpret : Pass<"hjx-interpret", "mlir::ModuleOp"> {
  let summary = "Run every public function without arguments on the reference interpreter";
  let description = [{
    Evaluates the check ops in them; one that fails is an error at its place,
    with the first elements that differ. A module with no such function is an
    error too, since a test that runs nothing cannot fail. The IR is not changed.
  }];
  let dependentDialects = ["hjx::check::CheckDialect"];
}

#endif // HJX_INTERPRETER_PASSES
