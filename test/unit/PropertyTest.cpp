// SPDX-License-Identifier: Apache-2.0
//
// Properties that every op must have, whatever it computes, checked op by op on
// the interpreter. The list of ops is the dialect's own: an op without samples
// fails, and so does an empty rule slot that `exceptions` does not explain (or
// an explanation whose slot has been filled).
//
//   derivatives  J v          =  (f(x + h v) - f(x - h v)) / 2h      central differences
//                <c, J v>     =  <J^T c, v>                          vjp against jvp
//                linearize, apply, transpose  =  jvp, vjp
//                d/dx (J^T c) v  =  grad of <c, J v>                 second order, both ways
//   compilation  compiled     =  interpreted                         f, jvp, vjp, vmap
//   batching     vmap f       =  f on each slice, stacked            every axis and subset
//                vmap of vjp  =  vjp of vmap
#include "test/unit/PropertyHarness.h"

#include "lib/Pipelines/Register.h"
#include "lib/Rules/Registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

namespace {

//===----------------------------------------------------------------------===//
// The ops and the gaps
//===----------------------------------------------------------------------===//

struct Exception {
  std::vector<std::string> ops;
  /// "samples", "interpret", "derivative", "transpose", "batch".
  std::vector<std::string> slots;
  const char *reason;
};

const std::vector<Exception> &exceptions() {
  static const std::vector<Exception> table = {
      {{"hjx.yield"},
       {"samples", "interpret", "derivative", "transpose", "batch"},
       "ends the regions of other ops, whose rules read it"},
      {{"hjx.jvp", "hjx.vjp", "hjx.linearize", "hjx.vmap", "hjx.apply_linear",
        "hjx.apply_transpose"},
       {"interpret", "derivative", "transpose", "batch"},
       "replaced by calls before any rule or the interpreter sees them"},
      {{"hjx.checkpoint", "hjx.custom_jvp", "hjx.custom_vjp"},
       {"interpret"},
       "become calls when nothing differentiates them"},
      {{"hjx.checkpoint", "hjx.custom_jvp", "hjx.custom_vjp"},
       {"transpose"},
       "linearized into other ops"},
      {{"hjx.custom_lin"},
       {"samples", "interpret"},
       "stands in linear programs only, where custom_vjp's samples put it"},
      {{"hjx.constant", "hjx.iota"}, {"batch"}, "take nothing that could be mapped"},
      {{"hjx.abs",         "hjx.clamp", "hjx.cos",   "hjx.erf",        "hjx.erf_inv",
        "hjx.exp",         "hjx.expm1", "hjx.log",   "hjx.log1p",      "hjx.logistic",
        "hjx.max",         "hjx.min",   "hjx.pow",   "hjx.reduce_max", "hjx.reduce_min",
        "hjx.reduce_prod", "hjx.rem",   "hjx.rsqrt", "hjx.sin",        "hjx.sqrt",
        "hjx.tan",         "hjx.tanh"},
       {"transpose"},
       "linear in no operand: their tangents are made of other ops"},
      {{"hjx.while"}, {"transpose"}, "linearized as a scan of max_trip iterations"},
  };
  return table;
}

const char *findException(StringRef op, StringRef slot) {
  for (const Exception &exception : exceptions())
    if (llvm::is_contained(exception.ops, op) && llvm::is_contained(exception.slots, slot))
      return exception.reason;
  return nullptr;
}

void initialize(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<ir::HjxDialect, func::FuncDialect>();
  static const bool once = (registerAllPasses(), true);
  (void)once;
}

/// The dialect's ops and the others that have rules ("func.call").
std::vector<std::string> allOps() {
  MLIRContext context;
  initialize(context);
  std::set<std::string> ops;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "hjx")
      ops.insert(name.getStringRef().str());
  for (StringRef name : getRuleRegistry().names())
    ops.insert(name.str());
  return {ops.begin(), ops.end()};
}

/// What a slot holds, for the test of gaps.
bool hasSlot(StringRef op, StringRef slot) {
  if (slot == "samples")
    return !samplesOf(op).empty();
  static RuleRegistry registry = getRuleRegistry(); // a copy: looking up creates
  const RuleSet &rules = registry[op];
  if (slot == "interpret")
    return rules.interprets;
  if (slot == "derivative")
    return rules.hasZeroTangent || rules.jvp;
  if (slot == "transpose")
    return rules.hasZeroTangent || rules.transpose;
  return bool(rules.batch);
}

class PropertyTest : public testing::TestWithParam<std::string> {
protected:
  PropertyTest() { initialize(context); }
  MLIRContext context;
};

TEST_P(PropertyTest, HasRulesAndSamples) {
  for (StringRef slot : {"samples", "interpret", "derivative", "transpose", "batch"}) {
    const char *reason = findException(GetParam(), slot);
    if (hasSlot(GetParam(), slot))
      EXPECT_EQ(reason, nullptr) << slot.str()
                                 << ": there now; delete its line in the table of exceptions (\""
                                 << (reason ? reason : "") << "\")";
    else
      EXPECT_NE(reason, nullptr) << slot.str()
                                 << ": none; add it, or say why not in the table of exceptions";
  }
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// A sample with its types and values at one point.
struct Point {
  Program program;
  Types argumentTypes, resultTypes;
  Arrays x;

  Point(MLIRContext &context, const Sample &sample, std::mt19937_64 &random)
      : program(context, sample) {
    if (!program.isValid())
      return;
    argumentTypes = program.argumentTypes();
    resultTypes = program.resultTypes();
    for (auto [i, type] : llvm::enumerate(argumentTypes))
      x.push_back(draw(type, domain(sample, i), random));
  }
  static Domain domain(const Sample &sample, size_t i) {
    return i < sample.domains.size() ? sample.domains[i] : Domain::Any;
  }
};

SmallVector<Type> floatsOf(TypeRange types) {
  return llvm::filter_to_vector(types, ir::isDifferentiable);
}
Arrays floatsOf(ArrayRef<HostArray> arrays) {
  return llvm::filter_to_vector(arrays, [](const HostArray &array) { return array.isFloat(); });
}
Types concat(TypeRange a, TypeRange b) {
  Types all(a);
  llvm::append_range(all, b);
  return all;
}
Arrays concat(ArrayRef<HostArray> a, ArrayRef<HostArray> b) {
  Arrays all(a);
  llvm::append_range(all, b);
  return all;
}

/// Fewest significant bits among the float types, which tolerances follow.
unsigned precisionOf(TypeRange types) {
  unsigned bits = 53;
  for (Type type : floatsOf(types))
    bits = std::min(bits, cast<FloatType>(getElementTypeOrSelf(type)).getFPMantissaWidth());
  return bits;
}
double epsilonOf(TypeRange types) { return std::ldexp(1.0, 1 - int(precisionOf(types))); }

void expectClose(ArrayRef<HostArray> got, ArrayRef<HostArray> expected, double tolerance,
                 const std::string &what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(got, expected)))
    if (auto difference = describeDifference(std::get<0>(pair), std::get<1>(pair),
                                             {.rtol = tolerance, .atol = tolerance}))
      ADD_FAILURE() << what << ", value " << i << ": " << *difference;
}

/// All non-empty choices of the float arguments.
std::vector<SmallVector<bool>> activeMasks(TypeRange arguments) {
  std::vector<SmallVector<bool>> masks = {{}};
  for (Type type : arguments) {
    std::vector<SmallVector<bool>> next;
    for (SmallVector<bool> &mask : masks)
      for (bool active : {false, true})
        if (!active || ir::isDifferentiable(type)) {
          next.push_back(mask);
          next.back().push_back(active);
        }
    masks = std::move(next);
  }
  llvm::erase_if(masks, [](ArrayRef<bool> mask) { return !llvm::is_contained(mask, true); });
  return masks;
}

template <typename Range> auto pick(Range &&values, ArrayRef<bool> mask) {
  SmallVector<std::decay_t<decltype(values[0])>> kept;
  for (auto [value, isKept] : llvm::zip_equal(values, mask))
    if (isKept)
      kept.push_back(value);
  return kept;
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// The functions of one mask; each takes the arguments of f, then what it says.
struct DerivativeNames {
  std::string jvp, vjp, linear, forwardOverReverse, reverseOverForward;
  explicit DerivativeNames(ArrayRef<bool> mask) {
    std::string suffix;
    for (bool active : mask)
      suffix += active ? "1" : "0";
    jvp = "jvp_" + suffix;
    vjp = "vjp_" + suffix;
    linear = "linear_" + suffix;
    forwardOverReverse = "forward_over_reverse_" + suffix;
    reverseOverForward = "reverse_over_forward_" + suffix;
  }
};

/// (x, v) -> (f, J v)
void addJvp(Point &p, ArrayRef<bool> mask, StringRef name) {
  size_t n = p.argumentTypes.size();
  p.program.add(name, concat(p.argumentTypes, pick(p.argumentTypes, mask)),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  auto op = ir::JvpOp::create(b, concat(p.resultTypes, floatsOf(p.resultTypes)),
                                              "f", args.take_front(n), args.drop_front(n), mask);
                  return Values(op.getResults());
                });
}

/// (x, c) -> (f, J^T c)
void addVjp(Point &p, ArrayRef<bool> mask, StringRef name) {
  size_t n = p.argumentTypes.size();
  p.program.add(name, concat(p.argumentTypes, floatsOf(p.resultTypes)),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  auto op = ir::VjpOp::create(b, concat(p.resultTypes, pick(p.argumentTypes, mask)),
                                              "f", args.take_front(n), args.drop_front(n), mask);
                  return Values(op.getResults());
                });
}

/// (x, v, c) -> (f, J v, J^T c) by linearize
void addLinear(Point &p, ArrayRef<bool> mask, StringRef name) {
  size_t n = p.argumentTypes.size();
  Types tangents = pick(p.argumentTypes, mask), cotangents = floatsOf(p.resultTypes);
  p.program.add(name, concat(concat(p.argumentTypes, tangents), cotangents),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  Type map =
                      ir::LinearType::get(b.getContext(), b.getFunctionType(tangents, cotangents));
                  auto op = ir::LinearizeOp::create(b, concat(p.resultTypes, map), "f",
                                                    args.take_front(n), mask);
                  auto pushed = ir::ApplyLinearOp::create(b, cotangents, op.getResults().back(),
                                                          args.slice(n, tangents.size()));
                  auto pulled = ir::ApplyTransposeOp::create(b, tangents, op.getResults().back(),
                                                             args.take_back(cotangents.size()));
                  Values results(op.getResults().drop_back());
                  llvm::append_range(results, pushed.getResults());
                  llvm::append_range(results, pulled.getResults());
                  return results;
                });
}

/// (x, c, v) -> d/de J(x + e v)^T c
void addForwardOverReverse(Point &p, ArrayRef<bool> mask, const DerivativeNames &names) {
  size_t n = p.argumentTypes.size(), numBars = llvm::count(mask, true);
  Types floats = floatsOf(p.resultTypes), tangents = pick(p.argumentTypes, mask);
  SmallVector<bool> active(mask);
  active.append(floats.size(), false);
  p.program.add(names.forwardOverReverse, concat(concat(p.argumentTypes, floats), tangents),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  Types results = concat(p.resultTypes, tangents);
                  auto op = ir::JvpOp::create(b, concat(results, floatsOf(results)), names.vjp,
                                              args.take_front(n + floats.size()),
                                              args.take_back(tangents.size()), active);
                  return Values(op.getResults().take_back(numBars));
                });
}

/// (x, c, v) -> the gradient of <c, J(x) v>
void addReverseOverForward(Point &p, ArrayRef<bool> mask, const DerivativeNames &names) {
  size_t n = p.argumentTypes.size(), numBars = llvm::count(mask, true);
  Types floats = floatsOf(p.resultTypes), tangents = pick(p.argumentTypes, mask);
  SmallVector<bool> active(mask);
  active.append(tangents.size(), false);
  p.program.add(names.reverseOverForward, concat(concat(p.argumentTypes, floats), tangents),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  Values primals(args.take_front(n)), cotangents;
                  llvm::append_range(primals, args.take_back(tangents.size()));
                  for (Type type : floats) // of f's values: only the tangents are differentiated
                    cotangents.push_back(ir::makeSplat(b, b.getLoc(), type, 0));
                  llvm::append_range(cotangents, args.slice(n, floats.size()));
                  Types results = concat(p.resultTypes, floats);
                  auto op = ir::VjpOp::create(b, concat(results, tangents), names.jvp, primals,
                                              cotangents, active);
                  return Values(op.getResults().take_back(numBars));
                });
}

/// (g(x + h v) - g(x - h v)) / 2h for the float results of g, moving the first
/// arguments; 0 where g is NaN on both sides (a gather's filling).
FailureOr<Arrays> centralDifference(Program &program, StringRef g, ArrayRef<HostArray> arguments,
                                    ArrayRef<bool> mask, ArrayRef<HostArray> v, double h) {
  Arrays sides[2];
  for (int side : {0, 1}) {
    Arrays moved(arguments);
    size_t next = 0;
    for (auto [i, active] : llvm::enumerate(mask))
      if (active)
        moved[i] = axpy(moved[i], side == 0 ? h : -h, v[next++]);
    FailureOr<Arrays> results = program.run(g, moved);
    if (failed(results))
      return failure();
    sides[side] = floatsOf(*results);
  }
  Arrays quotients;
  for (auto [above, below] : llvm::zip_equal(sides[0], sides[1])) {
    HostArray quotient = zerosLike(above);
    for (int64_t i = 0, n = above.numElements(); i < n; ++i)
      if (!std::isnan(above.getFloat(i)) || !std::isnan(below.getFloat(i)))
        quotient.setFloat(i, (above.getFloat(i) - below.getFloat(i)) / (2 * h));
    quotients.push_back(quotient);
  }
  return quotients;
}

void checkDerivatives(MLIRContext &context, const Sample &sample) {
  std::mt19937_64 random(1);
  Point p(context, sample, random);
  ASSERT_TRUE(p.program.isValid()) << p.program.messages();
  Types floats = floatsOf(p.resultTypes);
  std::vector<SmallVector<bool>> masks = activeMasks(p.argumentTypes);
  if (masks.empty() || floats.empty())
    return;
  bool forward = sample.noForward.empty(), reverse = sample.noReverse.empty();
  for (ArrayRef<bool> mask : masks) {
    DerivativeNames names(mask);
    if (forward)
      addJvp(p, mask, names.jvp);
    if (reverse) {
      addVjp(p, mask, names.vjp);
      addForwardOverReverse(p, mask, names);
    }
    if (forward && reverse) {
      addLinear(p, mask, names.linear);
      addReverseOverForward(p, mask, names);
    }
  }
  ASSERT_TRUE(succeeded(p.program.expand())) << p.program.messages();

  Types all = concat(p.argumentTypes, p.resultTypes);
  double epsilon = epsilonOf(all), exact = 1e4 * epsilon;
  // The best step of central differences; bf16 has no room for one.
  double h = std::cbrt(epsilon), approximate = 1e3 * h * h;
  bool canDifference = precisionOf(all) > 11;

  FailureOr<Arrays> value = p.program.run("f", p.x);
  ASSERT_TRUE(succeeded(value)) << p.program.messages();
  auto run = [&](StringRef name, ArrayRef<HostArray> arguments) {
    FailureOr<Arrays> results = p.program.run(name, arguments);
    EXPECT_TRUE(succeeded(results)) << name.str() << ": " << p.program.messages();
    return succeeded(results) ? *results : Arrays();
  };

  for (ArrayRef<bool> mask : masks) {
    DerivativeNames names(mask);
    SCOPED_TRACE(names.jvp.substr(4));
    Arrays v, c;
    for (const HostArray &x : pick(p.x, mask))
      v.push_back(draw(x.type(), Domain::Any, random));
    for (Type type : floats)
      c.push_back(draw(type, Domain::Any, random));
    size_t numResults = p.resultTypes.size();

    Arrays jv, bars;
    if (forward) {
      Arrays results = run(names.jvp, concat(p.x, v));
      ASSERT_EQ(results.size(), numResults + floats.size());
      expectClose(ArrayRef(results).take_front(numResults), *value, exact, "values of jvp");
      jv.assign(results.begin() + numResults, results.end());
    }
    Arrays difference;
    if (canDifference) {
      FailureOr<Arrays> quotient = centralDifference(p.program, "f", p.x, mask, v, h);
      ASSERT_TRUE(succeeded(quotient)) << p.program.messages();
      difference = sample.isStopped ? Arrays(llvm::map_range(*quotient, zerosLike)) : *quotient;
      if (forward)
        expectClose(jv, difference, approximate, "jvp against central differences");
    }
    if (!reverse)
      continue;

    Arrays results = run(names.vjp, concat(p.x, c));
    ASSERT_EQ(results.size(), numResults + v.size());
    expectClose(ArrayRef(results).take_front(numResults), *value, exact, "values of vjp");
    bars.assign(results.begin() + numResults, results.end());
    double pulled = inner(bars, v), scale = 1 + std::abs(pulled);
    if (forward)
      EXPECT_NEAR(inner(c, jv), pulled, exact * scale) << "<c, J v> against <J^T c, v>";
    else if (canDifference)
      EXPECT_NEAR(inner(c, difference), pulled, approximate * scale)
          << "<c, differences> against <J^T c, v>";

    Arrays second = run(names.forwardOverReverse, concat(concat(p.x, c), v));
    if (canDifference) {
      FailureOr<Arrays> quotient =
          centralDifference(p.program, names.vjp, concat(p.x, c), mask, v, h);
      ASSERT_TRUE(succeeded(quotient)) << p.program.messages();
      expectClose(second, ArrayRef(*quotient).take_back(v.size()), approximate,
                  "jvp of vjp against differences of vjp");
    }
    if (!forward)
      continue;
    expectClose(run(names.reverseOverForward, concat(concat(p.x, c), v)), second, exact,
                "vjp of jvp against jvp of vjp");
    Arrays linear = run(names.linear, concat(concat(p.x, v), c));
    ASSERT_EQ(linear.size(), numResults + jv.size() + bars.size());
    expectClose(ArrayRef(linear).take_front(numResults), *value, exact, "values of linearize");
    expectClose(ArrayRef(linear).slice(numResults, jv.size()), jv, exact,
                "apply_linear against jvp");
    expectClose(ArrayRef(linear).take_back(bars.size()), bars, exact,
                "apply_transpose against vjp");
  }
}

/// A mode that refuses must say why, at the op.
void checkRefusal(MLIRContext &context, const Sample &sample) {
  for (bool forward : {true, false}) {
    const std::string &refusal = forward ? sample.noForward : sample.noReverse;
    if (refusal.empty())
      continue;
    std::mt19937_64 random(1);
    Point p(context, sample, random);
    ASSERT_TRUE(p.program.isValid()) << p.program.messages();
    SmallVector<bool> mask = activeMasks(p.argumentTypes).back();
    forward ? addJvp(p, mask, "g") : addVjp(p, mask, "g");
    EXPECT_TRUE(failed(p.program.expand())) << "expected a refusal: " << refusal;
    EXPECT_THAT(p.program.messages(), testing::HasSubstr(refusal));
  }
}

TEST_P(PropertyTest, Derivatives) {
  std::vector<Sample> samples = samplesOf(GetParam());
  if (samples.empty())
    GTEST_SKIP() << "listed in the table of exceptions";
  for (const Sample &sample : samples) {
    SCOPED_TRACE(sample.text());
    checkDerivatives(context, sample);
    checkRefusal(context, sample);
  }
}

//===----------------------------------------------------------------------===//
// Batching
//===----------------------------------------------------------------------===//

constexpr int64_t kBatch = 5; // no sample has a dimension of this size where it matters

/// Each way to map arguments: an axis for each, or -1; not all -1.
std::vector<SmallVector<int64_t>> axisChoices(TypeRange arguments, std::mt19937_64 &random) {
  std::vector<SmallVector<int64_t>> choices = {{}};
  for (Type type : arguments) {
    std::vector<SmallVector<int64_t>> next;
    for (const SmallVector<int64_t> &choice : choices)
      for (int64_t axis = -1; axis <= cast<RankedTensorType>(type).getRank(); ++axis) {
        next.push_back(choice);
        next.back().push_back(axis);
      }
    choices = std::move(next);
  }
  choices.erase(choices.begin()); // all -1
  // Many arguments have many choices: keep a fixed sample of them.
  constexpr size_t maxChoices = 60;
  if (choices.size() > maxChoices) {
    std::shuffle(choices.begin(), choices.end(), random);
    choices.resize(maxChoices);
  }
  return choices;
}

Types mapTypes(TypeRange types, ArrayRef<int64_t> axes) {
  Types mapped;
  for (auto [type, axis] : llvm::zip_equal(types, axes))
    mapped.push_back(axis == -1 ? type
                                : Type(ir::insertAxis(cast<RankedTensorType>(type), axis, kBatch)));
  return mapped;
}

void addVmap(Program &program, StringRef name, StringRef callee, TypeRange arguments,
             TypeRange results, ArrayRef<int64_t> inAxes, ArrayRef<int64_t> outAxes) {
  program.add(name, mapTypes(arguments, inAxes), [&](ImplicitLocOpBuilder &b, ValueRange args) {
    return Values(
        ir::VmapOp::create(b, mapTypes(results, outAxes), callee, args, inAxes, outAxes, kBatch)
            .getResults());
  });
}

/// `callee` on each slice; per result, its values.
FailureOr<std::vector<Arrays>> runSlices(Program &program, StringRef callee,
                                         ArrayRef<HostArray> arguments, ArrayRef<int64_t> axes) {
  std::vector<Arrays> values;
  for (int64_t i = 0; i < kBatch; ++i) {
    Arrays slices;
    for (auto [argument, axis] : llvm::zip_equal(arguments, axes))
      slices.push_back(axis == -1 ? argument : slice(argument, axis, i));
    FailureOr<Arrays> results = program.run(callee, slices);
    if (failed(results))
      return failure();
    values.resize(results->size());
    for (auto [j, result] : llvm::enumerate(*results))
      values[j].push_back(result);
  }
  return values;
}

void checkBatching(MLIRContext &context, const Sample &sample) {
  std::mt19937_64 random(2);
  Point p(context, sample, random);
  ASSERT_TRUE(p.program.isValid()) << p.program.messages();
  std::vector<SmallVector<int64_t>> choices = axisChoices(p.argumentTypes, random);
  ASSERT_FALSE(choices.empty()) << "a sample needs an argument";
  std::vector<SmallVector<int64_t>> outs;
  for (auto [k, axes] : llvm::enumerate(choices)) {
    outs.emplace_back();
    for (auto [j, type] : llvm::enumerate(p.resultTypes))
      outs.back().push_back((k + j) % (cast<RankedTensorType>(type).getRank() + 1));
    addVmap(p.program, "vmap_" + std::to_string(k), "f", p.argumentTypes, p.resultTypes, axes,
            outs.back());
  }
  ASSERT_TRUE(succeeded(p.program.expand())) << p.program.messages();

  double exact = 1e3 * epsilonOf(concat(p.argumentTypes, p.resultTypes));
  for (auto [k, axes] : llvm::enumerate(choices)) {
    std::string name = "vmap_" + std::to_string(k), what = "vmap of axes [";
    for (int64_t axis : axes)
      what += std::to_string(axis) + " ";
    what += "]";
    Arrays arguments;
    for (auto [i, type] : llvm::enumerate(mapTypes(p.argumentTypes, axes)))
      arguments.push_back(draw(type, Point::domain(sample, i), random));
    FailureOr<Arrays> got = p.program.run(name, arguments);
    FailureOr<std::vector<Arrays>> expected = runSlices(p.program, "f", arguments, axes);
    ASSERT_TRUE(succeeded(got) && succeeded(expected)) << what << ": " << p.program.messages();
    Arrays stacked;
    for (auto [j, values] : llvm::enumerate(*expected))
      stacked.push_back(stack(values, outs[k][j]));
    expectClose(*got, stacked, exact, what);
  }
}

/// vmap of vjp and vjp of vmap, all arguments mapped but one (or none) of them:
/// the cotangent of a shared argument is the sum over the slices.
void checkBatchedDerivatives(MLIRContext &context, const Sample &sample) {
  std::mt19937_64 random(3);
  Point p(context, sample, random);
  ASSERT_TRUE(p.program.isValid()) << p.program.messages();
  SmallVector<bool> mask = llvm::map_to_vector(p.argumentTypes, ir::isDifferentiable);
  Types floats = floatsOf(p.resultTypes), bars = pick(p.argumentTypes, mask);
  if (floats.empty() || bars.empty() || !sample.noReverse.empty())
    return;
  addVjp(p, mask, "vjp_f");
  size_t n = p.argumentTypes.size();
  Types vjpArguments = concat(p.argumentTypes, floats), vjpResults = concat(p.resultTypes, bars);
  auto zeros = [](size_t count) { return SmallVector<int64_t>(count, 0); };

  // Choice k leaves argument k unmapped; the last maps all.
  std::vector<SmallVector<int64_t>> choices;
  for (size_t k = 0; k <= n; ++k) {
    SmallVector<int64_t> axes = zeros(n);
    if (k < n)
      axes[k] = -1;
    if (!llvm::is_contained(axes, 0))
      continue;
    choices.push_back(axes);
    std::string suffix = std::to_string(choices.size() - 1);
    SmallVector<int64_t> vjpAxes = axes;
    vjpAxes.append(floats.size(), 0);
    addVmap(p.program, "vmap_vjp_" + suffix, "vjp_f", vjpArguments, vjpResults, vjpAxes,
            zeros(vjpResults.size()));
    std::string vmap = "vmap_f_" + suffix;
    addVmap(p.program, vmap, "f", p.argumentTypes, p.resultTypes, axes,
            zeros(p.resultTypes.size()));
    Types mapped = mapTypes(p.argumentTypes, axes),
          mappedResults = mapTypes(p.resultTypes, zeros(p.resultTypes.size()));
    p.program.add("vjp_vmap_" + suffix, concat(mapped, mapTypes(floats, zeros(floats.size()))),
                  [&](ImplicitLocOpBuilder &b, ValueRange args) {
                    return Values(ir::VjpOp::create(b, concat(mappedResults, pick(mapped, mask)),
                                                    vmap, args.take_front(n), args.drop_front(n),
                                                    mask)
                                      .getResults());
                  });
  }
  ASSERT_TRUE(succeeded(p.program.expand())) << p.program.messages();

  double exact = 1e4 * epsilonOf(concat(p.argumentTypes, p.resultTypes));
  for (auto [k, axes] : llvm::enumerate(choices)) {
    std::string suffix = std::to_string(k);
    SmallVector<int64_t> vjpAxes = axes;
    vjpAxes.append(floats.size(), 0);
    Arrays arguments;
    for (auto [i, type] : llvm::enumerate(mapTypes(vjpArguments, vjpAxes)))
      arguments.push_back(draw(type, i < n ? Point::domain(sample, i) : Domain::Any, random));
    FailureOr<std::vector<Arrays>> slices = runSlices(p.program, "vjp_f", arguments, vjpAxes);
    FailureOr<Arrays> vmapOfVjp = p.program.run("vmap_vjp_" + suffix, arguments);
    FailureOr<Arrays> vjpOfVmap = p.program.run("vjp_vmap_" + suffix, arguments);
    ASSERT_TRUE(succeeded(slices) && succeeded(vmapOfVjp) && succeeded(vjpOfVmap))
        << p.program.messages();
    Arrays stacked =
        llvm::map_to_vector(*slices, [](const Arrays &values) { return stack(values, 0); });
    expectClose(*vmapOfVjp, stacked, exact, "vmap of vjp, choice " + suffix);
    // A shared argument's cotangents add up.
    size_t next = p.resultTypes.size();
    for (auto [i, active] : llvm::enumerate(mask)) {
      if (!active)
        continue;
      if (axes[i] == -1) {
        HostArray sum = (*slices)[next].front();
        for (const HostArray &value : ArrayRef((*slices)[next]).drop_front())
          sum = axpy(sum, 1, value);
        stacked[next] = sum;
      }
      ++next;
    }
    expectClose(*vjpOfVmap, stacked, exact, "vjp of vmap, choice " + suffix);
  }
}

TEST_P(PropertyTest, Batching) {
  std::vector<Sample> samples = samplesOf(GetParam());
  if (samples.empty())
    GTEST_SKIP() << "listed in the table of exceptions";
  for (const Sample &sample : samples) {
    SCOPED_TRACE(sample.text());
    checkBatching(context, sample);
    checkBatchedDerivatives(context, sample);
  }
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// f, jvp, vjp and vmap of f in one program, compiled against interpreted.
void checkCompiled(MLIRContext &context, const Sample &sample) {
  std::mt19937_64 random(4);
  Point p(context, sample, random);
  ASSERT_TRUE(p.program.isValid()) << p.program.messages();
  size_t n = p.argumentTypes.size();
  SmallVector<bool> mask = llvm::map_to_vector(p.argumentTypes, ir::isDifferentiable);
  Types floats = floatsOf(p.resultTypes), active = pick(p.argumentTypes, mask);
  bool isSmooth = !floats.empty() && !active.empty();
  // The first argument is mapped on its last axis, the others alternate.
  SmallVector<int64_t> inAxes, outAxes(p.resultTypes.size(), 0);
  for (auto [i, type] : llvm::enumerate(p.argumentTypes))
    inAxes.push_back(i % 2 == 0 ? cast<RankedTensorType>(type).getRank() : -1);

  Types mapped = mapTypes(p.argumentTypes, inAxes);
  Types arguments = concat(concat(p.argumentTypes, active), concat(floats, mapped));
  p.program.add("main", arguments, [&](ImplicitLocOpBuilder &b, ValueRange args) {
    ValueRange x = args.take_front(n), v = args.slice(n, active.size()),
               c = args.slice(n + active.size(), floats.size());
    Values results(func::CallOp::create(b, "f", p.resultTypes, x).getResults());
    if (isSmooth && sample.noForward.empty())
      llvm::append_range(
          results,
          ir::JvpOp::create(b, concat(p.resultTypes, floats), "f", x, v, mask).getResults());
    if (isSmooth && sample.noReverse.empty())
      llvm::append_range(
          results,
          ir::VjpOp::create(b, concat(p.resultTypes, active), "f", x, c, mask).getResults());
    auto vmap = ir::VmapOp::create(b, mapTypes(p.resultTypes, outAxes), "f", args.take_back(n),
                                   inAxes, outAxes, kBatch);
    llvm::append_range(results, vmap.getResults());
    return results;
  });
  Arrays values;
  for (auto [i, type] : llvm::enumerate(arguments)) {
    size_t fromEnd = arguments.size() - i;
    bool isPrimal = i < n || fromEnd <= n;
    values.push_back(draw(
        type, isPrimal ? Point::domain(sample, i < n ? i : n - fromEnd) : Domain::Any, random));
  }
  FailureOr<Arrays> got = p.program.runCompiled(values);
  ASSERT_TRUE(succeeded(got)) << p.program.messages();
  ASSERT_TRUE(succeeded(p.program.expand())) << p.program.messages();
  FailureOr<Arrays> expected = p.program.run("main", values);
  ASSERT_TRUE(succeeded(expected)) << p.program.messages();
  expectClose(*got, *expected, 1e3 * epsilonOf(arguments), "compiled against interpreted");
}

TEST_P(PropertyTest, Compiled) {
  std::vector<Sample> samples = samplesOf(GetParam());
  if (samples.empty())
    GTEST_SKIP() << "listed in the table of exceptions";
  for (const Sample &sample : samples) {
    SCOPED_TRACE(sample.text());
    checkCompiled(context, sample);
  }
}

INSTANTIATE_TEST_SUITE_P(Op, PropertyTest, testing::ValuesIn(allOps()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

} // namespace
