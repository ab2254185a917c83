// SPDX-License-Identifier: Apache-2.0
//
// Structured ops to calls of shared kernels: see Passes.td.
#include "lib/Codegen/Cpu/Passes.h"

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

class KernelOutliner {
public:
  explicit KernelOutliner(ModuleOp module) : symbols(module) {}

  void outline(linalg::GenericOp op) {
    llvm::SetVector<Value> captured(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    SmallVector<Value> arguments;
    for (Value value : captured)
      if (!matchPattern(value, m_Constant()))
        arguments.push_back(value);
    func::FuncOp kernel = shared(buildKernel(op, captured, arguments), op);

    ImplicitLocOpBuilder b(op.getLoc(), op);
    for (auto [argument, type] : llvm::zip(arguments, kernel.getArgumentTypes()))
      if (argument.getType() != type)
        argument = memref::CastOp::create(b, type, argument);
    func::CallOp::create(b, kernel, arguments);
    op.erase();
  }

private:
  /// A detached function that does what `op` does.
  static OwningOpRef<func::FuncOp> buildKernel(linalg::GenericOp op,
                                               const llvm::SetVector<Value> &captured,
                                               ArrayRef<Value> arguments) {
    ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value argument) { return parameterType(argument.getType()); });
    auto kernel = func::FuncOp::create(op.getLoc(), "kernel", b.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, b.getUnitAttr());
    Block *body = kernel.addEntryBlock();
    b.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(ArrayRef<Value>(arguments), body->getArguments());
    for (Value value : captured)
      if (!mapping.contains(value))
        b.clone(*value.getDefiningOp(), mapping);
    b.clone(*op, mapping);
    func::ReturnOp::create(b);
    return kernel;
  }

  /// `kernel`, or the one that was made before and reads the same.
  func::FuncOp shared(OwningOpRef<func::FuncOp> kernel, linalg::GenericOp op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    (*kernel)->print(os, OpPrintingFlags().useLocalScope());
    auto [it, isNew] = kernels.try_emplace(text);
    if (isNew) {
      kernel->setName(kernelName(op));
      it->second = *kernel;
      symbols.insert(kernel.release()); // Makes the name unique.
    }
    return it->second;
  }

  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> kernels;
};

void copyToGeneric(memref::CopyOp copy) {
  ImplicitLocOpBuilder b(copy.getLoc(), copy);
  unsigned rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(b, ValueRange{copy.getSource()}, ValueRange{copy.getTarget()},
                            ArrayRef<AffineMap>{identity, identity}, parallel,
                            [](OpBuilder &nested, Location loc, ValueRange args) {
                              linalg::YieldOp::create(nested, loc, args[0]);
                            });
  copy.erase();
}

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isPrivate())
        continue;
      func.walk([](memref::CopyOp copy) { copyToGeneric(copy); });
      SmallVector<linalg::GenericOp> ops;
      func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
      for (linalg::GenericOp op : ops)
        outliner.outline(op);
    }
  }
};

} // namespace
} // namespace hjx
