// SPDX-License-Identifier: Apache-2.0
//
// Properties that every op must have, whatever it computes, checked op by op on
// the interpreter and compiled. The list of ops is the dialect's own: an op without samples
// fails, and so does an empty rule slot that `exceptions` does not explain (or
// an explanation whose slot has been filled).
//
// The properties are in Property{Derivatives,Batching,Compilation}Test.cpp.
#include "test/unit/PropertyTest.h"

#include "lib/Pipelines/Register.h"
#include "lib/Rules/Registry.h"

#include <set>

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

void hjx::test::initializeContext(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<ir::HjxDialect, func::FuncDialect>();
  static const bool once = (registerAllPasses(), true);
  (void)once;
}

namespace {

//===----------------------------------------------------------------------===//
// The ops and the gaps
//===----------------------------------------------------------------------===//

struct Exception {
  std::vector<std::string> ops;
  /// "samples", "interpret", "derivative", "transpose", "batch", "lower".
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
       {"interpret", "derivative", "transpose", "batch", "lower"},
       "replaced by calls before any rule or the interpreter sees them"},
      {{"hjx.checkpoint", "hjx.custom_jvp", "hjx.custom_vjp"},
       {"interpret", "lower"},
       "become calls when nothing differentiates them"},
      {{"hjx.checkpoint", "hjx.custom_jvp", "hjx.custom_vjp"},
       {"transpose"},
       "linearized into other ops"},
      {{"hjx.custom_lin"},
       {"samples", "interpret", "lower"},
       "stands in linear programs only, where custom_vjp's samples put it"},
      {{"hjx.call_primitive"},
       {"samples", "interpret", "lower"},
       "an author's operation, expanded by hjx-lower-hi; HiTypesTest has samples"},
      {{"hjx.primitive_lin"},
       {"samples", "interpret", "batch", "lower"},
       "stands in linear programs only, and is transposed before anything is mapped"},
      {{"hjx.lower", "hjx.raise"},
       {"samples", "interpret", "derivative", "transpose", "lower"},
       "stand in expansions, which are not differentiated; hjx-lower-hi removes them"},
      {{"hjx.constant", "hjx.iota"}, {"batch"}, "take nothing that could be mapped"},
      {{"hjx.abs",         "hjx.attention", "hjx.clamp", "hjx.cos", "hjx.erf", "hjx.erf_inv",
        "hjx.exp",         "hjx.expm1", "hjx.log",   "hjx.log1p",      "hjx.logistic",
        "hjx.max",         "hjx.min",   "hjx.pow",   "hjx.reduce_max", "hjx.reduce_min",
        "hjx.reduce_prod", "hjx.rem",   "hjx.rsqrt", "hjx.sin",        "hjx.sqrt",
        "hjx.tan",         "hjx.tanh"},
       {"transpose"},
       "linear in no operand: their tangents are made of other ops"},
      {{"hjx.ref_empty", "hjx.ref_freeze", "hjx.ref_new"},
       {"derivative", "transpose", "batch", "lower"},
       "values by then: what a function makes itself is discharged first"},
      {{"hjx.ref_add", "hjx.ref_swap"},
       {"transpose", "batch", "lower"},
       "values by then, but for refs from outside, which hold no tangents"},
      {{"hjx.ref_get"}, {"batch", "lower"}, "a value by then"},
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

/// The dialect's ops and the others that have rules ("func.call").
std::vector<std::string> allOps() {
  MLIRContext context;
  initializeContext(context);
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
  if (slot == "lower")
    return rules.lowers;
  return bool(rules.batch);
}

TEST_P(PropertyTest, HasRulesAndSamples) {
  for (StringRef slot : {"samples", "interpret", "derivative", "transpose", "batch", "lower"}) {
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

INSTANTIATE_TEST_SUITE_P(Op, PropertyTest, testing::ValuesIn(allOps()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

} // namespace
