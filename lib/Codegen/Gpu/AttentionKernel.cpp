// SPDX-License-Identifier: Apache-2.0
//
// Which kernels of attention there are, and which tiles they have.
#include "lib/Codegen/Gpu/AttentionKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace hjx;

/// About as many blocks as a large device has processors.
static constexpr int64_t kEnoughBlocks = 128;
static constexpr int64_t kMostFeatures = 128, kVectorBytes = 16;

ArrayRef<AttentionPart> hjx::attentionParts(func::FuncOp attention) {
  static constexpr AttentionPart kForward[] = {AttentionPart::Forward}, kCotangent[] = {AttentionPart::QueryBar, AttentionPart::KeyBar};
  if (attention.getNumArguments() == 5)
    return kForward;
  return kCotangent;
}

AttentionOperands AttentionOperands::of(AttentionPart part) {
  static constexpr unsigned kForward[] = {0, 1, 2, 3, 4}, kQueryBar[] = {0, 1, 2, 3, 4, 5, 6}, kKeyBar[] = {0, 1, 2, 3, 4, 5, 7, 8};
  switch (part) {
  case AttentionPart::Forward:
    return {kForward, 3};
  case AttentionPart::QueryBar:
    return {kQueryBar, 6};
  case AttentionPart::KeyBar:
    return {kKeyBar, 6};
  }
  llvm_unreachable("a part of attention");
}

AttentionKernelConfig AttentionKernelConfig::choose(AttentionPart part, Type elementType,
                                                    MatmulPrecision precision, int64_t features,
                                                    bool causal, int64_t numRows,
                                                    int64_t numHeads) {
  bool isF32 = elementType.isF32(), isForward = part == AttentionPart::Forward;
  // An mma makes 8 features.
  bool onTensorCores = !isF32 || (precision == MatmulPrecision::Tf32 && features % 8 == 0);
  AttentionKernelConfig config{part,   elementType, onTensorCores,  features,
                               causal, /*rows=*/64, /*columns=*/64};
  bool isWide = features > kMostFeatures / 2;
  bool hasManyRows = isForward && !isF32 && numRows >= 128 &&
                     numHeads * llvm::divideCeilSigned(numRows, 128) >= kEnoughBlocks;
  if (hasManyRows)
    config.rows = 128;
  // What is in registers and in shared memory grows with features times columns.
  if (isF32 || (isWide && (hasManyRows || !isForward)))
    config.columns = 32;
  return config;
}

std::string AttentionKernelConfig::name() const {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "attention"
     << (part == AttentionPart::Forward    ? ""
         : part == AttentionPart::QueryBar ? "_query_bar"
                                           : "_key_bar");
  os << (elementType.isF32() && onTensorCores ? "_t" : "_") << elementType << "_" << features << "_" << rows << "x" << columns << (causal ? "_causal" : "");
  return name;
}

template <typename Op> static AttentionSupport supportFor(Op op) {
  Type element = op.getQuery().getType().getElementType();
  double scale = op.getScale().convertToDouble();
  auto refuse = [](const Twine &expected, const Twine &got, StringRef help) {
    return AttentionSupport{0, ("expected " + expected + ", got " + got + "\n  help: " + help).str()};
  };
  if (scoresBytes(op) == 0)
    return {};
  if (!element.isF16() && !element.isBF16() && !element.isF32()) {
    std::string name;
    llvm::raw_string_ostream(name) << element;
    return refuse("f16, bf16 or f32", name, "convert query, key and value");
  }
  auto [ofKeys, ofValues] = featuresOf(op);
  int64_t features = std::max<int64_t>({ofKeys, ofValues, 1});
  if (features > kMostFeatures)
    return refuse("at most " + Twine(kMostFeatures) + " features of a head", Twine(features), "use more heads of fewer features");
  // The highest score is that of the highest product.
  if (scale <= 0 || !std::isfinite(static_cast<float>(scale)))
    return refuse("a positive and finite scale", llvm::formatv("{0}", scale).str(), "multiply the queries by it, and give 1");
  return {static_cast<int64_t>(llvm::alignTo(features, kVectorBytes / elementBytes(element))), {}};
}

AttentionSupport hjx::gpuAttentionSupport(Operation *op) {
  if (auto attention = dyn_cast<ir::AttentionOp>(op))
    return supportFor(attention);
  if (auto cotangent = dyn_cast<ir::AttentionCotangentOp>(op))
    return supportFor(cotangent);
  return {0, "expected derivatives in reverse mode, got one in forward mode\n  help: use grad or vjp in place of jvp"};
}

gpu::GPUFuncOp hjx::emitAttentionKernel(KernelModule &device, Location loc,
                                        const AttentionKernelConfig &config) {
  Builder b(loc.getContext());
  auto layout = StridedLayoutAttr::get(loc.getContext(), ShapedType::kDynamic, {1});
  bool isForward = config.part == AttentionPart::Forward;
  SmallVector<Type> types;
  for (unsigned number = 0; number < config.numMatrices(); ++number) {
    bool isRow = number == 3 || (!isForward && number == 5); // logsumexp, shift
    types.push_back(MemRefType::get({ShapedType::kDynamic},
                                    isRow ? b.getF32Type() : config.elementType, layout));
  }
  types.append(4 + 3 * config.numMatrices(), b.getIndexType());
  types.push_back(b.getF32Type());
  gpu::GPUFuncOp kernel = device.createKernel(loc, config.name(), types);
  for (unsigned number = 0; number < AttentionOperands::of(config.part).numRead; ++number)
    kernel.setArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  if (isForward)
    emitAttentionForward(kernel, config);
  else
    emitAttentionBackward(kernel, config);
  return kernel;
}
