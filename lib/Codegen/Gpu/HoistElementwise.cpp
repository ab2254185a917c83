// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops go to where what they read is made: see Passes.td.
#include "lib/Codegen/Gpu/Passes.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_HOISTELEMENTWISE
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

class Hoister {
public:
  explicit Hoister(Block &block) : block(block) {}

  void run() {
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
      if (op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics())
        hoist(op);
  }

private:
  void hoist(linalg::GenericOp op) {
    llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), needed);
    // What it ends: then nothing that lives is larger in between. Scalars are never large; whether a
    // step counts, and what it does, is known before the optimizer begins.
    Operation *position = nullptr;
    bool isScalar = llvm::all_of(op->getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; });
    bool endsOne = isScalar;
    for (Value input : op.getDpsInputs())
      if (isEndedBy(input, op)) {
        endsOne = true;
        for (Operation *user : input.getUsers())
          if (user != op)
            position = later(position, block.findAncestorOpInBlock(*user));
      }
    if (!endsOne)
      return;
    SmallVector<Operation *> along; // Places for results, constants: not worth waiting for.
    for (Value value : needed) {
      Operation *producer = value.getDefiningOp();
      if (!producer || producer->getBlock() != &block)
        continue;
      if (isFree(producer))
        along.push_back(producer);
      else
        position = later(position, producer);
    }
    if (position ? !position->isBeforeInBlock(op) : !isScalar || op == &block.front())
      return;
    if (position)
      op->moveAfter(position);
    else
      op->moveBefore(&block.front());
    for (Operation *producer : along)
      if (op->isBeforeInBlock(producer))
        producer->moveBefore(op);
  }

  /// Whether no op behind `op` uses `input`, which is as large as a result of `op`, and whose memory is
  /// free then.
  bool isEndedBy(Value input, linalg::GenericOp op) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return type && type == op->getResult(0).getType() && (input.getDefiningOp() || isDonated(input)) &&
           input.getParentBlock() == &block &&
           llvm::all_of(input.getUsers(), [&](Operation *user) {
             Operation *here = block.findAncestorOpInBlock(*user); // Weights are used in loops, too.
             return here && (here == op || here->isBeforeInBlock(op));
           });
  }

  static bool isDonated(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    return function && (function.getArgAttr(argument.getArgNumber(), "hjx.alias") ||
                        function.getArgAttr(argument.getArgNumber(), "hjx.donated"));
  }

  static bool isFree(Operation *op) {
    return op->getNumOperands() == 0 && op->getNumRegions() == 0 && isMemoryEffectFree(op);
  }

  static Operation *later(Operation *a, Operation *b) { return !a || a->isBeforeInBlock(b) ? b : a; }

  Block &block;
};

struct HoistElementwise : impl::HoistElementwiseBase<HoistElementwise> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        Hoister(*block).run();
    });
  }
};

} // namespace
} // namespace hjx
