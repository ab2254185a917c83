// SPDX-License-Identifier: Apache-2.0
//
// Passes from hjx to hjx.

#ifndef HJX_TRANSFORMS_PASSES
#define HJX_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def DecomposeAttention : Pass<"hjx-decompose-attention", "mlir::ModuleOp"> {
  let summary = "Write attention and its derivatives out in products and elementwise ops";
  let description = [{
    The first pass of a target without kernels for attention. The pipelines for GPUs
    keep what these have kernels for (lib/Codegen/Gpu/AttentionKernel.h), pad heads
    that are no whole vectors with zeros, and remark on what is left to write out.
  }];
}

def ExpandTransforms : Pass<"hjx-expand-transforms", "mlir::ModuleOp"> {
  let summary = "Replace requests by calls of the functions they stand for";
  let description = [{
    Innermost first; each (function, transform, mask) is made once. At the end
    checkpoint, custom_jvp and custom_vjp that no transform has used become
    plain calls. With `only`, expands just these requests and leaves all others.
  }];
  let options = [ListOption<"only", "only", "std::string", "names of the requests to expand; all when empty">];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def InlineSingleUse : Pass<"hjx-inline-single-use", "mlir::ModuleOp"> {
  let summary = "Inline private functions that one call names";
  let description = [{
    The body moves into its caller, so the program does not grow. Functions with
    several uses stay functions: repeated layers stay one.
  }];
}

#endif // HJX_TRANSFORMS_PASSES
