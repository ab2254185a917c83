// SPDX-License-Identifier: Apache-2.0
//
// Matrix products to calls. Each becomes a function that passes its sizes and
// strides to the generated kernel of its types (Gemm.h), with a buffer to work in;
// the fill with zeros before it, if there is one, is left out.
#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/Product.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Codegen/Structured/SharedFunctions.h"
#include "lib/Support/SizeBytes.h"
#include "runtime/Environment.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_OUTLINEPRODUCTS
#include "lib/Codegen/Cpu/Passes.h.inc"

namespace {

/// Emits the body of a function that calls the generated kernel for one product.
class ProductEmitter {
public:
  ProductEmitter(ImplicitLocOpBuilder &b, const Product &product, func::FuncOp gemm,
                 bool accumulate, int64_t parts)
      : b(b), product(product), gemm(gemm), accumulate(accumulate), parts(parts) {}

  /// `scales` is null if no factor has some.
  void emit(Value lhs, Value rhs, Value result, Value scales, Value workspace) {
    lhsType = getElementTypeOrSelf(lhs.getType());
    rhsType = getElementTypeOrSelf(rhs.getType());
    Value adds = arith::ConstantIntOp::create(b, accumulate, 1);
    emitLoops(0, pointerTo(lhs, product.lhsOffset), pointerTo(rhs, product.rhsOffset),
              pointerTo(result, product.resultOffset), scales ? pointerTo(scales, product.scalesOffset) : Value(),
              pointerTo(workspace, 0), adds);
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  Value pointerTo(Value buffer, int64_t offset) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value first = arith::AddIOp::create(b, metadata.getOffset(), index(offset));
    first = arith::MulIOp::create(b, first, index(elementBytes(buffer.getType())));
    address = arith::AddIOp::create(b, address, first);
    address = arith::IndexCastOp::create(b, b.getI64Type(), address);
    return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address);
  }

  Value advance(Value pointer, Value iv, int64_t stride, Type elementType) {
    Value offset = arith::MulIOp::create(b, iv, index(stride));
    offset = arith::IndexCastOp::create(b, b.getI64Type(), offset);
    return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer, offset);
  }

  void emitLoops(unsigned depth, Value lhs, Value rhs, Value result, Value scales, Value workspace,
                 Value adds) {
    if (depth == product.outer.size())
      return emitCall(lhs, rhs, result, scales, workspace, adds);
    const Product::OuterLoop &loop = product.outer[depth];
    auto forOp = scf::ForOp::create(b, index(0), index(loop.size), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    Value iv = forOp.getInductionVar();
    if (loop.isSum) {
      Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, iv, index(0));
      adds = arith::OrIOp::create(b, adds, isLater);
    }
    if (scales)
      scales = advance(scales, iv, loop.scalesStride, product.types.operandType);
    emitLoops(depth + 1, advance(lhs, iv, loop.lhsStride, lhsType),
              advance(rhs, iv, loop.rhsStride, rhsType),
              advance(result, iv, loop.resultStride, product.types.resultType), scales, workspace, adds);
  }

  void emitCall(Value lhs, Value rhs, Value result, Value scales, Value workspace, Value adds) {
    SmallVector<Value> operands;
    auto addMatrix = [&](Value pointer, const Product::Strides &strides) {
      llvm::append_values(operands, pointer, index(strides.batch0), index(strides.batch1),
                          index(strides.row), index(strides.col));
    };
    addMatrix(lhs, product.lhs);
    addMatrix(rhs, product.rhs);
    addMatrix(result, product.result);
    const ProductSizes &sizes = product.sizes;
    for (int64_t size : {sizes.batch0, sizes.batch1, sizes.m, sizes.n, sizes.k})
      operands.push_back(index(size));
    llvm::append_values(operands, adds, workspace, index(parts));
    if (scales) {
      Product::Strides strides = product.scales; // Along the side and k.
      int64_t sideGroup = product.rowGroup, sumGroup = product.colGroup;
      if (product.types.rhsIsScaled) {
        std::swap(strides.row, strides.col);
        std::swap(sideGroup, sumGroup);
      }
      addMatrix(scales, strides);
      llvm::append_values(operands, index(sideGroup), index(sumGroup));
    }
    func::CallOp::create(b, gemm, operands);
  }

  ImplicitLocOpBuilder &b;
  const Product &product;
  Type lhsType, rhsType; // As they are stored.
  func::FuncOp gemm;
  bool accumulate;
  int64_t parts;
};

class ProductOutliner {
public:
  ProductOutliner(ModuleOp module, int64_t numThreads)
      : module(module), functions(module), numThreads(numThreads) {}

  LogicalResult outline(linalg::GenericOp op, Product product) {
    GemmConfig config{product.types};
    config.parallelFor = "hjx_rt_parallel_parts";
    FailureOr<func::FuncOp> gemm = getOrCreateGemmKernel(module, config);
    if (failed(gemm))
      return failure();
    gemm->setPrivate();
    const ProductSizes &sizes = product.sizes;
    int64_t multiplications = sizes.batch0 * sizes.batch1 * sizes.m * sizes.n * sizes.k;
    int64_t parts = multiplications < kMinParallelMultiplications ? 1 : numThreads;

    Value lhs = op->getOperand(product.lhsOperand), rhs = op->getOperand(product.rhsOperand);
    Value result = op.getDpsInits()[0];
    linalg::GenericOp fill = zeroFillBefore(op, result);
    ImplicitLocOpBuilder atCall(op.getLoc(), op);
    int64_t workspaceBytes = gemmWorkspaceBytes(config, sizes, parts);
    Value workspace = memref::AllocOp::create(
        atCall, MemRefType::get({workspaceBytes}, atCall.getI8Type()));
    SmallVector<Value> arguments = {lhs, rhs, result, workspace};
    if (product.types.isScaled())
      arguments.push_back(op->getOperand(product.scalesOperand));
    OwningOpRef<func::FuncOp> kernel = SharedFunctions::create(op.getLoc(), arguments);
    for (unsigned operand = 0; operand < arguments.size(); ++operand)
      if (operand != 2 && operand != 3)
        kernel->setArgAttr(operand, kReadOnlyAttr, atCall.getUnitAttr());
    auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &kernel->front());
    ProductEmitter(b, product, *gemm, /*accumulate=*/!fill, parts)
        .emit(kernel->getArgument(0), kernel->getArgument(1), kernel->getArgument(2),
              product.types.isScaled() ? kernel->getArgument(4) : Value(), kernel->getArgument(3));
    func::ReturnOp::create(b);
    std::string name = "matmul_" + std::to_string(sizes.m) + "x" + std::to_string(sizes.n) + "x" +
                       std::to_string(sizes.k);
    SharedFunctions::call(atCall, functions.share(std::move(kernel), name), arguments);
    op.erase();
    if (fill)
      fill.erase();
    return success();
  }

private:
  // A product of some microseconds: less is not worth a second thread.
  static constexpr int64_t kMinParallelMultiplications = 200'000;

  ModuleOp module;
  SharedFunctions functions;
  int64_t numThreads;
};

struct OutlineProducts : impl::OutlineProductsBase<OutlineProducts> {
  using OutlineProductsBase::OutlineProductsBase;

  void runOnOperation() override {
    ProductOutliner outliner(getOperation(), numThreads > 0 ? numThreads : defaultNumThreads());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isPrivate())
        continue;
      SmallVector<linalg::GenericOp> ops;
      func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
      for (linalg::GenericOp op : ops) {
        std::optional<Product> product = Product::match(op);
        if (product && failed(outliner.outline(op, *product)))
          return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace hjx
