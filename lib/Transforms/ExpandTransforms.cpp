// SPDX-License-Identifier: Apache-2.0
//
// The walk over functions, callees first, and what remains at its end.
#include "lib/Transforms/ExpandTransforms.h"

#include "dialects/hjx/Effects.h"
#include "dialects/hjx/Hjx.h"
#include "lib/Refs/Discharge.h"
#include "lib/Rules/Registry.h"
#include "lib/Transforms/Passes.h"

using namespace mlir;

namespace hjx {

#define GEN_PASS_DEF_EXPANDTRANSFORMS
#include "lib/Transforms/Passes.h.inc"

namespace {

class Expansion {
public:
  Expansion(ModuleOp module, ArrayRef<std::string> only) : module(module) {
    for (const TransformVerb &verb : getTransformVerbs()) {
      expanders.push_back(verb.createExpander(module, getRuleRegistry()));
      for (const TransformPass &pass : verb.passes)
        if (only.empty() || llvm::is_contained(only, pass.request))
          expanderOf[pass.request] = expanders.back().get();
    }
  }

  /// True for a request, or an op that makes a ref; in `op`, its regions and what it calls.
  bool isNeededFor(Operation *op) {
    return op->walk([&](Operation *inner) {
               bool found = isa<ir::RefNewOp, ir::RefEmptyOp>(inner) || expanderOf.contains(inner->getName().getStringRef());
               for (NamedAttribute attribute : inner->getAttrs())
                 if (auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()); name && !found)
                   if (auto callee = module.lookupSymbol<func::FuncOp>(name); callee && asked.insert(callee).second)
                     found = isNeededFor(callee);
               return found ? WalkResult::interrupt() : WalkResult::advance();
             }).wasInterrupted();
  }

  /// All that `function` and what it calls need.
  LogicalResult runOn(func::FuncOp function) {
    if (failed(visit(function)) || failed(discharger.dischargeOwn(function)))
      return failure();
    for (auto &expander : expanders)
      expander->finish();
    return success();
  }

  LogicalResult run() {
    // Expansion adds functions; those hold no requests.
    for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (failed(visit(function)))
        return failure();
    for (auto &expander : expanders)
      expander->finish();
    return success();
  }

private:
  enum class State { Unseen, Open, Done };

  /// Expands the requests of `function`, those of the functions it names first.
  LogicalResult visit(func::FuncOp function) {
    if (states[function] == State::Done)
      return success();
    states[function] = State::Open;
    if (failed(expandPrimitivesOnRefs(function)))
      return failure();
    SmallVector<Operation *> requests;
    WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
      if (expanderOf.contains(op->getName().getStringRef()))
        requests.push_back(op);
      return visitCallees(op);
    });
    if (walk.wasInterrupted())
      return failure();
    for (Operation *request : requests)
      if (failed(expand(request)))
        return failure();
    states[function] = State::Done;
    return success();
  }

  LogicalResult visitCallees(Operation *op) {
    for (NamedAttribute attribute : op->getAttrs()) {
      auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
      auto callee = name ? module.lookupSymbol<func::FuncOp>(name) : func::FuncOp();
      if (!callee)
        continue;
      if (states[callee] == State::Open)
        return op->emitOpError("names @") << callee.getName()
                                          << ", which is part of a cycle of functions; transforms need functions that do not recurse";
      if (failed(visit(callee)))
        return failure();
    }
    return success();
  }

  /// Mapping works on values: what refs hold is read before, mapped where they are, and written back.
  FailureOr<Operation *> readRefs(ir::VmapOp op) {
    if (!ir::takesRef(op))
      return op.getOperation();
    auto callee = module.lookupSymbol<func::FuncOp>(op.getCallee());
    SmallVector<bool> isRef = llvm::map_to_vector(op.getOperandTypes(), llvm::IsaPred<ir::RefType>);
    auto isMapped = [&](unsigned i) {
      auto axis = dyn_cast<IntegerAttr>(op.getInAxes()[i]);
      return !axis || axis.getInt() != -1;
    };
    for (auto [i, argument] : llvm::enumerate(callee.getArguments()))
      if (Operation *write = isRef[i] && !isMapped(i) ? discharger.findWrite(argument) : nullptr)
        return write->emitOpError("writes a ref that all elements of the batch share, in a function that is mapped; move the ref to "
                                  "be an argument that is mapped, or write it outside");
    auto values = discharger.discharge(callee, isRef);
    if (failed(values))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), op);
    SmallVector<Value> operands;
    SmallVector<Type> types(op.getResultTypes());
    SmallVector<Attribute> outAxes(op.getOutAxes().begin(), op.getOutAxes().end());
    ArrayRef<int64_t> whole;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      if (!isRef[i]) {
        operands.push_back(operand);
        continue;
      }
      Type type = ir::heldType(operand.getType());
      operands.push_back(ir::RefGetOp::create(b, type, operand, ValueRange(), whole, whole, whole));
      if (values->written[i]) {
        types.push_back(type);
        outAxes.push_back(op.getInAxes()[i]);
      }
    }
    auto made = ir::VmapOp::create(b, types, SymbolRefAttr::get(values->function), operands, op.getInAxes(), b.getArrayAttr(outAxes),
                                   op.getAxisSizeAttr());
    unsigned next = op.getNumResults();
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (values->written[i]) {
        ir::RefSwapOp::create(b, types[next], operand, ValueRange(), made.getResult(next), whole, whole, whole);
        ++next;
      }
    op->replaceAllUsesWith(made.getResults().take_front(op.getNumResults()));
    op->erase();
    return made.getOperation();
  }

  LogicalResult expand(Operation *request) {
    // An error lies in the function being transformed; say who asked for it.
    Location loc = request->getLoc();
    StringAttr name = request->getName().getIdentifier();
    bool hasError = false;
    ScopedDiagnosticHandler note(request->getContext(), [&](Diagnostic &diagnostic) {
      bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      hasError |= isError;
      if (isError && diagnostic.getLocation() != loc)
        diagnostic.attachNote(loc) << "needed by this " << name.getValue();
      return failure(); // the next handler prints it
    });
    if (auto vmap = dyn_cast<ir::VmapOp>(request)) {
      auto onValues = readRefs(vmap);
      if (failed(onValues))
        return failure();
      request = *onValues;
    }
    // Rules are pure: refs that the functions of a request make themselves become values first.
    if (failed(discharger.dischargeOwnOfCallees(request)))
      return failure();
    // Some helpers report and go on with any value.
    return failure(failed(expanderOf[name.getValue()]->expand(request)) || hasError);
  }

  ModuleOp module;
  Discharger discharger{module};
  SmallVector<std::unique_ptr<TransformExpander>> expanders;
  llvm::StringMap<TransformExpander *> expanderOf;
  llvm::DenseMap<Operation *, State> states;
  llvm::SmallPtrSet<Operation *, 8> asked; // by isNeededFor
};

/// Outside of differentiation the requests that only guide it are plain calls.
LogicalResult makeCallsPlain(ModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) -> WalkResult {
    if (isa<ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp>(op)) {
      OpBuilder builder(op);
      auto call = func::CallOp::create(builder, op->getLoc(), op->getAttrOfType<FlatSymbolRefAttr>("callee"),
                                       op->getResultTypes(), op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    } else if (isa<ir::CustomLinOp>(op)) {
      return op->emitOpError("cannot be evaluated: forward-mode differentiation of a custom_vjp function is not defined; "
                             "give it a custom_jvp rule, or use only its transpose");
    } else if (auto map = dyn_cast<ir::PrimitiveLinOp>(op)) {
      return op->emitOpError("\"") << map.getPrimitive()
                                   << "\" has no forward-mode derivative: it defines its pull-back only; use only the transpose of the "
                                      "map, or give it a jvp rule";
    }
    return success();
  });
  return failure(walk.wasInterrupted());
}

struct ExpandTransforms : impl::ExpandTransformsBase<ExpandTransforms> {
  using ExpandTransformsBase::ExpandTransformsBase;
  void runOnOperation() override {
    SmallVector<std::string> names(only.begin(), only.end());
    if (failed(Expansion(getOperation(), names).run()) || (names.empty() && failed(makeCallsPlain(getOperation()))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult expandEmitted(Block &block, Operation *before, Block::iterator end, MutableArrayRef<Value> values) {
  ModuleOp module = ir::moduleAround(&block);
  Block::iterator first = before ? std::next(before->getIterator()) : block.begin();
  if (!module || first == end)
    return success();
  Expansion expansion(module, {});
  if (llvm::none_of(llvm::make_range(first, end), [&](Operation &op) { return expansion.isNeededFor(&op); }))
    return success();
  // Expanders work on functions, so the ops are one for the while.
  llvm::SetVector<Value> inputs;
  llvm::SmallPtrSet<Operation *, 32> own;
  for (Operation &op : llvm::make_range(first, end)) {
    for (Value operand : op.getOperands())
      if (!own.contains(operand.getDefiningOp()))
        inputs.insert(operand);
    own.insert(&op);
  }
  SmallVector<Value> returned;
  SmallVector<Value *> places;
  for (Value &value : values)
    if (value && own.contains(value.getDefiningOp())) {
      returned.push_back(value);
      places.push_back(&value);
    }
  Location loc = first->getLoc();
  auto type = FunctionType::get(loc.getContext(), TypeRange(inputs.getArrayRef()), TypeRange(ValueRange(returned)));
  auto function = func::FuncOp::create(loc, "rule", type);
  function.setPrivate();
  SymbolTable(module).insert(function);
  Block &body = *function.addEntryBlock();
  body.getOperations().splice(body.end(), block.getOperations(), first, end);
  for (auto [i, input] : llvm::enumerate(SmallVector<Value>(inputs.getArrayRef())))
    input.replaceUsesWithIf(body.getArgument(i), [&](OpOperand &use) { return use.getOwner()->getBlock() == &body; });
  OpBuilder atEnd = OpBuilder::atBlockEnd(&body);
  func::ReturnOp::create(atEnd, loc, returned);

  LogicalResult expanded = expansion.runOn(function);
  for (auto [input, argument] : llvm::zip_equal(inputs, body.getArguments()))
    argument.replaceAllUsesWith(input);
  for (auto [place, value] : llvm::zip_equal(places, body.getTerminator()->getOperands()))
    *place = value;
  body.getTerminator()->erase();
  block.getOperations().splice(end, body.getOperations());
  function.erase();
  return expanded;
}
} // namespace hjx
