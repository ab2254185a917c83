// SPDX-License-Identifier: Apache-2.0
//
// Device functions to the LLVM and NVVM dialects in one conversion: see Passes.td.
#include "lib/Target/Ptx/Ptx.h"
#include "runtime/Device.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_CONVERTDEVICETONVVM
#include "lib/Target/Ptx/Passes.h.inc"

namespace {

/// A thread's or block's number: a special register, with its range, which lets LLVM divide in 32
/// bits.
template <typename Op, typename X, typename Y, typename Z>
struct ConvertNumber : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LLVM::ConstantRangeAttr range;
    if (std::optional<APInt> bound = op.getUpperBound())
      range = LLVM::ConstantRangeAttr::get(op.getContext(), 32, 0, bound->getSExtValue());
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value number;
    switch (op.getDimension()) {
    case gpu::Dimension::x:
      number = X::create(rewriter, loc, i32, range);
      break;
    case gpu::Dimension::y:
      number = Y::create(rewriter, loc, i32, range);
      break;
    case gpu::Dimension::z:
      number = Z::create(rewriter, loc, i32, range);
      break;
    }
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, rewriter.getI64Type(), number);
    return success();
  }
};
using ConvertThreadId =
    ConvertNumber<gpu::ThreadIdOp, NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>;
using ConvertBlockId =
    ConvertNumber<gpu::BlockIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>;

struct ConvertBarrier : ConvertOpToLLVMPattern<gpu::BarrierOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::Barrier0Op::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

/// gpu.shuffle xor on i32 in a whole warp.
struct ConvertShuffle : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    APInt width;
    if (op.getMode() != gpu::ShuffleMode::XOR || op.getValue().getType() != i32 ||
        !matchPattern(op.getWidth(), m_ConstantInt(&width)) || width != 32)
      return rewriter.notifyMatchFailure(op, "expected an i32 exchanged by xor in a whole warp");
    auto constant = [&](int32_t value) {
      return LLVM::ConstantOp::create(rewriter, op.getLoc(), i32, value);
    };
    Value shuffled =
        NVVM::ShflOp::create(rewriter, op.getLoc(), i32, constant(-1), adaptor.getValue(),
                             adaptor.getOffset(), constant(31), NVVM::ShflKind::bfly, UnitAttr());
    Value isValid = LLVM::ConstantOp::create(rewriter, op.getLoc(), rewriter.getI1Type(),
                                             rewriter.getBoolAttr(true));
    rewriter.replaceOp(op, {shuffled, isValid});
    return success();
  }
};

struct ConvertDeviceToNvvm : impl::ConvertDeviceToNvvmBase<ConvertDeviceToNvvm> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    configureGpuToNVVMTypeConverter(types);
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertThreadId, ConvertBlockId, ConvertBarrier, ConvertShuffle>(types);
    populateMathToLLVMConversionPatterns(types, patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (Attribute threads = function->removeAttr(kThreadsAttr)) {
        function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), UnitAttr::get(&getContext()));
        function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), threads);
        for (unsigned index = 0; index < function.getNumArguments(); ++index)
          if (function.removeArgAttr(index, kTensorMapAttr))
            passByValue(function, index);
      }
  }

  /// TMA takes maps where they are passed. Only what a kernel does not write stays there.
  void passByValue(LLVM::LLVMFuncOp function, unsigned index) {
    Builder b(&getContext());
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), TensorMap::kSizeBytes);
    function.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(TensorMap::kAlignment));
  }
};

} // namespace
} // namespace hjx
