// SPDX-License-Identifier: Apache-2.0
//
// Calls of attention to launches: one forward, two backward (one in which a block has rows of
// queries, one in which it has keys).
#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/KernelGenerator.h"
#include "lib/Codegen/Gpu/Passes.h"

using namespace mlir;

namespace hjx {

namespace {

/// The strides of [batch..., positions, heads(, features)], whose batch axes are one after the
/// other.
struct AttentionStrides {
  int64_t batch = 0, positions, heads;

  AttentionStrides(MemRefType type, bool hasFeatures) {
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    if (hasFeatures)
      strides.pop_back();
    heads = strides.pop_back_val();
    positions = strides.pop_back_val();
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      batch = size > 1 ? stride : batch;
  }
};

} // namespace

void KernelGenerator::launchAttention(func::CallOp call, AttentionPart part) {
  auto settings = function->getAttrOfType<DictionaryAttr>(kAttentionAttr);
  auto typeOf = [&](unsigned operand) {
    return cast<MemRefType>(call.getOperand(operand).getType());
  };
  MemRefType query = typeOf(0), key = typeOf(1);
  int64_t rank = query.getRank(), numQueries = query.getDimSize(rank - 3),
          numKeys = key.getDimSize(rank - 3), numHeads = query.getDimSize(rank - 2), numBatches = 1;
  for (int64_t size : query.getShape().drop_back(3))
    numBatches *= size;
  int64_t numRows = part == AttentionPart::KeyBar ? numKeys : numQueries;
  auto config =
      AttentionKernelConfig::choose(part, query.getElementType(), precision, query.getShape().back(),
                                    settings.contains("causal"), numRows, numHeads * numBatches);
  gpu::GPUFuncOp kernel = device.lookup(config.name());
  if (!kernel)
    kernel = emitAttentionKernel(device, function.getLoc(), config);

  ImplicitLocOpBuilder b(call.getLoc(), call);
  int64_t numTiles = llvm::divideCeilSigned(numRows, config.rows);
  SmallVector<Value> arguments;
  SmallVector<int64_t> numbers = {numQueries, numKeys, numHeads, numTiles};
  for (auto [position, operand] : llvm::enumerate(AttentionOperands::of(part).positions)) {
    arguments.push_back(memref::CastOp::create(b, kernel.getArgumentTypes()[position],
                                               flatten(b, call.getOperand(operand))));
    AttentionStrides strides(typeOf(operand), typeOf(operand).getRank() == rank);
    numbers.append({strides.batch, strides.positions, strides.heads});
  }
  for (int64_t number : numbers)
    arguments.push_back(arith::ConstantIndexOp::create(b, number));
  double scale = cast<FloatAttr>(settings.get("scale")).getValueAsDouble();
  arguments.push_back(arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(scale))));
  KernelModule::launch(b, {kernel, numTiles * numHeads * numBatches, config.blockSize()},
                       arguments);
}

LogicalResult KernelGenerator::generateAttention() {
  for (func::CallOp call : calls)
    for (AttentionPart part : attentionParts(function))
      launchAttention(call, part);
  return success();
}

} // namespace hjx
