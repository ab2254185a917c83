// SPDX-License-Identifier: Apache-2.0
//
// Requests in terms of the engine's three functions on functions. Here, at the
// boundary, symbolic zeros become arrays.
#include "lib/Autodiff/Requests.h"

#include "dialects/hjx/Effects.h"
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

void registerAutodiffRules(RuleRegistry &rules) {
  populateContractionAutodiffRules(rules);
  populateElementwiseAutodiffRules(rules);
  populateHigherOrderAutodiffRules(rules);
  populateHiTypesAutodiffRules(rules);
  populateMovementAutodiffRules(rules);
  populateRandomAutodiffRules(rules);
  populateReductionAutodiffRules(rules);
  populateRefsAutodiffRules(rules);
}

SmallVector<bool> ofDifferentiable(TypeRange types, ArrayRef<bool> mask) {
  SmallVector<bool> kept;
  for (auto [type, entry] : llvm::zip_equal(types, mask))
    if (ir::isDifferentiable(type))
      kept.push_back(entry);
  return kept;
}

/// One value per entry of `mask`: the next of `values` where set, else zeros.
static SmallVector<Value> spread(ImplicitLocOpBuilder &b, ValueRange values, ArrayRef<bool> mask, TypeRange types) {
  SmallVector<Value> all;
  for (auto [type, isSet] : llvm::zip_equal(types, mask)) {
    all.push_back(instantiate(b, b.getLoc(), isSet ? values.front() : Value(), type));
    values = values.drop_front(isSet);
  }
  return all;
}

SmallVector<Value> pushForward(ImplicitLocOpBuilder &b, const LinearFunction &map, ValueRange tangents, TypeRange types) {
  SmallVector<Value> operands(map.residuals);
  llvm::append_range(operands, tangents);
  auto call = func::CallOp::create(b, map.lin, operands);
  return spread(b, call.getResults(), map.hasTangent, types);
}

FailureOr<SmallVector<Value>> pullBack(Autodiff &engine, ImplicitLocOpBuilder &b, const LinearFunction &map, ValueRange bars,
                                       std::optional<ArrayRef<bool>> wanted, std::optional<ArrayRef<bool>> inPlace,
                                       ValueRange accumulators) {
  func::FuncOp lin = map.lin;
  unsigned numResiduals = map.residuals.size(), numArguments = lin.getNumArguments(), nextWanted = 0;
  SmallVector<BarSink> sinks(numArguments);
  for (unsigned i = numResiduals; i < numArguments; ++i) {
    bool isWanted = !wanted || (*wanted)[i - numResiduals];
    if (!isWanted)
      sinks[i].kind = BarSink::None;
    else if (inPlace && (*inPlace)[nextWanted++])
      sinks[i].kind = BarSink::Ref;
  }
  SmallVector<bool> isLinear(numArguments, true), hasBar;
  std::fill_n(isLinear.begin(), numResiduals, false);
  SmallVector<Value> operands(map.residuals);
  for (auto [bar, hasTangent] : llvm::zip_equal(bars, map.hasTangent)) {
    if (!hasTangent)
      continue;
    // A constant zero is how a program says that it ignores this result.
    hasBar.push_back(ir::getSplat(bar) != 0.0);
    if (hasBar.back())
      operands.push_back(bar);
  }
  auto transposed = engine.transpose(lin, isLinear, hasBar, sinks);
  if (failed(transposed))
    return failure();
  llvm::append_range(operands, accumulators);
  auto call = func::CallOp::create(b, transposed->function, operands);
  SmallVector<bool> isThere;
  SmallVector<Type> returnedTypes;
  for (unsigned i = numResiduals; i < numArguments; ++i)
    if (sinks[i].kind == BarSink::Sum) {
      isThere.push_back(transposed->hasBar[i]);
      returnedTypes.push_back(lin.getArgumentTypes()[i]);
    }
  return spread(b, call.getResults(), isThere, returnedTypes);
}

namespace {

class AutodiffExpander : public TransformExpander {
public:
  AutodiffExpander(ModuleOp module, const RuleRegistry &rules) : engine(module, rules) {}

  LogicalResult expand(Operation *request) override {
    return llvm::TypeSwitch<Operation *, LogicalResult>(request)
        .Case<ir::JvpOp, ir::VjpOp, ir::LinearizeOp>([&](auto op) { return expandOp(op); });
  }
  void finish() override { engine.eraseUnused(); }

private:
  LogicalResult expandOp(ir::JvpOp op);
  LogicalResult expandOp(ir::VjpOp op);
  LogicalResult expandOp(ir::LinearizeOp op);

  bool mustBeTransposed(func::FuncOp lin);

  Autodiff engine;
};

LogicalResult AutodiffExpander::expandOp(ir::JvpOp op) {
  func::FuncOp callee = engine.lookup(op.getCallee());
  auto jvp = engine.jvp(callee, op.getActive());
  if (failed(jvp))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto call = func::CallOp::create(b, jvp->function, op->getOperands());
  unsigned numResults = callee.getNumResults();
  SmallVector<Value> results(call.getResults().take_front(numResults));
  llvm::append_range(results, spread(b, call.getResults().drop_front(numResults),
                                     ofDifferentiable(callee.getResultTypes(), jvp->hasTangent),
                                     TypeRange(op.getResultTypes()).drop_front(numResults)));
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Per result of `types`, whether its cotangent may be other than zero; empty if all may. A constant zero is
/// how a program says that it ignores a result: what serves it alone need not have a derivative.
static SmallVector<bool> wantedResults(TypeRange types, ValueRange bars) {
  SmallVector<bool> wanted;
  for (Type type : types) {
    bool isDifferentiable = ir::isDifferentiable(type);
    wanted.push_back(!isDifferentiable || ir::getSplat(bars.front()) != 0.0);
    bars = bars.drop_front(isDifferentiable);
  }
  return llvm::is_contained(wanted, false) ? wanted : SmallVector<bool>();
}

LogicalResult AutodiffExpander::expandOp(ir::VjpOp op) {
  func::FuncOp callee = engine.lookup(op.getCallee());
  auto pair = engine.linearize(callee, op.getActive(), ir::CheckpointPolicy::EverythingSaveable,
                               wantedResults(callee.getResultTypes(), op.getCotangents()));
  if (failed(pair))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto call = func::CallOp::create(b, pair->fwd, op.getPrimals());
  SmallVector<Value> residuals = pair->residualsOf(op.getPrimals(), call.getResults());
  SmallVector<bool> hasTangent = ofDifferentiable(callee.getResultTypes(), pair->hasTangent);
  auto bars = pullBack(engine, b, {pair->lin, residuals, hasTangent}, op.getCotangents(), std::nullopt, op.getInPlace(),
                       op.getAccumulators());
  if (failed(bars))
    return failure();
  SmallVector<Value> results(call.getResults().take_front(callee.getNumResults()));
  llvm::append_range(results, *bars);
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Whether `lin` holds maps that can only be transposed, for which an author gave rules for tangents
/// as well.
bool AutodiffExpander::mustBeTransposed(func::FuncOp lin) {
  return lin.walk([&](Operation *op) {
            auto callee = dyn_cast<func::CallOp>(op);
            return isa<ir::PrimitiveLinOp>(op) || (callee && mustBeTransposed(engine.lookup(callee.getCallee()))) ? WalkResult::interrupt()
                                                                                                                 : WalkResult::advance();
          }).wasInterrupted();
}

LogicalResult AutodiffExpander::expandOp(ir::LinearizeOp op) {
  func::FuncOp callee = engine.lookup(op.getCallee());
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto pair = engine.linearize(callee, op.getActive());
  if (failed(pair))
    return failure();
  // One pair serves both uses of the map, but where the author of a primitive wrote rules for each.
  SmallVector<Operation *> users(op->getResults().back().getUsers());
  bool isPushed = llvm::any_of(users, llvm::IsaPred<ir::ApplyLinearOp>), isPulled = llvm::any_of(users, llvm::IsaPred<ir::ApplyTransposeOp>);
  auto pushed = isPushed && mustBeTransposed(pair->lin) ? engine.linearizeToPush(callee, op.getActive()) : pair;
  if (failed(pushed))
    return failure();
  if (!isPulled)
    pair = pushed;
  bool isOnePair = pushed->fwd == pair->fwd;
  if (!isOnePair && ir::takesRef(op))
    return op.emitOpError("has a map that is both evaluated and transposed, by different rules of a primitive, and a function that takes "
                          "refs, which would be accessed twice; linearize it once for each use");
  auto call = func::CallOp::create(b, pair->fwd, op.getPrimals());
  auto pushCall = isOnePair ? call : func::CallOp::create(b, pushed->fwd, op.getPrimals());
  SmallVector<Value> residuals = pair->residualsOf(op.getPrimals(), call.getResults());
  SmallVector<Value> pushResiduals = pushed->residualsOf(op.getPrimals(), pushCall.getResults());
  SmallVector<bool> hasTangent = ofDifferentiable(callee.getResultTypes(), pair->hasTangent);
  SmallVector<bool> pushHasTangent = ofDifferentiable(callee.getResultTypes(), pushed->hasTangent);

  for (Operation *user : users) {
    ImplicitLocOpBuilder at(user->getLoc(), user);
    SmallVector<Value> results;
    if (auto apply = dyn_cast<ir::ApplyLinearOp>(user)) {
      results = pushForward(at, {pushed->lin, pushResiduals, pushHasTangent}, apply.getTangents(), user->getResultTypes());
    } else {
      auto pull = cast<ir::ApplyTransposeOp>(user);
      auto bars = pullBack(engine, at, {pair->lin, residuals, hasTangent}, pull.getCotangents(), pull.getWanted(), pull.getInPlace(),
                           pull.getAccumulators());
      if (failed(bars))
        return failure();
      results = *bars;
    }
    user->replaceAllUsesWith(results);
    user->erase();
  }
  for (unsigned i = 0; i < callee.getNumResults(); ++i)
    op->getResult(i).replaceAllUsesWith(call.getResult(i));
  op->erase();
  return success();
}

} // namespace

TransformVerb getAutodiffVerb() {
  return {{{"hjx-jvp", "Expand hjx.jvp only", "hjx.jvp"},
           {"hjx-linearize", "Expand hjx.linearize and the uses of its map only", "hjx.linearize"},
           {"hjx-transpose", "Expand hjx.vjp only", "hjx.vjp"}},
          [](ModuleOp module, const RuleRegistry &rules) -> std::unique_ptr<TransformExpander> {
            return std::make_unique<AutodiffExpander>(module, rules);
          }};
}

} // namespace hjx
