// SPDX-License-Identifier: Apache-2.0
//
// Attention to products and elementwise ops, in place. Before transforms are expanded
// it stands where a program that spells attention out would have it, so that such a
// program is what derivatives are then taken of.
#include "lib/Transforms/DecomposeAttention.h"

#include "lib/Transforms/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "lib/Transforms/Passes.h.inc"

namespace {
struct DecomposeAttention : impl::DecomposeAttentionBase<DecomposeAttention> {
  explicit DecomposeAttention(HasAttentionKernel hasKernel = nullptr) : hasKernel(hasKernel) {}

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isAttention(op) || (hasKernel && hasKernel(op)))
        return;
      ImplicitLocOpBuilder b(op->getLoc(), op);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), decomposeAttention(b, op)))
        if (value)
          result.replaceAllUsesWith(value);
      op->erase();
    });
  }

  HasAttentionKernel hasKernel;
};
} // namespace

std::unique_ptr<Pass> createDecomposeAttention(HasAttentionKernel hasKernel) {
  return std::make_unique<DecomposeAttention>(hasKernel);
}

} // namespace hjx
