// SPDX-License-Identifier: Apache-2.0
//
// vmap of every sample against a loop over slices, on every choice of axes, and
// vmap of vjp against vjp of vmap.
#include "test/unit/PropertyTest.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

namespace {

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
      arguments.push_back(draw(type, domainOf(sample, i), random));
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
      arguments.push_back(draw(type, i < n ? domainOf(sample, i) : Domain::Any, random));
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

} // namespace
