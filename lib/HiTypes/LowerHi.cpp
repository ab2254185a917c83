// SPDX-License-Identifier: Apache-2.0
//
// hjx-lower-hi: from values of hi-types to their components, one to many.
//
//   func @f(%q: !hjx.q8<2x3>) -> tensor<2x3xf32>
//     %x = hjx.call_primitive "dequantize"(%q)
//
//   func @f(%values: tensor<2x3xi8>, %scales: tensor<2xf32>) -> tensor<2x3xf32>
//     ... what the author's expand makes of raise(%values, %scales)
//
// One walk in program order. For each hi value it remembers the arrays that it
// became; a primitive is expanded at its place and the walk goes over what the
// expansion emitted, which may hold primitives again. Functions, calls and
// control flow take and give the components where they took and gave the value,
// attributes of arguments repeated.
#include "lib/HiTypes/Expansions.h"
#include "lib/HiTypes/Passes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace hjx {
namespace {

bool isHi(Type type) { return isa<ir::HiType>(type); }

class HiLowering {
public:
  explicit HiLowering(ModuleOp module) : module(module) {}

  LogicalResult run(func::FuncOp f);

private:
  LogicalResult run(Block &block);
  LogicalResult run(Operation *op);
  LogicalResult runNested(ir::ScanOp scan);
  LogicalResult runNested(ir::WhileOp loop);
  LogicalResult runNested(ir::CondOp cond);
  LogicalResult runNested(func::CallOp call);
  /// What a scan takes apart and stacks are components: each must have the leading axis.
  LogicalResult checkSlices(ir::ScanOp scan);
  LogicalResult expand(ir::CallPrimitiveOp op);
  /// Canonicalization drops results that nobody reads, but cannot say that the author's rule for it fails.
  LogicalResult checkDce(ir::CallPrimitiveOp op);

  /// The arrays that values became; others as they are.
  SmallVector<Value> flatten(ValueRange values) const;
  FailureOr<SmallVector<Type>> flatten(TypeRange types, Location loc) const;
  /// From here on `values`, results of `op` or block arguments, are `flat`.
  LogicalResult replace(ValueRange values, ValueRange flat, Location loc);
  /// Gives `block` the components of its hi arguments; those go in `finish`.
  LogicalResult splitArguments(Block &block);
  void finish();

  ModuleOp module;
  Expansions expansions;
  llvm::DenseMap<Value, SmallVector<Value>> parts;
  SmallVector<Operation *> dead;
  SmallVector<Block *> splitBlocks;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Value> HiLowering::flatten(ValueRange values) const {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (auto it = parts.find(value); it != parts.end())
      llvm::append_range(flat, it->second);
    else
      flat.push_back(value);
  }
  return flat;
}

FailureOr<SmallVector<Type>> HiLowering::flatten(TypeRange types, Location loc) const {
  SmallVector<Type> flat;
  for (Type type : types) {
    if (!isHi(type)) {
      flat.push_back(type);
      continue;
    }
    auto components = ir::flatLoTypes(type, [&] { return emitError(loc); });
    if (failed(components))
      return failure();
    llvm::append_range(flat, *components);
  }
  return flat;
}

LogicalResult HiLowering::replace(ValueRange values, ValueRange flat, Location loc) {
  for (Value value : values) {
    if (!isHi(value.getType())) {
      value.replaceAllUsesWith(flat.front());
      parts[value] = {flat.front()}; // An expansion may have returned the value.
      flat = flat.drop_front();
      continue;
    }
    auto types = flatten(value.getType(), loc);
    if (failed(types))
      return failure();
    parts[value] = SmallVector<Value>(flat.take_front(types->size()));
    flat = flat.drop_front(types->size());
  }
  return success();
}

LogicalResult HiLowering::splitArguments(Block &block) {
  if (llvm::none_of(block.getArgumentTypes(), isHi))
    return success();
  splitBlocks.push_back(&block);
  for (unsigned i = 0; i < block.getNumArguments(); ++i) {
    BlockArgument argument = block.getArgument(i);
    if (!isHi(argument.getType()))
      continue;
    auto types = flatten(argument.getType(), argument.getLoc());
    if (failed(types))
      return failure();
    SmallVector<Value> components;
    for (Type type : *types)
      components.push_back(block.insertArgument(++i, type, argument.getLoc()));
    parts[argument] = std::move(components);
  }
  return success();
}

void HiLowering::finish() {
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  dead.clear();
  for (Block *block : splitBlocks)
    block->eraseArguments([](BlockArgument argument) { return isHi(argument.getType()); });
  splitBlocks.clear();
  parts.clear();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult HiLowering::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(run(&op)))
      return failure();
  return success();
}

LogicalResult HiLowering::run(Operation *op) {
  if (auto call = dyn_cast<ir::CallPrimitiveOp>(op))
    return expand(call);
  if (isa<ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp>(op)) { // of an expansion, which nobody differentiates any more
    OpBuilder b(op);
    auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee");
    auto call = func::CallOp::create(b, op->getLoc(), callee, op->getResultTypes(), op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
    op = call;
  }
  if (auto scan = dyn_cast<ir::ScanOp>(op); scan && failed(checkSlices(scan)))
    return failure();
  bool touchesHi = llvm::any_of(op->getOperandTypes(), isHi) || llvm::any_of(op->getResultTypes(), isHi);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      touchesHi |= llvm::any_of(block.getArgumentTypes(), isHi);
      if (failed(splitArguments(block)) || failed(run(block)))
        return failure();
    }
  if (!touchesHi)
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ir::RaiseOp raise) {
        parts[raise.getResult()] = flatten(raise.getComponents());
        dead.push_back(op);
        return success();
      })
      .Case([&](ir::LowerOp lower) {
        dead.push_back(op);
        return replace(lower.getResults(), flatten(lower.getOperand()), op->getLoc());
      })
      .Case<ir::ScanOp, ir::WhileOp, ir::CondOp, func::CallOp>([&](auto nested) { return runNested(nested); })
      .Case<ir::YieldOp, func::ReturnOp>([&](auto) {
        op->setOperands(flatten(op->getOperands()));
        return success();
      })
      .Case([&](ir::OptBarrierOp barrier) {
        ImplicitLocOpBuilder b(op->getLoc(), op);
        auto made = ir::OptBarrierOp::create(b, flatten(barrier.getOperands()));
        dead.push_back(op);
        return replace(op->getResults(), made.getResults(), op->getLoc());
      })
      .Default([&](Operation *) {
        return op->emitOpError("takes or gives a value of a hi-type, which hjx-lower-hi cannot take apart; expand requests and "
                               "discharge refs first: hjx-expand-transforms, hjx-discharge-refs");
      });
}

LogicalResult HiLowering::checkSlices(ir::ScanOp scan) {
  auto check = [&](Type whole, Type slice) -> LogicalResult {
    if (!isHi(whole) && !isHi(slice))
      return success();
    auto arrays = flatten(whole, scan.getLoc()), slices = flatten(slice, scan.getLoc());
    if (failed(arrays) || failed(slices))
      return failure();
    bool agree = arrays->size() == slices->size();
    for (unsigned i = 0; agree && i < arrays->size(); ++i) {
      auto array = cast<RankedTensorType>((*arrays)[i]);
      agree = array.getRank() > 0 && array.getDimSize(0) == static_cast<int64_t>(scan.getLength()) &&
              ir::dropAxis(array, 0) == (*slices)[i];
    }
    if (agree)
      return success();
    return scan.emitOpError("the components of ") << whole << " are not those of " << slice
                                                  << " with a leading axis; let lo_types and leading_axis_spec agree";
  };
  for (auto [xs, slice] : llvm::zip_equal(scan.getXs(), scan.getBlock()->getArguments().take_back(scan.getNumXs())))
    if (failed(check(xs.getType(), slice.getType())))
      return failure();
  for (auto [ys, slice] : llvm::zip_equal(scan.getYsResults(), scan.getYield().getOperands().drop_front(scan.getNumCarries())))
    if (failed(check(ys.getType(), slice.getType())))
      return failure();
  return success();
}

LogicalResult HiLowering::runNested(ir::ScanOp scan) {
  Location loc = scan.getLoc();
  auto types = flatten(scan.getResultTypes(), loc);
  if (failed(types))
    return failure();
  ImplicitLocOpBuilder b(loc, scan);
  auto made = ir::ScanOp::create(b, *types, flatten(scan.getConsts()), flatten(scan.getInits()), flatten(scan.getXs()),
                                 scan.getLength(), scan.getReverse());
  made->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  made.getBody().takeBody(scan.getBody());
  dead.push_back(scan);
  return replace(scan.getResults(), made.getResults(), loc);
}

LogicalResult HiLowering::runNested(ir::WhileOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits = flatten(loop.getInits());
  auto made = ir::WhileOp::create(b, ValueRange(inits).getTypes(), flatten(loop.getCondConsts()), flatten(loop.getBodyConsts()),
                                  inits, loop.getMaxTripAttr());
  made.getCond().takeBody(loop.getCond());
  made.getBody().takeBody(loop.getBody());
  dead.push_back(loop);
  return replace(loop.getResults(), made.getResults(), loop.getLoc());
}

LogicalResult HiLowering::runNested(ir::CondOp cond) {
  auto types = flatten(cond.getResultTypes(), cond.getLoc());
  if (failed(types))
    return failure();
  ImplicitLocOpBuilder b(cond.getLoc(), cond);
  auto made = ir::CondOp::create(b, *types, cond.getIndex(), flatten(cond.getInputs()), cond.getBranches().size());
  made->setDiscardableAttrs(cond->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(cond.getBranches(), made.getBranches()))
    to.takeBody(from);
  dead.push_back(cond);
  return replace(cond.getResults(), made.getResults(), cond.getLoc());
}

LogicalResult HiLowering::runNested(func::CallOp call) {
  auto types = flatten(call.getResultTypes(), call.getLoc());
  if (failed(types))
    return failure();
  ImplicitLocOpBuilder b(call.getLoc(), call);
  auto made = func::CallOp::create(b, call.getCallee(), *types, flatten(call.getOperands()));
  dead.push_back(call);
  return replace(call.getResults(), made.getResults(), call.getLoc());
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

LogicalResult HiLowering::checkDce(ir::CallPrimitiveOp op) {
  auto used = llvm::map_to_vector(op.getResults(), [](Value result) { return !result.use_empty(); });
  if (!op.getDef().has(ir::PrimitiveDef::Rule::Dce) || !llvm::is_contained(used, false) || !llvm::is_contained(used, true))
    return success();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> results;
  LogicalResult made = op.getDef().dce(b, op.getCall(), op.getOperands(), used, results);
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
  return made;
}

LogicalResult HiLowering::expand(ir::CallPrimitiveOp op) {
  if (failed(checkDce(op)))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Operation *before = op->getPrevNode();
  if (failed(expansions.enter(op)))
    return failure();
  auto results = op.getDef().expand(b, op.getCall(), op.getOperands());
  if (failed(results))
    return failure();
  // Holds the results while the walk replaces values under them.
  auto anchor = UnrealizedConversionCastOp::create(b, TypeRange(), *results);
  for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != anchor;) {
    Operation *next = made->getNextNode();
    if (failed(run(made)))
      return failure();
    made = next;
  }
  expansions.leave();
  dead.append({anchor, op});
  return replace(op.getResults(), flatten(anchor.getOperands()), op.getLoc());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The attributes of values repeated for their components; those of `aliases`, a map of result
/// numbers, renumbered.
static SmallVector<DictionaryAttr> repeatAttrs(ArrayRef<DictionaryAttr> attrs, ArrayRef<unsigned> counts,
                                               ArrayRef<unsigned> firstResult) {
  SmallVector<DictionaryAttr> repeated;
  for (auto [dictionary, count] : llvm::zip_equal(attrs, counts))
    for (unsigned i = 0; i < count; ++i) {
      NamedAttrList list(dictionary);
      Builder b(dictionary.getContext());
      if (auto alias = dictionary.getAs<IntegerAttr>("hjx.alias"))
        list.set("hjx.alias", b.getI64IntegerAttr(firstResult[alias.getInt()] + i));
      if (auto name = dictionary.getAs<StringAttr>("hjx.name"); name && count > 1)
        list.set("hjx.name", b.getStringAttr(name.getValue() + "." + Twine(i)));
      repeated.push_back(list.getDictionary(dictionary.getContext()));
    }
  return repeated;
}

LogicalResult HiLowering::run(func::FuncOp f) {
  if (f.isExternal() && llvm::none_of(f.getArgumentTypes(), isHi) && llvm::none_of(f.getResultTypes(), isHi))
    return success();
  auto counts = [&](TypeRange types) -> FailureOr<SmallVector<unsigned>> {
    SmallVector<unsigned> sizes;
    for (Type type : types) {
      auto flat = flatten(type, f.getLoc());
      if (failed(flat))
        return failure();
      sizes.push_back(flat->size());
    }
    return sizes;
  };
  auto argumentCounts = counts(f.getArgumentTypes()), resultCounts = counts(f.getResultTypes());
  auto inputs = flatten(f.getArgumentTypes(), f.getLoc()), outputs = flatten(f.getResultTypes(), f.getLoc());
  if (failed(argumentCounts) || failed(resultCounts) || failed(inputs) || failed(outputs))
    return failure();
  SmallVector<unsigned> firstResult;
  unsigned next = 0;
  for (unsigned count : *resultCounts) {
    firstResult.push_back(next);
    next += count;
  }
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  f.getAllArgAttrs(argumentAttrs);
  f.getAllResultAttrs(resultAttrs);
  bool hasArgumentAttrs = f.getArgAttrs().has_value(), hasResultAttrs = f.getResAttrs().has_value();
  for (Block &block : f.getBody())
    if (failed(splitArguments(block)) || failed(run(block)))
      return failure();
  finish();
  f.removeArgAttrsAttr();
  f.removeResAttrsAttr();
  f.setType(FunctionType::get(f.getContext(), *inputs, *outputs));
  if (hasArgumentAttrs)
    f.setAllArgAttrs(repeatAttrs(argumentAttrs, *argumentCounts, firstResult));
  if (hasResultAttrs)
    f.setAllResultAttrs(repeatAttrs(resultAttrs, *resultCounts, firstResult));
  return success();
}

struct LowerHi : PassWrapper<LowerHi, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerHi)
  StringRef getArgument() const override { return "hjx-lower-hi"; }
  StringRef getDescription() const override { return "Replace values of hi-types by their components, and expand primitives"; }

  void runOnOperation() override {
    HiLowering lowering(getOperation());
    // Expansions may add functions.
    llvm::DenseSet<Operation *> lowered;
    for (bool more = true; more;) {
      more = false;
      for (func::FuncOp f : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
        if (!lowered.insert(f).second)
          continue;
        more = true;
        if (failed(lowering.run(f)))
          return signalPassFailure();
      }
    }
  }
};

} // namespace

std::unique_ptr<Pass> createLowerHi() { return std::make_unique<LowerHi>(); }
void registerHiTypesPasses() { PassRegistration<LowerHi>(); }

} // namespace hjx
