// SPDX-License-Identifier: Apache-2.0
#include "lib/Codegen/Gpu/ProgramCost.h"

#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Product.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Support/SizeBytes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hjx {
namespace {

int64_t lengthOf(scf::ForOp loop) { return loop.getStaticTripCount().value_or(APInt(64, 1)).getSExtValue(); }

/// How often the body of `op` runs for one call of the function around it.
int64_t roundsOf(Operation *op) {
  int64_t rounds = 1;
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      for (int64_t size : generic.getStaticLoopRanges())
        rounds *= size;
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      rounds *= lengthOf(loop);
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

/// Bytes of buffers: of each view the largest access counts.
class Touched {
public:
  void add(Value buffer, int64_t bytes) {
    int64_t &most = views[rootBuffer(buffer)][buffer];
    most = std::max(most, bytes);
  }
  bool contains(Value buffer) const { return views.contains(rootBuffer(buffer)); }
  int64_t of(Value root) const {
    auto it = views.find(root);
    auto type = dyn_cast<MemRefType>(root.getType());
    if (it == views.end() || !type.hasStaticShape())
      return 0;
    int64_t bytes = 0;
    for (int64_t most : llvm::make_second_range(it->second))
      bytes += most;
    return std::min(bytes, sizeBytes(type));
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

/// Calls of attention tell their launches apart, and have no body.
SmallVector<Traffic> trafficOfAttention(func::FuncOp kernel) {
  SmallVector<Traffic> launches;
  for (AttentionPart part : attentionParts(kernel)) {
    Traffic &traffic = launches.emplace_back();
    traffic.isProduct = true; // Two of them, and what is between.
    traffic.operands.resize(kernel.getNumArguments());
    AttentionOperands operands = AttentionOperands::of(part);
    for (auto [position, operand] : llvm::enumerate(operands.positions)) {
      Traffic::Bytes &bytes = traffic.operands[operand];
      (position < operands.numRead ? bytes.read : bytes.written) = sizeBytes(cast<MemRefType>(kernel.getArgumentTypes()[operand]));
    }
  }
  return launches;
}

/// One buffer of the program between two times when it is written anew.
struct Lifetime {
  int64_t readByProducts = 0, writtenByProducts = 0;
  int64_t mostReadByProduct = 0, mostRead = 0; ///< by one launch
  int64_t written = 0; ///< by all

  /// Whoever else needs it: nobody makes it if it `isGiven`; the caller has it if it `isResult`.
  int64_t minimum(bool isGiven, bool isResult, int64_t sizeBytes) const {
    int64_t made = std::max(writtenByProducts, std::min(mostReadByProduct, written));
    int64_t read = readByProducts;
    if (isResult)
      made = std::max(made, std::min(written, sizeBytes));
    else if (read == 0 && (isGiven || writtenByProducts > 0))
      read = isGiven ? mostRead : std::min(mostRead, writtenByProducts);
    bool isUnused = !isGiven && !isResult && mostRead == 0;
    return isUnused ? 0 : made + read;
  }
};

class MinimumCounter {
public:
  /// A launch, of each of `rounds` rounds.
  void add(const Traffic &traffic, ValueRange operands, int64_t rounds) {
    for (auto [operand, bytes] : llvm::zip(operands, traffic.operands)) {
      if (bytes.read == 0)
        continue;
      Lifetime &now = nowOf(operand);
      now.mostRead = std::max(now.mostRead, bytes.read);
      if (traffic.isProduct) {
        now.readByProducts += rounds * bytes.read;
        now.mostReadByProduct = std::max(now.mostReadByProduct, bytes.read);
      }
    }
    for (auto [operand, bytes] : llvm::zip(operands, traffic.operands)) {
      if (bytes.written == 0)
        continue;
      SmallVector<Lifetime> &all = buffers[rootBuffer(operand)];
      if (all.empty() || all.back().mostRead > 0) // The first is what the caller gave.
        all.resize(std::max<size_t>(all.size() + 1, 2));
      all.back().written += rounds * bytes.written;
      if (traffic.isProduct)
        all.back().writtenByProducts += rounds * bytes.written;
    }
  }

  int64_t total() const {
    int64_t total = 0;
    for (auto &[root, all] : buffers) {
      bool isArgument = isa<BlockArgument>(root);
      for (const Lifetime &one : all) {
        bool isFirst = &one == all.begin(), isLast = &one == all.end() - 1;
        total += one.minimum(isArgument && isFirst, isArgument && isLast && !isFirst, sizeBytes(cast<MemRefType>(root.getType())));
      }
    }
    return total;
  }

private:
  Lifetime &nowOf(Value operand) {
    SmallVector<Lifetime> &all = buffers[rootBuffer(operand)];
    return all.empty() ? all.emplace_back() : all.back();
  }

  llvm::MapVector<Value, SmallVector<Lifetime>> buffers;
};

} // namespace

SmallVector<Traffic> trafficOf(func::FuncOp kernel) {
  if (kernel->hasAttr(kAttentionAttr))
    return trafficOfAttention(kernel);
  Counter counter;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      counter.visit(generic);
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      counter.visit(load);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      counter.visit(store);
  });
  Traffic traffic;
  traffic.isProduct = counter.isProduct;
  for (BlockArgument argument : kernel.getArguments())
    traffic.operands.push_back({counter.read.of(argument), counter.written.of(argument)});
  return {traffic};
}

int64_t minimumTraffic(func::FuncOp program, const llvm::DenseMap<Operation *, SmallVector<Traffic>> &traffic) {
  MinimumCounter counter;
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  program.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    if (auto it = traffic.find(symbols.lookup(call.getCallee())); it != traffic.end())
      for (const Traffic &launch : it->second)
        counter.add(launch, call.getOperands(), roundsOf(call->getParentOp()));
  });
  return counter.total();
}

void annotate(ArrayRef<gpu::LaunchFuncOp> launches, ArrayRef<Traffic> traffic, int64_t scratchBytes) {
  if (launches.empty())
    return;
  bool isSplit = traffic.size() == 1; // Else each has its own.
  SmallVector<Traffic::Bytes> moved(launches.size());
  for (auto [index, one] : llvm::enumerate(traffic))
    for (Traffic::Bytes bytes : one.operands) {
      moved[index].read += bytes.read;
      moved[isSplit ? launches.size() - 1 : index].written += bytes.written;
    }
  moved.front().written += scratchBytes;
  moved.back().read += scratchBytes;
  for (auto [launch, bytes] : llvm::zip(launches, moved)) {
    Builder b(launch->getContext());
    gpu::LaunchFuncOp op = launch;
    op->setAttr(kTrafficAttr, b.getDenseI64ArrayAttr({bytes.read, bytes.written}));
    if (traffic.front().isProduct)
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
    int64_t length = loop ? lengthOf(loop) : 1;
    for (Region &inner : op.getRegions())
      addLaunches(inner, rounds * length, kernels);
  }
}

ProgramCost ProgramCost::of(ModuleOp module) {
  llvm::MapVector<StringRef, KernelCost> kernels;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  addLaunches(main.getBody(), 1, kernels);
  ProgramCost cost;
  if (auto minimum = main->getAttrOfType<IntegerAttr>(kMinimumTrafficAttr))
    cost.minimumBytes = minimum.getInt();
  for (auto &[name, kernel] : kernels) {
    cost.launches += kernel.launches;
    cost.movedBytes += kernel.bytes;
    cost.kernels.push_back(std::move(kernel));
  }
  llvm::stable_sort(cost.kernels, [](const KernelCost &a, const KernelCost &b) { return a.bytes > b.bytes; });
  return cost;
}

} // namespace hjx
