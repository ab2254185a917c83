// SPDX-License-Identifier: Apache-2.0
//
// Scan. The interesting rule is linearize: the loop becomes two loops of the
// same length, and what the second needs from the first crosses as residuals.
// How a residual of the body crosses depends on what it is:
//
//   consts (w), carries (c), xs (x):  c' = c * w * sin(x)
//
//   body residual         crosses as
//   w                     the same const: nothing is stored
//   x                     the original xs: nothing is stored
//   w * w (consts only)   computed once before the loop, then a const
//   c * sin(x)            a further ys of the first loop, an xs of the second
//
// Which carries have tangents is known before anything is emitted (Activity.h).
#include "dialects/hjx/Effects.h"
#include "lib/Autodiff/Accumulate.h"
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Residuals.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hjx {

/// `all`, one entry per operand of `scan`, by role: consts, carries, xs.
template <typename T>
static std::array<ArrayRef<T>, 3> byRole(ir::ScanOp scan, ArrayRef<T> all) {
  unsigned c = scan.getNumConsts(), n = scan.getNumCarries();
  return {all.take_front(c), all.slice(c, n), all.drop_front(c + n)};
}

static Mask activeCarriesOf(const Autodiff &engine, ir::ScanOp scan, ArrayRef<bool> active) {
  auto [consts, inits, xs] = byRole(scan, active);
  return activeCarries(engine, *scan.getBlock(), consts, Mask(inits), xs);
}

/// A scan like `like` over the body in `region`, whose yield gives the result
/// types: as many carries as `inits`, then ys.
static FailureOr<ir::ScanOp> createScan(OpBuilder &b, ir::ScanOp like, ValueRange consts, ValueRange inits, ValueRange xs,
                             Region &region, bool reverse) {
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(region.front().getTerminator()->getOperandTypes())) {
    auto stacked = i < inits.size() ? FailureOr<Type>(type) : ir::incLeading(type, like.getLength(), [&] {
      return like.emitOpError("cannot be differentiated: ") << type << " of each iteration is kept; ";
    });
    if (failed(stacked)) {
      region.dropAllReferences();
      return failure();
    }
    types.push_back(*stacked);
  }
  auto scan = ir::ScanOp::create(b, like.getLoc(), types, consts, inits, xs, like.getLength(), reverse);
  scan.getBody().takeBody(region);
  return scan;
}

//===----------------------------------------------------------------------===//
// Jvp
//===----------------------------------------------------------------------===//

// One loop over values and tangents: each role's operands, then their tangents.
static LogicalResult scanJvp(JvpContext &c, ir::ScanOp scan) {
  Mask active = isPresent(c.tangents), carries = activeCarriesOf(c.engine, scan, active);
  auto [constDots, initDots, xDots] = byRole(scan, c.tangents);
  SmallVector<Value> consts(scan.getConsts()), inits(scan.getInits()), xs(scan.getXs());
  llvm::append_range(consts, present(constDots));
  for (auto [init, dot, isActive] : llvm::zip_equal(scan.getInits(), initDots, carries))
    if (isActive)
      inits.push_back(instantiate(c.b, c.b.getLoc(), dot, init.getType()));
  llvm::append_range(xs, present(xDots));

  Region region(scan); // not in it, but under its module
  Block &body = region.emplaceBlock();
  SmallVector<Dual> arguments;
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  ArrayRef<BlockArgument> originals = scan.getBlock()->getArguments();
  addJointArguments(body, originals.take_front(numConsts), isPresent(constDots), arguments);
  addJointArguments(body, originals.slice(numConsts, numCarries), carries, arguments);
  addJointArguments(body, originals.drop_front(numConsts + numCarries), isPresent(xDots), arguments);

  OpBuilder b(c.b.getContext());
  b.setInsertionPointToEnd(&body);
  auto duals = jvpBlock(c.engine, *scan.getBlock(), arguments, b);
  if (failed(duals))
    return failure();
  ArrayRef<Dual> carryDuals = ArrayRef(*duals).take_front(numCarries), ysDuals = ArrayRef(*duals).drop_front(numCarries);
  SmallVector<Value> yielded = toJoint(b, scan.getLoc(), carryDuals, carries);
  Mask ysActive = llvm::map_to_vector(ysDuals, [](Dual dual) { return bool(dual.tangent); });
  llvm::append_range(yielded, toJoint(b, scan.getLoc(), ysDuals, ysActive));
  ir::YieldOp::create(b, scan.getLoc(), yielded);

  auto joint = createScan(c.b, scan, consts, inits, xs, region, scan.getReverse());
  if (failed(joint))
    return failure();
  setJointResults(c, 0, joint->getCarryResults(), carries);
  setJointResults(c, numCarries, joint->getYsResults(), ysActive);
  return success();
}

//===----------------------------------------------------------------------===//
// Linearize
//===----------------------------------------------------------------------===//

/// Emits at `b` the ops of `body` that `values` need, given that they depend on
/// `consts` alone, which stand for body's first arguments.
static SmallVector<Value> hoist(Block &body, ArrayRef<Value> values, ValueRange consts, OpBuilder &b) {
  IRMapping outside;
  outside.map(body.getArguments().take_front(consts.size()), consts);
  llvm::SmallPtrSet<Operation *, 8> needed;
  SmallVector<Value> worklist(values);
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  for (Operation &op : body)
    if (needed.contains(&op))
      b.clone(op, outside);
  return llvm::map_to_vector(values, [&](Value v) { return outside.lookup(v); });
}

/// The values of `body` that depend on its first `numConsts` arguments alone. What a ref holds changes.
static llvm::DenseSet<Value> invariantValues(Block &body, unsigned numConsts) {
  llvm::DenseSet<Value> invariant(body.args_begin(), body.args_begin() + numConsts);
  for (Operation &op : body.without_terminator())
    if (!ir::takesRef(&op) && llvm::all_of(op.getOperands(), [&](Value v) { return invariant.contains(v); }))
      invariant.insert(op.result_begin(), op.result_end());
  return invariant;
}

LogicalResult linearizeScan(LinearizeContext &c, ir::ScanOp scan) {
  Location loc = scan.getLoc();
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  Mask active = isPresent(c.tangents), carries = activeCarriesOf(c.engine, scan, active);
  auto [primalConsts, primalInits, primalXs] = byRole(scan, c.primals);
  auto [constDots, initDots, xDots] = byRole(scan, c.tangents);

  // The two bodies. tan's arguments for now: tangents of consts, carries, xs.
  Region fwdRegion(scan), tanRegion(scan);
  Block &fwd = fwdRegion.emplaceBlock(), &tan = tanRegion.emplaceBlock();
  SmallVector<Dual> arguments;
  for (auto [argument, isActive] :
       llvm::zip_equal(scan.getBlock()->getArguments(), concat(isPresent(constDots), carries, isPresent(xDots))))
    arguments.push_back({fwd.addArgument(argument.getType(), loc),
                         isActive ? Value(tan.addArgument(ir::tangentOf(argument.getType()), loc)) : Value()});
  OpBuilder fwdBuilder(c.fwd.getContext()), tanBuilder(c.fwd.getContext());
  fwdBuilder.setInsertionPointToEnd(&fwd);
  tanBuilder.setInsertionPointToEnd(&tan);
  auto duals = linearizeBlock(c.engine, *scan.getBlock(), arguments, fwdBuilder, tanBuilder);
  if (failed(duals)) {
    fwdRegion.dropAllReferences(); // the two name each other's values
    tanRegion.dropAllReferences();
    return failure();
  }
  SmallVector<Value> fwdYields, tanYields;
  for (auto [i, dual] : llvm::enumerate(*duals)) {
    fwdYields.push_back(dual.primal);
    if (i < numCarries ? carries[i] : bool(dual.tangent))
      tanYields.push_back(instantiate(tanBuilder, loc, dual.tangent, dual.primal.getType()));
  }
  auto fwdYield = ir::YieldOp::create(fwdBuilder, loc, fwdYields);
  ir::YieldOp::create(tanBuilder, loc, tanYields);

  // How each residual crosses.
  llvm::DenseSet<Value> invariant = invariantValues(fwd, numConsts);
  auto isXs = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() >= numConsts + numCarries;
  };
  SmallVector<Value> residuals =
      captureResiduals(fwd, tan, [&](Value value) { return invariant.contains(value) || isXs(value); });
  SmallVector<Value> asConsts, hoisted, asXs, stacked;
  for (Value residual : residuals) {
    auto argument = dyn_cast<BlockArgument>(residual);
    if (argument && argument.getArgNumber() < numConsts)
      asConsts.push_back(residual);
    else if (invariant.contains(residual))
      hoisted.push_back(residual);
    else if (isXs(residual))
      asXs.push_back(residual);
    else
      stacked.push_back(residual);
  }
  // Turns each of `values` into an argument of tan, from `position` on.
  auto toArguments = [&](ArrayRef<Value> values, unsigned position) {
    for (Value value : values)
      value.replaceUsesWithIf(tan.insertArgument(position++, value.getType(), loc),
                              [&](OpOperand &use) { return use.getOwner()->getBlock() == &tan; });
    return position;
  };
  unsigned position = toArguments(hoisted, toArguments(asConsts, 0));
  position += present(constDots).size() + llvm::count(carries, true);
  toArguments(stacked, toArguments(asXs, position));

  // The loop over values computes hoisted residuals before it starts, too.
  SmallVector<Value> outside = hoist(fwd, hoisted, primalConsts, c.fwd), fwdConsts(primalConsts);
  for (auto [i, value] : llvm::enumerate(hoisted))
    value.replaceAllUsesWith(fwd.insertArgument(numConsts + i, value.getType(), loc));
  llvm::append_range(fwdConsts, outside);

  SmallVector<unsigned> stackedAt;
  for (Value value : stacked) {
    auto ys = fwdYield.getOperands().drop_front(numCarries);
    unsigned index = numCarries + std::distance(ys.begin(), llvm::find(ys, value));
    stackedAt.push_back(index);
    if (index == fwdYield.getNumOperands())
      fwdYield->insertOperands(index, value);
  }
  eraseDeadOps(fwd);
  auto fwdScan = createScan(c.fwd, scan, fwdConsts, primalInits, primalXs, fwdRegion, scan.getReverse());
  if (failed(fwdScan))
    return failure();

  SmallVector<Value> tanConsts, tanInits, tanXs;
  for (Value value : asConsts)
    tanConsts.push_back(primalConsts[cast<BlockArgument>(value).getArgNumber()]);
  llvm::append_range(tanConsts, outside);
  llvm::append_range(tanConsts, present(constDots));
  for (auto [init, dot, isActive] : llvm::zip_equal(primalInits, initDots, carries))
    if (isActive)
      tanInits.push_back(instantiate(c.tan, loc, dot, init.getType()));
  // Argument numbers in the body have moved with the hoisted consts.
  for (Value value : asXs)
    tanXs.push_back(primalXs[cast<BlockArgument>(value).getArgNumber() - fwdConsts.size() - numCarries]);
  for (unsigned index : stackedAt)
    tanXs.push_back(fwdScan->getResult(index));
  llvm::append_range(tanXs, present(xDots));
  auto tanScan = createScan(c.tan, scan, tanConsts, tanInits, tanXs, tanRegion, scan.getReverse());
  if (failed(tanScan))
    return failure();

  unsigned next = 0;
  for (auto [i, dual] : llvm::enumerate(*duals)) {
    bool hasTangent = i < numCarries ? carries[i] : bool(dual.tangent);
    c.results.push_back(fwdScan->getResult(i));
    c.resultTangents.push_back(hasTangent ? tanScan->getResult(next++) : Value());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

/// The values at the start of each iteration of the carries of `scan` that do
/// not depend on linear values: one forward loop that stacks them.
static FailureOr<SmallVector<Value>> stackNonlinearCarries(TransposeContext &c, ir::ScanOp scan, ArrayRef<bool> linear) {
  auto [linearConsts, linearCarries, linearXs] = byRole(scan, linear);
  if (llvm::all_of(linearCarries, [](bool isLinear) { return isLinear; }))
    return SmallVector<Value>();
  Region region(scan); // not in it, but under its module
  Block &body = region.emplaceBlock();
  IRMapping values;
  std::array<SmallVector<Value>, 3> operands;
  unsigned numConsts = linearConsts.size(), numCarries = linearCarries.size();
  for (auto [i, argument] : llvm::enumerate(scan.getBlock()->getArguments())) {
    if (linear[i])
      continue;
    values.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
    operands[i < numConsts ? 0 : i < numConsts + numCarries ? 1 : 2].push_back(c.nonlinear(i));
  }
  OpBuilder b(c.b.getContext());
  b.setInsertionPointToEnd(&body);
  for (Operation &op : scan.getBlock()->without_terminator())
    if (llvm::all_of(op.getOperands(), [&](Value v) { return values.contains(v); }))
      b.clone(op, values);
  SmallVector<Value> yielded;
  for (unsigned i = 0; i < numCarries; ++i)
    if (!linearCarries[i])
      yielded.push_back(values.lookup(scan.getYield().getOperand(i)));
  llvm::append_range(yielded, body.getArguments().slice(operands[0].size(), operands[1].size()));
  ir::YieldOp::create(b, scan.getLoc(), yielded);
  auto loop = createScan(c.b, scan, operands[0], operands[1], operands[2], region, scan.getReverse());
  if (failed(loop))
    return failure();
  return llvm::to_vector_of<Value>(loop->getYsResults());
}

// The loop runs the other way. Its carries are the cotangents of the carries,
// and, from zero, the sums of the cotangents of linear consts; its xs are the
// cotangents of the ys and the residuals; its ys are the cotangents of the xs.
// A ref as sink of a const is a const, one of an xs is an xs: each iteration adds
// to its slice.
static LogicalResult scanTranspose(TransposeContext &c, ir::ScanOp scan) {
  Location loc = scan.getLoc();
  Block &original = *scan.getBlock();
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  Mask linearOperands;
  for (unsigned i = 0; i < scan->getNumOperands(); ++i)
    linearOperands.push_back(c.isLinear(i));
  auto [constLinear, initLinear, xsLinear] = byRole(scan, ArrayRef<bool>(linearOperands));
  // A carry is linear if it depends on a linear value; its init may then be a
  // constant zero, where a tangent started as a symbolic one.
  Mask carryLinear = growCarries(Mask(initLinear), [&, cs = constLinear, xs = xsLinear](ArrayRef<bool> carries) {
    Mask yields = dependentYields(original, concat(cs, carries, xs));
    yields.truncate(numCarries);
    return yields;
  });
  Mask linear = concat(constLinear, carryLinear, xsLinear);

  // Which arguments get cotangents.
  ArrayRef<Value> carryBars = c.resultBars.take_front(numCarries), ysBars = c.resultBars.drop_front(numCarries);
  auto reached = [&](ArrayRef<bool> carries) { return reachedArguments(original, linear, concat(carries, isPresent(ysBars))); };
  Mask hasCarryBar = growCarries(isPresent(carryBars), [&](ArrayRef<bool> carries) {
    return Mask(ArrayRef<bool>(reached(carries)).slice(numConsts, numCarries));
  });
  Mask hasBar = reached(hasCarryBar);

  Region region(scan); // not in it, but under its module
  Block &body = region.emplaceBlock();
  SmallVector<Value> consts, inits, xs;                          // operands of the new loop
  SmallVector<Value> arguments(original.getNumArguments()), sums(numConsts), yieldBars; // in its body
  auto add = [&](SmallVector<Value> &operands, Value operand, Type type) {
    operands.push_back(operand);
    return Value(body.addArgument(type, loc));
  };
  auto typeOf = [&](unsigned i) { return original.getArgument(i).getType(); };
  for (unsigned i = 0; i < numConsts; ++i)
    if (!linear[i])
      arguments[i] = add(consts, c.nonlinear(i), typeOf(i));
  // What a carry starts from is added after the loop.
  SmallVector<BarSink> sinks = innerSinks(c, concat(constLinear, Mask(numCarries, false), xsLinear));
  for (auto [sink, isReached] : llvm::zip_equal(sinks, hasBar))
    if (sink.kind == BarSink::Ref && !isReached)
      sink.kind = BarSink::None;
  for (BarSink &sink : MutableArrayRef(sinks).take_front(numConsts))
    if (sink.kind == BarSink::Ref)
      sink.ref = add(consts, sink.ref, sink.ref.getType());
  for (unsigned i = 0; i < numConsts; ++i)
    if (hasBar[i] && sinks[i].kind == BarSink::Sum)
      sums[i] = add(inits, instantiate(c.b, loc, {}, typeOf(i)), typeOf(i));
  for (auto [i, bar] : llvm::enumerate(carryBars)) {
    Type type = scan.getResult(i).getType();
    yieldBars.push_back(hasCarryBar[i] ? add(inits, instantiate(c.b, loc, bar, type), type) : Value());
  }
  for (auto [i, bar] : llvm::enumerate(ysBars))
    yieldBars.push_back(bar ? add(xs, bar, scan.getYield().getOperand(numCarries + i).getType()) : Value());
  auto carryStacks = stackNonlinearCarries(c, scan, linear);
  if (failed(carryStacks))
    return failure();
  unsigned nextStack = 0;
  for (unsigned i = numConsts; i < original.getNumArguments(); ++i)
    if (!linear[i])
      arguments[i] = add(xs, i < numConsts + numCarries ? (*carryStacks)[nextStack++] : c.nonlinear(i), typeOf(i));
  for (unsigned i = numConsts + numCarries; i < original.getNumArguments(); ++i)
    if (sinks[i].kind == BarSink::Ref)
      sinks[i].ref = add(xs, sinks[i].ref, ir::RefType::get(typeOf(i)));

  OpBuilder b(c.b.getContext());
  b.setInsertionPointToEnd(&body);
  auto bars = transposeBlock(c.engine, original, arguments, yieldBars, b, sinks);
  if (failed(bars))
    return failure();
  SmallVector<Value> yielded;
  for (unsigned i = 0; i < numConsts; ++i)
    if (sums[i])
      yielded.push_back((*bars)[i] ? addCotangents(b, loc, sums[i], (*bars)[i]) : sums[i]);
  for (unsigned i = 0; i < numCarries; ++i)
    if (hasCarryBar[i])
      yielded.push_back(instantiate(b, loc, (*bars)[numConsts + i], typeOf(numConsts + i)));
  llvm::append_range(yielded, present(ArrayRef(*bars).drop_front(numConsts + numCarries)));
  ir::YieldOp::create(b, loc, yielded);

  auto transposed = createScan(c.b, scan, consts, inits, xs, region, !scan.getReverse());
  if (failed(transposed))
    return failure();
  unsigned next = 0;
  for (unsigned i = 0; i < scan->getNumOperands(); ++i)
    if (i < numConsts ? bool(sums[i]) : i < numConsts + numCarries ? hasCarryBar[i - numConsts] : bool((*bars)[i]))
      c.accumulate(i, transposed->getResult(next++));
  return success();
}

void populateScanAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::ScanOp>().jvp = jvpRule(scanJvp);
  rules.of<ir::ScanOp>().linearize = [](LinearizeContext &c) { return linearizeScan(c, cast<ir::ScanOp>(c.op)); };
  rules.of<ir::ScanOp>().transpose = transposeRule(scanTranspose);
}

} // namespace hjx
