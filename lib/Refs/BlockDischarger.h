// SPDX-License-Identifier: Apache-2.0
//
// The walk over a block in which refs become values. It keeps what each discharged
// ref holds now; an access reads or replaces that. Ops with regions and calls are
// made anew, with values in and out (Nested.cpp). Private to lib/Refs.
#pragma once

#include "lib/Refs/Discharge.h"
#include "lib/Refs/Parts.h"

#include "llvm/ADT/TypeSwitch.h"

namespace hjx {

using namespace mlir;

inline bool isRef(Value value) { return isa<ir::RefType>(value.getType()); }

/// Calls, and the requests that are calls unless they are differentiated.
inline bool isCallLike(Operation *op) {
  return isa<func::CallOp, ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp>(op);
}

inline func::FuncOp functionOf(ModuleOp module, Operation *op, StringRef attribute) {
  return module.lookupSymbol<func::FuncOp>(op->getAttrOfType<FlatSymbolRefAttr>(attribute));
}
inline func::FuncOp calleeOf(ModuleOp module, Operation *op) { return functionOf(module, op, "callee"); }

/// Walks one block and those in it, in program order, in place.
class BlockDischarger {
public:
  explicit BlockDischarger(Discharger &discharger) : discharger(discharger) {}

  /// From here on `ref` is discharged; `value` is what it holds.
  void set(Value ref, Value value) { current[ref] = value; }
  /// `ref` is about to go: another value may take its address.
  void forget(Value ref) { current.erase(ref); }
  /// What a discharged ref holds now.
  Value get(Value ref) const { return current.lookup(ref); }

  LogicalResult run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(run(&op)))
        return failure();
    return success();
  }

private:
  bool isChosen(Value value) const { return current.contains(value); }

  LogicalResult run(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](ir::RefNewOp made) {
          set(made.getRef(), made.getInit());
          dead.push_back(op);
          return success();
        })
        .Case([&](ir::RefEmptyOp made) {
          set(made.getRef(), ir::makeUnspecified(b, made.getRef().getType().getValueType()));
          dead.push_back(op);
          return success();
        })
        .Case([&](ir::RefFreezeOp freeze) { return replace(freeze, [&](Value value) { return value; }); })
        .Case([&](ir::RefGetOp read) {
          return replace(read, [&](Value value) { return readPart(b, value, read.getIndex()); });
        })
        .Case([&](ir::RefSwapOp swap) {
          return replace(swap, [&](Value value) -> FailureOr<Value> {
            auto written = writePart(b, value, swap.getIndex(), swap.getValue());
            if (failed(written))
              return failure();
            set(swap.getRef(), *written);
            return swap.getResult().use_empty() ? FailureOr<Value>(Value()) : readPart(b, value, swap.getIndex());
          });
        })
        .Case([&](ir::RefAddOp add) -> LogicalResult {
          if (!isChosen(add.getRef()))
            return success();
          auto sum = addPart(b, get(add.getRef()), add.getIndex(), add.getValue());
          if (failed(sum))
            return failure();
          set(add.getRef(), *sum);
          op->erase();
          return success();
        })
        .Case<ir::ScanOp, ir::WhileOp, ir::CondOp, func::CallOp, ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp>([&](auto nested) {
          if (failed(checkDistinct(op)))
            return failure();
          if (llvm::none_of(op->getOperands(), [&](Value v) { return isChosen(v); })) {
            for (Region &region : op->getRegions()) // may make refs of their own
              if (failed(run(region.front())))
                return failure();
            return success();
          }
          return runNested(nested, b);
        })
        .Default([&](Operation *) -> LogicalResult {
          if (llvm::none_of(op->getOperands(), [&](Value v) { return isChosen(v); }))
            return success();
          return op->emitOpError("takes a ref that is discharged; expand requests first: hjx-expand-transforms");
        });
  }

  /// Replaces an access of a discharged ref by the value that `make` makes of what it holds.
  template <typename Op>
  LogicalResult replace(Op op, llvm::function_ref<FailureOr<Value>(Value)> make) {
    Value ref = op.getRef();
    if (!isChosen(ref))
      return success();
    auto result = make(get(ref));
    if (failed(result))
      return failure();
    if (*result)
      op.getResult().replaceAllUsesWith(*result);
    op.erase();
    return success();
  }

  LogicalResult runNested(ir::ScanOp scan, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::WhileOp loop, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::CondOp cond, ImplicitLocOpBuilder &b);
  LogicalResult runNested(func::CallOp call, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::CheckpointOp call, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::CustomJvpOp call, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::CustomVjpOp call, ImplicitLocOpBuilder &b);

  SmallVector<bool> chosenOperands(Operation *op) const {
    return llvm::map_to_vector(op->getOperands(), [&](Value v) { return isChosen(v); });
  }
  /// The operands of `op`, with what they hold for refs that are discharged.
  SmallVector<Value> valuesOf(OperandRange operands) const {
    return llvm::map_to_vector(operands, [&](Value v) { return isChosen(v) ? get(v) : v; });
  }
  /// Replaces a call by `made`, which also returns the last values of the refs in `written`.
  LogicalResult replaceCall(Operation *call, Operation *made, ArrayRef<bool> written) {
    unsigned next = call->getNumResults();
    for (auto [operand, isWritten] : llvm::zip_equal(call->getOperands(), written))
      if (isWritten)
        set(operand, made->getResult(next++));
    call->replaceAllUsesWith(made->getResults().take_front(call->getNumResults()));
    call->erase();
    return success();
  }

  /// Two names for one ref would make the order of accesses unknown.
  LogicalResult checkDistinct(Operation *op) {
    llvm::SmallDenseMap<Value, unsigned> seen;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isRef(operand.get()))
        continue;
      auto [known, isNew] = seen.try_emplace(operand.get(), operand.getOperandNumber());
      auto loop = dyn_cast<ir::WhileOp>(op); // its condition and its body may share one
      bool isShared = loop && known->second < loop.getCondConsts().size() &&
                      operand.getOperandNumber() >= loop.getCondConsts().size();
      if (!isNew && !isShared)
        return op->emitOpError("takes one ref twice, as operands ")
               << known->second << " and " << operand.getOperandNumber() << "; pass it once";
    }
    return success();
  }

  Discharger &discharger;
  llvm::DenseMap<Value, Value> current;

public:
  /// Ops that made refs: to erase once their users are gone.
  SmallVector<Operation *> dead;
};

/// Yields `more` values from `position` on.
inline void yieldMore(Block &block, unsigned position, ArrayRef<Value> more) {
  block.getTerminator()->insertOperands(position, more);
}

/// A block that gets values for refs: the arguments that were refs go when its ops are done.
class ValueArguments {
public:
  ValueArguments(BlockDischarger &blocks, Block &block) : blocks(blocks), block(block) {}

  /// `ref` is discharged; what it holds at first is a new argument at `position`, or else its neighbour.
  BlockArgument add(BlockArgument ref, std::optional<unsigned> position = std::nullopt) {
    BlockArgument value = block.insertArgument(position.value_or(ref.getArgNumber() + 1),
                                               cast<ir::RefType>(ref.getType()).getValueType(), ref.getLoc());
    blocks.set(ref, value);
    refs.push_back(ref);
    return value;
  }
  /// Discharges the block's ops.
  LogicalResult run() { return blocks.run(block); }
  /// What the refs hold in the end.
  SmallVector<Value> last(ArrayRef<BlockArgument> of) {
    return llvm::map_to_vector(of, [&](BlockArgument ref) { return blocks.get(ref); });
  }
  void eraseRefs() {
    for (BlockArgument ref : refs) {
      blocks.forget(ref);
      block.eraseArgument(ref.getArgNumber());
    }
  }

private:
  BlockDischarger &blocks;
  Block &block;
  SmallVector<BlockArgument> refs;
};

} // namespace hjx
