// SPDX-License-Identifier: Apache-2.0
#include "lib/Refs/Discharge.h"

#include "lib/Refs/Parts.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace hjx {

static bool isRef(Value value) { return isa<ir::RefType>(value.getType()); }

/// Calls, and the requests that are calls unless they are differentiated.
static bool isCallLike(Operation *op) {
  return isa<func::CallOp, ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp>(op);
}

static func::FuncOp functionOf(ModuleOp module, Operation *op, StringRef attribute) {
  return module.lookupSymbol<func::FuncOp>(op->getAttrOfType<FlatSymbolRefAttr>(attribute));
}
static func::FuncOp calleeOf(ModuleOp module, Operation *op) { return functionOf(module, op, "callee"); }

static bool makesRefs(func::FuncOp f) {
  return f.walk([](Operation *op) {
            return isa<ir::RefNewOp, ir::RefEmptyOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted();
}

bool hasRefs(func::FuncOp f) {
  return llvm::any_of(f.getArgumentTypes(), llvm::IsaPred<ir::RefType>) || makesRefs(f);
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

Operation *Discharger::findWrite(BlockArgument ref) {
  if (!asked.insert(ref).second) // a function that calls itself: whoever asks first finds the writes
    return nullptr;
  auto forget = llvm::scope_exit([&] { asked.erase(ref); });
  for (OpOperand &use : ref.getUses()) {
    Operation *op = use.getOwner();
    if (isa<ir::RefGetOp>(op))
      continue;
    SmallVector<BlockArgument> inside = argumentsFor(op, use.getOperandNumber());
    if (isCallLike(op))
      if (func::FuncOp callee = calleeOf(module, op); callee && !callee.isExternal())
        inside.push_back(callee.getArgument(use.getOperandNumber()));
    if (inside.empty())
      return op;
    for (BlockArgument argument : inside)
      if (Operation *write = findWrite(argument))
        return write;
  }
  return nullptr;
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
          return replace(swap, [&](Value value) {
            set(swap.getRef(), writePart(b, value, swap.getIndex(), swap.getValue()));
            return swap.getResult().use_empty() ? Value() : readPart(b, value, swap.getIndex());
          });
        })
        .Case([&](ir::RefAddOp add) {
          if (!isChosen(add.getRef()))
            return success();
          set(add.getRef(), addPart(b, get(add.getRef()), add.getIndex(), add.getValue()));
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
  LogicalResult replace(Op op, llvm::function_ref<Value(Value)> make) {
    Value ref = op.getRef();
    if (!isChosen(ref))
      return success();
    if (Value result = make(get(ref)))
      op.getResult().replaceAllUsesWith(result);
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
static void yieldMore(Block &block, unsigned position, ArrayRef<Value> more) {
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

LogicalResult BlockDischarger::runNested(ir::ScanOp scan, ImplicitLocOpBuilder &b) {
  Block &body = *scan.getBlock();
  ValueArguments values(*this, body);
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  SmallVector<BlockArgument> arguments(body.getArguments());
  SmallVector<Value> consts, inits(scan.getInits()), xs;
  SmallVector<Value> carriedRefs, slicedRefs;                     // written, outside
  SmallVector<BlockArgument> carriedArguments, slicedArguments;   // the same inside
  for (auto [i, operand] : llvm::enumerate(scan->getOperands())) {
    bool isConst = i < numConsts, isXs = i >= numConsts + numCarries;
    if (!isConst && !isXs)
      continue;
    bool chosen = isChosen(operand), written = chosen && discharger.isWritten(arguments[i]);
    if (chosen) { // A written constant becomes the last carry.
      bool hasXs = numConsts + numCarries < arguments.size();
      unsigned end = hasXs ? arguments[numConsts + numCarries].getArgNumber() : body.getNumArguments();
      values.add(arguments[i], written && isConst ? std::optional(end) : std::nullopt);
    }
    (isXs ? xs : written ? inits : consts).push_back(chosen ? get(operand) : operand);
    if (written) {
      (isXs ? slicedRefs : carriedRefs).push_back(operand);
      (isXs ? slicedArguments : carriedArguments).push_back(arguments[i]);
    }
  }
  if (failed(values.run()))
    return failure();
  yieldMore(body, body.getTerminator()->getNumOperands(), values.last(slicedArguments));
  yieldMore(body, numCarries, values.last(carriedArguments));
  values.eraseRefs();

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
  ValueArguments inCond(*this, cond), inBody(*this, body);
  auto convert = [&](ValueArguments &values, Block &block, OperandRange consts, SmallVectorImpl<Value> &kept) {
    SmallVector<BlockArgument> arguments(block.getArguments().take_front(consts.size()));
    SmallVector<BlockArgument> carried(carriedRefs.size());
    for (auto [operand, argument] : llvm::zip_equal(consts, arguments)) {
      auto place = llvm::find(carriedRefs, operand);
      if (place != carriedRefs.end()) {
        carried[place - carriedRefs.begin()] = argument;
        continue;
      }
      kept.push_back(isChosen(operand) ? get(operand) : operand);
      if (isChosen(operand))
        values.add(argument);
    }
    for (auto [ref, argument] : llvm::zip_equal(carriedRefs, carried)) {
      if (argument)
        values.add(argument, block.getNumArguments());
      else // read and written by the other region only
        block.addArgument(get(ref).getType(), loop.getLoc());
    }
    return carried;
  };
  SmallVector<Value> condConsts, bodyConsts, inits(loop.getInits());
  convert(inCond, cond, loop.getCondConsts(), condConsts);
  SmallVector<BlockArgument> carried = convert(inBody, body, loop.getBodyConsts(), bodyConsts);
  if (failed(inCond.run()) || failed(inBody.run()))
    return failure();
  yieldMore(body, body.getTerminator()->getNumOperands(), inBody.last(carried));
  inCond.eraseRefs();
  inBody.eraseRefs();
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
  }
  SmallVector<Type> types(cond.getResultTypes());
  for (Value ref : writtenRefs)
    types.push_back(get(ref).getType());
  auto made = ir::CondOp::create(b, types, cond.getIndex(), inputs, cond.getBranches().size());
  made->setDiscardableAttrs(cond->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(cond.getBranches(), made.getBranches())) {
    Block &block = from.front();
    ValueArguments values(*this, block);
    SmallVector<BlockArgument> arguments(block.getArguments());
    for (auto [operand, argument] : llvm::zip_equal(cond.getInputs(), arguments))
      if (isChosen(operand))
        values.add(argument);
    if (failed(values.run()))
      return failure();
    yieldMore(block, block.getTerminator()->getNumOperands(),
              values.last(llvm::map_to_vector(writtenInputs, [&](unsigned i) { return arguments[i]; })));
    values.eraseRefs();
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
  auto callee = discharger.discharge(calleeOf(discharger.module, call), chosenOperands(call));
  if (failed(callee))
    return failure();
  auto made = func::CallOp::create(b, callee->function, valuesOf(call.getOperands()));
  return replaceCall(call, made, callee->written);
}

LogicalResult BlockDischarger::runNested(ir::CheckpointOp call, ImplicitLocOpBuilder &b) {
  auto callee = discharger.discharge(calleeOf(discharger.module, call), chosenOperands(call));
  if (failed(callee))
    return failure();
  auto made = ir::CheckpointOp::create(b, callee->function.getResultTypes(), callee->function.getName(),
                                       valuesOf(call.getOperands()), call.getPolicy());
  return replaceCall(call, made, callee->written);
}

LogicalResult BlockDischarger::runNested(ir::CustomJvpOp call, ImplicitLocOpBuilder &) {
  return call.emitOpError("takes a ref that is made inside a function that is differentiated or mapped, and its rule says "
                          "nothing of the tangent of what a ref holds; read the ref before, and pass the value");
}

//   fwd: (x, r) -> (y, residuals)     becomes     (x, v) -> (y, v', residuals), v' where r is written
//   bwd: (r, residuals, y_bar) -> (x_bar, r_bar)  (residuals, y_bar) -> (x_bar, v_bar)
LogicalResult BlockDischarger::runNested(ir::CustomVjpOp call, ImplicitLocOpBuilder &b) {
  func::FuncOp calleeFunction = calleeOf(discharger.module, call), fwdFunction = functionOf(discharger.module, call, "fwd");
  SmallVector<bool> chosen = chosenOperands(call), written(chosen.size(), false);
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    written[i] = chosen[i] && (discharger.isWritten(calleeFunction.getArgument(i)) || discharger.isWritten(fwdFunction.getArgument(i)));
    if (written[i] && ir::isDifferentiable(get(operand).getType()))
      return call.emitOpError("writes a ref that is made inside a function that is differentiated or mapped, and its rule says "
                              "nothing of the derivative of what it writes; return the value, and write it afterwards");
  }
  auto callee = discharger.discharge(calleeFunction, chosen, written), fwd = discharger.discharge(fwdFunction, chosen, written);
  auto bwd = discharger.dropRefs(call, chosen);
  if (failed(callee) || failed(fwd) || failed(bwd))
    return failure();
  auto made = ir::CustomVjpOp::create(b, callee->function.getResultTypes(), callee->function.getName(),
                                      discharger.returnBefore(fwd->function, call.getNumResults(), llvm::count(written, true)).getName(),
                                      bwd->getName(), valuesOf(call.getOperands()));
  return replaceCall(call, made, written);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The function type that body and terminator imply.
static void updateType(func::FuncOp f) {
  Block &block = f.front();
  f.setType(FunctionType::get(f.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}

FailureOr<SmallVector<bool>> Discharger::run(func::FuncOp f, ArrayRef<bool> chosen, ArrayRef<bool> returned) {
  Block &block = f.front();
  if (!f.getBody().hasOneBlock())
    return f.emitOpError("cannot be discharged: expected one block; control flow is hjx.scan, hjx.while and hjx.cond");
  for (auto [i, type] : llvm::enumerate(f.getResultTypes()))
    if (isa<ir::RefType>(type))
      return f.emitOpError("returns a ref as result ") << i << "; return what it holds: hjx.ref_freeze or hjx.ref_get";
  SmallVector<bool> written = writtenArguments(f);
  BlockDischarger blocks(*this);
  ValueArguments values(blocks, block);
  SmallVector<BlockArgument> writtenRefs;
  for (auto [i, argument] : llvm::enumerate(SmallVector<BlockArgument>(block.getArguments()))) {
    written[i] = chosen[i] && (written[i] || (!returned.empty() && returned[i]));
    if (chosen[i])
      values.add(argument);
    if (written[i])
      writtenRefs.push_back(argument);
  }
  if (failed(values.run()))
    return failure();
  yieldMore(block, block.getTerminator()->getNumOperands(), values.last(writtenRefs));
  for (Operation *made : llvm::reverse(blocks.dead))
    made->erase();
  values.eraseRefs();
  updateType(f);
  return written;
}

FailureOr<DischargedFunction> Discharger::discharge(func::FuncOp f, ArrayRef<bool> chosen, ArrayRef<bool> returned) {
  if (!llvm::is_contained(chosen, true) && !makesRefs(f))
    return DischargedFunction{f, SmallVector<bool>(chosen.size(), false)};
  if (f.isExternal())
    return f.emitOpError("takes a ref but has no body");
  std::string key = (f.getName() + ".discharged.").str();
  for (bool isChosen : chosen)
    key += isChosen ? '1' : '0';
  if (llvm::is_contained(returned, true)) {
    key += ".";
    for (bool isReturned : returned)
      key += isReturned ? '1' : '0';
  }
  if (auto known = made.find(key); known != made.end())
    return known->second;
  if (!open.insert(f).second)
    return f.emitOpError("calls itself; a function with refs cannot");
  auto close = llvm::scope_exit([&] { open.erase(f); });
  func::FuncOp copy = copyOf(f, key);
  auto written = run(copy, chosen, returned);
  if (failed(written)) {
    copy.erase();
    return failure();
  }
  return made[key] = {copy, *written};
}

func::FuncOp Discharger::copyOf(func::FuncOp f, StringRef name) {
  func::FuncOp copy = f.clone();
  copy.setPrivate();
  copy.setName(name);
  SymbolTable(module).insert(copy); // renames on a clash
  return copy;
}

func::FuncOp Discharger::returnBefore(func::FuncOp f, unsigned position, unsigned numMoved) {
  unsigned numOthers = f.getNumResults() - position - numMoved;
  if (numMoved == 0 || numOthers == 0)
    return f;
  func::FuncOp copy = copyOf(f, (f.getName() + ".first").str());
  Operation *terminator = copy.front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  std::rotate(results.begin() + position, results.begin() + position + numOthers, results.end());
  terminator->setOperands(results);
  updateType(copy);
  return copy;
}

FailureOr<func::FuncOp> Discharger::dropRefs(ir::CustomVjpOp call, ArrayRef<bool> chosen) {
  func::FuncOp bwd = functionOf(module, call, "bwd");
  llvm::BitVector dropped(bwd.getNumArguments());
  unsigned next = 0; // bwd takes the refs first
  for (auto [operand, isChosen] : llvm::zip_equal(call.getOperands(), chosen)) {
    if (!isChosen && !isRef(operand))
      continue;
    if (isChosen && !bwd.getArgument(next).use_empty())
      return call.emitOpError("has a bwd that uses a ref made inside a function that is differentiated or mapped: the ref is gone "
                              "by then; make it outside, or read it in fwd and keep the value as a residual");
    dropped[next++] = isChosen;
  }
  func::FuncOp copy = copyOf(bwd, (bwd.getName() + ".discharged").str());
  copy.front().eraseArguments(dropped);
  updateType(copy);
  return copy;
}

LogicalResult Discharger::dischargeOwn(func::FuncOp f) {
  if (f.isExternal() || !makesRefs(f))
    return success();
  return run(f, SmallVector<bool>(f.getNumArguments(), false), {});
}

LogicalResult Discharger::dischargeInPlace(func::FuncOp f) {
  auto chosen = llvm::map_to_vector(f.getArguments(), isRef);
  unsigned numResults = f.getNumResults();
  SmallVector<DictionaryAttr> resultAttrs;
  f.getAllResultAttrs(resultAttrs);
  f.removeResAttrsAttr();
  auto written = run(f, chosen, {});
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
