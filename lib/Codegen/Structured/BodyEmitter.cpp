// SPDX-License-Identifier: Apache-2.0
//
// Bodies of structured ops as scalars and vectors: see the header.
#include "lib/Codegen/Structured/BodyEmitter.h"

#include "lib/Codegen/Structured/Combiner.h"

using namespace mlir;
using namespace hjx;

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

BodyEmitter::BodyEmitter(const LoopNest &nest, int vectorLoop, const IRMapping &flatBuffers)
    : nest(nest), vectorLoop(vectorLoop), flatBuffers(flatBuffers) {
  classify();
}

bool BodyEmitter::canVectorize(linalg::GenericOp op) {
  auto isLaneType = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return llvm::all_of(op.getBody()->getArgumentTypes(), isLaneType) &&
         llvm::all_of(op.getBody()->without_terminator(), [&](Operation &nested) {
           return llvm::all_of(nested.getResultTypes(), isLaneType) &&
                  (isa<linalg::IndexOp, memref::LoadOp, arith::ConstantOp>(nested) ||
                   OpTrait::hasElementwiseMappableTraits(&nested));
         });
}

BodyEmitter::Kind BodyEmitter::kindOfResult(Operation &op) const {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = nest.loopOfDim[index.getDim()];
    return loop >= 0 && loop == vectorLoop ? Kind::Consecutive : Kind::Uniform;
  }
  bool uniform = llvm::all_of(op.getOperands(),
                              [&](Value operand) { return kindOf(operand) == Kind::Uniform; });
  if (uniform)
    return Kind::Uniform;
  // Cut to fewer bits, base + lane is base + lane still; extended, it may have wrapped around.
  if (isa<arith::IndexCastOp>(op) && op.getOperand(0).getType().isIndex())
    return kindOf(op.getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    Kind lhs = kindOf(op.getOperand(0)), rhs = kindOf(op.getOperand(1));
    bool consecutive = (lhs == Kind::Consecutive && rhs == Kind::Uniform) ||
                       (isa<arith::AddIOp>(op) && lhs == Kind::Uniform && rhs == Kind::Consecutive);
    if (consecutive)
      return Kind::Consecutive;
  }
  return Kind::Varying;
}

void BodyEmitter::classify() {
  Block *body = nest.op.getBody();
  for (auto [argument, access] : llvm::zip(body->getArguments(), nest.accesses)) {
    bool isOutput = argument.getArgNumber() >= nest.numInputs();
    kinds[argument] =
        vectorLoop >= 0 && (isOutput || vectorStride(access) != 0) ? Kind::Varying : Kind::Uniform;
  }
  for (Operation &op : body->without_terminator()) {
    Kind kind = vectorLoop < 0 ? Kind::Uniform : kindOfResult(op);
    for (Value result : op.getResults())
      kinds[result] = kind;
    // Without a vector loop an accumulator is known only at the step: all ops wait for it.
    (kind == Kind::Uniform && vectorLoop >= 0 ? uniformOps : varyingOps).push_back(&op);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// base + stride * iv, with the arithmetic left out where it does nothing.
static Value addScaled(ImplicitLocOpBuilder &b, Value base, Value iv, int64_t stride) {
  if (stride == 0)
    return base;
  Value term = iv;
  if (stride != 1)
    term = arith::MulIOp::create(b, iv, arith::ConstantIndexOp::create(b, stride));
  return base ? arith::AddIOp::create(b, base, term).getResult() : term;
}

Value BodyEmitter::baseAddress(ImplicitLocOpBuilder &b, const Access &access, ArrayRef<Value> ivs) {
  Value base = arith::ConstantIndexOp::create(b, access.offset);
  for (auto [loop, iv] : llvm::enumerate(ivs))
    if (static_cast<int>(loop) != vectorLoop)
      base = addScaled(b, base, iv, access.strides[loop]);
  return base;
}

Value BodyEmitter::address(ImplicitLocOpBuilder &b, const Access &access, Value iv) {
  Value base = bases[&access - nest.accesses.data()];
  return iv ? addScaled(b, base, iv, vectorStride(access)) : base;
}

/// Loads `lanes` elements that are `stride` apart.
static Value loadLanes(ImplicitLocOpBuilder &b, Value flat, Value address, int64_t stride,
                       unsigned lanes, int64_t alignment = 0) {
  if (lanes == 1 || stride == 0)
    return memref::LoadOp::create(b, flat, address);
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  if (stride == 1)
    return vector::LoadOp::create(b, type, flat, address, /*nontemporal=*/false,
                                  llvm::MaybeAlign(alignment));
  SmallVector<Value> elements;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value at = arith::AddIOp::create(b, address,
                                     arith::ConstantIndexOp::create(b, int64_t(lane) * stride));
    elements.push_back(memref::LoadOp::create(b, flat, at));
  }
  return vector::FromElementsOp::create(b, type, elements);
}

Value BodyEmitter::loadStep(ImplicitLocOpBuilder &b, const Access &access, Value iv,
                            unsigned lanes) {
  if (access.byValue)
    return access.operand;
  return loadLanes(b, flatBuffers.lookup(access.operand), address(b, access, iv),
                   vectorStride(access), lanes, access.alignment);
}

Value BodyEmitter::loadOutput(ImplicitLocOpBuilder &b, unsigned output, Value iv, unsigned lanes) {
  return loadStep(b, nest.outputs()[output], iv, lanes);
}

void BodyEmitter::storeOutput(ImplicitLocOpBuilder &b, unsigned output, Value iv, unsigned lanes,
                              Value value) {
  const Access &access = nest.outputs()[output];
  Value flat = flatBuffers.lookup(access.operand);
  Value at = address(b, access, iv);
  if (lanes == 1) {
    memref::StoreOp::create(b, value, flat, at);
    return;
  }
  if (vectorStride(access) == 1) {
    vector::StoreOp::create(b, value, flat, at, /*nontemporal=*/false,
                            llvm::MaybeAlign(access.alignment));
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value element = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{lane});
    Value offset = arith::ConstantIndexOp::create(b, int64_t(lane) * vectorStride(access));
    memref::StoreOp::create(b, element, flat, arith::AddIOp::create(b, at, offset).getResult());
  }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value BodyEmitter::loopIndex(ImplicitLocOpBuilder &b, linalg::IndexOp index) {
  int loop = nest.loopOfDim[index.getDim()];
  return loop < 0 ? arith::ConstantIndexOp::create(b, 0).getResult() : loopIvs[loop];
}

void BodyEmitter::emitScalar(ImplicitLocOpBuilder &b, Operation &op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    values.map(index.getResult(), loopIndex(b, index));
    return;
  }
  Operation *clone = b.clone(op, values);
  SmallVector<linalg::IndexOp> nested;
  clone->walk([&](linalg::IndexOp index) { nested.push_back(index); });
  for (linalg::IndexOp index : nested) {
    index.replaceAllUsesWith(loopIndex(b, index));
    index.erase();
  }
}

Value BodyEmitter::asVector(ImplicitLocOpBuilder &b, Value bodyValue) {
  Value value = lookup(bodyValue);
  Kind kind = kindOf(bodyValue);
  if (kind == Kind::Varying)
    return value;
  auto type = VectorType::get({stepLanes}, value.getType());
  TypedAttr constant;
  if (kind == Kind::Uniform && matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(constant)));
  Value vector = vector::BroadcastOp::create(b, type, value);
  if (kind == Kind::Consecutive) {
    unsigned width = value.getType().isIndex() ? IndexType::kInternalStorageBitWidth
                                               : value.getType().getIntOrFloatBitWidth();
    SmallVector<APInt> steps;
    for (unsigned lane = 0; lane < stepLanes; ++lane)
      steps.emplace_back(width, lane, /*isSigned=*/false, /*implicitTrunc=*/true);
    Value step = arith::ConstantOp::create(b, DenseElementsAttr::get(type, steps));
    vector = arith::AddIOp::create(b, vector, step);
  }
  return vector;
}

/// table[i, j] with indices that differ per lane. Neighbouring elements are one load.
Value BodyEmitter::emitGather(ImplicitLocOpBuilder &b, memref::LoadOp load) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)load.getMemRefType().getStridesAndOffset(strides, offset);
  Value flat = flatBuffers.lookup(load.getMemRef());
  bool allScalar =
      llvm::none_of(load.getIndices(), [&](Value index) { return kindOf(index) == Kind::Varying; });
  int64_t stride = 0; // Between lanes, if no index varies freely.
  Value base = arith::ConstantIndexOp::create(b, 0);
  Value laneAddresses;
  for (auto [index, indexStride] : llvm::zip(load.getIndices(), strides)) {
    if (kindOf(index) != Kind::Varying) {
      base = addScaled(b, base, lookup(index), indexStride);
      stride += kindOf(index) == Kind::Consecutive ? indexStride : 0;
      continue;
    }
    Value scaled = lookup(index);
    Value factor = arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(scaled.getType()), b.getIndexAttr(indexStride)));
    scaled = arith::MulIOp::create(b, scaled, factor);
    laneAddresses = laneAddresses ? arith::AddIOp::create(b, laneAddresses, scaled) : scaled;
  }
  if (allScalar)
    return loadLanes(b, flat, base, stride, stepLanes);
  SmallVector<Value> elements;
  for (unsigned lane = 0; lane < stepLanes; ++lane) {
    Value at = vector::ExtractOp::create(b, laneAddresses, ArrayRef<int64_t>{lane});
    at = arith::AddIOp::create(b, at, base);
    if (stride != 0)
      at = arith::AddIOp::create(b, at, arith::ConstantIndexOp::create(b, lane * stride));
    elements.push_back(memref::LoadOp::create(b, flat, at));
  }
  auto type = VectorType::get({stepLanes}, load.getType());
  return vector::FromElementsOp::create(b, type, elements);
}

void BodyEmitter::emitVector(ImplicitLocOpBuilder &b, Operation &op) {
  Value bodyResult = op.getResult(0);
  Kind kind = kindOf(bodyResult);
  if (isa<linalg::IndexOp>(op)) {
    values.map(bodyResult, loopIvs[vectorLoop]);
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    values.map(bodyResult, emitGather(b, load));
  } else if (kind == Kind::Consecutive) {
    emitScalar(b, op); // On the bases.
  } else {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(asVector(b, operand));
    auto type = VectorType::get({stepLanes}, bodyResult.getType());
    values.map(bodyResult, emitLike(b, op, operands, type));
  }
}

void BodyEmitter::emitOutputAddresses(ImplicitLocOpBuilder &b, ArrayRef<Value> ivs) {
  bases.resize(nest.accesses.size());
  for (unsigned output = 0; output < nest.numOutputs(); ++output)
    bases[nest.numInputs() + output] = baseAddress(b, nest.outputs()[output], ivs);
}

void BodyEmitter::emitUniform(ImplicitLocOpBuilder &b, ArrayRef<Value> ivs) {
  loopIvs.assign(ivs.begin(), ivs.end());
  bases.resize(nest.accesses.size());
  for (unsigned input = 0; input < nest.numInputs(); ++input)
    bases[input] = baseAddress(b, nest.accesses[input], ivs);
  if (vectorLoop < 0)
    return;
  Block *body = nest.op.getBody();
  for (unsigned input = 0; input < nest.numInputs(); ++input)
    if (BlockArgument argument = body->getArgument(input);
        kindOf(argument) == Kind::Uniform && !argument.use_empty())
      values.map(argument, loadStep(b, nest.accesses[input], Value(), 1));
  for (Operation *op : uniformOps)
    emitScalar(b, *op);
}

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

/// Whether `value` is the variable of loop `loop` itself, perhaps in fewer bits that can hold it.
static bool isVariable(const LoopNest &nest, int loop, Value value) {
  Type type = value.getType();
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && nest.loopOfDim[index.getDim()] == loop &&
         (type.isIndex() || llvm::isIntN(type.getIntOrFloatBitWidth(), nest.loops[loop].size));
}

/// Whether a select on `condition`, which is `then`, takes what is uniform and drops what varies.
bool BodyEmitter::dropsVarying(arith::CmpIOp condition, bool then) const {
  return llvm::any_of(condition->getUsers(), [&](Operation *user) {
    auto select = dyn_cast<arith::SelectOp>(user);
    if (!select || select.getCondition() != condition.getResult())
      return false;
    Value taken = then ? select.getTrueValue() : select.getFalseValue();
    Value dropped = then ? select.getFalseValue() : select.getTrueValue();
    return kindOf(taken) == Kind::Uniform && kindOf(dropped) == Kind::Varying;
  });
}

SmallVector<Threshold> BodyEmitter::emitThresholds(ImplicitLocOpBuilder &b) {
  if (vectorLoop < 0)
    return {};
  using Predicate = arith::CmpIPredicate;
  SmallVector<Threshold> thresholds;
  for (Operation *op : varyingOps) {
    auto condition = dyn_cast<arith::CmpIOp>(op);
    if (!condition)
      continue;
    Predicate predicate = condition.getPredicate();
    bool isRight = isVariable(nest, vectorLoop, condition.getRhs());
    Value bound = isRight ? condition.getLhs() : condition.getRhs();
    bool isSigned = llvm::is_contained(
        {Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge}, predicate);
    bool isLarge = predicate == Predicate::sgt || predicate == Predicate::sge; // Of lhs.
    bool then = isLarge != isRight;
    if (!isSigned || kindOf(bound) != Kind::Uniform || !dropsVarying(condition, then) ||
        !(isRight || isVariable(nest, vectorLoop, condition.getLhs())))
      continue;
    bool isPastBound = (predicate == Predicate::sle || predicate == Predicate::sgt) != isRight;
    Value from = lookup(bound);
    if (!from.getType().isIndex())
      from = arith::IndexCastOp::create(b, b.getIndexType(), from);
    // A bound far beyond the loop must not wrap around.
    Value size = arith::ConstantIndexOp::create(b, nest.loops[vectorLoop].size);
    from = arith::MinSIOp::create(b, from, size);
    if (isPastBound)
      from = arith::AddIOp::create(b, from, arith::ConstantIndexOp::create(b, 1));
    thresholds.push_back({op, from, then});
  }
  return thresholds;
}

void BodyEmitter::assumeBeyond(ArrayRef<Threshold> thresholds) {
  known.clear();
  for (const Threshold &threshold : thresholds)
    known[threshold.condition] = threshold.then;
}

Value BodyEmitter::emitKnown(ImplicitLocOpBuilder &b, bool value) {
  TypedAttr attribute = b.getBoolAttr(value);
  if (stepLanes > 1)
    attribute = DenseElementsAttr::get(VectorType::get({stepLanes}, b.getI1Type()), value);
  return arith::ConstantOp::create(b, attribute);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void BodyEmitter::emitVarying(ImplicitLocOpBuilder &b, Value iv, unsigned lanes,
                              ArrayRef<Value> accumulators, ArrayRef<Value> inputs) {
  stepLanes = lanes;
  if (vectorLoop >= 0)
    loopIvs[vectorLoop] = iv;
  Block *body = nest.op.getBody();
  for (unsigned input = 0; input < nest.numInputs(); ++input) {
    BlockArgument argument = body->getArgument(input);
    bool atStep = vectorLoop < 0 || kindOf(argument) == Kind::Varying;
    if (!atStep || argument.use_empty())
      continue;
    Value known = input < inputs.size() ? inputs[input] : Value();
    values.map(argument, known ? known : loadStep(b, nest.accesses[input], iv, lanes));
  }
  for (auto [output, accumulator] : llvm::enumerate(accumulators))
    if (accumulator)
      values.map(body->getArgument(nest.numInputs() + output), accumulator);
  for (Operation *op : varyingOps) {
    bool missesOperand = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getParentBlock() == body && !values.contains(operand);
    });
    // What depends on an accumulator that was not given is the combination, done by the caller.
    if (missesOperand)
      continue;
    if (auto it = known.find(op); it != known.end())
      values.map(op->getResult(0), emitKnown(b, it->second));
    else if (lanes == 1)
      emitScalar(b, *op);
    else
      emitVector(b, *op);
  }
}

Value BodyEmitter::result(ImplicitLocOpBuilder &b, Value value) {
  return stepLanes == 1 ? lookup(value) : asVector(b, value);
}
