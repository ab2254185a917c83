// SPDX-License-Identifier: Apache-2.0
#include "lib/Refs/Discharge.h"

#include "lib/Refs/Parts.h"

using namespace mlir;

namespace hjx {

static bool isRef(Value value) { return isa<ir::RefType>(value.getType()); }

bool hasRefs(func::FuncOp f) {
  if (llvm::any_of(f.getArgumentTypes(), llvm::IsaPred<ir::RefType>))
    return true;
  return f.walk([](Operation *op) {
            return isa<ir::RefNewOp, ir::RefEmptyOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted();
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

/// The block arguments that stand for operand `index` of a region op.
static SmallVector<BlockArgument> argumentsFor(Operation *op, unsigned index) {
  SmallVector<BlockArgument> arguments;
  if (auto loop = dyn_cast<ir::WhileOp>(op)) {
    unsigned numCond = loop.getCondConsts().size(), numConsts = numCond + loop.getBodyConsts().size();
    if (index < numCond)
      arguments.push_back(loop.getCond().getArgument(index));
    else if (index < numConsts)
      arguments.push_back(loop.getBody().getArgument(index - numCond));
  } else if (auto scan = dyn_cast<ir::ScanOp>(op)) {
    arguments.push_back(scan.getBody().getArgument(index));
  } else if (auto cond = dyn_cast<ir::CondOp>(op); cond && index > 0) {
    for (Region &branch : cond.getBranches())
      arguments.push_back(branch.getArgument(index - 1));
  }
  return arguments;
}

bool Discharger::isWritten(BlockArgument ref) {
  return llvm::any_of(ref.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<ir::RefSwapOp, ir::RefAddOp>(op))
      return true;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      return !callee || callee.isExternal() || isWritten(callee.getArgument(use.getOperandNumber()));
    }
    if (isa<ir::ScanOp, ir::WhileOp, ir::CondOp>(op))
      return llvm::any_of(argumentsFor(op, use.getOperandNumber()), [&](BlockArgument a) { return isWritten(a); });
    return !isa<ir::RefGetOp>(op);
  });
}

SmallVector<bool> Discharger::writtenArguments(func::FuncOp f) {
  return llvm::map_to_vector(f.getArguments(), [&](BlockArgument a) { return isRef(a) && isWritten(a); });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Walks one block and those in it, in program order, in place.
class BlockDischarger {
public:
  explicit BlockDischarger(Discharger &discharger) : discharger(discharger) {}

  /// From here on `ref` is discharged; `value` is what it holds.
  void set(Value ref, Value value) { current[ref] = value; }
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
        .Case<ir::RefFreezeOp, ir::RefGetOp, ir::RefSwapOp, ir::RefAddOp>([&](auto access) {
          // Not by name: a discharged argument is no ref any more.
          if (Value ref = op->getOperand(0); isChosen(ref)) {
            if (Value result = runAccess(access, ref, get(ref), b))
              op->getResult(0).replaceAllUsesWith(result);
            op->erase();
          }
          return success();
        })
        .Case<ir::ScanOp, ir::WhileOp, ir::CondOp, func::CallOp>([&](auto nested) {
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

  // What an access of `ref`, which holds `value`, returns; null for nothing. Sets what it holds next.
  Value runAccess(ir::RefFreezeOp, Value, Value value, ImplicitLocOpBuilder &) { return value; }
  Value runAccess(ir::RefGetOp op, Value, Value value, ImplicitLocOpBuilder &b) { return readPart(b, value, op.getIndex()); }
  Value runAccess(ir::RefSwapOp op, Value ref, Value value, ImplicitLocOpBuilder &b) {
    set(ref, writePart(b, value, op.getIndex(), op.getValue()));
    return op.getResult().use_empty() ? Value() : readPart(b, value, op.getIndex());
  }
  Value runAccess(ir::RefAddOp op, Value ref, Value value, ImplicitLocOpBuilder &b) {
    set(ref, addPart(b, value, op.getIndex(), op.getValue()));
    return {};
  }

  LogicalResult runNested(ir::ScanOp scan, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::WhileOp loop, ImplicitLocOpBuilder &b);
  LogicalResult runNested(ir::CondOp cond, ImplicitLocOpBuilder &b);
  LogicalResult runNested(func::CallOp call, ImplicitLocOpBuilder &b);

  /// Two names for one ref would make the order of accesses unknown.
  LogicalResult checkDistinct(Operation *op) {
    llvm::SmallDenseMap<Value, unsigned> seen;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isRef(operand.get()) && !isChosen(operand.get()))
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
static void yieldMore(Block &block, unsigned position, ArrayRef<Value> more) {
  block.getTerminator()->insertOperands(position, more);
}

/// The argument that took a ref takes what it holds.
static void takeValue(BlockArgument argument) { argument.setType(cast<ir::RefType>(argument.getType()).getValueType()); }

LogicalResult BlockDischarger::runNested(ir::ScanOp scan, ImplicitLocOpBuilder &b) {
  Block &body = *scan.getBlock();
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  SmallVector<Value> consts, inits(scan.getInits()), xs;
  SmallVector<Value> carriedRefs, slicedRefs;            // written, outside
  SmallVector<BlockArgument> carriedArguments, slicedArguments; // the same inside
  SmallVector<unsigned> moved;
  for (auto [i, operand] : llvm::enumerate(scan->getOperands())) {
    bool isCarry = i >= numConsts && i < numConsts + numCarries;
    if (isCarry)
      continue;
    BlockArgument argument = body.getArgument(i);
    bool chosen = isChosen(operand), written = chosen && discharger.isWritten(argument);
    Value value = chosen ? get(operand) : operand;
    if (i >= numConsts) {
      xs.push_back(value);
      if (written) {
        slicedRefs.push_back(operand);
        slicedArguments.push_back(argument);
      }
    } else if (written) {
      inits.push_back(value);
      carriedRefs.push_back(operand);
      moved.push_back(i);
    } else {
      consts.push_back(value);
    }
    if (chosen) {
      takeValue(argument);
      set(argument, argument);
    }
  }
  // Written constants become the last carries.
  for (auto [k, i] : llvm::enumerate(moved)) {
    BlockArgument old = body.getArgument(i);
    BlockArgument carry = body.insertArgument(numConsts + numCarries + k, old.getType(), old.getLoc());
    old.replaceAllUsesWith(carry);
    set(carry, carry);
    carriedArguments.push_back(carry);
  }
  for (unsigned i : llvm::reverse(moved)) {
    current.erase(body.getArgument(i));
    body.eraseArgument(i);
  }
  if (failed(run(body)))
    return failure();
  auto valuesOf = [&](ArrayRef<BlockArgument> refs) { return llvm::map_to_vector(refs, [&](BlockArgument a) { return get(a); }); };
  yieldMore(body, body.getTerminator()->getNumOperands(), valuesOf(slicedArguments));
  yieldMore(body, numCarries, valuesOf(carriedArguments));

  SmallVector<Type> types(scan.getCarryResults().getTypes());
  llvm::append_range(types, ValueRange(ArrayRef(inits).drop_front(numCarries)).getTypes());
  llvm::append_range(types, scan.getYsResults().getTypes());
  for (Value ref : slicedRefs)
    types.push_back(get(ref).getType());
  auto made = ir::ScanOp::create(b, types, consts, inits, xs, scan.getLength(), scan.getReverse());
  made->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  made.getBody().takeBody(scan.getBody());
  for (auto [k, ref] : llvm::enumerate(carriedRefs))
    set(ref, made.getResult(numCarries + k));
  for (auto [k, ref] : llvm::enumerate(slicedRefs))
    set(ref, made.getResult(made.getNumResults() - slicedRefs.size() + k));
  unsigned numCarried = carriedRefs.size();
  for (auto [i, result] : llvm::enumerate(scan.getResults()))
    result.replaceAllUsesWith(made.getResult(i < numCarries ? i : i + numCarried));
  scan.erase();
  return success();
}

LogicalResult BlockDischarger::runNested(ir::WhileOp loop, ImplicitLocOpBuilder &b) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  SmallVector<Value> carriedRefs;
  for (auto [operand, argument] : llvm::zip(loop.getCondConsts(), cond.getArguments()))
    if (isChosen(operand) && discharger.isWritten(argument))
      return loop.emitOpError("has a condition that writes a ref; write it in the body");
  for (auto [operand, argument] : llvm::zip(loop.getBodyConsts(), body.getArguments()))
    if (isChosen(operand) && discharger.isWritten(argument))
      carriedRefs.push_back(operand);

  // In both regions what is carried comes last, and what is not is a value.
  auto convert = [&](Block &block, OperandRange consts, SmallVectorImpl<Value> &kept) {
    SmallVector<BlockArgument> carries;
    for (Value ref : carriedRefs) {
      BlockArgument carry = block.addArgument(get(ref).getType(), loop.getLoc());
      set(carry, carry);
      carries.push_back(carry);
    }
    for (auto [i, operand] : llvm::reverse(llvm::to_vector(llvm::enumerate(consts)))) {
      BlockArgument argument = block.getArgument(i);
      auto carried = llvm::find(carriedRefs, operand);
      if (carried != carriedRefs.end()) {
        argument.replaceAllUsesWith(carries[carried - carriedRefs.begin()]);
        block.eraseArgument(i);
        continue;
      }
      kept.insert(kept.begin(), isChosen(operand) ? get(operand) : operand);
      if (isChosen(operand)) {
        takeValue(argument);
        set(argument, argument);
      }
    }
    return carries;
  };
  SmallVector<Value> condConsts, bodyConsts, inits(loop.getInits());
  convert(cond, loop.getCondConsts(), condConsts);
  SmallVector<BlockArgument> carries = convert(body, loop.getBodyConsts(), bodyConsts);
  if (failed(run(cond)) || failed(run(body)))
    return failure();
  yieldMore(body, body.getTerminator()->getNumOperands(), llvm::map_to_vector(carries, [&](BlockArgument a) { return get(a); }));
  for (Value ref : carriedRefs)
    inits.push_back(get(ref));

  auto made = ir::WhileOp::create(b, ValueRange(inits).getTypes(), condConsts, bodyConsts, inits, loop.getMaxTripAttr());
  made.getCond().takeBody(loop.getCond());
  made.getBody().takeBody(loop.getBody());
  unsigned numResults = loop.getNumResults();
  loop->replaceAllUsesWith(made.getResults().take_front(numResults));
  for (auto [ref, result] : llvm::zip_equal(carriedRefs, made.getResults().drop_front(numResults)))
    set(ref, result);
  loop.erase();
  return success();
}

LogicalResult BlockDischarger::runNested(ir::CondOp cond, ImplicitLocOpBuilder &b) {
  SmallVector<Value> inputs, writtenRefs;
  SmallVector<unsigned> writtenInputs;
  for (auto [i, operand] : llvm::enumerate(cond.getInputs())) {
    bool chosen = isChosen(operand);
    inputs.push_back(chosen ? get(operand) : operand);
    if (!chosen)
      continue;
    if (llvm::any_of(cond.getBranches(), [&, i = i](Region &branch) { return discharger.isWritten(branch.getArgument(i)); })) {
      writtenRefs.push_back(operand);
      writtenInputs.push_back(i);
    }
    for (Region &branch : cond.getBranches()) {
      takeValue(branch.getArgument(i));
      set(branch.getArgument(i), branch.getArgument(i));
    }
  }
  SmallVector<Type> types(cond.getResultTypes());
  for (Value ref : writtenRefs)
    types.push_back(get(ref).getType());
  auto made = ir::CondOp::create(b, types, cond.getIndex(), inputs, cond.getBranches().size());
  made->setDiscardableAttrs(cond->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(cond.getBranches(), made.getBranches())) {
    Block &block = from.front();
    if (failed(run(block)))
      return failure();
    yieldMore(block, block.getTerminator()->getNumOperands(),
              llvm::map_to_vector(writtenInputs, [&](unsigned i) { return get(block.getArgument(i)); }));
    to.takeBody(from);
  }
  unsigned numResults = cond.getNumResults();
  cond->replaceAllUsesWith(made.getResults().take_front(numResults));
  for (auto [ref, result] : llvm::zip_equal(writtenRefs, made.getResults().drop_front(numResults)))
    set(ref, result);
  cond.erase();
  return success();
}

LogicalResult BlockDischarger::runNested(func::CallOp call, ImplicitLocOpBuilder &b) {
  auto callee = discharger.module.lookupSymbol<func::FuncOp>(call.getCallee());
  SmallVector<bool> chosen = llvm::map_to_vector(call.getOperands(), [&](Value v) { return isChosen(v); });
  auto discharged = discharger.discharge(callee, chosen);
  if (failed(discharged))
    return failure();
  SmallVector<Value> operands, writtenRefs;
  for (auto [operand, isChosenRef, written] : llvm::zip_equal(call.getOperands(), chosen, discharged->written)) {
    operands.push_back(isChosenRef ? get(operand) : operand);
    if (written)
      writtenRefs.push_back(operand);
  }
  auto made = func::CallOp::create(b, discharged->function, operands);
  unsigned numResults = call.getNumResults();
  call->replaceAllUsesWith(made.getResults().take_front(numResults));
  for (auto [ref, result] : llvm::zip_equal(writtenRefs, made.getResults().drop_front(numResults)))
    set(ref, result);
  call.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<bool>> Discharger::run(func::FuncOp f, ArrayRef<bool> chosen) {
  Block &block = f.front();
  if (!f.getBody().hasOneBlock())
    return f.emitOpError("cannot be discharged: expected one block; control flow is hjx.scan, hjx.while and hjx.cond");
  for (auto [i, type] : llvm::enumerate(f.getResultTypes()))
    if (isa<ir::RefType>(type))
      return f.emitOpError("returns a ref as result ") << i << "; return what it holds: hjx.ref_freeze or hjx.ref_get";
  SmallVector<bool> written = writtenArguments(f);
  BlockDischarger blocks(*this);
  for (auto [argument, isChosen, isWritten] : llvm::zip_equal(block.getArguments(), chosen, written)) {
    isWritten &= isChosen;
    if (isChosen) {
      takeValue(argument);
      blocks.set(argument, argument);
    }
  }
  if (failed(blocks.run(block)))
    return failure();
  SmallVector<Value> last;
  for (auto [argument, isWritten] : llvm::zip_equal(block.getArguments(), written))
    if (isWritten)
      last.push_back(blocks.get(argument));
  yieldMore(block, block.getTerminator()->getNumOperands(), last);
  for (Operation *made : llvm::reverse(blocks.dead))
    made->erase();
  f.setType(FunctionType::get(f.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return written;
}

FailureOr<DischargedFunction> Discharger::discharge(func::FuncOp f, ArrayRef<bool> chosen) {
  if (!llvm::is_contained(chosen, true) && !hasRefs(f))
    return DischargedFunction{f, SmallVector<bool>(chosen.size(), false)};
  if (f.isExternal())
    return f.emitOpError("takes a ref but has no body");
  std::string key = (f.getName() + ".discharged.").str();
  for (bool isChosen : chosen)
    key += isChosen ? '1' : '0';
  if (auto known = made.find(key); known != made.end())
    return known->second;
  func::FuncOp copy = f.clone();
  copy.setPrivate();
  copy.setName(key);
  SymbolTable(module).insert(copy); // renames on a clash
  auto written = run(copy, chosen);
  if (failed(written)) {
    copy.erase();
    return failure();
  }
  return made[key] = {copy, *written};
}

LogicalResult Discharger::dischargeInPlace(func::FuncOp f) {
  auto chosen = llvm::map_to_vector(f.getArguments(), isRef);
  unsigned numResults = f.getNumResults();
  SmallVector<DictionaryAttr> resultAttrs;
  f.getAllResultAttrs(resultAttrs);
  f.removeResAttrsAttr();
  auto written = run(f, chosen);
  if (failed(written))
    return failure();
  Builder b(f.getContext());
  resultAttrs.resize(numResults, b.getDictionaryAttr({}));
  resultAttrs.resize(f.getNumResults(), b.getDictionaryAttr({}));
  f.setAllResultAttrs(resultAttrs);
  for (auto [i, isWritten] : llvm::enumerate(*written))
    if (isWritten) {
      f.setArgAttr(i, "hjx.donated", b.getUnitAttr());
      f.setArgAttr(i, "hjx.alias", b.getI64IntegerAttr(numResults++));
    }
  return success();
}

} // namespace hjx
