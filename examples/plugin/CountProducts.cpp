// SPDX-License-Identifier: Apache-2.0
//
// A pass from outside hjx, as a shared library that hjx-opt loads:
//
//   hjx-opt --load-pass-plugin=libCountProducts.so --count-products f.mlir
//
// It tells for each function how many contractions it has and what they cost. A
// plugin sees ops as MLIR's generic Operation; it needs MLIR's headers, not hjx's.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

/// Multiplications and additions: two for each element of the result and of the summed axes,
/// whose sizes are those of lhs that the attribute lists.
int64_t flops(Operation *product) {
  auto lhs = cast<RankedTensorType>(product->getOperand(0).getType());
  auto result = cast<RankedTensorType>(product->getResult(0).getType());
  int64_t count = 2 * result.getNumElements();
  for (int64_t axis : product->getAttrOfType<DenseI64ArrayAttr>("lhs_contracting").asArrayRef())
    count *= lhs.getDimSize(axis);
  return count;
}

struct CountProducts : PassWrapper<CountProducts, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountProducts)
  StringRef getArgument() const final { return "count-products"; }
  StringRef getDescription() const final { return "Remark on each function's matrix products"; }

  void runOnOperation() override {
    int64_t products = 0, total = 0;
    getOperation()->walk([&](Operation *op) {
      if (op->getName().getStringRef() != "hjx.dot_general")
        return;
      ++products;
      total += flops(op);
    });
    getOperation()->emitRemark() << products << " products, " << total << " FLOP";
    markAllAnalysesPreserved();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountProducts", "1", [] { PassRegistration<CountProducts>(); }};
}
