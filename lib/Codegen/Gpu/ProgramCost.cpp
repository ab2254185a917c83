// SPDX-License-Identifier: Apache-2.0
#include "lib/Codegen/Gpu/ProgramCost.h"

#include "lib/Codegen/Structured/Product.h"
#include "lib/Codegen/Structured/RowLoops.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hjx {
namespace {

int64_t elementBytes(MemRefType type) { return llvm::divideCeil(type.getElementTypeBitWidth(), 8u); }

/// How often the body of `op` runs for one call of the function around it.
int64_t roundsOf(Operation *op) {
  int64_t rounds = 1;
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      for (int64_t size : generic.getStaticLoopRanges())
        rounds *= size;
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      rounds *= loop.getStaticTripCount().value_or(APInt(64, 1)).getSExtValue();
  }
  return rounds;
}

/// Elements of `type` that an access reaches.
int64_t reach(const LoopNest &nest, const Access &access, MemRefType type) {
  int64_t elements = 1;
  for (auto [loop, stride] : llvm::zip(nest.loops, access.strides))
    elements *= stride ? loop.size : 1;
  return std::min(elements, type.getNumElements());
}

/// Bytes by buffer that a function is called with: of each view of it the largest access counts.
class Touched {
public:
  void add(Value buffer, int64_t bytes) {
    int64_t &most = views[rootBuffer(buffer)][buffer];
    most = std::max(most, bytes);
  }
  bool contains(Value buffer) const { return views.contains(rootBuffer(buffer)); }
  int64_t total() const {
    int64_t total = 0;
    for (auto &[root, ofRoot] : views) {
      int64_t bytes = 0;
      for (auto &[view, most] : ofRoot)
        bytes += most;
      auto type = cast<MemRefType>(root.getType());
      if (isa<BlockArgument>(root) && type.hasStaticShape())
        total += std::min(bytes, type.getNumElements() * elementBytes(type));
    }
    return total;
  }

private:
  llvm::MapVector<Value, llvm::MapVector<Value, int64_t>> views;
};

class Counter {
public:
  void visit(linalg::GenericOp op) {
    isProduct |= Product::match(op).has_value();
    FailureOr<LoopNest> nest = LoopNest::get(op);
    int64_t rounds = roundsOf(op->getParentOp());
    auto bytesOf = [&](OpOperand &operand) -> int64_t {
      auto type = cast<MemRefType>(operand.get().getType());
      int64_t elements = failed(nest) ? type.getNumElements()
                                      : reach(*nest, nest->accesses[operand.getOperandNumber()], type);
      return elements * elementBytes(type) * rounds;
    };
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      if (!op.getMatchingBlockArgument(&operand).use_empty() && !written.contains(operand.get()))
        read.add(operand.get(), bytesOf(operand));
    }
    for (OpOperand &output : op.getDpsInitsMutable())
      written.add(output.get(), bytesOf(output));
  }

  void visit(memref::LoadOp load) {
    if (!written.contains(load.getMemRef()))
      read.add(load.getMemRef(), roundsOf(load) * elementBytes(load.getMemRefType()));
  }
  void visit(memref::StoreOp store) {
    written.add(store.getMemRef(), roundsOf(store) * elementBytes(store.getMemRefType()));
  }

  Touched read, written;
  bool isProduct = false;
};

} // namespace

Traffic Traffic::of(func::FuncOp function) {
  Counter counter;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      counter.visit(generic);
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      counter.visit(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      counter.visit(store);
  });
  return {counter.read.total(), counter.written.total(), counter.isProduct};
}

void Traffic::annotate(ArrayRef<gpu::LaunchFuncOp> launches, int64_t scratchBytes) const {
  for (auto [index, launch] : llvm::enumerate(launches)) {
    bool isFirst = index == 0, isLast = index + 1 == launches.size();
    int64_t bytes[] = {isFirst * readBytes + isLast * scratchBytes, isLast * writtenBytes + isFirst * scratchBytes};
    Builder b(launch->getContext());
    gpu::LaunchFuncOp op = launch;
    op->setAttr(kTrafficAttr, b.getDenseI64ArrayAttr(bytes));
    if (isProduct)
      op->setAttr(kProductAttr, b.getUnitAttr());
  }
}

static void addLaunches(Region &region, int64_t rounds, llvm::MapVector<StringRef, KernelCost> &kernels) {
  for (Operation &op : region.getOps()) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
      KernelCost &cost = kernels[launch.getKernelName().getValue()];
      cost.name = launch.getKernelName().getValue().str();
      cost.isProduct |= op.hasAttr(kProductAttr);
      cost.launches += rounds;
      if (auto traffic = op.getAttrOfType<DenseI64ArrayAttr>(kTrafficAttr))
        for (int64_t bytes : traffic.asArrayRef())
          cost.bytes += rounds * bytes;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    int64_t length = loop ? loop.getStaticTripCount().value_or(APInt(64, 1)).getSExtValue() : 1;
    for (Region &inner : op.getRegions())
      addLaunches(inner, rounds * length, kernels);
  }
}

ProgramCost ProgramCost::of(ModuleOp module) {
  llvm::MapVector<StringRef, KernelCost> kernels;
  addLaunches(module.lookupSymbol<func::FuncOp>("main").getBody(), 1, kernels);
  ProgramCost cost;
  for (auto &[name, kernel] : kernels) {
    cost.launches += kernel.launches;
    cost.movedBytes += kernel.bytes;
    cost.productBytes += kernel.isProduct ? kernel.bytes : 0;
    cost.kernels.push_back(std::move(kernel));
  }
  llvm::stable_sort(cost.kernels, [](const KernelCost &a, const KernelCost &b) { return a.bytes > b.bytes; });
  return cost;
}

} // namespace hjx
