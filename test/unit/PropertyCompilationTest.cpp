// SPDX-License-Identifier: Apache-2.0
//
// Every sample and its transforms, compiled for this machine, against the
// interpreter.
#include "test/unit/PropertyTest.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

namespace {

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
    values.push_back(
        draw(type, isPrimal ? domainOf(sample, i < n ? i : n - fromEnd) : Domain::Any, random));
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

} // namespace
