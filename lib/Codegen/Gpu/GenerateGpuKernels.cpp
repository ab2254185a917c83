// SPDX-License-Identifier: Apache-2.0
//
// The pass of that name, see Passes.td; what a function is, and what all kinds of kernels need.
#include "lib/Codegen/Gpu/KernelGenerator.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Gpu/ProgramCost.h"
#include "lib/Codegen/Structured/FlatBuffers.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERATEGPUKERNELS
#include "lib/Codegen/Gpu/Passes.h.inc"

LogicalResult KernelGenerator::generate() {
  if (function->hasAttr(kAttentionAttr))
    return generateAttention();
  if (!function.getOps<scf::ForOp>().empty())
    return generateLoops();
  auto ops = llvm::to_vector(function.getOps<linalg::GenericOp>());
  if (ops.empty())
    return generateStore();
  FailureOr<std::optional<OutlinedProduct>> product = OutlinedProduct::match(function, facts);
  if (failed(product))
    return failure();
  if (*product)
    return generateProduct(**product);
  if (ops.size() == 2 && !function->hasAttr(kRowsAttr)) {
    isFromZero = true; // A fill with zeros and a reduction: hjx-outline-reductions makes no others.
    ops.front().erase();
    ops.erase(ops.begin());
  }
  FailureOr<LoopNest> first = LoopNest::get(ops.front());
  if (calls.empty() || (ops.size() == 1 && succeeded(first) && first->isEmpty()))
    return success(); // Nothing to do.
  kernel = device.takeKernel(function, facts);
  if (auto rows = function->getAttrOfType<IntegerAttr>(kRowsAttr))
    return generateGroup(ops, rows.getInt());
  if (ops.size() != 1)
    return function.emitOpError("expected one linalg.generic, or '") << kRowsAttr << "'";
  return generateSingle(ops.front());
}

SmallVector<Value> KernelGenerator::digitsOf(KernelBuilder &k, const LoopNest &nest, Value row) {
  SmallVector<int64_t> digits = rowDigits(nest);
  SmallVector<Value> ivs(digits.size());
  for (int64_t digit = digits.size() - 1; digit >= 0; --digit)
    ivs[digit] = takeDigit(k.b, row, digits[digit], digit > 0);
  return ivs;
}

KernelBuilder KernelGenerator::begin(const Launch &launch) {
  KernelBuilder k(launch.kernel, launch.numBlocks, launch.blockSize);
  for (BlockArgument argument : kernel.getArguments())
    if (isa<MemRefType>(argument.getType()))
      flatBuffers.map(Value(argument), flatten(k.b, argument));
  // Behind constants and views that came with the body.
  k.b.setInsertionPoint(kernel.front().getTerminator());
  return k;
}

std::function<int64_t(Value)> KernelGenerator::alignments() {
  return [this](Value buffer) -> int64_t {
    auto argument = dyn_cast<BlockArgument>(rootBuffer(buffer));
    return argument && argument.getArgNumber() < facts.size()
               ? facts[argument.getArgNumber()].alignment
               : 16;
  };
}

Value KernelGenerator::addScratch(MemRefType type) {
  unsigned index = kernel.getNumArguments();
  Builder b(type.getContext());
  // Inserting fails only where the function has no body.
  (void)kernel.insertArgument(index, type, DictionaryAttr(), kernel.getLoc());
  kernel.setArgAttr(index, "llvm.align", b.getI64IntegerAttr(16));
  kernel.setArgAttr(index, "llvm.noalias", b.getUnitAttr());
  scratchTypes.push_back(type);
  return kernel.getArgument(index);
}

SmallVector<Value> KernelGenerator::launchWithScratch(ImplicitLocOpBuilder &b, const Launch &launch,
                                                      func::CallOp call) {
  SmallVector<Value> scratch, arguments(call.getOperands());
  for (MemRefType type : scratchTypes)
    scratch.push_back(memref::AllocOp::create(b, type));
  llvm::append_range(arguments, scratch);
  KernelModule::launch(b, launch, arguments);
  return scratch;
}

void KernelGenerator::launchAll(const Launch &launch) {
  for (func::CallOp call : calls) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    launchWithScratch(b, launch, call);
  }
}

/// Tells the launches that were made for `call`, behind `previous`, what they move.
static void annotateLaunches(func::CallOp call, Operation *previous, ArrayRef<Traffic> traffic) {
  SmallVector<gpu::LaunchFuncOp> launches;
  int64_t scratchBytes = 0;
  for (Operation *op = previous ? previous->getNextNode() : &call->getBlock()->front(); op != call; op = op->getNextNode()) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      launches.push_back(launch);
    else if (auto scratch = dyn_cast<memref::AllocOp>(op))
      scratchBytes += sizeBytes(scratch.getType());
  }
  annotate(launches, traffic, scratchBytes);
}

namespace {
struct GenerateGpuKernels : impl::GenerateGpuKernelsBase<GenerateGpuKernels> {
  using GenerateGpuKernelsBase::GenerateGpuKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    KernelCalls kernels = kernelCalls(module);
    FailureOr<MatmulPrecision> precision = matmulPrecisionOf(module);
    if (failed(precision))
      return signalPassFailure();
    llvm::DenseMap<Operation *, SmallVector<Traffic>> traffic;
    for (func::FuncOp function : llvm::make_first_range(kernels))
      traffic[function] = trafficOf(function);
    if (auto main = module.lookupSymbol<func::FuncOp>("main"))
      main->setAttr(kMinimumTrafficAttr, Builder(main).getI64IntegerAttr(minimumTraffic(main, traffic)));
    KernelModule device(module, chip);
    for (auto &[function, calls] : kernels) {
      SmallVector<Operation *> before;
      for (func::CallOp call : calls)
        before.push_back(call->getPrevNode());
      if (failed(KernelGenerator(device, function, calls, *precision).generate()))
        return signalPassFailure();
      for (auto [call, previous] : llvm::zip(calls, before))
        annotateLaunches(call, previous, traffic[function]);
      for (func::CallOp call : calls)
        call.erase();
      function.erase();
    }
  }
};

} // namespace
} // namespace hjx
