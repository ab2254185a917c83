// SPDX-License-Identifier: Apache-2.0
//
// What functions write, and functions of values made from functions of refs.
#include "dialects/hjx/Effects.h"
#include "lib/HiTypes/Expansions.h"
#include "lib/Refs/BlockDischarger.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace hjx {

static bool makesRefs(func::FuncOp f) {
  return f.walk([](Operation *op) {
            return isa<ir::RefNewOp, ir::RefEmptyOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted();
}

bool hasRefs(func::FuncOp f) {
  return llvm::any_of(f.getArgumentTypes(), llvm::IsaPred<ir::RefType>) || makesRefs(f);
}

LogicalResult expandPrimitivesOnRefs(func::FuncOp f) {
  llvm::DenseMap<Operation *, Expansions> around; // of calls that expansions made
  for (;;) {
    SmallVector<ir::CallPrimitiveOp> calls;
    f.walk([&](ir::CallPrimitiveOp call) {
      if (ir::takesRef(call))
        calls.push_back(call);
    });
    if (calls.empty())
      return success();
    for (ir::CallPrimitiveOp call : calls) {
      Expansions expansions = around.lookup(call);
      Operation *before = call->getPrevNode();
      ImplicitLocOpBuilder b(call.getLoc(), call);
      if (failed(expansions.enter(call)))
        return failure();
      auto results = call.getDef().expand(b, call.getCall(), call.getOperands());
      if (failed(results))
        return failure();
      for (Operation &made : llvm::make_range(before ? std::next(before->getIterator()) : call->getBlock()->begin(), call->getIterator()))
        made.walk([&](ir::CallPrimitiveOp inner) { around[inner] = expansions; });
      call->replaceAllUsesWith(*results);
      call->erase();
    }
  }
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
  if (failed(expandPrimitivesOnRefs(f)))
    return failure();
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
      return call.emitOpError("has a bwd that uses a ref that is gone by then: made inside a function that is differentiated or "
                              "mapped, or shared by the elements of one that is mapped; make it outside, or read it in fwd "
                              "and keep the value as a residual");
    dropped[next++] = isChosen;
  }
  func::FuncOp copy = copyOf(bwd, (bwd.getName() + ".discharged").str());
  copy.front().eraseArguments(dropped);
  updateType(copy);
  return copy;
}

LogicalResult Discharger::dischargeOwnOfCallees(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs())
    if (auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
      if (auto callee = module.lookupSymbol<func::FuncOp>(name); callee && failed(dischargeOwn(callee)))
        return failure();
  return success();
}

LogicalResult Discharger::dischargeOwn(func::FuncOp f) {
  if (!ownIsDone.insert(f).second)
    return success();
  if (f.walk([&](Operation *op) -> WalkResult { return dischargeOwnOfCallees(op); }).wasInterrupted())
    return failure();
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
