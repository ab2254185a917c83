// SPDX-License-Identifier: Apache-2.0
//
// Attention to products and elementwise ops, in place, or to attention of padded heads. Before transforms are expanded
// it stands where a program that spells attention out would have it, so that such a
// program is what derivatives are then taken of. What a target refuses is told, with what it costs.
#include "lib/Transforms/DecomposeAttention.h"

#include "lib/Transforms/Passes.h"
#include "runtime/Bytes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "lib/Transforms/Passes.h.inc"

namespace {
struct DecomposeAttention : impl::DecomposeAttentionBase<DecomposeAttention> {
  explicit DecomposeAttention(AttentionSupportOf target = nullptr) : target(target) {}

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (isAttention(op))
        replace(op, target ? target(op) : AttentionSupport());
    });
  }

  static void replace(Operation *op, const AttentionSupport &support) {
    if (support.features > 0 && featuresOf(op) == std::pair(support.features, support.features))
      return;
    if (!support.refusal.empty())
      op->emitRemark() << "attention stores its scores, " << printBytes(scoresBytes(op)) << ": " << support.refusal;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    SmallVector<Value> values = support.features > 0 ? padAttention(b, op, support.features) : decomposeAttention(b, op);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    op->erase();
  }

  AttentionSupportOf target;
};
} // namespace

std::unique_ptr<Pass> createDecomposeAttention(AttentionSupportOf target) {
  return std::make_unique<DecomposeAttention>(target);
}

} // namespace hjx
