// SPDX-License-Identifier: Apache-2.0
//
// Types, mapping specs and places in C++ and in the IR, both ways.
#include "lib/Frontend/RuleScope.h"
#include "lib/Frontend/Trace.h"

using namespace mlir;

namespace hjx::detail {

mlir::Type elementTypeOf(DType dtype, MLIRContext *context) {
  switch (dtype) {
  case DType::bool_:
    return IntegerType::get(context, 1);
  case DType::int8:
  case DType::int16:
  case DType::int32:
  case DType::int64:
    return IntegerType::get(context, item_size(dtype) * 8);
  case DType::uint8:
  case DType::uint16:
  case DType::uint32:
  case DType::uint64:
    return IntegerType::get(context, item_size(dtype) * 8, IntegerType::Unsigned);
  case DType::float16:
    return Float16Type::get(context);
  case DType::bfloat16:
    return BFloat16Type::get(context);
  case DType::float32:
    return Float32Type::get(context);
  case DType::float64:
    return Float64Type::get(context);
  case DType::key:
    return ir::KeyType::get(context, "threefry2x32");
  }
  return {};
}

DType dtypeOf(mlir::Type element) {
  if (isa<ir::KeyType>(element))
    return DType::key;
  if (element.isF16())
    return DType::float16;
  if (element.isBF16())
    return DType::bfloat16;
  if (element.isF32())
    return DType::float32;
  if (element.isF64())
    return DType::float64;
  auto integer = cast<IntegerType>(element);
  if (integer.getWidth() == 1)
    return DType::bool_;
  int log2Bytes = llvm::Log2_32(integer.getWidth() / 8);
  DType first = integer.isUnsigned() ? DType::uint8 : DType::int8;
  return static_cast<DType>(static_cast<int>(first) + log2Bytes);
}

RankedTensorType arrayTypeOf(const Aval &aval, MLIRContext *context) {
  return RankedTensorType::get(aval.shape.vec(), elementTypeOf(aval.dtype, context));
}

static Attribute paramOf(const TypeParam &param, MLIRContext *context, Where where) {
  if (const hjx::Type *type = param.type())
    return TypeAttr::get(typeOf(*type, context, where));
  if (const std::string *text = param.text())
    return StringAttr::get(context, *text);
  return DenseI64ArrayAttr::get(context, param.shape()->vec());
}

mlir::Type typeOf(const Aval &aval, MLIRContext *context, Where where) {
  mlir::Type type;
  if (aval.hi) {
    checkOneClass("hi-type", aval.hi->name, where);
    const ir::HiTypeDef *def = ir::HiRegistry::get().findType(aval.hi->name);
    if (!def)
      fail(where, aval.hi->name, "expected a registered hi-type, got an unknown one; known hi-types: " + ir::HiRegistry::get().typeNames(),
           "write HJX_REGISTER_TYPE(Class) after the class of the type");
    auto params = llvm::map_to_vector(aval.hi->params, [&](const TypeParam &param) { return paramOf(param, context, where); });
    std::string diagnostics;
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) { diagnostics = diagnostic.str(); });
    type = ir::HiType::getChecked([&] { return emitError(UnknownLoc::get(context)); }, context, def, ArrayRef<Attribute>(params));
    if (!type) {
      auto [message, remedy] = StringRef(diagnostics).rsplit("; ");
      fail(where, aval.hi->name, message.str(), remedy.str());
    }
  } else {
    type = arrayTypeOf(aval, context);
  }
  return aval.isRef ? ir::RefType::get(type) : type;
}

static TypeParam paramOf(Attribute param) {
  if (auto type = dyn_cast<TypeAttr>(param))
    return avalOf(type.getValue()).type();
  if (auto text = dyn_cast<StringAttr>(param))
    return text.str();
  ArrayRef<int64_t> shape = cast<DenseI64ArrayAttr>(param).asArrayRef();
  return Shape(shape.begin(), shape.end());
}

/// Types that a value in C++ can have.
static bool hasAval(mlir::Type type) {
  if (isa<ir::HiType>(type))
    return true;
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array || !array.hasStaticShape())
    return false;
  mlir::Type element = array.getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  bool isCounted = integer && !integer.isSigned() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isCounted || element.isF16() || element.isBF16() || element.isF32() || element.isF64() || isa<ir::KeyType>(element);
}

FailureOr<hjx::Type> hiTypeOf(StringRef name, ArrayRef<Attribute> attributes, ir::EmitError emitError) {
  std::vector<TypeParam> params;
  for (Attribute attribute : attributes) {
    if (auto type = dyn_cast<TypeAttr>(attribute); type && !hasAval(type.getValue()))
      return emitError() << "expected arrays and hi-types as types in !hjx." << name << ", got " << type << "; write tensor<..>";
    params.push_back(paramOf(attribute));
  }
  return hjx::Type(name.str(), std::move(params));
}

Attribute attributeOf(const AxisSpec &spec, MLIRContext *context) {
  Builder b(context);
  if (spec.is_none())
    return b.getI64IntegerAttr(-1);
  if (spec.is_axis())
    return b.getI64IntegerAttr(spec.axis());
  if (spec.is_text())
    return b.getStringAttr(spec.text());
  return b.getArrayAttr(llvm::map_to_vector(spec.list(), [&](const AxisSpec &entry) { return attributeOf(entry, context); }));
}

FailureOr<AxisSpec> axisSpecOf(Attribute spec, ir::EmitError emitError) {
  if (!spec || isa<UnitAttr>(spec))
    return AxisSpec();
  if (auto axis = dyn_cast<IntegerAttr>(spec))
    return axis.getInt() == -1 ? AxisSpec() : AxisSpec(axis.getInt());
  if (auto text = dyn_cast<StringAttr>(spec))
    return AxisSpec(text.str());
  auto list = dyn_cast<ArrayAttr>(spec);
  if (!list)
    return emitError() << "expected numbers, strings and lists as a mapping spec, got " << spec << "; write -1 for none";
  std::vector<AxisSpec> entries;
  for (Attribute entry : list) {
    FailureOr<AxisSpec> inner = axisSpecOf(entry, emitError);
    if (failed(inner))
      return failure();
    entries.push_back(*inner);
  }
  return AxisSpec(std::move(entries));
}

Aval avalOf(mlir::Type type, bool isWeak) {
  if (auto ref = dyn_cast<ir::RefType>(type)) {
    Aval aval = avalOf(ref.getValueType());
    aval.isRef = true;
    return aval;
  }
  if (auto hi = dyn_cast<ir::HiType>(type)) {
    std::vector<TypeParam> params;
    for (Attribute param : hi.getParams())
      params.push_back(paramOf(param));
    return hjx::Type(hi.getDef()->name().str(), std::move(params));
  }
  auto array = cast<RankedTensorType>(type);
  return {dtypeOf(array.getElementType()), Shape(array.getShape().begin(), array.getShape().end()), isWeak};
}

Location locationOf(Where where, MLIRContext *context) {
  if (where.line() == 0)
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, where.file_name(), where.line(), where.column());
}

} // namespace hjx::detail
