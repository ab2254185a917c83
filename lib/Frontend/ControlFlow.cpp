// SPDX-License-Identifier: Apache-2.0
//
// scan, while_loop and cond: bodies become regions, and what they capture becomes
// explicit operands (consts).
#include "lib/Frontend/Promotion.h"
#include "lib/Frontend/Request.h"
#include "lib/Refs/Discharge.h"

#include <hjx/control_flow.h>

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// Types that must agree
//===----------------------------------------------------------------------===//

/// The type in which a carry goes round: its own, or, where a C++ number made it weak, the one
/// that the body gives it.
static std::optional<Aval> carryType(const Aval &before, const Aval &after) {
  if (before.sameType(after))
    return before;
  if (!before.isArray() || !after.isArray() || before.shape != after.shape || before.dtype == DType::key || after.dtype == DType::key)
    return std::nullopt;
  if (!before.isWeak && !after.isWeak)
    return std::nullopt;
  Promoted common = promote({{before.dtype, before.isWeak}, {after.dtype, after.isWeak}});
  bool changesFixed = (!before.isWeak && common.dtype != before.dtype) || (!after.isWeak && common.dtype != after.dtype);
  if (changesFixed)
    return std::nullopt;
  return Aval{common.dtype, before.shape, common.isWeak};
}

/// The carry's types after the body was seen; throws for one that changes.
static std::vector<Aval> settleCarry(const CarryCheck &check, const std::vector<Aval> &before, const std::vector<Aval> &after) {
  std::vector<Aval> settled;
  for (size_t i = 0; i < before.size(); ++i) {
    std::optional<Aval> type = carryType(before[i], after[i]);
    if (!type)
      fail(check.where, check.op,
           "the body changes " + check.paths[i] + ": expected " + describe(before[i]) + " as it came in, got " + describe(after[i]),
           "give the carry one shape and element type, for example with astype on the initial value");
    settled.push_back(*type);
  }
  return settled;
}

/// Ends a region with arrays in the given types.
static void yieldAs(OpScope &op, const ArrayList &results, ArrayRef<Aval> avals) {
  op.frame().refuseRefs(results, op);
  SmallVector<Value> values;
  for (auto [i, result] : llvm::enumerate(results)) {
    bool isConverted = i < avals.size() && avals[i].isArray();
    values.push_back(isConverted ? useAs(op, result, avals[i].dtype).value : op.frame().use(result, op));
  }
  ir::YieldOp::create(op.builder(), values);
}

static ArrayList convertAll(OpScope &op, const ArrayList &arrays, ArrayRef<Aval> avals) {
  ArrayList converted;
  for (auto [array, aval] : llvm::zip_equal(arrays, avals)) {
    if (!aval.isArray()) {
      converted.push_back(array);
      continue;
    }
    Operand operand = useAs(op, array, aval.dtype);
    operand.isWeak = aval.isWeak;
    converted.push_back(op.wrap(operand));
  }
  return converted;
}

static bool sameTypes(ArrayRef<Aval> a, ArrayRef<Aval> b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) { return std::get<0>(pair).sameType(std::get<1>(pair)); });
}

/// A recorded region with its captures, values of the frame around it.
struct RecordedRegion {
  std::unique_ptr<Region> body;
  SmallVector<Value> captures;
  std::vector<Aval> results;
};

/// Records a loop's body whose first results are the carry. `carry` is settled on return.
static RecordedRegion recordBody(OpScope &op, const CarryCheck &check, std::vector<Aval> &carry, ArrayRef<Aval> others,
                                 FlatFunction body, const std::vector<std::string> &paths = {}) {
  for (;;) {
    std::vector<Aval> arguments = carry;
    arguments.insert(arguments.end(), others.begin(), others.end());
    Frame frame(op.session(), Frame::Kind::Region, arguments, op.where());
    frame.argumentPaths = paths;
    ArrayList results = body(frame.arguments());
    OpScope inner(check.op, check.where);
    frame.refuseRefs(results, inner);
    std::vector<Aval> avals = avalsOf(results, inner);
    std::vector<Aval> settled = settleCarry(check, carry, avals);
    bool isSettled = sameTypes(carry, settled);
    carry = settled;
    if (!isSettled)
      continue; // A weak carry took the body's type: record again with it.
    yieldAs(inner, results, carry);
    std::copy(carry.begin(), carry.end(), avals.begin());
    return {frame.take(), SmallVector<Value>(frame.captures()), avals};
  }
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

int64_t lengthOf(const char *op, Where where, const ArrayList &xs, const std::vector<std::string> &paths) {
  if (xs.empty())
    fail(where, op, "expected xs to scan over, or a length", "pass {.length = n} when there are no xs");
  int64_t length = -1;
  size_t first = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    Aval aval = avalOf(xs[i], op, where);
    if (aval.hi) // Says in dropLeading whether it fits.
      continue;
    const Shape &shape = aval.shape;
    if (shape.ndim() == 0)
      fail(where, op, "expected xs with a leading axis, got the scalar " + describe(xs[i]) + " in " + paths[i],
           "use the value inside the function without passing it");
    if (length >= 0 && shape[0] != length)
      fail(where, op, "expected one leading size in all xs, got " + std::to_string(length) + " in " + paths[first] + " and " +
                          std::to_string(shape[0]) + " in " + paths[i],
           "slice or pad them to one length");
    if (length < 0)
      first = i;
    length = shape[0];
  }
  if (length < 0)
    fail(where, op, "must provide `length`: none of the xs is an array, whose leading axis would say it, " + paths[0] + " is " + describe(xs[0]),
         StringRef(op) == "scan" ? "pass it after the xs: scan(f, init, xs, {.length = n})"
                                 : "pass it after the xs: " + std::string(op) + "(f, xs, {.length = n})");
  return length;
}

/// A carry is returned from each iteration, which a ref never is.
static void refuseRefCarry(const CarryCheck &check, const ArrayList &init) {
  for (size_t i = 0; i < init.size(); ++i)
    if (avalOf(init[i], check.op, check.where).isRef)
      fail(check.where, check.op, "expected values as carry, got the ref " + describe(init[i]) + " in " + check.paths[i],
           StringRef(check.op) == "scan" ? "capture it in the body, or pass it among the xs to see one slice in each iteration"
                                         : "capture it in the body");
}

ArrayList scanFlat(const CarryCheck &check, const ArrayList &init, const ArrayList &xs, const std::vector<std::string> &xsPaths,
                   int64_t length, bool reverse, FlatFunction body) {
  if (length < 0)
    fail(check.where, check.op, "expected a length that is not negative, got " + std::to_string(length), "count iterations from 0");
  bool hasArrays = llvm::any_of(xs, [&](const Array &x) { return !avalOf(x, check.op, check.where).hi; });
  if (hasArrays)
    if (int64_t size = lengthOf(check.op, check.where, xs, xsPaths); size != length)
      fail(check.where, check.op, "expected xs of the given length " + std::to_string(length) + ", got " + std::to_string(size),
           "leave the length out: it follows from xs");
  refuseRefCarry(check, init);
  std::vector<std::string> paths = check.paths;
  paths.insert(paths.end(), xsPaths.begin(), xsPaths.end());
  ArrayList args = init;
  args.insert(args.end(), xs.begin(), xs.end());
  return stage(check.op, check.where, args, [&](const ArrayList &args) {
    OpScope op(check.op, check.where);
    std::vector<Aval> avals = avalsOf(args, op);
    std::vector<Aval> carry(avals.begin(), avals.begin() + init.size()), slices(avals.begin() + init.size(), avals.end());
    for (Aval &slice : slices)
      slice = dropLeading(op, slice, length);
    RecordedRegion recorded = recordBody(op, check, carry, slices, body, paths);
    checkCapturedRefs(op, valuesOf(op, args), recorded.captures, paths);
    std::vector<Aval> results = recorded.results;
    for (auto it = results.begin() + carry.size(); it != results.end(); ++it)
      *it = addLeading(op, *it, length);
    ArrayList inits = convertAll(op, ArrayList(args.begin(), args.begin() + carry.size()), carry);
    auto scan = ir::ScanOp::create(op.builder(), typesOf(op, results), recorded.captures, valuesOf(op, inits),
                                   valuesOf(op, ArrayList(args.begin() + carry.size(), args.end())), length, reverse);
    scan.getBody().takeBody(*recorded.body);
    return wrapAll(op, scan.getResults(), results);
  }, paths);
}

//===----------------------------------------------------------------------===//
// while_loop
//===----------------------------------------------------------------------===//

void failLoopBound(Where where) {
  fail(where, "fori_loop", "expected bounds that int32 can hold", "count from 0 and add the offset inside the function");
}

Array loopBound(const Array &bound, Where where) {
  Aval aval = arrayAvalOf(bound, "fori_loop", where);
  if (!is_integer(aval.dtype) || aval.shape.ndim() != 0)
    fail(where, "fori_loop", "expected integer scalars as bounds, got " + describe(aval), "convert or index them first");
  OpScope op("fori_loop", where);
  return op.finish(toIndex(op, op.use(bound)));
}

static RecordedRegion recordCondition(OpScope &op, const CarryCheck &check, ArrayRef<Aval> carry, FlatFunction condition) {
  Frame frame(op.session(), Frame::Kind::Region, carry, op.where());
  ArrayList predicate = condition(frame.arguments());
  OpScope inner(check.op, check.where);
  Aval aval = arrayAvalOf(predicate.front(), check.op, check.where);
  if (aval.dtype != DType::bool_ || aval.shape.ndim() != 0)
    inner.fail("expected a condition that returns a bool scalar, got " + describe(aval),
               aval.shape.ndim() ? "reduce it with hjx::all or hjx::any" : "compare it with a number");
  yieldAs(inner, predicate, {});
  // One that is read before the first iteration and after each.
  Discharger refs(op.session().module());
  for (BlockArgument argument : frame.block()->getArguments())
    if (isa<ir::RefType>(argument.getType()) && refs.isWritten(argument))
      inner.fail("expected a condition that only reads refs, but it writes the ref " + describe(avalOf(argument.getType())),
                 "write it in the body");
  return {frame.take(), SmallVector<Value>(frame.captures()), {aval}};
}

ArrayList whileFlat(const CarryCheck &check, const ArrayList &init, std::optional<int64_t> maxTrip, FlatFunction condition,
                    FlatFunction body) {
  if (maxTrip && *maxTrip < 0)
    fail(check.where, check.op, "expected a max_trip that is not negative, got " + std::to_string(*maxTrip),
         "leave it out for a loop without a bound");
  refuseRefCarry(check, init);
  return stage(check.op, check.where, init, [&](const ArrayList &init) {
    OpScope op(check.op, check.where);
    std::vector<Aval> carry = avalsOf(init, op);
    RecordedRegion loop = recordBody(op, check, carry, {}, body);
    RecordedRegion test = recordCondition(op, check, carry, condition);
    auto whileOp = ir::WhileOp::create(op.builder(), typesOf(op, carry), test.captures, loop.captures, valuesOf(op, convertAll(op, init, carry)),
                                       maxTrip ? op.builder().getI64IntegerAttr(*maxTrip) : IntegerAttr());
    whileOp.getCond().takeBody(*test.body);
    whileOp.getBody().takeBody(*loop.body);
    return wrapAll(op, whileOp.getResults(), carry);
  });
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

namespace {

/// A branch whose results are not yielded yet: their types depend on the other branches.
struct RecordedBranch {
  RecordedRegion region;
  SmallVector<Value> results;
};

RecordedBranch recordBranch(OpScope &op, ArrayRef<Aval> operands, FlatFunction f, const std::vector<std::string> &paths) {
  Frame frame(op.session(), Frame::Kind::Region, operands, op.where());
  frame.argumentPaths = paths;
  ArrayList results = f(frame.arguments());
  OpScope inner(op.name(), op.where());
  frame.refuseRefs(results, inner);
  RecordedBranch branch;
  branch.region.results = avalsOf(results, op);
  branch.results = valuesOf(inner, results);
  branch.region.captures.assign(frame.captures().begin(), frame.captures().end());
  branch.region.body = frame.take();
  return branch;
}

/// The types of all branches' results; weak ones give way.
std::vector<Aval> commonResults(OpScope &op, ArrayRef<RecordedBranch> branches, const std::vector<std::string> &paths) {
  std::vector<Aval> common = branches.front().region.results;
  auto nameOf = [&](size_t number) { // Branches of cond are false, true.
    bool isCond = StringRef(op.name()) == "cond";
    return isCond ? std::string(number ? "on_true" : "on_false") : "branch " + std::to_string(number);
  };
  for (auto [number, branch] : llvm::enumerate(branches))
    for (size_t i = 0; i < common.size(); ++i) {
      const Aval &other = branch.region.results[i];
      std::optional<Aval> type = carryType(common[i], other);
      if (!type)
        op.fail("expected branches with results of one type, got " + describe(other) + " from " + nameOf(number) + " and " +
                    describe(common[i]) + " from " + nameOf(0) + " in " + paths[i],
                "convert or reshape the result of one branch");
      common[i] = *type;
      common[i].isWeak &= other.isWeak;
    }
  return common;
}

/// Ends a branch, and gives it the captures of all branches as its first arguments.
void finishBranch(RecordedBranch &branch, ArrayRef<Aval> results, ArrayRef<Value> allCaptures, MLIRContext *context) {
  Block &block = branch.region.body->front();
  OpBuilder b(context); // The block is not in an operation yet.
  b.setInsertionPointToEnd(&block);
  for (auto [value, aval] : llvm::zip_equal(branch.results, results)) {
    mlir::Type type = typeOf(aval, b.getContext());
    if (value.getType() != type)
      value = ir::ConvertOp::create(b, value.getLoc(), type, value);
  }
  ir::YieldOp::create(b, UnknownLoc::get(b.getContext()), branch.results);

  unsigned numOwn = branch.region.captures.size();
  for (auto [i, capture] : llvm::enumerate(allCaptures)) {
    BlockArgument argument = block.insertArgument(i, capture.getType(), capture.getLoc());
    auto own = llvm::find(branch.region.captures, capture);
    if (own != branch.region.captures.end())
      block.getArgument(i + 1 + (own - branch.region.captures.begin())).replaceAllUsesWith(argument);
  }
  block.eraseArguments(allCaptures.size(), numOwn);
}

} // namespace

static Operand branchIndex(OpScope &op, const Array &index, size_t numBranches) {
  Operand operand = op.use(index);
  bool isCond = StringRef(op.name()) == "cond";
  if (isCond && (operand.dtype() != DType::bool_ || operand.rank() != 0))
    op.fail("expected a bool scalar as predicate, got " + describe(operand),
            operand.rank() ? "reduce it with hjx::all or hjx::any; to choose element by element use hjx::where"
                           : "compare it with a number");
  if (!isCond && (!is_integer(operand.dtype()) || operand.rank() != 0))
    op.fail("expected an integer scalar as index, got " + describe(operand), "number the branches from 0");
  return isCond ? operand : toIndex(op, operand);
}

ArrayList condFlat(const char *name, Where where, const Array &index, const ArrayList &operands,
                   const std::vector<std::string> &paths, const std::vector<FlatFunction> &branches,
                   const std::vector<TreeDef> &structures) {
  ArrayList args = operands;
  args.insert(args.begin(), index);
  std::vector<std::string> stagePaths = paths;
  stagePaths.insert(stagePaths.begin(), "index");
  return stage(name, where, args, [&](const ArrayList &args) {
    OpScope op(name, where);
    Operand which = branchIndex(op, args.front(), branches.size());
    ArrayList operands(args.begin() + 1, args.end());
    std::vector<Aval> avals = avalsOf(operands, op);
    SmallVector<RecordedBranch> recorded;
    llvm::SetVector<Value> captures;
    for (const FlatFunction &branch : branches) {
      recorded.push_back(recordBranch(op, avals, branch, paths));
      captures.insert(recorded.back().region.captures.begin(), recorded.back().region.captures.end());
      checkSameStructure(structures.front(), structures[recorded.size() - 1], name, "the branches' results", where);
    }
    std::vector<Aval> results = commonResults(op, recorded, pathsOf(structures.front()));

    SmallVector<Value> inputs(captures.begin(), captures.end()), operandValues = valuesOf(op, operands);
    checkCapturedRefs(op, operandValues, inputs, paths);
    llvm::append_range(inputs, operandValues);
    auto cond = ir::CondOp::create(op.builder(), typesOf(op, results), which.value, inputs, branches.size());
    for (auto [region, branch] : llvm::zip_equal(cond.getBranches(), recorded)) {
      finishBranch(branch, results, captures.getArrayRef(), &op.context());
      region.takeBody(*branch.region.body);
    }
    return wrapAll(op, cond.getResults(), results);
  }, stagePaths);
}

} // namespace hjx::detail
