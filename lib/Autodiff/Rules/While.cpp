// SPDX-License-Identifier: Apache-2.0
//
// While. Forward mode is one loop over values and tangents. Reverse mode must
// keep residuals of every iteration, so it needs a bound of their number: one
// that the IR shows (a counter from a constant to a constant), or max_trip. The
// loop then becomes a scan of that length, and scan's rule does the rest.
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hjx {

static LogicalResult whileJvp(JvpContext &c, ir::WhileOp loop) {
  Location loc = loop.getLoc();
  unsigned numCondConsts = loop.getCondConsts().size(), numConsts = loop.getBodyConsts().size();
  Mask carries = activeResults(c.engine, loop, isPresent(c.tangents));
  ArrayRef<Value> constDots = c.tangents.slice(numCondConsts, numConsts);
  ArrayRef<Value> initDots = c.tangents.drop_front(numCondConsts + numConsts);
  SmallVector<Value> consts(loop.getBodyConsts());
  llvm::append_range(consts, present(constDots));
  SmallVector<Dual> inits;
  for (auto [init, dot] : llvm::zip_equal(loop.getInits(), initDots))
    inits.push_back({init, dot});

  Region body(loop);
  Block &block = body.emplaceBlock();
  SmallVector<Dual> arguments;
  ArrayRef<BlockArgument> originals = loop.getBody().front().getArguments();
  addJointArguments(block, originals.take_front(numConsts), isPresent(constDots), arguments);
  addJointArguments(block, originals.drop_front(numConsts), carries, arguments);
  OpBuilder b(c.b.getContext());
  b.setInsertionPointToEnd(&block);
  auto duals = jvpBlock(c.engine, loop.getBody().front(), arguments, b);
  if (failed(duals))
    return failure();
  ir::YieldOp::create(b, loc, toJoint(b, loc, *duals, carries));

  SmallVector<Value> jointInits = toJoint(c.b, loc, inits, carries);
  auto joint = ir::WhileOp::create(c.b, loc, ValueRange(jointInits).getTypes(), loop.getCondConsts(), consts, jointInits,
                                   loop.getMaxTripAttr());
  joint.getBody().takeBody(body);
  // The predicate looks at values only; it takes the tangents and drops them.
  IRMapping mapping;
  loop.getCond().cloneInto(&joint.getCond(), mapping);
  for (Value init : ArrayRef(jointInits).drop_front(carries.size()))
    joint.getCond().addArgument(init.getType(), loc);
  setJointResults(c, 0, joint.getResults(), carries);
  return success();
}

//===----------------------------------------------------------------------===//
// Trip counts
//===----------------------------------------------------------------------===//

namespace {
/// `while (counter <direction> limit) counter += step`, all integer constants.
struct Counter {
  int64_t init, limit, step;
  ir::ComparisonDirection direction;

  /// The number of iterations; nothing if it never ends.
  std::optional<int64_t> trips() const {
    int64_t distance = limit - init;
    switch (direction) {
    case ir::ComparisonDirection::LE:
      distance += 1;
      [[fallthrough]];
    case ir::ComparisonDirection::LT:
      if (distance <= 0)
        return 0;
      return step > 0 ? std::optional((distance + step - 1) / step) : std::nullopt;
    case ir::ComparisonDirection::GE:
      distance -= 1;
      [[fallthrough]];
    case ir::ComparisonDirection::GT:
      if (distance >= 0)
        return 0;
      return step < 0 ? std::optional((distance + step + 1) / step) : std::nullopt;
    case ir::ComparisonDirection::NE:
      if (distance == 0)
        return 0;
      return step != 0 && distance % step == 0 && distance / step > 0 ? std::optional(distance / step) : std::nullopt;
    case ir::ComparisonDirection::EQ:
      return distance == 0 && step != 0 ? std::optional<int64_t>(1) : distance != 0 ? std::optional<int64_t>(0) : std::nullopt;
    }
    llvm_unreachable("unknown direction");
  }
};
} // namespace

static ir::ComparisonDirection swapped(ir::ComparisonDirection direction) {
  using D = ir::ComparisonDirection;
  switch (direction) {
  case D::LT:
    return D::GT;
  case D::LE:
    return D::GE;
  case D::GT:
    return D::LT;
  case D::GE:
    return D::LE;
  default:
    return direction;
  }
}

/// The loop's counter, when the IR shows one. `primals` are the operands' values.
static std::optional<Counter> findCounter(ir::WhileOp loop, ArrayRef<Value> primals) {
  unsigned numCondConsts = loop.getCondConsts().size(), numConsts = loop.getBodyConsts().size();
  auto compare = loop.getCondYield().getOperand(0).getDefiningOp<ir::CompareOp>();
  if (!compare)
    return std::nullopt;
  // A constant inside the region, or an argument for which a constant is passed.
  auto constant = [&](Value v, unsigned firstOperand, unsigned numRegionConsts) -> std::optional<int64_t> {
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      if (argument.getArgNumber() >= numRegionConsts)
        return std::nullopt;
      v = primals[firstOperand + argument.getArgNumber()];
    }
    std::optional<double> splat = isa<IntegerType>(getElementTypeOrSelf(v)) ? ir::getSplat(v) : std::nullopt;
    // Beyond 2^53 the double would not be exact.
    return splat && std::abs(*splat) < 9e15 ? std::optional(static_cast<int64_t>(*splat)) : std::nullopt;
  };
  auto inCond = [&](Value v) { return constant(v, 0, numCondConsts); };
  auto inBody = [&](Value v) { return constant(v, numCondConsts, numConsts); };

  Value variable = compare.getLhs(), bound = compare.getRhs();
  ir::ComparisonDirection direction = compare.getDirection();
  if (inCond(variable)) {
    std::swap(variable, bound);
    direction = swapped(direction);
  }
  std::optional<int64_t> limit = inCond(bound);
  auto argument = dyn_cast<BlockArgument>(variable);
  if (!limit || !argument || argument.getArgNumber() < numCondConsts)
    return std::nullopt;
  unsigned carry = argument.getArgNumber() - numCondConsts;
  Value initValue = primals[numCondConsts + numConsts + carry];
  std::optional<double> init = ir::getSplat(initValue);
  if (!init || std::abs(*init) >= 9e15)
    return std::nullopt;

  Value next = loop.getBodyYield().getOperand(carry), current = loop.getBody().getArgument(numConsts + carry);
  std::optional<int64_t> step;
  if (auto add = next.getDefiningOp<ir::AddOp>())
    step = add.getLhs() == current ? inBody(add.getRhs()) : add.getRhs() == current ? inBody(add.getLhs()) : std::nullopt;
  else if (auto sub = next.getDefiningOp<ir::SubOp>(); sub && sub.getLhs() == current)
    if (auto amount = inBody(sub.getRhs()))
      step = -*amount;
  if (!step)
    return std::nullopt;
  return Counter{static_cast<int64_t>(*init), *limit, *step, direction};
}

//===----------------------------------------------------------------------===//
// While as scan
//===----------------------------------------------------------------------===//

/// Clones `from`'s ops at `b`, its arguments replaced by `arguments`; returns
/// what it yields.
static SmallVector<Value> inlineClone(OpBuilder &b, Block &from, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(from.getArguments(), arguments);
  for (Operation &op : from.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(from.getTerminator()->getOperands(), [&](Value v) { return mapping.lookup(v); });
}

/// A scan of `length` iterations at `b` that computes the same, its operands those of the loop but
/// for refs that are there twice. `argumentOf` becomes, per operand of the loop, the scan's. Unless
/// `isExact`, an iteration whose predicate is false keeps the carries; a real branch, so that the
/// body never runs where it should not.
static ir::ScanOp toScan(OpBuilder &b, ir::WhileOp loop, ArrayRef<Value> primals, int64_t length, bool isExact,
                         SmallVectorImpl<unsigned> &argumentOf) {
  Location loc = loop.getLoc();
  unsigned numCondConsts = loop.getCondConsts().size(), numConsts = loop.getBodyConsts().size();
  unsigned numAllConsts = numCondConsts + numConsts;
  SmallVector<Value> consts, inits(primals.drop_front(numAllConsts));
  for (Value value : primals.take_front(numAllConsts)) {
    auto known = isa<ir::RefType>(value.getType()) ? llvm::find(consts, value) : consts.end(); // predicate and body may share one
    argumentOf.push_back(known - consts.begin());
    if (known == consts.end())
      consts.push_back(value);
  }
  for (unsigned i = 0; i < inits.size(); ++i)
    argumentOf.push_back(consts.size() + i);
  auto scan = ir::ScanOp::create(b, loc, ValueRange(inits).getTypes(), consts, inits, ValueRange(), length, /*reverse=*/false);
  Block &body = scan.getBody().emplaceBlock();
  body.addArguments(scan.getOperandTypes(), SmallVector<Location>(scan.getNumOperands(), loc));
  SmallVector<Value> all = llvm::map_to_vector(argumentOf, [&](unsigned i) { return Value(body.getArgument(i)); });
  ValueRange arguments(all);
  ValueRange bodyArguments = arguments.drop_front(numCondConsts), carries = bodyArguments.drop_front(numConsts);
  OpBuilder inBody = OpBuilder::atBlockEnd(&body);
  if (isExact) {
    ir::YieldOp::create(inBody, loc, inlineClone(inBody, loop.getBody().front(), bodyArguments));
    return scan;
  }
  SmallVector<Value> condArguments(arguments.take_front(numCondConsts));
  llvm::append_range(condArguments, carries);
  Value goesOn = inlineClone(inBody, loop.getCond().front(), condArguments).front();
  auto step = ir::CondOp::create(inBody, loc, carries.getTypes(), goesOn, bodyArguments, 2);
  for (Region &branch : step.getBranches()) {
    Block &block = branch.emplaceBlock();
    block.addArguments(bodyArguments.getTypes(), SmallVector<Location>(bodyArguments.size(), loc));
    OpBuilder inBranch = OpBuilder::atBlockEnd(&block);
    ValueRange branchArguments(block.getArguments());
    bool isTaken = branch.getRegionNumber() == 1;
    SmallVector<Value> yielded = isTaken ? inlineClone(inBranch, loop.getBody().front(), branchArguments)
                                         : SmallVector<Value>(branchArguments.drop_front(numConsts));
    ir::YieldOp::create(inBranch, loc, yielded);
  }
  ir::YieldOp::create(inBody, loc, step.getResults());
  return scan;
}

static LogicalResult whileLinearize(LinearizeContext &c) {
  auto loop = cast<ir::WhileOp>(c.op);
  std::optional<Counter> counter = findCounter(loop, c.primals);
  std::optional<int64_t> trips = counter ? counter->trips() : std::nullopt, maxTrip = loop.getMaxTrip();
  if (!trips && !maxTrip)
    return loop.emitOpError("cannot be differentiated in reverse: the number of iterations is not known, so neither is "
                            "the size of what they must keep; use hjx.scan, or state a bound with max_trip");
  bool isExact = trips.has_value();
  int64_t length = isExact && maxTrip ? std::min<int64_t>(*trips, *maxTrip) : isExact ? *trips : *maxTrip;

  // The scan stands for the loop only while its rule runs.
  SmallVector<unsigned> argumentOf;
  ir::ScanOp scan = toScan(c.fwd, loop, c.primals, length, isExact, argumentOf);
  SmallVector<Value> primals(scan.getOperands()), tangents(primals.size());
  for (unsigned i = loop.getCondConsts().size(); i < argumentOf.size(); ++i) // the predicate has no tangent
    tangents[argumentOf[i]] = c.tangents[i];
  LinearizeContext inner{c.fwd, c.tan, scan, primals, tangents, c.engine, {}, {}};
  LogicalResult result = linearizeScan(inner, scan);
  scan.erase();
  c.results = std::move(inner.results);
  c.resultTangents = std::move(inner.resultTangents);
  return result;
}

void populateWhileAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::WhileOp>().jvp = jvpRule(whileJvp);
  rules.of<ir::WhileOp>().linearize = whileLinearize;
}

} // namespace hjx
