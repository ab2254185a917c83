// SPDX-License-Identifier: Apache-2.0
//
// The dialect object, its types, and questions about types.
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace hjx::ir {

/// The generator's name inside `!hjx.key<...>`, a keyword that may hold digits.
static ParseResult parseKeyImpl(AsmParser &parser, std::string &impl) {
  return parser.parseKeywordOrString(&impl);
}
static void printKeyImpl(AsmPrinter &printer, StringRef impl) { printer.printKeywordOrString(impl); }

} // namespace hjx::ir

using hjx::ir::parseKeyImpl;
using hjx::ir::printKeyImpl;

#include "dialects/hjx/Dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/hjx/Types.cpp.inc"

namespace hjx::ir {

namespace {
/// Every op of the dialect may move into its caller.
struct HjxInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void HjxDialect::initialize() {
  addInterfaces<HjxInlinerInterface>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/hjx/Types.cpp.inc"
      >();
  registerElementwiseOps();
  registerContractionOps();
  registerReductionOps();
  registerMovementOps();
  registerRandomOps();
  registerHigherOrderOps();
  registerRequestOps();
  registerRefOps();
  registerHiTypeOps();
}

OptionalParseResult parseOdsType(AsmParser &parser, StringRef *mnemonic, Type &type) {
  return generatedTypeParser(parser, mnemonic, type);
}
LogicalResult printOdsType(Type type, AsmPrinter &printer) { return generatedTypePrinter(type, printer); }

Operation *HjxDialect::materializeConstant(OpBuilder &b, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(b, loc, cast<RankedTensorType>(type), elements);
}

LogicalResult KeyType::verify(function_ref<InFlightDiagnostic()> emitError, StringRef generator) {
  if (generator != "threefry2x32")
    return emitError() << "unknown key generator '" << generator << "'; known: threefry2x32";
  return success();
}

LogicalResult checkResultTypes(StringRef op, std::optional<Location> location, TypeRange expected, TypeRange got) {
  op.consume_front("hjx.");
  if (expected.size() != got.size())
    return emitOptionalError(location, op, ": expected ", expected.size(), " results, got ", got.size());
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(expected, got)))
    if (std::get<0>(types) != std::get<1>(types))
      return emitOptionalError(location, op, ": expected result ", i, " of type ", std::get<0>(types), ", got ",
                               std::get<1>(types));
  return success();
}

RankedTensorType insertAxis(RankedTensorType type, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, size);
  return type.clone(shape);
}

RankedTensorType dropAxis(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return type.clone(shape);
}

Value makeSplat(OpBuilder &b, Location loc, Type type, double value) {
  auto array = cast<RankedTensorType>(type);
  Type element = array.getElementType();
  Attribute scalar;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    scalar = FloatAttr::get(floatType, value);
  } else {
    auto integer = cast<IntegerType>(element);
    bool isSigned = !integer.isUnsigned();
    scalar = IntegerAttr::get(
        integer, APInt(64, isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value))
                     .zextOrTrunc(integer.getWidth()));
  }
  return ConstantOp::create(b, loc, array, DenseElementsAttr::get(array, scalar));
}

std::optional<double> getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return std::nullopt;
  Type element = dense.getElementType();
  if (isa<FloatType>(element)) {
    APFloat number = dense.getSplatValue<APFloat>();
    bool lost;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  }
  auto integer = cast<IntegerType>(element);
  APInt bits = dense.getSplatValue<APInt>();
  return integer.isUnsigned() || integer.getWidth() == 1 ? static_cast<double>(bits.getZExtValue())
                                                         : static_cast<double>(bits.getSExtValue());
}

} // namespace hjx::ir
