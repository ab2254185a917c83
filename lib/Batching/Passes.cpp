// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/Passes.h"

#include "lib/Batching/Batching.h"

using namespace mlir;

namespace hjx {
namespace {

struct VmapExpander : TransformExpander {
  VmapExpander(ModuleOp module, const RuleRegistry &rules) : batcher(module, rules) {}
  LogicalResult expand(Operation *request) override { return batcher.expand(cast<ir::VmapOp>(request)); }
  Batcher batcher;
};

} // namespace

TransformVerb getBatchingVerb() {
  return {{{"hjx-vmap", "Expand hjx.vmap only", "hjx.vmap"}},
          [](ModuleOp module, const RuleRegistry &rules) -> std::unique_ptr<TransformExpander> {
            return std::make_unique<VmapExpander>(module, rules);
          }};
}

} // namespace hjx
