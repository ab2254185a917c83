// SPDX-License-Identifier: Apache-2.0
//
// Cond. All branches must agree on which results have tangents, and on which
// residuals cross from the values' cond to the tangents'. Residuals of different
// branches share result slots of equal type; a branch fills a slot that it does
// not use with zeros:
//
//   branch 0 keeps sin(x): 3xf32          slots: 3xf32, 2xf32
//   branch 1 keeps x*y: 3xf32, z: 2xf32   branch 0 yields sin(x), 0
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Residuals.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

#include <deque>

using namespace mlir;

namespace hjx {

/// Regions for the branches of another cond: not in `cond`, but under its module.
using Regions = std::deque<Region>;
static Regions emptyRegions(ir::CondOp cond) {
  Regions regions;
  for (unsigned i = 0; i < cond.getBranches().size(); ++i)
    regions.emplace_back(cond.getOperation());
  return regions;
}

/// A cond of `branches`, moved from `regions`.
static ir::CondOp createCond(OpBuilder &b, Location loc, TypeRange types, Value index, ValueRange inputs, Regions &regions) {
  auto cond = ir::CondOp::create(b, loc, types, index, inputs, regions.size());
  for (auto [target, region] : llvm::zip_equal(cond.getBranches(), regions))
    target.takeBody(region);
  return cond;
}

static OpBuilder atEnd(Block &block, OpBuilder &like) {
  OpBuilder b(like.getContext());
  b.setInsertionPointToEnd(&block);
  return b;
}

// One cond over values and tangents.
static LogicalResult condJvp(JvpContext &c, ir::CondOp cond) {
  ArrayRef<Value> inputDots = c.tangents.drop_front();
  Mask results = activeResults(c.engine, cond, isPresent(c.tangents));
  Regions regions = emptyRegions(cond);
  for (auto [branch, region] : llvm::zip_equal(cond.getBranches(), regions)) {
    Block &block = region.emplaceBlock();
    SmallVector<Dual> arguments;
    addJointArguments(block, branch.front().getArguments(), isPresent(inputDots), arguments);
    OpBuilder b = atEnd(block, c.b);
    auto duals = jvpBlock(c.engine, branch.front(), arguments, b);
    if (failed(duals))
      return failure();
    ir::YieldOp::create(b, cond.getLoc(), toJoint(b, cond.getLoc(), *duals, results));
  }
  SmallVector<Value> inputs(cond.getInputs());
  llvm::append_range(inputs, present(inputDots));
  auto types = regions.front().front().getTerminator()->getOperandTypes();
  auto joint = createCond(c.b, cond.getLoc(), types, cond.getIndex(), inputs, regions);
  setJointResults(c, 0, joint.getResults(), results);
  return success();
}

static LogicalResult condLinearize(LinearizeContext &c) {
  auto cond = cast<ir::CondOp>(c.op);
  Location loc = cond.getLoc();
  ArrayRef<Value> inputDots = c.tangents.drop_front();
  Mask active = activeResults(c.engine, cond, isPresent(c.tangents));
  size_t numBranches = cond.getBranches().size();

  // Each branch in two.
  Regions fwdRegions = emptyRegions(cond), tanRegions = emptyRegions(cond);
  std::vector<SmallVector<Value>> residuals(numBranches);
  for (auto [branch, fwdRegion, tanRegion, kept] :
       llvm::zip_equal(cond.getBranches(), fwdRegions, tanRegions, residuals)) {
    Block &fwd = fwdRegion.emplaceBlock(), &tan = tanRegion.emplaceBlock();
    SmallVector<Dual> arguments;
    for (auto [argument, dot] : llvm::zip_equal(branch.getArguments(), inputDots))
      arguments.push_back(
          {fwd.addArgument(argument.getType(), loc), dot ? Value(tan.addArgument(dot.getType(), loc)) : Value()});
    OpBuilder fwdBuilder = atEnd(fwd, c.fwd), tanBuilder = atEnd(tan, c.fwd);
    auto duals = linearizeBlock(c.engine, branch.front(), arguments, fwdBuilder, tanBuilder);
    if (failed(duals)) {
      for (auto [f, t] : llvm::zip_equal(fwdRegions, tanRegions)) {
        f.dropAllReferences();
        t.dropAllReferences();
      }
      return failure();
    }
    SmallVector<Value> values, tangents;
    for (auto [dual, isActive] : llvm::zip_equal(*duals, active)) {
      values.push_back(dual.primal);
      if (isActive)
        tangents.push_back(instantiate(tanBuilder, loc, dual.tangent, dual.primal.getType()));
    }
    ir::YieldOp::create(fwdBuilder, loc, values);
    ir::YieldOp::create(tanBuilder, loc, tangents);
    kept = captureResiduals(fwd, tan, [](Value v) { return isa<BlockArgument>(v); });
  }

  // Slots: further results of the values' cond. A residual that is an input, or
  // a result already, needs none.
  unsigned numResults = cond->getNumResults();
  SmallVector<Type> types(cond->getResultTypes());
  std::vector<llvm::DenseMap<Value, unsigned>> resultOf(numBranches); // residual -> result
  for (auto [k, kept] : llvm::enumerate(residuals)) {
    auto yielded = fwdRegions[k].front().getTerminator()->getOperands();
    llvm::SmallDenseSet<unsigned> taken;
    for (Value residual : kept) {
      if (isa<BlockArgument>(residual))
        continue;
      unsigned index = std::distance(yielded.begin(), llvm::find(yielded, residual));
      if (index == numResults)
        while (index < types.size() && (types[index] != residual.getType() || taken.contains(index)))
          ++index;
      if (index == types.size())
        types.push_back(residual.getType());
      taken.insert(index);
      resultOf[k][residual] = index;
    }
  }
  for (auto [k, region] : llvm::enumerate(fwdRegions)) {
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> yielded(yield->getOperands());
    yielded.resize(types.size());
    for (auto [residual, index] : resultOf[k])
      yielded[index] = residual;
    ImplicitLocOpBuilder b(loc, yield);
    for (auto [value, type] : llvm::zip_equal(yielded, types))
      if (!value)
        value = ir::makeUnspecified(b, type);
    yield->setOperands(yielded);
  }
  auto fwdCond = createCond(c.fwd, loc, types, c.primals.front(), c.primals.drop_front(), fwdRegions);

  // The tangents' cond takes all residuals of all branches, then the tangents.
  auto outside = [&](unsigned k, Value residual) -> Value {
    auto argument = dyn_cast<BlockArgument>(residual);
    return argument ? c.primals[1 + argument.getArgNumber()] : fwdCond.getResult(resultOf[k].lookup(residual));
  };
  llvm::SetVector<Value> inputs;
  for (auto [k, kept] : llvm::enumerate(residuals))
    for (Value residual : kept)
      inputs.insert(outside(k, residual));
  for (auto [k, region] : llvm::enumerate(tanRegions)) {
    Block &tan = region.front();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      BlockArgument argument = tan.insertArgument(i, input.getType(), loc);
      for (Value residual : residuals[k])
        if (outside(k, residual) == input)
          residual.replaceUsesWithIf(argument, [&](OpOperand &use) { return use.getOwner()->getBlock() == &tan; });
    }
  }
  SmallVector<Value> tanInputs = inputs.takeVector();
  llvm::append_range(tanInputs, present(inputDots));
  SmallVector<Type> tanTypes(tanRegions.front().front().getTerminator()->getOperandTypes());
  auto tanCond = createCond(c.tan, loc, tanTypes, c.primals.front(), tanInputs, tanRegions);

  unsigned next = 0;
  for (unsigned i = 0; i < numResults; ++i) {
    c.results.push_back(fwdCond.getResult(i));
    c.resultTangents.push_back(active[i] ? tanCond.getResult(next++) : Value());
  }
  return success();
}

// The same choice between the transposed branches.
static LogicalResult condTranspose(TransposeContext &c, ir::CondOp cond) {
  Location loc = cond.getLoc();
  if (c.isLinear(0))
    return cond.emitOpError("is not linear: the index depends on the linear inputs");
  unsigned numInputs = cond.getInputs().size();
  Mask linear, reached(numInputs, false), hasBar = isPresent(c.resultBars);
  SmallVector<Value> inputs;
  for (unsigned i = 1; i <= numInputs; ++i) {
    linear.push_back(c.isLinear(i));
    if (!linear.back())
      inputs.push_back(c.nonlinear(i));
  }
  llvm::append_range(inputs, present(c.resultBars));
  SmallVector<BarSink> outerSinks = innerSinks(c, concat(Mask{false}, linear));
  outerSinks.erase(outerSinks.begin());
  for (const BarSink &sink : outerSinks)
    if (sink.kind == BarSink::Ref)
      inputs.push_back(sink.ref);
  for (Region &branch : cond.getBranches())
    for (auto [all, one] : llvm::zip_equal(reached, reachedArguments(branch.front(), linear, hasBar)))
      all |= one;
  for (auto [isReached, sink] : llvm::zip_equal(reached, outerSinks))
    isReached &= sink.kind == BarSink::Sum;

  Regions regions = emptyRegions(cond);
  SmallVector<Type> types;
  for (auto [input, isReached] : llvm::zip_equal(cond.getInputs(), reached))
    if (isReached)
      types.push_back(input.getType());
  for (auto [branch, region] : llvm::zip_equal(cond.getBranches(), regions)) {
    Block &block = region.emplaceBlock();
    auto arguments = llvm::map_to_vector(llvm::zip_equal(branch.getArguments(), linear), [&](auto pair) {
      return std::get<1>(pair) ? Value() : Value(block.addArgument(std::get<0>(pair).getType(), loc));
    });
    auto yieldBars = llvm::map_to_vector(
        c.resultBars, [&](Value bar) { return bar ? Value(block.addArgument(bar.getType(), loc)) : Value(); });
    SmallVector<BarSink> sinks(outerSinks);
    for (BarSink &sink : sinks)
      if (sink.kind == BarSink::Ref)
        sink.ref = block.addArgument(sink.ref.getType(), loc);
    OpBuilder b = atEnd(block, c.b);
    auto bars = transposeBlock(c.engine, branch.front(), arguments, yieldBars, b, sinks);
    if (failed(bars))
      return failure();
    SmallVector<Value> yielded;
    for (auto [bar, argument, isReached] : llvm::zip_equal(*bars, branch.getArguments(), reached))
      if (isReached)
        yielded.push_back(instantiate(b, loc, bar, argument.getType()));
    ir::YieldOp::create(b, loc, yielded);
  }
  auto transposed = createCond(c.b, loc, types, c.nonlinear(0), inputs, regions);
  unsigned next = 0;
  for (auto [i, isReached] : llvm::enumerate(reached))
    if (isReached)
      c.accumulate(i + 1, transposed.getResult(next++));
  return success();
}

void populateCondAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::CondOp>().jvp = jvpRule(condJvp);
  rules.of<ir::CondOp>().linearize = condLinearize;
  rules.of<ir::CondOp>().transpose = transposeRule(condTranspose);
}

} // namespace hjx
