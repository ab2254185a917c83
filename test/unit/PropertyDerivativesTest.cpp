// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of every sample, on the interpreter:
//
//   J v         =  (f(x + h v) - f(x - h v)) / 2h     central differences
//   <c, J v>    =  <J^T c, v>                         vjp against jvp
//   linearize, apply_linear, apply_transpose  =  jvp, vjp
//   d/de J(x + e v)^T c  =  grad of <c, J v>          second order, both ways
#include "test/unit/PropertyTest.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

namespace {

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

} // namespace
