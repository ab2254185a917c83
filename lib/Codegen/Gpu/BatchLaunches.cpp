// SPDX-License-Identifier: Apache-2.0
//
// Launches of one kernel on different buffers become one launch: see Passes.td.
//
//   launch @update blocks 3 (%p0, %g0, %rate)       launch @update_x2 blocks 6 (%p0, %p1, %g0, %g1, %rate)
//   launch @update blocks 3 (%p1, %g1, %rate)  ->     kernel: member = block / 3, block = block % 3
//                                                     %p, %g = member == 0 ? (%p0, %g0) : (%p1, %g1)
//
// An optimizer updates hundreds of small parameters, which are alike; a launch for each would take
// longer than the work. Source: the multi-tensor kernels of NVIDIA's Apex, with the table of
// pointers among the kernel's parameters.
#include "lib/Codegen/Gpu/DeviceModule.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Gpu/ProgramCost.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_BATCHLAUNCHES
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

constexpr unsigned kWindow = 1024;      // Ops that are looked at behind the last member.
constexpr unsigned kMaxMembers = 128;
constexpr unsigned kMaxArguments = 480; // A kernel takes 4352 bytes.
/// Buffers of the arena up to this size may live longer for a batch.
constexpr int64_t kMaxHeldBytes = 64 * 1024;

int64_t sizeOf(Value root) {
  auto type = cast<MemRefType>(root.getType());
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8u);
}

struct Effects {
  llvm::SmallDenseSet<Value, 4> reads, writes; // Root buffers.
  bool isUnknown = false;

  void add(const Effects &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
    isUnknown |= other.isUnknown;
  }
  bool conflictsWith(const Effects &other) const {
    auto meet = [](const auto &a, const auto &b) {
      const auto &small = a.size() < b.size() ? a : b, &large = a.size() < b.size() ? b : a;
      return llvm::any_of(small, [&](Value value) { return large.contains(value); });
    };
    return isUnknown || other.isUnknown || meet(reads, other.writes) || meet(writes, other.reads) ||
           meet(writes, other.writes);
  }
};

/// Launches that are one, in the order of the program; they run where the first one stands.
struct Batch {
  SmallVector<gpu::LaunchFuncOp> members;
  Effects effects;
};

class LaunchBatcher {
public:
  explicit LaunchBatcher(ModuleOp module) : device(module), symbols(deviceModule(module)) {}

  void run(Block &block) {
    llvm::SmallPtrSet<Operation *, 32> done;
    for (auto first : llvm::to_vector(block.getOps<gpu::LaunchFuncOp>())) {
      if (done.contains(first) || !mayJoin(first))
        continue;
      Batch batch = grow(first);
      done.insert(batch.members.begin(), batch.members.end());
      if (batch.members.size() > 1)
        replace(batch);
    }
  }

private:
  gpu::GPUFuncOp kernelOf(gpu::LaunchFuncOp launch) {
    return symbols.lookup<gpu::GPUFuncOp>(launch.getKernelName());
  }

  /// Kernels of a fixed grid that know their block by gpu.block_id alone. Products fill the device.
  bool mayJoin(gpu::LaunchFuncOp launch) {
    gpu::GPUFuncOp kernel = kernelOf(launch);
    if (launch->hasAttr(kProductAttr) || !kernel || !kernel.getKnownGridSizeAttr() || kernel.getNumArguments() == 0)
      return false;
    return !kernel
                .walk([](Operation *op) {
                  bool isForeign = isa<gpu::GridDimOp>(op) || isa_and_present<NVVM::NVVMDialect>(op->getDialect());
                  return isForeign ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  Effects effectsOf(gpu::LaunchFuncOp launch) {
    Effects effects;
    gpu::GPUFuncOp kernel = kernelOf(launch);
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      Value root = rootBuffer(operand);
      effects.isUnknown |= !overlapsNoOther(root);
      effects.reads.insert(root);
      if (!kernel || !kernel.getArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName()))
        effects.writes.insert(root);
    }
    return effects;
  }

  Batch grow(gpu::LaunchFuncOp first) {
    Batch batch{{first}, effectsOf(first)};
    Effects between; // Of launches that are no members.
    unsigned steps = 0, numArguments = first.getNumKernelOperands();
    for (Operation *op = first->getNextNode(); op && steps < kWindow && !between.isUnknown; op = op->getNextNode(), ++steps) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!launch) {
        if (isMovable(op))
          continue;
        break;
      }
      Effects effects = effectsOf(launch);
      unsigned more = numOwnArguments(first, launch);
      if (launch.getKernel() != first.getKernel() || batch.effects.conflictsWith(effects) ||
          between.conflictsWith(effects) || numArguments + more > kMaxArguments || holdsMemory(effects, first) ||
          !llvm::all_of(launch->getOperands(), [&](Value value) { return canMove(value, first); })) {
        between.add(effects);
        continue;
      }
      batch.members.push_back(launch);
      batch.effects.add(effects);
      numArguments += more;
      steps = 0;
      if (batch.members.size() == kMaxMembers)
        break;
    }
    return batch;
  }

  static bool isMovable(Operation *op) {
    return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<memref::AllocOp, memref::GetGlobalOp>(op));
  }

  /// Whether `value` can be had at `position`.
  static bool canMove(Value value, Operation *position) {
    Operation *producer = value.getDefiningOp();
    if (!producer || producer->getBlock() != position->getBlock() || producer->isBeforeInBlock(position))
      return true;
    return isMovable(producer) &&
           llvm::all_of(producer->getOperands(), [&](Value operand) { return canMove(operand, position); });
  }

  static void moveBefore(Value value, Operation *position) {
    Operation *producer = value.getDefiningOp();
    if (!producer || producer->getBlock() != position->getBlock() || producer->isBeforeInBlock(position))
      return;
    for (Value operand : producer->getOperands())
      moveBefore(operand, position);
    producer->moveBefore(position);
  }

  static unsigned numOwnArguments(gpu::LaunchFuncOp a, gpu::LaunchFuncOp b) {
    unsigned count = 0;
    for (auto [x, y] : llvm::zip(a.getKernelOperands(), b.getKernelOperands()))
      count += x != y;
    return count;
  }

  /// Whether to run a launch at `position` already would make large buffers live longer.
  static bool holdsMemory(const Effects &effects, Operation *position) {
    return llvm::any_of(effects.writes, [&](Value root) {
      return root.getDefiningOp<memref::AllocOp>() && sizeOf(root) > kMaxHeldBytes && !isUsedBefore(root, position);
    });
  }

  static bool isUsedBefore(Value buffer, Operation *position) {
    return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
      if (isa<ViewLikeOpInterface>(user))
        return isUsedBefore(user->getResult(0), position);
      Operation *here = position->getBlock()->findAncestorOpInBlock(*user);
      return here && here->isBeforeInBlock(position);
    });
  }

  void replace(Batch &batch) {
    gpu::LaunchFuncOp first = batch.members.front();
    unsigned numArguments = first.getNumKernelOperands(), numMembers = batch.members.size();
    SmallVector<bool> isShared(numArguments);
    SmallVector<Value> operands;
    for (unsigned index = 0; index < numArguments; ++index) {
      Value value = first.getKernelOperands()[index];
      isShared[index] =
          llvm::all_of(batch.members, [&](gpu::LaunchFuncOp member) { return member.getKernelOperands()[index] == value; });
      for (gpu::LaunchFuncOp member : isShared[index] ? ArrayRef(first) : ArrayRef(batch.members))
        operands.push_back(member.getKernelOperands()[index]);
    }
    for (Value operand : operands)
      moveBefore(operand, first);
    Launch launch = makeKernel(kernelOf(first), numMembers, isShared, ValueRange(operands).getTypes());
    ImplicitLocOpBuilder b(first.getLoc(), first);
    DeviceModule::launch(b, launch, operands);
    sumTraffic(batch, first->getPrevNode());
    for (gpu::LaunchFuncOp member : batch.members)
      member.erase();
  }

  static void sumTraffic(const Batch &batch, Operation *launch) {
    SmallVector<int64_t> sum(2, 0);
    for (gpu::LaunchFuncOp member : batch.members)
      if (auto traffic = member->getAttrOfType<DenseI64ArrayAttr>(kTrafficAttr))
        for (auto [total, bytes] : llvm::zip(sum, traffic.asArrayRef()))
          total += bytes;
    launch->setAttr(kTrafficAttr, Builder(launch->getContext()).getDenseI64ArrayAttr(sum));
  }

  /// The body of `kernel` for one of `numMembers` sets of arguments, by the number of the block.
  Launch makeKernel(gpu::GPUFuncOp kernel, unsigned numMembers, ArrayRef<bool> isShared, TypeRange types) {
    int64_t numBlocks = kernel.getKnownGridSizeAttr()[0];
    Launch launch;
    launch.kernel = device.createKernel(kernel.getLoc(), kernel.getName() + "_x" + Twine(numMembers), types);
    launch.numBlocks = numBlocks * numMembers;
    launch.blockSize = kernel.getKnownBlockSizeAttr()[0];
    KernelBuilder k(launch.kernel, launch.numBlocks, launch.blockSize);
    Value member = arith::DivUIOp::create(k.b, k.block(), k.index(numBlocks));
    Value block = arith::RemUIOp::create(k.b, k.block(), k.index(numBlocks));

    IRMapping mapping;
    SmallVector<SmallVector<Value>> own(numMembers); // Per member, what is not shared.
    SmallVector<Type> ownTypes;
    unsigned next = 0;
    for (auto [index, shared] : llvm::enumerate(isShared)) {
      DictionaryAttr attributes = kernel.getArgAttrDict(index);
      for (unsigned of = 0; of < (shared ? 1 : numMembers); ++of, ++next) {
        launch.kernel.setArgAttrs(next, attributes);
        if (shared)
          mapping.map(kernel.getArgument(index), launch.kernel.getArgument(next));
        else
          own[of].push_back(launch.kernel.getArgument(next));
      }
      if (!shared)
        ownTypes.push_back(kernel.getArgument(index).getType());
    }
    auto chosen = llvm::to_vector(choose(k.b, member, own, ownTypes));
    next = 0;
    for (auto [index, shared] : llvm::enumerate(isShared))
      if (!shared)
        mapping.map(kernel.getArgument(index), chosen[next++]);
    for (BlockArgument buffer : kernel.getWorkgroupAttributions())
      mapping.map(buffer, launch.kernel.addWorkgroupAttribution(buffer.getType(), buffer.getLoc()));
    for (Operation &op : kernel.front().without_terminator()) {
      Operation *clone = k.b.clone(op, mapping);
      clone->walk([&](gpu::BlockIdOp id) {
        id.replaceAllUsesWith(block);
        if (id == clone)
          mapping.map(op.getResult(0), block);
      });
    }
    launch.kernel.walk([&](gpu::BlockIdOp id) {
      if (id.use_empty())
        id.erase();
    });
    return launch;
  }

  static ValueRange choose(ImplicitLocOpBuilder &b, Value member, ArrayRef<SmallVector<Value>> own, TypeRange types) {
    if (types.empty())
      return {};
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, own.size() - 1));
    auto chooser = scf::IndexSwitchOp::create(b, types, member, cases, cases.size());
    for (auto [number, region] : llvm::enumerate(chooser->getRegions())) { // The default is the first of them.
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&region.emplaceBlock());
      scf::YieldOp::create(b, number == 0 ? own.back() : own[number - 1]);
    }
    return chooser.getResults();
  }

  DeviceModule device;
  SymbolTable symbols;
};

struct BatchLaunches : impl::BatchLaunchesBase<BatchLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    gpu::GPUModuleOp device = deviceModule(module);
    if (!device)
      return;
    {
      LaunchBatcher batcher(module);
      module.walk([&](Block *block) {
        if (!block->getOps<gpu::LaunchFuncOp>().empty())
          batcher.run(*block);
      });
    }
    llvm::DenseSet<StringAttr> launched;
    module.walk([&](gpu::LaunchFuncOp launch) { launched.insert(launch.getKernelName()); });
    for (auto kernel : llvm::make_early_inc_range(device.getOps<gpu::GPUFuncOp>()))
      if (!launched.contains(kernel.getNameAttr()))
        kernel.erase();
  }
};

} // namespace
} // namespace hjx
