// SPDX-License-Identifier: Apache-2.0
//
// Recognises reductions in bodies, and emits them: see the header.
#include "lib/Codegen/Structured/Combiner.h"

using namespace mlir;
using namespace hjx;

Value hjx::emitLike(ImplicitLocOpBuilder &b, Operation &op, ValueRange operands, Type resultType) {
  OperationState state(b.getLoc(), op.getName(), operands, resultType, op.getAttrs());
  return b.create(state)->getResult(0);
}

static bool isAssociativeAndCommutative(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
             arith::XOrIOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op);
}

/// The op that turns the byte `value` into a boolean, if that is its only use.
static Operation *byteToBool(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  auto compare = dyn_cast<arith::CmpIOp>(*value.getUsers().begin());
  bool matches = compare && compare.getPredicate() == arith::CmpIPredicate::ne &&
                 compare.getLhs() == value && matchPattern(compare.getRhs(), m_Zero());
  return matches ? compare.getOperation() : nullptr;
}

std::optional<Combiner> Combiner::match(linalg::GenericOp generic, unsigned output) {
  Block *body = generic.getBody();
  Combiner combiner;
  Value accumulator = body->getArgument(generic.getNumDpsInputs() + output);
  combiner.op = body->getTerminator()->getOperand(output).getDefiningOp();
  if (auto extend = dyn_cast_if_present<arith::ExtUIOp>(combiner.op);
      extend && extend.getIn().getType().isInteger(1) && extend.getIn().getDefiningOp()) {
    combiner.fromMemory = byteToBool(accumulator);
    if (!combiner.fromMemory)
      return std::nullopt;
    combiner.toMemory = extend;
    combiner.op = extend.getIn().getDefiningOp();
    accumulator = combiner.fromMemory->getResult(0);
  }
  if (!combiner.op || combiner.op->getBlock() != body || !combiner.op->hasOneUse() ||
      !isAssociativeAndCommutative(combiner.op) || !accumulator.hasOneUse() ||
      *accumulator.getUsers().begin() != combiner.op || !arith::getNeutralElement(combiner.op))
    return std::nullopt;
  combiner.accumulatorOperand = accumulator.getUses().begin()->getOperandNumber();
  return combiner;
}

Value Combiner::emit(ImplicitLocOpBuilder &b, Value lhs, Value rhs) const {
  SmallVector<Value, 2> operands = {lhs, rhs};
  if (accumulatorOperand == 1)
    std::swap(operands[0], operands[1]);
  return emitLike(b, *op, operands, lhs.getType());
}

Value Combiner::convert(ImplicitLocOpBuilder &b, Operation *conversion, Value value) const {
  if (!conversion)
    return value;
  IRMapping mapping;
  mapping.map(conversion->getOperand(0), value);
  if (auto compare = dyn_cast<arith::CmpIOp>(conversion))
    mapping.map(compare.getRhs(),
                arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), 0)));
  return b.clone(*conversion, mapping)->getResult(0);
}

TypedAttr Combiner::identity() const { return *arith::getNeutralElement(op); }

Value Combiner::reduceLanes(ImplicitLocOpBuilder &b, Value vector) const {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  for (int64_t lanes = type.getNumElements() / 2; lanes >= 1; lanes /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    auto high = llvm::to_vector(llvm::seq<int64_t>(lanes, 2 * lanes));
    vector = emit(b, vector::ShuffleOp::create(b, vector, vector, low),
                  vector::ShuffleOp::create(b, vector, vector, high));
  }
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}
