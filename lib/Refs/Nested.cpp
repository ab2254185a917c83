// SPDX-License-Identifier: Apache-2.0
//
// Loops, branches and calls that take refs which are discharged: new ones, with
// what the refs hold as operands, and what they hold afterwards as results.
#include "lib/Refs/BlockDischarger.h"

using namespace mlir;

namespace hjx {

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

} // namespace hjx
