// SPDX-License-Identifier: Apache-2.0
//
// Which launches become one: see Passes.td; BatchedKernel.h has the kernels.
//
// A launch could run anywhere between what it needs and what needs it. First each that is no product
// sinks, from the last on, as far as memory allows (LaunchMemory.h); then launches join the first of those
// that they do not depend on. Products that are alone then, such as gradients of weights whose blocks are unlike those
// of the gradients beside them, sink behind each other, and join, too:
//
//   product  %dh                         product  %dh
//   sum %dh into %db1                    product_etc_x2  %dx and %dw, both read %dh
//   product  %dx, reads %dh         ->   sum_x2  %dh into %db1, %dx into %db2
//   product  %dw, reads %dh
//   sum %dx into %db2
#include "lib/Codegen/Gpu/BatchedKernel.h"
#include "lib/Codegen/Gpu/KernelModule.h"
#include "lib/Codegen/Gpu/LaunchMemory.h"
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

constexpr unsigned kWindow = 1024;      // Launches that are looked at behind one, or the last member.
constexpr unsigned kMaxMembers = 128;
constexpr unsigned kMaxParts = 8;       // Kernels: the registers of a batch are those of the hungriest.
constexpr unsigned kMaxArgumentBytes = 3840; // A kernel takes 4352.
constexpr unsigned kMapBytes = 192;          // Of a tensor map, with what aligns it.
/// Threads that only wait, in blocks that are too large for their part.
constexpr int64_t kMaxIdleThreads = 64 * 1024;
/// Shared memory of a block that is no product's; 8 blocks still fit a multiprocessor.
constexpr int64_t kMaxSharedBytes = 16 * 1024;
/// Buffers of less than this may live longer for a batch.
constexpr int64_t kMinCountedBytes = 64 * 1024;

/// Launches that are one; they run where the first one stands.
struct Batch {
  SmallVector<BatchPart> parts;
  BufferEffects effects;
  unsigned numMembers = 0, argumentBytes = 0;
};

bool isProduct(gpu::LaunchFuncOp launch) { return launch->hasAttr(kProductAttr); }

int64_t numBlocksOf(gpu::LaunchFuncOp launch) { return *getConstantIntValue(launch.getGridSizeX()); }

/// Batches the launches of one block.
class LaunchBatcher {
public:
  LaunchBatcher(ModuleOp module, BatchedKernels &batchedKernels, Block &block)
      : block(block), batchedKernels(batchedKernels), symbols(deviceModule(module)), memory(block, kMinCountedBytes) {}

  void run() {
    for (bool areProducts : {false, true}) {
      memory = LaunchMemory(block, kMinCountedBytes);
      auto inOrder = llvm::to_vector(block.getOps<gpu::LaunchFuncOp>());
      for (gpu::LaunchFuncOp launch : llvm::reverse(inOrder))
        if (mayMove(launch) && isProduct(launch) == areProducts)
          sink(launch);
      join();
    }
  }

private:
  void join() {
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

  gpu::GPUFuncOp kernelOf(gpu::LaunchFuncOp launch) {
    return symbols.lookup<gpu::GPUFuncOp>(launch.getKernelName());
  }

  const KernelNeeds &needsOf(gpu::GPUFuncOp kernel) { return needs.try_emplace(kernel, kernel).first->second; }

  bool mayMove(gpu::LaunchFuncOp launch) {
    gpu::GPUFuncOp kernel = kernelOf(launch);
    return kernel && !batches.contains(launch) && needsOf(kernel).canBePart && getConstantIntValue(launch.getGridSizeX());
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

  /// Moves `launch` down as far as dependences and memory allow.
  void sink(gpu::LaunchFuncOp launch) {
    const BufferEffects &effects = effectsOf(launch);
    SmallVector<Operation *> behind;
    unsigned steps = 0;
    for (Operation *op = launch->getNextNode(); op && steps < kWindow; op = op->getNextNode()) {
      auto other = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!other && !isMovable(op))
        break;
      if (!other)
        continue;
      ++steps;
      if (effects.conflictsWith(effectsOf(other)))
        break;
      // Those behind which nothing else waits are joined where they are.
      if (isProduct(launch) ? mayJoin(launch, other) : isProduct(other) || !mayMove(other))
        behind.push_back(other);
    }
    while (!behind.empty() && !memory.mayMove(launch, behind.back()))
      behind.pop_back();
    if (behind.empty())
      return;
    memory.move(launch, behind.back());
    launch->moveAfter(behind.back());
  }

  bool mayJoin(gpu::LaunchFuncOp launch, gpu::LaunchFuncOp other) {
    Batch batch;
    return mayMove(other) && isProduct(launch) == isProduct(other) && add(batch, other) && fitsOneBlock(batch, launch);
  }

  Batch grow(gpu::LaunchFuncOp first) {
    Batch batch;
    add(batch, first);
    BufferEffects between; // Of launches that are no members.
    unsigned steps = 0;
    for (Operation *op = first->getNextNode(); op && steps < kWindow && !between.unknown; op = op->getNextNode()) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!launch) {
        if (isMovable(op))
          continue;
        break;
      }
      ++steps;
      const BufferEffects &effects = effectsOf(launch);
      if (!mayMove(launch) || isProduct(launch) != isProduct(first) || dependsOn(launch, batch) || between.conflictsWith(effects) ||
          !llvm::all_of(launch->getOperands(), [&](Value value) { return canMoveBefore(value, first); }) ||
          !memory.mayMove(launch, first) || !add(batch, launch)) {
        between.addAll(effects);
        continue;
      }
      memory.move(launch, first);
      steps = 0;
      if (batch.numMembers == kMaxMembers)
        break;
    }
    return batch;
  }

  /// Makes `launch` a member of `batch`, if one kernel can do all.
  bool add(Batch &batch, gpu::LaunchFuncOp launch) {
    gpu::GPUFuncOp kernel = kernelOf(launch);
    int64_t numBlocks = numBlocksOf(launch);
    auto part = llvm::find_if(batch.parts, [&](const BatchPart &part) { return part.kernel == kernel && part.numBlocks == numBlocks; });
    bool isNewPart = part == batch.parts.end();
    unsigned bytes = argumentBytes(launch, isNewPart ? nullptr : part->members.front());
    if (isNewPart && (batch.parts.size() == kMaxParts || !fitsOneBlock(batch, launch)))
      return false;
    if (batch.argumentBytes + bytes > kMaxArgumentBytes)
      return false;
    if (isNewPart)
      batch.parts.push_back({kernel, numBlocks, {launch}});
    else
      part->members.push_back(launch);
    batch.effects.addAll(effectsOf(launch));
    batch.argumentBytes += bytes;
    ++batch.numMembers;
    return true;
  }

  /// Whether blocks of one shape serve the parts of `batch` and `launch`. The registers and shared memory of a
  /// product would leave few blocks of another kernel on a multiprocessor; among products the block that is
  /// there in place of a smaller one computes, too, and no launch waits for the last blocks of the other.
  bool fitsOneBlock(const Batch &batch, gpu::LaunchFuncOp launch) {
    if (batch.parts.empty())
      return true;
    SmallVector<std::pair<const KernelNeeds *, int64_t>> all = {{&needsOf(kernelOf(launch)), numBlocksOf(launch)}};
    for (const BatchPart &part : batch.parts)
      all.emplace_back(&needsOf(part.kernel), part.numBlocks * static_cast<int64_t>(part.members.size()));
    int64_t blockSize = 0, numIdle = 0, sharedBytes = 0;
    for (auto [needs, numBlocks] : all) {
      blockSize = std::max(blockSize, needs->blockSize);
      sharedBytes = std::max(sharedBytes, needs->sharedBytes);
    }
    for (auto [needs, numBlocks] : all) {
      if (needs->hasBarrier && needs->blockSize < blockSize)
        return false;
      numIdle += (blockSize - needs->blockSize) * numBlocks;
    }
    return isProduct(launch) ? numIdle == 0 : numIdle <= kMaxIdleThreads && sharedBytes <= kMaxSharedBytes;
  }

  /// Of the arguments that `launch` brings along: with another of its kernel those that differ.
  unsigned argumentBytes(gpu::LaunchFuncOp launch, gpu::LaunchFuncOp other) {
    unsigned bytes = 0;
    gpu::GPUFuncOp kernel = kernelOf(launch);
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands()))
      if (!other || !areSame(operand, other.getKernelOperands()[index]))
        bytes += kernel.getArgAttr(index, kTensorMapAttr) ? kMapBytes : sizeof(uint64_t);
    return bytes;
  }

  bool dependsOn(gpu::LaunchFuncOp launch, const Batch &batch) {
    const BufferEffects &effects = effectsOf(launch);
    if (effects.unknown || !batch.effects.conflictsWith(effects))
      return effects.unknown;
    return llvm::any_of(batch.parts, [&](const BatchPart &part) {
      return llvm::any_of(part.members, [&](gpu::LaunchFuncOp member) { return touchSame(launch, member); });
    });
  }

  /// Whether one of them may write what the other reads or writes: they may well have parts of one buffer.
  bool touchSame(gpu::LaunchFuncOp a, gpu::LaunchFuncOp b) {
    auto isBuffer = [](Value value) { return isa<MemRefType>(value.getType()); };
    for (Value mine : llvm::make_filter_range(a.getKernelOperands(), isBuffer))
      for (Value other : llvm::make_filter_range(b.getKernelOperands(), isBuffer)) {
        Value root = rootBuffer(mine);
        bool isWritten = effectsOf(a).writes.contains(root) || effectsOf(b).writes.contains(root);
        if (root == rootBuffer(other) && isWritten && !areDisjoint(mine, other))
          return true;
      }
    return false;
  }

  void replace(const Batch &batch, gpu::LaunchFuncOp first) {
    SmallVector<Value> operands;
    for (const BatchPart &part : batch.parts)
      llvm::append_range(operands, part.operands());
    for (Value operand : operands)
      moveBefore(operand, first);
    ImplicitLocOpBuilder b(first.getLoc(), first);
    KernelModule::launch(b, batchedKernels.get(batch.parts), operands);
    Operation *launch = first->getPrevNode();
    batches.insert(launch);
    sumTraffic(batch, launch);
    if (isProduct(first))
      launch->setAttr(kProductAttr, b.getUnitAttr());
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

  Block &block;
  BatchedKernels &batchedKernels;
  SymbolTable symbols;
  LaunchMemory memory;
  llvm::SmallPtrSet<Operation *, 32> batches; // Launches that are several.
  std::map<Operation *, KernelNeeds> needs;
  std::map<Operation *, BufferEffects> known; // References to what is in there stay valid.
};

struct BatchLaunches : impl::BatchLaunchesBase<BatchLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    gpu::GPUModuleOp device = deviceModule(module);
    if (!device)
      return;
    KernelModule kernels(module);
    BatchedKernels batchedKernels(kernels);
    module.walk([&](Block *block) {
      if (!block->getOps<gpu::LaunchFuncOp>().empty())
        LaunchBatcher(module, batchedKernels, *block).run();
    });
    llvm::DenseSet<StringAttr> launched;
    module.walk([&](gpu::LaunchFuncOp launch) { launched.insert(launch.getKernelName()); });
    for (auto kernel : llvm::make_early_inc_range(device.getOps<gpu::GPUFuncOp>()))
      if (!launched.contains(kernel.getNameAttr()))
        kernel.erase();
  }
};

} // namespace
} // namespace hjx
