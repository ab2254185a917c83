// SPDX-License-Identifier: Apache-2.0
//
// hjx.opt_barrier on buffers: nothing. On tensors it stays until here, so that no
// clean-up of the tensor stage merges what a checkpoint recomputes with what it was
// first computed as; its results are the operands' own buffers.
#include "dialects/hjx/Hjx.h"
#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
struct BarrierModel : BufferizableOpInterface::ExternalModel<BarrierModel, hjx::ir::OptBarrierOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    return {{op->getResult(operand.getOperandNumber()), BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};
} // namespace

void hjx::registerBarrierBufferization(DialectRegistry &registry) {
  registry.insert<ir::HjxDialect>();
  registry.addExtension(+[](MLIRContext *context, ir::HjxDialect *) {
    ir::OptBarrierOp::attachInterface<BarrierModel>(*context);
  });
}
