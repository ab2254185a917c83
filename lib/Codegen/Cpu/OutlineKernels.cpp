// SPDX-License-Identifier: Apache-2.0
//
// Structured ops to calls of shared kernels: see Passes.td.
//
// A matrix product becomes a function that passes sizes and strides to the
// generated kernel of its types (Gemm.h), with a buffer to work in; the fill with
// zeros before it, if there is one, is left out.
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Cpu/Product.h"
#include "runtime/Environment.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "lib/Codegen/Cpu/Passes.h.inc"

namespace {

/// The type under which a kernel takes a buffer: where in a larger buffer it lies is left open, so
/// that slices at different places share a kernel.
Type parameterType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)) || offset == 0)
    return type;
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(memref.getShape(), memref.getElementType(), layout);
}

/// What the kernel of `op` computes, in a few words: "mul_add_exp".
std::string kernelName(linalg::GenericOp op) {
  std::string name;
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp>(nested))
      continue;
    StringRef opName = nested.getName().stripDialect();
    if (name.size() + opName.size() > 40) {
      name += "_etc";
      break;
    }
    name += (name.empty() ? "" : "_") + opName.str();
  }
  if (name.empty())
    name = op.getNumDpsInputs() == 0 || !isa<MemRefType>(op.getOperand(0).getType()) ? "fill"
                                                                                     : "copy";
  return op.getNumReductionLoops() > 0 ? "reduce_" + name : name;
}

/// Whether `op` sets every element of `buffer` to zero and does nothing else.
bool fillsWithZero(linalg::GenericOp op, Value buffer) {
  if (op.getNumDpsInits() != 1 || op.getDpsInits()[0] != buffer ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBody())
    value = op->getOperand(argument.getArgNumber());
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

/// The buffer that `value` is a view of.
Value rootBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// The fill with zeros that gives `buffer` the contents which `before` finds; null if there is none.
linalg::GenericOp zeroFillBefore(Operation *before, Value buffer) {
  Value root = rootBuffer(buffer);
  for (Operation *op = before->getPrevNode(); op; op = op->getPrevNode()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && fillsWithZero(generic, buffer))
      return generic;
    bool touches = (op->getNumRegions() > 0 && !generic) ||
                   (!isa<ViewLikeOpInterface>(op) && llvm::any_of(op->getOperands(), [&](Value value) {
                      return isa<MemRefType>(value.getType()) && rootBuffer(value) == root;
                    }));
    if (touches)
      return nullptr;
  }
  return nullptr;
}

/// Emits the body of a function that calls the generated kernel for one product.
class ProductEmitter {
public:
  ProductEmitter(ImplicitLocOpBuilder &b, const Product &product, func::FuncOp gemm,
                 bool accumulate, int64_t parts)
      : b(b), product(product), gemm(gemm), accumulate(accumulate), parts(parts) {}

  void emit(Value lhs, Value rhs, Value result, Value workspace) {
    Value adds = arith::ConstantIntOp::create(b, accumulate, 1);
    emitLoops(0, pointerTo(lhs, product.lhsOffset), pointerTo(rhs, product.rhsOffset),
              pointerTo(result, product.resultOffset), pointerTo(workspace, 0), adds);
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  static int64_t elementBytes(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
  }

  Value pointerTo(Value buffer, int64_t offset) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value first = arith::AddIOp::create(b, metadata.getOffset(), index(offset));
    first = arith::MulIOp::create(b, first, index(elementBytes(buffer)));
    address = arith::AddIOp::create(b, address, first);
    address = arith::IndexCastOp::create(b, b.getI64Type(), address);
    return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address);
  }

  Value advance(Value pointer, Value iv, int64_t stride, Type elementType) {
    Value offset = arith::MulIOp::create(b, iv, index(stride));
    offset = arith::IndexCastOp::create(b, b.getI64Type(), offset);
    return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer, offset);
  }

  void emitLoops(unsigned depth, Value lhs, Value rhs, Value result, Value workspace,
                 Value adds) {
    if (depth == product.outer.size())
      return emitCall(lhs, rhs, result, workspace, adds);
    const Product::OuterLoop &loop = product.outer[depth];
    auto forOp = scf::ForOp::create(b, index(0), index(loop.size), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    Value iv = forOp.getInductionVar();
    if (loop.isSum) {
      Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, iv, index(0));
      adds = arith::OrIOp::create(b, adds, isLater);
    }
    emitLoops(depth + 1, advance(lhs, iv, loop.lhsStride, product.config.operandType),
              advance(rhs, iv, loop.rhsStride, product.config.operandType),
              advance(result, iv, loop.resultStride, product.config.resultType), workspace, adds);
  }

  void emitCall(Value lhs, Value rhs, Value result, Value workspace, Value adds) {
    SmallVector<Value> operands;
    auto addMatrix = [&](Value pointer, const Product::Strides &strides) {
      llvm::append_values(operands, pointer, index(strides.batch0), index(strides.batch1),
                          index(strides.row), index(strides.col));
    };
    addMatrix(lhs, product.lhs);
    addMatrix(rhs, product.rhs);
    addMatrix(result, product.result);
    const GemmSizes &sizes = product.sizes;
    for (int64_t size : {sizes.batch0, sizes.batch1, sizes.m, sizes.n, sizes.k})
      operands.push_back(index(size));
    llvm::append_values(operands, adds, workspace, index(parts));
    func::CallOp::create(b, gemm, operands);
  }

  ImplicitLocOpBuilder &b;
  const Product &product;
  func::FuncOp gemm;
  bool accumulate;
  int64_t parts;
};

class KernelOutliner {
public:
  KernelOutliner(ModuleOp module, int64_t numThreads)
      : module(module), symbols(module), numThreads(numThreads) {}

  void outline(linalg::GenericOp op) {
    llvm::SetVector<Value> captured(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    SmallVector<Value> arguments;
    for (Value value : captured)
      if (!matchPattern(value, m_Constant()))
        arguments.push_back(value);
    OwningOpRef<func::FuncOp> kernel = newFunction(op.getLoc(), arguments);
    (*kernel)->setAttr(kKernelAttr, UnitAttr::get(op.getContext()));
    auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &kernel->front());
    IRMapping mapping;
    mapping.map(ArrayRef<Value>(arguments), kernel->getArguments());
    for (Value value : captured)
      if (!mapping.contains(value))
        b.clone(*value.getDefiningOp(), mapping);
    b.clone(*op, mapping);
    func::ReturnOp::create(b);
    replaceByCall(op, shared(std::move(kernel), kernelName(op)), arguments);
  }

  LogicalResult outline(linalg::GenericOp op, Product product) {
    product.config.parallelFor = "hjx_rt_parallel_parts";
    FailureOr<func::FuncOp> gemm = getOrCreateGemmKernel(module, product.config);
    if (failed(gemm))
      return failure();
    gemm->setPrivate();
    const GemmSizes &sizes = product.sizes;
    int64_t multiplications = sizes.batch0 * sizes.batch1 * sizes.m * sizes.n * sizes.k;
    int64_t parts = multiplications < kMinParallelMultiplications ? 1 : numThreads;

    Value lhs = op->getOperand(product.lhsOperand), rhs = op->getOperand(1 - product.lhsOperand);
    Value result = op->getOperand(2);
    linalg::GenericOp fill = zeroFillBefore(op, result);
    ImplicitLocOpBuilder atCall(op.getLoc(), op);
    int64_t workspaceBytes = gemmWorkspaceBytes(product.config, sizes, parts);
    Value workspace = memref::AllocOp::create(
        atCall, MemRefType::get({workspaceBytes}, atCall.getI8Type()));
    SmallVector<Value> arguments = {lhs, rhs, result, workspace};
    OwningOpRef<func::FuncOp> kernel = newFunction(op.getLoc(), arguments);
    auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &kernel->front());
    ProductEmitter(b, product, *gemm, /*accumulate=*/!fill, parts)
        .emit(kernel->getArgument(0), kernel->getArgument(1), kernel->getArgument(2),
              kernel->getArgument(3));
    func::ReturnOp::create(b);
    std::string name = "matmul_" + std::to_string(sizes.m) + "x" + std::to_string(sizes.n) + "x" +
                       std::to_string(sizes.k);
    replaceByCall(op, shared(std::move(kernel), name), arguments);
    if (fill)
      fill.erase();
    return success();
  }

private:
  // A product of some microseconds: less is not worth a second thread.
  static constexpr int64_t kMinParallelMultiplications = 200'000;

  /// A detached private function that takes `arguments`.
  static OwningOpRef<func::FuncOp> newFunction(Location loc, ArrayRef<Value> arguments) {
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value argument) { return parameterType(argument.getType()); });
    auto type = FunctionType::get(loc.getContext(), types, {});
    auto function = func::FuncOp::create(loc, "kernel", type);
    function.setPrivate();
    function.addEntryBlock();
    return function;
  }

  /// `kernel`, or the one that was made before and reads the same.
  func::FuncOp shared(OwningOpRef<func::FuncOp> kernel, StringRef name) {
    std::string text;
    llvm::raw_string_ostream os(text);
    (*kernel)->print(os, OpPrintingFlags().useLocalScope());
    auto [it, isNew] = kernels.try_emplace(text);
    if (isNew) {
      kernel->setName(name);
      it->second = *kernel;
      symbols.insert(kernel.release()); // Makes the name unique.
    }
    return it->second;
  }

  static void replaceByCall(linalg::GenericOp op, func::FuncOp kernel,
                            ArrayRef<Value> arguments) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    SmallVector<Value> operands(arguments);
    for (auto [operand, type] : llvm::zip(operands, kernel.getArgumentTypes()))
      if (operand.getType() != type)
        operand = memref::CastOp::create(b, type, operand);
    func::CallOp::create(b, kernel, operands);
    op.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  int64_t numThreads;
  llvm::StringMap<func::FuncOp> kernels;
};

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    KernelOutliner outliner(getOperation(), numThreads > 0 ? numThreads : defaultNumThreads());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isPrivate())
        continue;
      // Products first: they look for the fills that other ops still are.
      SmallVector<linalg::GenericOp> ops;
      func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
      for (linalg::GenericOp op : ops)
        if (std::optional<Product> product = Product::match(op))
          if (failed(outliner.outline(op, *product)))
            return signalPassFailure();
      func.walk([&](linalg::GenericOp op) { outliner.outline(op); });
    }
  }
};

} // namespace
} // namespace hjx
