// SPDX-License-Identifier: Apache-2.0
//
// One structured op for everything that follows: see Passes.td.
#include "lib/Codegen/Cpu/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERALIZETENSOROPS
#include "lib/Codegen/Cpu/Passes.h.inc"

namespace {

struct GeneralizeTensorOps : impl::GeneralizeTensorOpsBase<GeneralizeTensorOps> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace hjx
