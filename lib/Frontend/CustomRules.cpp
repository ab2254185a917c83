// SPDX-License-Identifier: Apache-2.0
//
// custom_vjp and custom_jvp: the function and its rules are recorded, and a
// request ties them together.
//
// What the three functions capture becomes operands of all of them, so that their
// signatures fit each other. A captured array has no derivative here; captured
// traced arrays, which may have one outside, are therefore refused.
#include "dialects/hjx/Effects.h"
#include "lib/Frontend/Request.h"

#include <hjx/autodiff.h>

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx::detail {
namespace {

/// Functions that share captures.
struct RuleSetRecorder {
  OpScope &op;
  ArrayList args;
  std::vector<Aval> avals;
  llvm::SetVector<Value> captures; // Of the current frame.

  RuleSetRecorder(OpScope &op, const ArrayList &args) : op(op), args(args), avals(avalsOf(args, op)) {}

  /// Records a function; what it captures becomes part of `captures`.
  TracedFunction record(StringRef name, ArrayRef<Aval> arguments, FlatFunction f, const std::vector<std::string> &paths = {}) {
    TracedFunction traced = op.session().recordFunction(name, arguments, f, op, paths);
    for (Value capture : traced.captures) {
      if (!isa<ir::RefType>(capture.getType()) && !op.session().isLifted(capture, op.frame()))
        op.fail("the function uses a traced " + describe(avalOf(capture.getType())) +
                    " that is not its argument, so that its rule could give no derivative for it",
                "pass it as an argument");
      captures.insert(capture);
    }
    return traced;
  }

  /// Gives `traced` all shared captures as its arguments [first, first + captures), instead of
  /// those that it uses at the end. With `refsAt`, captured refs stand there instead.
  void share(TracedFunction &traced, unsigned first, std::optional<unsigned> refsAt = std::nullopt) {
    Block &block = traced.function.getBody().front();
    for (Value capture : captures) {
      bool isApart = refsAt && isa<ir::RefType>(capture.getType());
      BlockArgument argument = block.insertArgument(isApart ? (*refsAt)++ : first, capture.getType(), capture.getLoc());
      ++first;
      for (auto [j, own] : llvm::enumerate(traced.captures))
        if (own == capture) {
          unsigned old = block.getNumArguments() - traced.captures.size() + j;
          block.getArgument(old).replaceAllUsesWith(argument);
        }
    }
    block.eraseArguments(block.getNumArguments() - traced.captures.size(), traced.captures.size());
    refreshType(traced.function);
  }

  static void refreshType(func::FuncOp function) {
    Block &block = function.getBody().front();
    function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
  }

  SmallVector<Value> operands(const std::vector<std::string> &paths = {}) {
    SmallVector<Value> values = valuesOf(op, args);
    checkCapturedRefs(op, values, captures.getArrayRef(), paths);
    llvm::append_range(values, captures);
    return values;
  }
  unsigned numFloatCaptures() const { return llvm::count_if(captures, [](Value v) { return ir::isDifferentiable(v.getType()); }); }
};

std::string print(ArrayRef<Aval> avals) {
  std::string text;
  for (const Aval &aval : avals)
    text += (text.empty() ? "" : ", ") + describe(aval);
  return "(" + text + ")";
}

void checkTypes(OpScope &op, const std::string &what, ArrayRef<Aval> expected, ArrayRef<Aval> got) {
  bool same = expected.size() == got.size();
  for (size_t i = 0; same && i < expected.size(); ++i)
    same = expected[i].sameType(got[i]);
  if (!same)
    op.fail("expected " + what + " of types " + print(expected) + ", got " + print(got), "convert or reshape what the rule returns");
}

/// List entries for those with a tangent; others become arrays without value on the way in.
ArrayList spread(const ArrayList &list, size_t &next, ArrayRef<Aval> avals) {
  ArrayList all;
  for (const Aval &aval : avals)
    all.push_back(tangentOf(aval) ? list[next++] : Array());
  return all;
}

} // namespace

void checkCotangentCount(size_t expected, size_t got, Where where) {
  if (expected != got)
    fail(where, "custom_vjp", "expected bwd to return " + plural(expected, "cotangent", "cotangents") + ", one for each argument, got " +
                                  std::to_string(got),
         "return a tuple of " + std::to_string(expected) + "; hjx::Array() stands for none");
}

ArrayList customVjpFlat(Where where, const ArrayList &args, FlatFunction f, FlatFunction fwd, FlatFunction bwd,
                        const std::vector<std::string> &paths) {
  return stage("custom_vjp", where, args, [&](const ArrayList &args) {
    OpScope op("custom_vjp", where);
    RuleSetRecorder recorder(op, args);
    TracedFunction callee = recorder.record("fn", recorder.avals, f, paths);
    size_t numResults = callee.results.size();
    // Refs among the residuals are arguments, which bwd gets anyway: first, in order.
    std::vector<std::optional<size_t>> residualArgs; // per residual: the argument that it is
    TracedFunction forward = recorder.record("fn_fwd", recorder.avals, [&](const ArrayList &list) {
      ArrayList results = fwd(list), kept(results.begin(), results.begin() + std::min(numResults, results.size()));
      for (size_t i = numResults; i < results.size(); ++i) {
        bool isRef = results[i].has_value() && Access::get(results[i])->isRef;
        auto isSame = [&](const Array &arg) { return Access::get(arg)->value == Access::get(results[i])->value; };
        size_t arg = isRef ? llvm::find_if(list, isSame) - list.begin() : list.size();
        if (isRef && arg == list.size())
          Call("custom_vjp", where)
              .fail("expected fwd to return values and refs that are its arguments as residuals, got the ref " + describe(results[i]),
                    "use a captured ref in bwd directly; of other refs return what they hold");
        residualArgs.push_back(isRef ? std::optional(arg) : std::nullopt);
        if (!isRef)
          kept.push_back(results[i]);
      }
      return kept;
    }, paths);
    std::vector<size_t> refArgs;
    for (size_t i = 0; i < recorder.avals.size(); ++i)
      if (recorder.avals[i].isRef)
        refArgs.push_back(i);
    ArrayRef<Aval> forwardResults(forward.results);
    checkTypes(op, "the result of fwd", callee.results, forwardResults.take_front(numResults));

    // bwd(residuals, cotangents of float results) -> cotangents of float arguments.
    std::vector<Aval> backwardArgs;
    for (size_t i : refArgs)
      backwardArgs.push_back(recorder.avals[i]);
    llvm::append_range(backwardArgs, forwardResults.drop_front(numResults));
    size_t numResiduals = backwardArgs.size();
    for (const Aval &aval : tangentsOf(callee.results))
      backwardArgs.push_back(aval);
    TracedFunction backward = recorder.record("fn_bwd", backwardArgs, [&](const ArrayList &list) {
      ArrayList all;
      size_t nextValue = refArgs.size(), next = numResiduals;
      for (std::optional<size_t> arg : residualArgs)
        all.push_back(arg ? list[llvm::find(refArgs, *arg) - refArgs.begin()] : list[nextValue++]);
      ArrayList bars = spread(list, next, callee.results);
      all.insert(all.end(), bars.begin(), bars.end());
      ArrayList results = bwd(all), kept;
      for (size_t i = 0; i < results.size(); ++i) {
        Aval held = recorder.avals[i]; // For a ref, the cotangent of what it held.
        held.isRef = false;
        std::optional<Aval> expected = tangentOf(held);
        if (!expected)
          continue;
        OpScope inner("custom_vjp", where);
        Array bar = results[i].has_value() ? results[i] : zeroOf(inner, *expected);
        Aval got = avalOf(bar, "custom_vjp", where);
        if (!got.sameType(*expected))
          Call("custom_vjp", where)
              .fail("expected bwd to return a cotangent of type " + describe(*expected) + " for " + paths[i] + ", got " +
                        describe(got),
                    "give it the shape and element type of the argument");
        kept.push_back(bar);
      }
      return kept;
    });

    // Captures: arguments of f and fwd; residuals for bwd, which returns zeros for them.
    unsigned numArgs = args.size(), numCaptures = recorder.captures.size();
    recorder.share(callee, numArgs);
    recorder.share(forward, numArgs);
    recorder.share(backward, numResiduals, refArgs.size());
    Operation *forwardReturn = forward.function.getBody().front().getTerminator();
    for (unsigned i = 0; i < numCaptures; ++i)
      if (!isa<ir::RefType>(recorder.captures[i].getType()))
        forwardReturn->insertOperands(forwardReturn->getNumOperands(), forward.function.getArgument(numArgs + i));
    RuleSetRecorder::refreshType(forward.function);
    Operation *backwardReturn = backward.function.getBody().front().getTerminator();
    OpBuilder b(backwardReturn);
    for (Value capture : recorder.captures)
      if (mlir::Type held = ir::heldType(capture.getType()); ir::isDifferentiable(held))
        backwardReturn->insertOperands(backwardReturn->getNumOperands(), ir::makeSplat(b, backwardReturn->getLoc(), held, 0));
    RuleSetRecorder::refreshType(backward.function);

    auto request = ir::CustomVjpOp::create(op.builder(), typesOf(op, callee.results), callee.name(), forward.name(),
                                           backward.name(), recorder.operands(paths));
    return wrapAll(op, request.getResults(), callee.results);
  }, paths);
}

ArrayList customJvpFlat(Where where, const ArrayList &args, FlatFunction f, FlatFunction rule) {
  return stage("custom_jvp", where, args, [&](const ArrayList &args) {
    OpScope op("custom_jvp", where);
    RuleSetRecorder recorder(op, args);
    TracedFunction callee = recorder.record("fn", recorder.avals, f);

    // rule(arguments, tangents of float arguments) -> results, tangents of float results.
    std::vector<Aval> ruleArgs = recorder.avals;
    for (const Aval &aval : tangentsOf(recorder.avals))
      ruleArgs.push_back(aval);
    size_t numResults = callee.results.size();
    TracedFunction traced = recorder.record("fn_jvp", ruleArgs, [&](const ArrayList &list) {
      ArrayList all(list.begin(), list.begin() + args.size());
      size_t next = args.size();
      ArrayList dots = spread(list, next, recorder.avals);
      all.insert(all.end(), dots.begin(), dots.end());
      ArrayList results = rule(all);
      if (results.size() != 2 * numResults)
        Call("custom_jvp", where)
            .fail("expected the rule to return a pair (result, tangent) of one structure, got " +
                      std::to_string(results.size()) + " arrays for " + std::to_string(numResults) + " results",
                  "return std::pair(f(x), tangent)");
      ArrayList kept(results.begin(), results.begin() + numResults);
      for (size_t i = 0; i < numResults; ++i)
        if (tangentOf(callee.results[i]))
          kept.push_back(results[numResults + i]);
      return kept;
    });
    std::vector<Aval> expected = callee.results;
    for (const Aval &aval : tangentsOf(callee.results))
      expected.push_back(aval);
    checkTypes(op, "the rule's results", expected, traced.results);

    unsigned numArgs = args.size();
    recorder.share(callee, numArgs);
    recorder.share(traced, numArgs);
    // Tangents of the captures come last and are not used.
    Block &block = traced.function.getBody().front();
    for (Value capture : recorder.captures)
      if (ir::isDifferentiable(capture.getType()))
        block.addArgument(capture.getType(), capture.getLoc());
    RuleSetRecorder::refreshType(traced.function);

    auto request = ir::CustomJvpOp::create(op.builder(), typesOf(op, callee.results), callee.name(), traced.name(),
                                           recorder.operands());
    return wrapAll(op, request.getResults(), callee.results);
  });
}

} // namespace hjx::detail
