// SPDX-License-Identifier: Apache-2.0
//
// Which launches become one: see Passes.td; BatchedKernel.h has the kernels.
//
// A launch could run anywhere between what it needs and what needs it. First each sinks, from the
// last on, as far as nothing that it reads must live longer for it; then launches join the first of
// those that they do not depend on:
//
//   product  %dh                    product  %dh
//   sum %dh into %db1               product  %dx, reads %dh
//   product  %dx, reads %dh    ->   sum_etc_x2  %dh into %db1, %dx into %db2
//   sum %dx into %db2
#include "lib/Codegen/Gpu/BatchedKernel.h"
#include "lib/Codegen/Gpu/KernelModule.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Gpu/ProgramCost.h"
#include "lib/Codegen/Structured/BufferEffects.h"
#include "lib/Codegen/Structured/Motion.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_BATCHLAUNCHES
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

constexpr unsigned kWindow = 1024;      // Ops that are looked at behind a launch, or the last member.
constexpr unsigned kMaxMembers = 128;
constexpr unsigned kMaxParts = 8;       // Kernels: the registers of a batch are those of the hungriest.
constexpr unsigned kMaxArguments = 480; // A kernel takes 4352 bytes.
/// Threads that only wait, in blocks that are too large for their part.
constexpr int64_t kMaxIdleThreads = 64 * 1024;
/// Shared memory of a block; 8 blocks still fit a multiprocessor.
constexpr int64_t kMaxSharedBytes = 16 * 1024;
/// Buffers of the arena up to this size may live longer for a batch.
constexpr int64_t kMaxHeldBytes = 64 * 1024;

int64_t sizeOf(MemRefType type) {
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8u);
}

bool isLarge(Value root) { return root.getDefiningOp<memref::AllocOp>() && sizeOf(cast<MemRefType>(root.getType())) > kMaxHeldBytes; }

/// Launches that are one; they run where the first one stands.
struct Batch {
  SmallVector<BatchPart> parts;
  BufferEffects effects;
  unsigned numMembers = 0, numArguments = 0;
};

class LaunchBatcher {
public:
  explicit LaunchBatcher(ModuleOp module) : device(module), batchedKernels(device), symbols(deviceModule(module)) {}

  void run(Block &block) {
    auto inOrder = llvm::to_vector(block.getOps<gpu::LaunchFuncOp>());
    for (gpu::LaunchFuncOp launch : llvm::reverse(inOrder))
      if (mayMove(launch))
        sink(launch);
    llvm::SmallPtrSet<Operation *, 32> done;
    for (auto first : llvm::to_vector(block.getOps<gpu::LaunchFuncOp>())) {
      if (done.contains(first) || !mayMove(first))
        continue;
      Batch batch = grow(first);
      for (const BatchPart &part : batch.parts)
        done.insert(part.members.begin(), part.members.end());
      if (batch.numMembers > 1)
        replace(batch, first);
    }
  }

private:
  gpu::GPUFuncOp kernelOf(gpu::LaunchFuncOp launch) {
    return symbols.lookup<gpu::GPUFuncOp>(launch.getKernelName());
  }

  const KernelNeeds &needsOf(gpu::GPUFuncOp kernel) { return needs.try_emplace(kernel, kernel).first->second; }

  /// Products fill the device, and stay where they are.
  bool mayMove(gpu::LaunchFuncOp launch) {
    gpu::GPUFuncOp kernel = kernelOf(launch);
    return !launch->hasAttr(kProductAttr) && kernel && needsOf(kernel).isMovable;
  }

  const BufferEffects &effectsOf(gpu::LaunchFuncOp launch) {
    auto [it, isNew] = known.try_emplace(launch);
    if (!isNew)
      return it->second;
    BufferEffects &effects = it->second;
    gpu::GPUFuncOp kernel = kernelOf(launch);
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      effects.addRead(operand);
      if (!kernel || !kernel.getArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName()))
        effects.addWrite(operand);
    }
    return effects;
  }

  /// Moves `launch` down as far as no large buffer that it reads lives longer for it.
  void sink(gpu::LaunchFuncOp launch) {
    const BufferEffects &effects = effectsOf(launch);
    SmallVector<Value> held; // What is free once all have read it.
    for (Value root : effects.reads)
      if (!effects.writes.contains(root) && isLarge(root) && root.getDefiningOp()->getBlock() == launch->getBlock())
        held.push_back(root);
    Operation *last = launch;
    unsigned steps = 0;
    for (Operation *op = launch->getNextNode(); op && steps < kWindow; op = op->getNextNode(), ++steps) {
      auto other = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!other && !isMovable(op))
        break;
      if (!other)
        continue;
      if (effects.conflictsWith(effectsOf(other)) ||
          !llvm::all_of(held, [&](Value root) { return isUsed(root, [&](Operation *user) { return !user->isBeforeInBlock(op); }); }))
        break;
      if (!mayMove(other)) // Those behind which nothing else waits are joined where they are.
        last = other;
    }
    if (last != launch)
      launch->moveAfter(last);
  }

  Batch grow(gpu::LaunchFuncOp first) {
    Batch batch;
    add(batch, first);
    BufferEffects between; // Of launches that are no members.
    unsigned steps = 0;
    for (Operation *op = first->getNextNode(); op && steps < kWindow && !between.unknown; op = op->getNextNode(), ++steps) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!launch) {
        if (isMovable(op))
          continue;
        break;
      }
      const BufferEffects &effects = effectsOf(launch);
      if (!mayMove(launch) || batch.effects.conflictsWith(effects) || between.conflictsWith(effects) ||
          (!between.reads.empty() && holdsMemory(effects, first)) ||
          !llvm::all_of(launch->getOperands(), [&](Value value) { return canMoveBefore(value, first); }) || !add(batch, launch)) {
        between.addAll(effects);
        continue;
      }
      steps = 0;
      if (batch.numMembers == kMaxMembers)
        break;
    }
    return batch;
  }

  /// Makes `launch` a member of `batch`, if one kernel can do all.
  bool add(Batch &batch, gpu::LaunchFuncOp launch) {
    gpu::GPUFuncOp kernel = kernelOf(launch);
    auto part = llvm::find_if(batch.parts, [&](const BatchPart &part) { return part.kernel == kernel; });
    unsigned numArguments = launch.getNumKernelOperands();
    if (part != batch.parts.end()) {
      numArguments = numOwnArguments(part->members.front(), launch);
    } else if (batch.parts.size() == kMaxParts || !fitsOneBlock(batch, kernel)) {
      return false;
    }
    if (batch.numArguments + numArguments > kMaxArguments)
      return false;
    if (part != batch.parts.end())
      part->members.push_back(launch);
    else
      batch.parts.push_back({kernel, {launch}});
    batch.effects.addAll(effectsOf(launch));
    batch.numArguments += numArguments;
    ++batch.numMembers;
    return true;
  }

  /// Whether blocks of one shape serve the parts of `batch` and `kernel`.
  bool fitsOneBlock(const Batch &batch, gpu::GPUFuncOp kernel) {
    if (batch.parts.empty())
      return true;
    SmallVector<std::pair<const KernelNeeds *, int64_t>> all = {{&needsOf(kernel), 1}};
    for (const BatchPart &part : batch.parts)
      all.emplace_back(&needsOf(part.kernel), part.members.size());
    int64_t blockSize = 0, numIdle = 0, sharedBytes = 0;
    for (auto [needs, numMembers] : all)
      blockSize = std::max(blockSize, needs->blockSize);
    for (auto [needs, numMembers] : all) {
      if (needs->hasBarrier && needs->blockSize < blockSize)
        return false;
      numIdle += (blockSize - needs->blockSize) * needs->numBlocks * numMembers;
    }
    for (Type type : sharedByTurns(llvm::to_vector(llvm::make_first_range(all))))
      sharedBytes += sizeOf(cast<MemRefType>(type));
    return numIdle <= kMaxIdleThreads && sharedBytes <= kMaxSharedBytes;
  }

  static unsigned numOwnArguments(gpu::LaunchFuncOp a, gpu::LaunchFuncOp b) {
    unsigned count = 0;
    for (auto [x, y] : llvm::zip(a.getKernelOperands(), b.getKernelOperands()))
      count += x != y;
    return count;
  }

  /// Whether to run a launch at `position` already would make large buffers live longer.
  static bool holdsMemory(const BufferEffects &effects, Operation *position) {
    return llvm::any_of(effects.writes, [&](Value root) {
      return isLarge(root) && !isUsed(root, [&](Operation *user) { return user->isBeforeInBlock(position); });
    });
  }

  /// Whether an op of the block of `buffer`'s producer that uses it, or a view of it, is `wanted`.
  static bool isUsed(Value buffer, llvm::function_ref<bool(Operation *)> wanted) {
    Block *block = buffer.getParentBlock();
    return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
      if (isa<ViewLikeOpInterface>(user))
        return isUsed(user->getResult(0), wanted);
      Operation *here = block->findAncestorOpInBlock(*user);
      return here && wanted(here);
    });
  }

  void replace(const Batch &batch, gpu::LaunchFuncOp first) {
    SmallVector<Value> operands;
    for (const BatchPart &part : batch.parts)
      llvm::append_range(operands, part.operands());
    for (Value operand : operands)
      moveBefore(operand, first);
    ImplicitLocOpBuilder b(first.getLoc(), first);
    KernelModule::launch(b, batchedKernels.get(batch.parts), operands);
    sumTraffic(batch, first->getPrevNode());
    for (const BatchPart &part : batch.parts)
      for (gpu::LaunchFuncOp member : part.members) {
        known.erase(member);
        member.erase();
      }
  }

  static void sumTraffic(const Batch &batch, Operation *launch) {
    SmallVector<int64_t> sum(2, 0);
    for (const BatchPart &part : batch.parts)
      for (gpu::LaunchFuncOp member : part.members)
        if (auto traffic = member->getAttrOfType<DenseI64ArrayAttr>(kTrafficAttr))
          for (auto [total, bytes] : llvm::zip(sum, traffic.asArrayRef()))
            total += bytes;
    launch->setAttr(kTrafficAttr, Builder(launch->getContext()).getDenseI64ArrayAttr(sum));
  }

  KernelModule device;
  BatchedKernels batchedKernels;
  SymbolTable symbols;
  std::map<Operation *, KernelNeeds> needs;
  std::map<Operation *, BufferEffects> known; // References to what is in there stay valid.
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
