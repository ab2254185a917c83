// SPDX-License-Identifier: Apache-2.0
//
// Kernels of batches: see the header.
#include "lib/Codegen/Gpu/BatchedKernel.h"

#include "lib/Codegen/Gpu/ProgramCost.h"
#include "lib/Target/Ptx/Ptx.h"
#include "lib/Target/Ptx/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

static const StringRef kAlign = LLVM::LLVMDialect::getAlignAttrName();

KernelNeeds::KernelNeeds(gpu::GPUFuncOp kernel) {
  if (!kernel.getKnownBlockSizeAttr() || kernel.getNumArguments() == 0)
    return;
  SharedMemory memory = SharedMemory::of(kernel);
  blockSize = kernel.getKnownBlockSizeAttr()[0];
  sharedBytes = memory.sizeBytes;
  canBePart = !memory.takesTurns; // What is a batch already is not taken apart.
  bool isSplit = false;
  kernel.walk([&](Operation *op) {
    canBePart &= !isa<gpu::GridDimOp>(op);
    hasBarrier |= isa<gpu::BarrierOp>(op);
    isSplit |= isa<LLVM::AtomicRMWOp>(op);
  });
  // With more buffers than A, B, C and partial sums, a split product has no registers left to choose among buffers.
  if (isSplit && llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<MemRefType>) > 4)
    canBePart = false;
}

bool hjx::areSame(Value a, Value b) {
  Attribute first, second;
  return a == b || (a.getType() == b.getType() && matchPattern(a, m_Constant(&first)) &&
                    matchPattern(b, m_Constant(&second)) && first == second);
}

bool BatchPart::isShared(unsigned index) const {
  return llvm::all_of(members, [&](gpu::LaunchFuncOp member) {
    return areSame(member.getKernelOperands()[index], gpu::LaunchFuncOp(members.front()).getKernelOperands()[index]);
  });
}

SmallVector<Value> BatchPart::operands() const {
  SmallVector<Value> operands;
  for (unsigned index = 0; index < gpu::LaunchFuncOp(members.front()).getNumKernelOperands(); ++index)
    for (gpu::LaunchFuncOp member : isShared(index) ? ArrayRef(members).take_front() : ArrayRef(members))
      operands.push_back(member.getKernelOperands()[index]);
  return operands;
}

namespace {

/// Fills the kernel of a batch, part by part.
class BatchEmitter {
public:
  explicit BatchEmitter(const Launch &launch)
      : kernel(launch.kernel), k(kernel, launch.numBlocks, launch.blockSize) {}

  void emit(ArrayRef<BatchPart> parts) {
    OpBuilder::InsertionGuard guard(k.b);
    bool areProducts = gpu::LaunchFuncOp(parts.front().members.front())->hasAttr(kProductAttr);
    // As many registers as the parts need: ptxas would rather spill some than have fewer blocks on a multiprocessor.
    if (parts.size() > 1 && !areProducts)
      kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), k.b.getI32IntegerAttr(1));
    int64_t firstBlock = 0;
    for (const BatchPart &part : parts) {
      int64_t blockSize = KernelNeeds(part.kernel).blockSize;
      int64_t end = firstBlock + part.numBlocks * static_cast<int64_t>(part.members.size());
      scf::IfOp choice;
      if (&part != &parts.back()) {
        Value isHere = arith::CmpIOp::create(k.b, arith::CmpIPredicate::ult, k.block(), k.index(end));
        choice = scf::IfOp::create(k.b, isHere, /*withElseRegion=*/true);
        k.b.setInsertionPointToStart(choice.thenBlock());
      }
      Value block = k.block();
      if (firstBlock > 0)
        block = arith::SubIOp::create(k.b, block, k.index(firstBlock));
      Value isMine;
      if (blockSize < k.blockSize)
        isMine = arith::CmpIOp::create(k.b, arith::CmpIPredicate::ult, k.blockTeam().thread, k.index(blockSize));
      k.when(isMine, [&] {
        emitPart(part, &part - parts.begin(), block);
        if (areProducts)
          keepApart(&part - parts.begin());
      });
      if (choice)
        k.b.setInsertionPointToStart(choice.elseBlock());
      firstBlock = end;
    }
  }

private:
  /// The body of the part's kernel for one of its members, as `block` of all their blocks.
  void emitPart(const BatchPart &part, int64_t number, Value block) {
    gpu::GPUFuncOp original = part.kernel;
    unsigned numMembers = part.members.size();
    Value member;
    if (numMembers > 1) {
      member = arith::DivUIOp::create(k.b, block, k.index(part.numBlocks));
      block = arith::RemUIOp::create(k.b, block, k.index(part.numBlocks));
    }
    IRMapping mapping;
    takeArguments(part, member, mapping);
    for (auto [index, buffer] : llvm::enumerate(original.getWorkgroupAttributions()))
      mapping.map(buffer, sharedBuffer(buffer, original.getWorkgroupAttributionAttr(index, kAlign), number));
    llvm::SmallDenseMap<Type, unsigned> numUsed;
    for (Operation &op : original.front().without_terminator()) {
      Operation *clone = k.b.clone(op, mapping);
      clone->walk([&](Operation *inner) {
        Value instead;
        if (isa<gpu::BlockIdOp>(inner))
          instead = block;
        else if (isa<UnrealizedConversionCastOp>(inner)) // Its operand is the pointer to a map.
          instead = inner->getOperand(0);
        else if (auto buffer = dyn_cast<memref::AllocaOp>(inner))
          instead = privateBuffer(buffer, numUsed);
        if (!instead)
          return;
        if (inner == clone)
          mapping.map(op.getResult(0), instead);
        if (instead.getDefiningOp() == inner)
          return;
        inner->getResult(0).replaceAllUsesWith(instead);
        inner->erase();
      });
    }
  }

  /// A comment in the PTX across which neither MLIR nor LLVM makes one code of parts that end alike: where the sums of two
  /// products met, ptxas would let no two wgmma run at the same time.
  void keepApart(int64_t number) {
    LLVM::InlineAsmOp::create(k.b, TypeRange(), ValueRange(), "// end of part " + std::to_string(number), /*constraints=*/"",
                              /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                              LLVM::AsmDialectAttr(), ArrayAttr());
  }

  void takeArguments(const BatchPart &part, Value member, IRMapping &mapping) {
    gpu::GPUFuncOp original = part.kernel;
    unsigned numMembers = part.members.size();
    SmallVector<SmallVector<Value>> own(numMembers); // Per member, what is not shared.
    SmallVector<BlockArgument> chosenFor;
    for (unsigned index = 0; index < original.getNumArguments(); ++index) {
      BlockArgument argument = original.getArgument(index);
      bool isShared = part.isShared(index);
      for (unsigned of = 0; of < (isShared ? 1 : numMembers); ++of) {
        kernel.setArgAttrs(nextArgument, original.getArgAttrDict(index));
        Value mine = kernel.getArgument(nextArgument++);
        if (original.getArgAttr(index, kTensorMapAttr)) // A block chooses among pointers to maps, not among buffers.
          mine = UnrealizedConversionCastOp::create(k.b, LLVM::LLVMPointerType::get(k.b.getContext()), mine).getResult(0);
        if (isShared)
          mapping.map(argument, mine);
        else
          own[of].push_back(mine);
      }
      if (!isShared)
        chosenFor.push_back(argument);
    }
    if (chosenFor.empty())
      return;
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, numMembers - 1));
    auto chooser = scf::IndexSwitchOp::create(k.b, ValueRange(own[0]).getTypes(), member, cases, cases.size());
    for (auto [number, region] : llvm::enumerate(chooser->getRegions())) { // The default is the first of them.
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(&region.emplaceBlock());
      scf::YieldOp::create(k.b, number == 0 ? own.back() : own[number - 1]);
    }
    for (auto [argument, value] : llvm::zip(chosenFor, chooser.getResults()))
      mapping.map(argument, value);
  }

  /// A buffer like that, which blocks of part `turn` use.
  Value sharedBuffer(BlockArgument like, Attribute alignment, int64_t turn) {
    Value buffer = kernel.addWorkgroupAttribution(like.getType(), like.getLoc());
    unsigned index = kernel.getNumWorkgroupAttributions() - 1;
    if (alignment)
      kernel.setWorkgroupAttributionAttr(index, kAlign, alignment);
    kernel.setWorkgroupAttributionAttr(index, kTurnAttr, k.b.getI64IntegerAttr(turn));
    return buffer;
  }

  /// The next buffer like `buffer`, or `buffer` itself: those of a thread are registers only if no branch
  /// decides which of two that do the same is meant.
  Value privateBuffer(memref::AllocaOp buffer, llvm::SmallDenseMap<Type, unsigned> &numUsed) {
    SmallVector<memref::AllocaOp> &pool = privateBuffers[buffer.getType()];
    unsigned number = numUsed[buffer.getType()]++;
    if (number == pool.size()) {
      buffer->moveBefore(&kernel.front().front());
      pool.push_back(buffer);
      return buffer;
    }
    memref::AllocaOp pooled = pool[number];
    pooled.setAlignment(std::max(pooled.getAlignment().value_or(0), buffer.getAlignment().value_or(0)));
    return pooled;
  }

  gpu::GPUFuncOp kernel;
  KernelBuilder k;
  unsigned nextArgument = 0;
  llvm::SmallDenseMap<Type, SmallVector<memref::AllocaOp>> privateBuffers;
};

} // namespace

Launch BatchedKernels::get(ArrayRef<BatchPart> parts) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const BatchPart &part : parts) {
    gpu::GPUFuncOp kernel = part.kernel;
    os << kernel.getName() << "*" << part.members.size() << "x" << part.numBlocks << ":";
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      os << part.isShared(index);
    os << ";";
  }
  auto [it, isNew] = known.try_emplace(key);
  if (isNew)
    it->second = emit(parts);
  return it->second;
}

Launch BatchedKernels::emit(ArrayRef<BatchPart> parts) {
  Launch launch{nullptr, /*numBlocks=*/0, /*blockSize=*/1};
  unsigned numMembers = 0;
  SmallVector<Type> types;
  for (const BatchPart &part : parts) {
    launch.numBlocks += part.numBlocks * static_cast<int64_t>(part.members.size());
    launch.blockSize = std::max(launch.blockSize, KernelNeeds(part.kernel).blockSize);
    numMembers += part.members.size();
    llvm::append_range(types, ValueRange(part.operands()).getTypes());
  }
  gpu::GPUFuncOp first = parts.front().kernel;
  launch.kernel = device.createKernel(
      first.getLoc(), first.getName() + (parts.size() > 1 ? "_etc" : "") + "_x" + Twine(numMembers), types);
  BatchEmitter(launch).emit(parts);
  return launch;
}
