// SPDX-License-Identifier: Apache-2.0
//
// Attention on buffers: a call of a kernel without a body, which hjx-generate-gpu-kernels has.
//
//   %out, %lse = hjx.attention %q, %k, %v scale = 0.125 causal
//
//   call @attention(%q, %k, %v, %lse, %out)     private, hjx.kernel, hjx.attention = {causal, scale
//   = 0.125}
//
// Operands may be slices and reshapes that the kernels can read in aligned vectors, such as the
// three thirds of one projection; others are copied.
#include "dialects/hjx/Attention.h"
#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;

bool hjx::isReadableByAttention(MemRefType type, bool hasFeatures) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return false;
  int64_t bytes = elementBytes(type);
  auto isAligned = [&](int64_t distance) { return distance * bytes % 16 == 0; };
  if (hasFeatures && (strides.back() != 1 || !isAligned(offset) ||
                      !llvm::all_of(ArrayRef(strides).drop_back(), isAligned)))
    return false;
  int64_t numBatchAxes = type.getRank() - (hasFeatures ? 3 : 2), expected = -1;
  for (int64_t axis = numBatchAxes - 1; axis >= 0; --axis) {
    int64_t size = type.getDimSize(axis);
    if (size == 1)
      continue;
    if (expected >= 0 && strides[axis] != expected)
      return false;
    expected = strides[axis] * size;
  }
  return true;
}

namespace {

func::FuncOp declareKernel(Operation *op, TypeRange arguments) {
  Builder b(op->getContext());
  auto type = b.getFunctionType(arguments, {});
  auto function = func::FuncOp::create(op->getLoc(), "attention", type);
  function.setPrivate();
  function->setAttr(hjx::kKernelAttr, b.getUnitAttr());
  NamedAttrList settings;
  for (StringRef name : {"scale", "causal"})
    if (Attribute value = op->getAttr(name))
      settings.set(name, value);
  function->setAttr(hjx::kAttentionAttr, settings.getDictionary(op->getContext()));
  SymbolTable(op->getParentOfType<ModuleOp>()).insert(function); // Makes the name unique.
  return function;
}

template <typename Op>
struct AttentionModel : BufferizableOpInterface::ExternalModel<AttentionModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const {
    return {};
  }
  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    Location loc = op->getLoc();
    int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
    auto allocate = [&](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return options.createAlloc(rewriter, loc,
                                 MemRefType::get(tensor.getShape(), tensor.getElementType()), {});
    };
    SmallVector<Value> arguments, results;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      auto type = cast<MemRefType>(buffer->getType());
      if (!hjx::isReadableByAttention(type, type.getRank() == rank)) {
        FailureOr<Value> copy = allocate(operand.getType());
        if (failed(copy) || failed(options.createMemCpy(rewriter, loc, *buffer, *copy)))
          return failure();
        buffer = copy;
      }
      arguments.push_back(*buffer);
    }
    for (Type type : op->getResultTypes()) {
      FailureOr<Value> result = allocate(type);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    if (isa<hjx::ir::AttentionOp>(op))
      llvm::append_range(arguments, llvm::reverse(results)); // The kernels take logsumexp first.
    else
      llvm::append_range(arguments, results);
    func::FuncOp kernel = declareKernel(op, ValueRange(arguments).getTypes());
    func::CallOp::create(rewriter, loc, kernel, arguments);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

} // namespace

void hjx::registerAttentionBufferization(DialectRegistry &registry) {
  registry.insert<ir::HjxDialect>();
  registry.addExtension(+[](MLIRContext *context, ir::HjxDialect *) {
    ir::AttentionOp::attachInterface<AttentionModel<ir::AttentionOp>>(*context);
    ir::AttentionCotangentOp::attachInterface<AttentionModel<ir::AttentionCotangentOp>>(*context);
  });
}
