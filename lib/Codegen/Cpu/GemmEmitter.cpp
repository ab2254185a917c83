// SPDX-License-Identifier: Apache-2.0
//
// See GemmEmitter.h.
#include "lib/Codegen/Cpu/GemmEmitter.h"

#include "lib/Support/SizeBytes.h"

#include <numeric>

using namespace mlir;
namespace hjx::gemm {

template <typename Op> static Int fold(Int lhs, Int rhs) {
  return lhs.emitter->wrap(lhs.emitter->createOrFold<Op>(lhs.value, rhs.value));
}
Int operator+(Int lhs, Int rhs) { return fold<arith::AddIOp>(lhs, rhs); }
Int operator-(Int lhs, Int rhs) { return fold<arith::SubIOp>(lhs, rhs); }
Int operator*(Int lhs, Int rhs) { return fold<arith::MulIOp>(lhs, rhs); }
// Unsigned division: cheaper, and a power of two becomes a shift.
Int operator/(Int lhs, Int rhs) { return fold<arith::DivUIOp>(lhs, rhs); }
Int operator%(Int lhs, Int rhs) { return fold<arith::RemUIOp>(lhs, rhs); }
Int operator+(Int lhs, int64_t rhs) { return lhs + lhs.emitter->constant(rhs); }
Int operator-(Int lhs, int64_t rhs) { return lhs - lhs.emitter->constant(rhs); }
Int operator*(Int lhs, int64_t rhs) { return lhs * lhs.emitter->constant(rhs); }
Int operator/(Int lhs, int64_t rhs) { return lhs / lhs.emitter->constant(rhs); }
Int min(Int lhs, Int rhs) { return fold<arith::MinSIOp>(lhs, rhs); }
Int max(Int lhs, Int rhs) { return fold<arith::MaxSIOp>(lhs, rhs); }
Int ceilDiv(Int lhs, Int rhs) { return (lhs + rhs - 1) / rhs; }
Int ceilDiv(Int lhs, int64_t rhs) { return (lhs + (rhs - 1)) / rhs; }
Int roundUp(Int lhs, int64_t multiple) { return ceilDiv(lhs, multiple) * multiple; }

Int Emitter::constant(int64_t value) {
  return wrap(arith::ConstantOp::create(*this, getI64IntegerAttr(value)));
}
Value Emitter::compare(arith::CmpIPredicate predicate, Int lhs, Int rhs) {
  return createOrFold<arith::CmpIOp>(predicate, lhs.value, rhs.value);
}
Value Emitter::equal(Int lhs, int64_t rhs) {
  return compare(arith::CmpIPredicate::eq, lhs, constant(rhs));
}
Value Emitter::atMost(Int lhs, int64_t rhs) {
  return compare(arith::CmpIPredicate::sle, lhs, constant(rhs));
}
Value Emitter::both(Value lhs, Value rhs) { return createOrFold<arith::AndIOp>(lhs, rhs); }
Value Emitter::either(Value lhs, Value rhs) { return createOrFold<arith::OrIOp>(lhs, rhs); }
Int Emitter::select(Value condition, Int ifTrue, Int ifFalse) {
  return wrap(createOrFold<arith::SelectOp>(condition, ifTrue.value, ifFalse.value));
}

Value Emitter::at(Value base, Type element, Int index) {
  return LLVM::GEPOp::create(*this, ptr(), element, base, ValueRange{index.value});
}
Value Emitter::at(Value base, Type element, int64_t index) {
  if (index == 0)
    return base;
  return LLVM::GEPOp::create(*this, ptr(), element, base,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}
static unsigned naturalAlignment(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<LLVM::LLVMPointerType>(element) ? 8 : elementBytes(element);
}
Value Emitter::load(Type type, Value address, unsigned alignment) {
  return LLVM::LoadOp::create(*this, type, address, alignment ? alignment : naturalAlignment(type));
}
void Emitter::store(Value value, Value address, unsigned alignment) {
  LLVM::StoreOp::create(*this, value, address,
                        alignment ? alignment : naturalAlignment(value.getType()));
}
Int Emitter::loadInt(Value base, int64_t slot) { return wrap(load(i64(), at(base, i64(), slot))); }
void Emitter::prefetch(Value address, bool forWriting) {
  // Into the nearest cache (3), data (1).
  LLVM::Prefetch::create(*this, address, forWriting, 3, 1);
}
Value Emitter::maskOf(Int count, int64_t lanes) {
  auto type = VectorType::get({lanes}, getI32Type());
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value lane = arith::ConstantOp::create(*this, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Int limit = min(max(count, constant(0)), constant(lanes));
  Value narrow = arith::TruncIOp::create(*this, getI32Type(), limit.value);
  Value limits = vector::BroadcastOp::create(*this, type, narrow);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, lane, limits);
}
Value Emitter::loadMasked(VectorType type, Value address, Value mask) {
  return LLVM::MaskedLoadOp::create(*this, type, address, mask, zero(type), naturalAlignment(type));
}
void Emitter::storeMasked(Value value, Value address, Value mask) {
  LLVM::MaskedStoreOp::create(*this, value, address, mask, naturalAlignment(value.getType()));
}

Value Emitter::zero(Type type) { return arith::ConstantOp::create(*this, getZeroAttr(type)); }

/// f32 to bf16, to nearest even. Spelled out because without AVX512-BF16 LLVM calls a function that
/// old C libraries lack, and with it the instruction flushes subnormal numbers to zero.
static Value roundToBf16(Emitter &e, Value value, Type type) {
  Type bitsType = e.getI32Type(), halfType = e.getI16Type();
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    bitsType = vector.clone(bitsType);
    halfType = vector.clone(halfType);
  }
  auto constant = [&](int32_t number) -> Value {
    TypedAttr attr = e.getI32IntegerAttr(number);
    if (auto vector = dyn_cast<VectorType>(bitsType))
      attr = SplatElementsAttr::get(vector, number);
    return arith::ConstantOp::create(e, attr);
  };
  Value bits = arith::BitcastOp::create(e, bitsType, value);
  Value odd = arith::AndIOp::create(e, arith::ShRUIOp::create(e, bits, constant(16)), constant(1));
  Value rounded = arith::AddIOp::create(e, bits, arith::AddIOp::create(e, odd, constant(0x7fff)));
  Value quiet = arith::OrIOp::create(e, bits, constant(0x400000));
  Value isNan = arith::CmpFOp::create(e, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(e, isNan, quiet, rounded);
  Value high =
      arith::TruncIOp::create(e, halfType, arith::ShRUIOp::create(e, chosen, constant(16)));
  return arith::BitcastOp::create(e, type, high);
}

Value Emitter::convert(Value value, Type elementType, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  Type type = elementType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(elementType);
  bool wider = elementType.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  if (from.isF32() && elementType.isBF16())
    return roundToBf16(*this, value, type);
  if (isa<FloatType>(from))
    return wider ? arith::ExtFOp::create(*this, type, value).getResult()
                 : arith::TruncFOp::create(*this, type, value).getResult();
  if (!wider)
    return arith::TruncIOp::create(*this, type, value);
  return isUnsigned ? arith::ExtUIOp::create(*this, type, value).getResult()
                    : arith::ExtSIOp::create(*this, type, value).getResult();
}

Value Emitter::unpack(Value bytes, Packing packing, Type elementType) {
  auto vector = dyn_cast<VectorType>(bytes.getType());
  TypedAttr number = getI8IntegerAttr(4);
  Value four = arith::ConstantOp::create(*this, vector ? SplatElementsAttr::get(vector, Attribute(number)) : number);
  if (packing == Packing::LowNibble)
    bytes = arith::ShLIOp::create(*this, bytes, four);
  if (packing != Packing::Byte)
    bytes = arith::ShRSIOp::create(*this, bytes, four);
  return arith::SIToFPOp::create(*this, vector ? Type(vector.clone(elementType)) : elementType, bytes);
}

Value Emitter::addElements(Value lhs, Value rhs) {
  if (isa<FloatType>(getElementTypeOrSelf(lhs.getType())))
    return arith::AddFOp::create(*this, lhs, rhs);
  return arith::AddIOp::create(*this, lhs, rhs);
}

Value Emitter::multiplyAdd(Value lhs, Value rhs, Value sum, bool fma) {
  // Not vector.fma: that becomes llvm.fmuladd, which is two roundings where contraction is off.
  if (fma)
    return LLVM::FMAOp::create(*this, lhs, rhs, sum);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  Value product = isFloat ? arith::MulFOp::create(*this, lhs, rhs).getResult()
                          : arith::MulIOp::create(*this, lhs, rhs).getResult();
  return addElements(product, sum);
}

void Emitter::loop(Int begin, Int end, int64_t step, function_ref<void(Int)> body) {
  loop(begin, end, constant(step), body);
}
void Emitter::loop(Int begin, Int end, Int step, function_ref<void(Int)> body) {
  auto op = scf::ForOp::create(*this, begin.value, end.value, step.value);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  body(wrap(op.getInductionVar()));
}
Emitter::Carried Emitter::loop(Int begin, Int end, int64_t step, ValueRange carried,
                               function_ref<Carried(Int, ValueRange)> body) {
  auto op = scf::ForOp::create(*this, begin.value, end.value, constant(step).value, carried);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  Carried next = body(wrap(op.getInductionVar()), op.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return llvm::to_vector_of<Value>(op.getResults());
}
void Emitter::branch(Value condition, function_ref<void()> ifTrue, function_ref<void()> ifFalse) {
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/static_cast<bool>(ifFalse));
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  ifTrue();
  if (ifFalse) {
    setInsertionPointToStart(op.elseBlock());
    ifFalse();
  }
}

Emitter::Carried Emitter::choose(Value condition, function_ref<Carried()> ifTrue,
                                 function_ref<Carried()> ifFalse) {
  // The result types are known only when a branch is there: emit it first, then the op around it.
  Region thenRegion, elseRegion;
  InsertionGuard guard(*this);
  auto emit = [&](Region &region, function_ref<Carried()> body) {
    createBlock(&region);
    Carried values = body();
    scf::YieldOp::create(*this, values);
    return llvm::to_vector(ValueRange(values).getTypes());
  };
  SmallVector<Type> types;
  {
    InsertionGuard inner(*this);
    types = emit(thenRegion, ifTrue);
    emit(elseRegion, ifFalse);
  }
  auto op = scf::IfOp::create(*this, types, condition, /*withElseRegion=*/true);
  op.getThenRegion().takeBody(thenRegion);
  op.getElseRegion().takeBody(elseRegion);
  return llvm::to_vector_of<Value>(op.getResults());
}

LLVM::LLVMFuncOp Emitter::function(ModuleOp module, StringRef name, TypeRange arguments,
                                   function_ref<void(ValueRange)> body) {
  InsertionGuard guard(*this);
  setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()),
                                          llvm::to_vector(arguments));
  auto op = LLVM::LLVMFuncOp::create(*this, name, type, LLVM::Linkage::Internal);
  op.setNoInline(true);
  op.setNoUnwind(true);
  Block *entry = op.addEntryBlock(*this);
  setInsertionPointToStart(entry);
  body(entry->getArguments());
  LLVM::ReturnOp::create(*this, ValueRange{});
  return op;
}
void Emitter::call(LLVM::LLVMFuncOp callee, ValueRange arguments) {
  LLVM::CallOp::create(*this, callee, arguments);
}

} // namespace hjx::gemm
