// SPDX-License-Identifier: Apache-2.0
//
// Structured ops, or groups of them that share a row loop, to calls of kernels:
// see Passes.td. A buffer that only one group uses, and of which a row is small,
// becomes the kernel's own.
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Codegen/Structured/SharedFunctions.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

// Rows of a kernel's own buffers lie on the stack of a thread, and should stay in its first-level
// cache.
constexpr int64_t kMaxOwnRowBytes = 16 * 1024;

std::string kernelName(MutableArrayRef<linalg::GenericOp> ops) {
  linalg::GenericOp op = ops.back();
  std::string name = SharedFunctions::summary(*op.getBody());
  if (name.empty())
    name = op.getNumDpsInputs() == 0 || !isa<MemRefType>(op.getOperand(0).getType()) ? "fill"
                                                                                     : "copy";
  if (ops.size() > 1)
    return "rows_" + name;
  return op.getNumReductionLoops() > 0 ? "reduce_" + name : name;
}

class KernelOutliner {
public:
  explicit KernelOutliner(ModuleOp module) : functions(module) {}

  void outline(MutableArrayRef<linalg::GenericOp> ops) {
    linalg::GenericOp first = ops.front();
    llvm::SetVector<Value> captured;
    for (linalg::GenericOp op : ops) {
      captured.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), captured);
    }
    llvm::SetVector<Operation *> own = ownBuffers(ops, captured);
    SmallVector<Value> arguments;
    for (Value value : captured)
      if (!own.contains(value.getDefiningOp()) && !matchPattern(value, m_Constant()))
        arguments.push_back(value);

    OwningOpRef<func::FuncOp> kernel = SharedFunctions::create(first.getLoc(), arguments);
    (*kernel)->setAttr(kKernelAttr, UnitAttr::get(first.getContext()));
    if (Attribute rows = first->getAttr(kRowsAttr))
      (*kernel)->setAttr(kRowsAttr, rows);
    auto b = ImplicitLocOpBuilder::atBlockBegin(first.getLoc(), &kernel->front());
    IRMapping mapping;
    mapping.map(ArrayRef<Value>(arguments), kernel->getArguments());
    for (Value value : captured)
      if (matchPattern(value, m_Constant()))
        b.clone(*value.getDefiningOp(), mapping);
    for (Operation *op : own) {
      if (auto allocation = dyn_cast<memref::AllocOp>(op))
        mapping.map(allocation.getResult(),
                    memref::AllocaOp::create(b, allocation.getType()).getResult());
      else
        b.clone(*op, mapping);
    }
    for (linalg::GenericOp op : ops) {
      Operation *clone = b.clone(*op, mapping);
      clone->removeAttr(kGroupAttr);
      clone->removeAttr(kRowsAttr);
    }
    func::ReturnOp::create(b);

    func::FuncOp shared = functions.share(std::move(kernel), kernelName(ops));
    ImplicitLocOpBuilder atCall(ops.back().getLoc(), ops.back());
    SharedFunctions::call(atCall, shared, arguments);
    for (linalg::GenericOp op : ops)
      op.erase();
    for (Operation *op : llvm::reverse(own))
      op->erase();
  }

private:
  /// The allocations, and the views of them, that nothing but `ops` uses; producers first.
  static llvm::SetVector<Operation *> ownBuffers(MutableArrayRef<linalg::GenericOp> ops,
                                                 const llvm::SetVector<Value> &captured) {
    llvm::SetVector<Operation *> own;
    if (ops.size() == 1)
      return own;
    llvm::SmallPtrSet<Operation *, 8> members(ops.begin(), ops.end());
    llvm::SetVector<Value> roots;
    for (Value value : captured)
      if (isa<MemRefType>(value.getType()))
        roots.insert(rootBuffer(value));
    for (Value root : roots) {
      auto allocation = root.getDefiningOp<memref::AllocOp>();
      llvm::SetVector<Operation *> family;
      if (allocation && onlyUsedBy(members, allocation, family) && rowIsSmall(allocation, ops))
        own.insert(family.begin(), family.end());
    }
    return own;
  }

  static bool onlyUsedBy(const llvm::SmallPtrSetImpl<Operation *> &members, Operation *op,
                         llvm::SetVector<Operation *> &family) {
    family.insert(op);
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      if (members.contains(user))
        return true;
      // The body of a member reads it at an address that depends on data.
      Operation *parent = user->getParentOp();
      if (members.contains(parent))
        return false;
      return isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(user) &&
             onlyUsedBy(members, user, family);
    });
  }

  static bool rowIsSmall(memref::AllocOp allocation, MutableArrayRef<linalg::GenericOp> ops) {
    MemRefType type = allocation.getType();
    int64_t rows = cast<IntegerAttr>(ops.front()->getAttr(kRowsAttr)).getInt();
    return type.getNumElements() / rows * elementBytes(type) <= kMaxOwnRowBytes;
  }

  SharedFunctions functions;
};

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    KernelOutliner outliner(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isPrivate())
        continue;
      int64_t next = -1; // Ops without a group are groups of one.
      llvm::MapVector<int64_t, SmallVector<linalg::GenericOp>> groups;
      func.walk([&](linalg::GenericOp op) {
        auto group = op->getAttrOfType<IntegerAttr>(kGroupAttr);
        groups[group ? group.getInt() : next--].push_back(op);
      });
      for (auto &[number, ops] : groups)
        outliner.outline(ops);
    }
  }
};

} // namespace
} // namespace hjx
