// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/Linearity.h"

#include "lib/Autodiff/Autodiff.h"

using namespace mlir;

namespace hjx {
namespace {

enum class Degree { Zero, Constant, Linear, Other };

struct Term {
  Degree degree = Degree::Zero;
  Operation *culprit = nullptr; ///< of Other: the op that is not linear

  bool dependsOnTangents() const { return degree >= Degree::Linear; }
};

using Terms = SmallVector<Term>;

/// What may be `a`, or `b`, or the sum of both, by `op`.
Term join(Term a, Term b, Operation *op) {
  if (a.degree > b.degree)
    std::swap(a, b);
  if (a.degree == Degree::Constant && b.degree == Degree::Linear)
    return {Degree::Other, op};
  return b;
}

Terms joinAll(ArrayRef<Term> a, ArrayRef<Term> b, Operation *op) {
  return llvm::map_to_vector(llvm::zip_equal(a, b),
                             [&](auto pair) { return join(std::get<0>(pair), std::get<1>(pair), op); });
}

Terms concat(ArrayRef<Term> a, ArrayRef<Term> b, ArrayRef<Term> c = {}) {
  Terms all(a);
  llvm::append_range(all, b);
  llvm::append_range(all, c);
  return all;
}

class LinearityAnalysis {
public:
  explicit LinearityAnalysis(Autodiff &engine) : engine(engine) {}

  Terms yields(Block &block, ArrayRef<Term> arguments) {
    return of(block.getTerminator()->getOperands(), llvm::make_pointer_range(block.without_terminator()), block.getArguments(), arguments);
  }

  /// Of values that `ops` compute; what comes from elsewhere and is not among the arguments is constant.
  template <typename Values, typename Ops, typename Arguments>
  Terms of(Values &&values, Ops &&ops, Arguments &&arguments, ArrayRef<Term> argumentTerms) {
    llvm::DenseMap<Value, Term> terms;
    auto lookup = [&](Value value) {
      auto it = terms.find(value);
      return it == terms.end() ? Term{Degree::Constant} : it->second;
    };
    for (auto [argument, term] : llvm::zip_equal(arguments, argumentTerms))
      terms[argument] = term;
    for (Operation *op : ops)
      for (auto [result, term] : llvm::zip_equal(op->getResults(), results(op, llvm::map_to_vector(op->getOperands(), lookup))))
        terms[result] = term;
    return llvm::map_to_vector(values, lookup);
  }

private:
  Terms results(Operation *op, ArrayRef<Term> operands) {
    if (auto scan = dyn_cast<ir::ScanOp>(op)) {
      unsigned c = scan.getNumConsts(), n = scan.getNumCarries();
      return loop(op, *scan.getBlock(), operands.take_front(c), Terms(operands.slice(c, n)), operands.drop_front(c + n));
    }
    if (auto loopOp = dyn_cast<ir::WhileOp>(op)) {
      unsigned skipped = loopOp.getCondConsts().size(), c = loopOp.getBodyConsts().size();
      Terms carries = loop(op, loopOp.getBody().front(), operands.slice(skipped, c), Terms(operands.drop_front(skipped + c)));
      Terms predicate = yields(loopOp.getCond().front(), concat(operands.take_front(skipped), carries));
      return predicate[0].dependsOnTangents() ? Terms(carries.size(), other(op, predicate[0])) : carries;
    }
    if (auto cond = dyn_cast<ir::CondOp>(op)) {
      if (operands[0].dependsOnTangents())
        return Terms(op->getNumResults(), other(op, operands[0]));
      Terms all = yields(cond.getBranches()[0].front(), operands.drop_front());
      for (Region &branch : cond.getBranches().drop_front())
        all = joinAll(all, yields(branch.front(), operands.drop_front()), op);
      return all;
    }
    if (auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee"))
      if (func::FuncOp function = engine.lookup(callee.getValue()); function.getBody().hasOneBlock())
        return yields(function.getBody().front(), operands);
    if (isa<ir::OptBarrierOp>(op))
      return Terms(operands);
    return op->getNumResults() == 0 ? Terms() : Terms(op->getNumResults(), result(op, operands));
  }

  /// The carries of a loop, then what an iteration makes besides.
  Terms loop(Operation *op, Block &body, ArrayRef<Term> consts, Terms carries, ArrayRef<Term> xs = {}) {
    for (;;) {
      Terms yielded = yields(body, concat(consts, carries, xs));
      Terms next = joinAll(carries, ArrayRef(yielded).take_front(carries.size()), op);
      bool changed = llvm::any_of(llvm::zip_equal(carries, next),
                                  [](auto pair) { return std::get<0>(pair).degree != std::get<1>(pair).degree; });
      carries = std::move(next);
      if (!changed)
        return concat(carries, ArrayRef(yielded).drop_front(carries.size()));
    }
  }

  /// The result of an op without regions or callees.
  Term result(Operation *op, ArrayRef<Term> operands) {
    for (const Term &operand : operands)
      if (operand.degree == Degree::Other)
        return operand;
    bool anyLinear = llvm::any_of(operands, [](const Term &term) { return term.degree == Degree::Linear; });
    if (isa<ir::CallPrimitiveOp>(op)) { // Its author knows in which operands; the transpose rule may refuse.
      bool isZero = llvm::all_of(operands, [](const Term &term) { return term.degree == Degree::Zero; });
      return {anyLinear ? Degree::Linear : isZero ? Degree::Zero : Degree::Constant};
    }
    if (operands.empty())
      return {ir::getSplat(op->getResult(0)) == 0.0 ? Degree::Zero : Degree::Constant};
    if (isa<ir::MulOp, ir::DotGeneralOp>(op)) {
      auto [low, high] = std::minmax(operands[0].degree, operands[1].degree);
      return low == Degree::Linear ? other(op) : Term{low == Degree::Zero ? low : high};
    }
    if (isa<ir::DivOp>(op))
      return operands[1].degree == Degree::Linear ? other(op) : operands[0];
    const RuleSet *rules = engine.rulesOf(op);
    if (!rules || !rules->transpose || !ir::isDifferentiable(op->getResult(0).getType()))
      return anyLinear ? other(op) : Term{Degree::Constant};
    Term sum;
    for (auto [operand, term] : llvm::zip_equal(op->getOperands(), operands))
      if (ir::isDifferentiable(operand.getType()))
        sum = join(sum, term, op);
    return sum;
  }

  /// Not linear because of `op`, or of what made `cause` so.
  static Term other(Operation *op, Term cause = {}) {
    return {Degree::Other, cause.culprit ? cause.culprit : op};
  }

  Autodiff &engine;
};

bool isLinear(const Term &term) { return term.degree == Degree::Zero || term.degree == Degree::Linear; }

/// What is wrong with tangent `i` of a rule.
void explain(InFlightDiagnostic &error, const Term &term, unsigned i) {
  if (!term.culprit) {
    error << "whose tangent " << i << " does not depend on its tangents; return zeros, or multiply one of them";
    return;
  }
  error << "that is not linear in its tangents at " << term.culprit->getName()
        << "; multiply tangents by values of the primals, and add them to tangents";
  error.attachNote(term.culprit->getLoc()) << "this is not linear";
}

} // namespace

LogicalResult checkLinearRule(Autodiff &engine, ir::CallPrimitiveOp request, ArrayRef<Operation *> made, ArrayRef<Value> tangents,
                              ArrayRef<Value> dots) {
  auto active = llvm::filter_to_vector(tangents, [](Value dot) { return bool(dot); });
  auto values = llvm::filter_to_vector(dots, [](Value dot) { return bool(dot); });
  Terms terms = LinearityAnalysis(engine).of(values, made, active, Terms(active.size(), {Degree::Linear}));
  auto *it = llvm::find_if_not(terms, isLinear);
  if (it == terms.end())
    return success();
  InFlightDiagnostic error = request.emitOpError("\"") << request.getPrimitive() << "\" has a jvp rule ";
  explain(error, *it, llvm::find(dots, values[it - terms.begin()]) - dots.begin());
  return error;
}

LogicalResult checkLinearRule(Autodiff &engine, ir::CustomJvpOp request) {
  func::FuncOp rule = engine.lookup(request.getRule());
  unsigned numOperands = request->getNumOperands(), numResults = request->getNumResults();
  Terms arguments(numOperands, {Degree::Constant});
  arguments.append(rule.getNumArguments() - numOperands, {Degree::Linear});
  for (auto [i, term] : llvm::enumerate(LinearityAnalysis(engine).yields(rule.getBody().front(), arguments))) {
    if (i < numResults ? !term.dependsOnTangents() : isLinear(term))
      continue;
    InFlightDiagnostic error = request.emitOpError("has a rule ");
    if (i >= numResults)
      explain(error, term, i - numResults);
    else
      error << "whose result " << i << " depends on its tangents; compute results from the primals alone";
    return error;
  }
  return success();
}

} // namespace hjx
