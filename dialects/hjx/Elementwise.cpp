// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: result types, verifiers and folders.
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace hjx::ir;

#include "dialects/hjx/ElementwiseEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Elementwise.cpp.inc"

void HjxDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Elementwise.cpp.inc"
      >();
}

static RankedTensorType boolsOf(Type operand) {
  auto array = cast<RankedTensorType>(operand);
  return RankedTensorType::get(array.getShape(), IntegerType::get(operand.getContext(), 1));
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  results.push_back(boolsOf(adaptor.getOperand().getType()));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  Type lhs = adaptor.getLhs().getType(), rhs = adaptor.getRhs().getType();
  if (lhs != rhs)
    return emitOptionalError(loc, "compare: (C1) expected operands of one type, got ", lhs, " and ", rhs);
  results.push_back(boolsOf(lhs));
  return success();
}

LogicalResult SelectNOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  auto which = cast<RankedTensorType>(adaptor.getWhich().getType());
  if (adaptor.getCases().empty())
    return emitOptionalError(loc, "select_n: (C1) expected at least one case");
  Type type = adaptor.getCases().front().getType();
  for (Value other : adaptor.getCases().drop_front())
    if (other.getType() != type)
      return emitOptionalError(loc, "select_n: (C2) expected cases of one type, got ", type, " and ",
                               other.getType());
  if (which.getElementType().isInteger(1) && adaptor.getCases().size() > 2)
    return emitOptionalError(loc, "select_n: (C3) a bool selector chooses between at most 2 cases, got ",
                             adaptor.getCases().size());
  if (which.getRank() != 0 && which.getShape() != cast<RankedTensorType>(type).getShape())
    return emitOptionalError(loc, "select_n: (C3) expected a scalar selector or one of the cases' shape, got ",
                             which, " for cases ", type);
  results.push_back(type);
  return success();
}

LogicalResult ClampOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  for (Value bound : {adaptor.getLo(), adaptor.getHi()}) {
    auto boundType = cast<RankedTensorType>(bound.getType());
    if (boundType.getElementType() != type.getElementType() || (boundType.getRank() != 0 && boundType != type))
      return emitOptionalError(loc, "clamp: (C1) expected a bound of type ", type, " or a scalar of its element type, got ",
                               boundType);
  }
  results.push_back(type);
  return success();
}

LogicalResult BitcastOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  int64_t fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  SmallVector<int64_t> expected(from.getShape());
  if (fromBits > toBits) {
    expected.push_back(fromBits / toBits);
  } else if (fromBits < toBits) {
    if (expected.empty() || expected.back() != toBits / fromBits)
      return emitOpError("(C1) expected a trailing dimension of ") << toBits / fromBits << " in the operand, got " << from;
    expected.pop_back();
  }
  if (to.getShape() != ArrayRef(expected))
    return emitOpError("(C1) expected result ") << to.clone(expected) << ", got " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Folders: identities that hold for every value, NaN and signed zero included,
// and constant folding of splats in integer arithmetic.
//===----------------------------------------------------------------------===//

static bool isSplat(Attribute attribute, double value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType())) {
    // Compares bits: 0 here means +0.
    APFloat number(value);
    APFloat splat = dense.getSplatValue<APFloat>();
    bool lost;
    number.convert(splat.getSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return splat.bitwiseIsEqual(number);
  }
  return value >= 0 && dense.getSplatValue<APInt>() == static_cast<uint64_t>(value);
}

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// Folds two integer splats (the frontend's index arithmetic).
static Attribute foldIntegers(Attribute lhs, Attribute rhs, function_ref<APInt(APInt, APInt)> combine) {
  auto a = dyn_cast_or_null<DenseElementsAttr>(lhs), b = dyn_cast_or_null<DenseElementsAttr>(rhs);
  if (!a || !b || !a.isSplat() || !b.isSplat() || isFloat(a.getType()))
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(a.getType()), combine(a.getSplatValue<APInt>(), b.getSplatValue<APInt>()));
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0 is x for integers; for floats only x + -0 is, since -0 + +0 is +0.
  double zero = isFloat(getType()) ? -0.0 : 0.0;
  if (isSplat(adaptor.getRhs(), zero))
    return getLhs();
  if (isSplat(adaptor.getLhs(), zero))
    return getRhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), [](APInt a, APInt b) { return a + b; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0)) // x - +0 is x, also for -0
    return getLhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), [](APInt a, APInt b) { return a - b; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return getLhs();
  if (isSplat(adaptor.getLhs(), 1.0))
    return getRhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), [](APInt a, APInt b) { return a * b; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1.0) ? OpFoldResult(getLhs()) : OpFoldResult();
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), [](APInt a, APInt b) { return a & b; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), [](APInt a, APInt b) { return a | b; });
}

OpFoldResult SelectNOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_equal(getCases()))
    return getCases().front();
  auto which = dyn_cast_or_null<DenseElementsAttr>(adaptor.getWhich());
  if (!which || !which.isSplat())
    return {};
  APInt index = which.getSplatValue<APInt>();
  int64_t last = getCases().size() - 1;
  int64_t chosen = index.getBitWidth() == 1 ? int64_t(index.getZExtValue()) : index.getSExtValue();
  return getCases()[std::clamp<int64_t>(chosen, 0, last)];
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}
