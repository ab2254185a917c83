// SPDX-License-Identifier: Apache-2.0
//
// The walk: rules, types, and the emission of one op after another.
#include "lib/Lowering/Lowering.h"
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"
#include "lib/Rules/Registry.h"

using namespace mlir;
using namespace hjx;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

const LoweringRules &hjx::getLoweringRules() {
  static const LoweringRules rules = [] {
    LoweringRules all;
    registerElementwiseLowering(all);
    registerConversionLowering(all);
    registerContractionLowering(all);
    registerReductionLowering(all);
    registerMovementLowering(all);
    registerIndexingLowering(all);
    registerRandomLowering(all);
    registerHigherOrderLowering(all);
    return all;
  }();
  return rules;
}

void hjx::registerLoweringRules(RuleRegistry &registry) {
  for (StringRef name : getLoweringRules().names())
    registry[name].lowers = true;
  // Terminators, what inlining and hjx-lower-random replace, and what stands for its operand.
  for (StringRef name :
       {func::CallOp::getOperationName(), ir::YieldOp::getOperationName(),
        ir::RandomBitsOp::getOperationName(), ir::RandomFoldInOp::getOperationName(),
        ir::RandomSeedOp::getOperationName(), ir::RandomSplitOp::getOperationName(),
        ir::RandomUnwrapOp::getOperationName(), ir::RandomWrapOp::getOperationName(),
        ir::StopGradientOp::getOperationName()})
    registry[name].lowers = true;
}

const LoweringRule *LoweringRules::find(Operation *op) const {
  auto it = rules.find(op->getName().getStringRef());
  return it == rules.end() ? nullptr : &it->second;
}

bool LoweringRules::isElementwise(Operation *op) const {
  if (auto bitcast = dyn_cast<ir::BitcastOp>(op)) // Between widths it changes the shape.
    return bitcast.getType().getShape() == bitcast.getOperand().getType().getShape();
  return scalarRules.contains(op->getName().getStringRef());
}

SmallVector<StringRef> LoweringRules::names() const {
  SmallVector<StringRef> all = llvm::to_vector(rules.keys());
  llvm::append_range(all, scalarRules.keys());
  return all;
}

SmallVector<Value> LoweringRules::emitScalar(Operation *op, LocBuilder &b, ValueRange args) const {
  const Scalar &rule = scalarRules.find(op->getName().getStringRef())->second;
  if (rule.raw)
    return rule.emit(op, b, args);
  SmallVector<Value> wide = llvm::map_to_vector(args, [&](Value arg) { return widenHalf(b, arg); });
  SmallVector<Value> results = rule.emit(op, b, wide);
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (Type element = getElementTypeOrSelf(type); isHalf(element))
      value = emitFloatCast(b, value, element);
  return results;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type hjx::lowerType(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array || array.getEncoding() || !array.hasStaticShape() ||
      !array.getElementType().isIntOrFloat())
    return {};
  return array.clone(signless(array.getElementType()));
}

RankedTensorType hjx::lowerArrayType(Type type) { return cast<RankedTensorType>(lowerType(type)); }

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> Lowering::emitBlock(Block &block, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    set(argument, value);
  for (Operation &op : block.without_terminator())
    if (failed(emit(&op)))
      return failure();
  return (*this)[block.getTerminator()->getOperands()];
}

/// The one nest of an elementwise op and of the ops inside it.
static void emitElementwise(Operation *op, Lowering &l) {
  SmallVector<Operation *> members(l.clusters.inside(op));
  members.push_back(op);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  AffineMap all = l.b.getMultiDimIdentityMap(shape.size());
  Nest nest;
  nest.sizes = llvm::to_vector(shape);
  nest.members = members;
  for (Value result : op->getResults()) {
    nest.reads.push_back({result, all});
    nest.inits.push_back(emitEmpty(l.b, lowerArrayType(result.getType())));
    nest.initMaps.push_back(all);
  }
  nest.iterators.assign(shape.size(), utils::IteratorType::parallel);
  nest.finish = [](LocBuilder &, ValueRange elements, ValueRange) {
    return llvm::to_vector(elements);
  };
  for (auto [result, value] : llvm::zip_equal(op->getResults(), emitNest(l, nest)))
    l.set(result, value);
}

static bool isEmptyArray(Type type) { return cast<RankedTensorType>(type).getNumElements() == 0; }

LogicalResult Lowering::emit(Operation *op) {
  if (clusters.isInside(op) || clusters.isOnlyRead(op))
    return success();
  b.setLoc(op->getLoc());
  for (Type type : op->getResultTypes())
    if (!lowerType(type))
      return op->emitOpError("has a result without a place at the tensor stage: ")
             << type << "\n  help: run hjx-to-lo first; it lowers keys, and transforms before it";
  // Nothing to compute, and slices of nothing have no valid offsets.
  if (isa<ir::HjxDialect>(op->getDialect()) && llvm::all_of(op->getResultTypes(), isEmptyArray)) {
    for (Value result : op->getResults())
      set(result, emitEmpty(b, lowerArrayType(result.getType())));
    return success();
  }
  if (rules.isElementwise(op)) {
    emitElementwise(op, *this);
    return success();
  }
  if (const LoweringRule *rule = rules.find(op))
    return (*rule)(op, *this);
  if (isa<func::CallOp>(op))
    return op->emitOpError("expected calls to be inlined\n  help: run inline before "
                           "convert-hjx-to-linalg; a function that "
                           "calls itself cannot be lowered, hjx.while can");
  if (isa<ir::HjxDialect>(op->getDialect()) || op->getNumRegions() > 0)
    return emitMissingRule(op, "lower");
  Operation *copy = b.clone(*op, values); // Of the tensor stage already.
  for (auto [result, value] : llvm::zip_equal(op->getResults(), copy->getResults()))
    set(result, value);
  return success();
}

void hjx::markLoops(ArrayRef<scf::ForOp> loops, ArrayRef<bool> isParallel, bool rowsAreParallel) {
  for (auto [loop, parallel] : llvm::zip_equal(loops, isParallel)) {
    scf::ForOp marked = loop;
    auto unit = UnitAttr::get(marked.getContext());
    marked->setAttr("hjx.nest", unit);
    if (parallel)
      marked->setAttr("hjx.parallel", unit);
    if (rowsAreParallel)
      marked->setAttr("hjx.parallel_rows", unit);
  }
}
