// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/HiSignature.h"

#include "dialects/hjx/Hjx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace hjx {
namespace {

bool isHi(Type type) { return isa<ir::HiType>(type); }

FailureOr<SmallVector<Type>> componentTypes(ImplicitLocOpBuilder &b, Type type) {
  auto hi = cast<ir::HiType>(type);
  return hi.getDef()->loTypes(hi, [&] { return emitError(b.getLoc()); });
}

/// The value of `type` made of the next of `arrays`; null after an error.
Value raise(ImplicitLocOpBuilder &b, Type type, ValueRange &arrays) {
  if (!isHi(type)) {
    Value array = arrays.front();
    arrays = arrays.drop_front();
    return array;
  }
  auto types = componentTypes(b, type);
  if (failed(types))
    return {};
  SmallVector<Value> components;
  for (Type component : *types)
    components.push_back(raise(b, component, arrays));
  return llvm::is_contained(components, Value()) ? Value() : Value(ir::RaiseOp::create(b, type, components));
}

LogicalResult lower(ImplicitLocOpBuilder &b, Value value, SmallVectorImpl<Value> &arrays) {
  if (!isHi(value.getType())) {
    arrays.push_back(value);
    return success();
  }
  auto types = componentTypes(b, value.getType());
  if (failed(types))
    return failure();
  for (Value component : ir::LowerOp::create(b, *types, value).getResults())
    if (failed(lower(b, component, arrays)))
      return failure();
  return success();
}

/// The arrays of one argument or result, and their attributes.
LogicalResult append(ImplicitLocOpBuilder &b, Type type, DictionaryAttr attrs, const Twine &defaultName, SmallVectorImpl<Type> &types,
                     SmallVectorImpl<DictionaryAttr> &allAttrs) {
  auto arrays = ir::flatLoTypes(type, [&] { return emitError(b.getLoc()); });
  if (failed(arrays))
    return failure();
  auto name = attrs.getAs<StringAttr>("hjx.name");
  std::string prefix = name ? name.str() : defaultName.str();
  for (auto [i, array] : llvm::enumerate(*arrays)) {
    NamedAttrList list(attrs);
    if (isHi(type))
      list.set("hjx.name", b.getStringAttr(prefix + (arrays->size() > 1 ? "." + std::to_string(i) : "")));
    types.push_back(array);
    allAttrs.push_back(list.getDictionary(b.getContext()));
  }
  return success();
}

LogicalResult expose(func::FuncOp function, SymbolTable &symbols) {
  ImplicitLocOpBuilder b(function.getLoc(), function);
  std::string name = function.getSymName().str();
  SmallVector<Type> inputs, results;
  SmallVector<DictionaryAttr> inputAttrs, resultAttrs;
  auto none = DictionaryAttr::get(b.getContext());
  auto orNone = [&](DictionaryAttr attrs) { return attrs ? attrs : none; };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(append(b, type, orNone(function.getArgAttrDict(i)), "arg" + Twine(i), inputs, inputAttrs)))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(append(b, type, orNone(function.getResultAttrDict(i)), "result" + Twine(i), results, resultAttrs)))
      return failure();

  if (failed(symbols.renameToUnique(function, {})))
    return function.emitError("cannot be renamed");
  function.setPrivate();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttrs(i, none);
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttrs(i, none);
  auto exposed = func::FuncOp::create(b, name, b.getFunctionType(inputs, results));
  symbols.insert(exposed);
  exposed.setAllArgAttrs(inputAttrs);
  exposed.setAllResultAttrs(resultAttrs);
  b.setInsertionPointToStart(exposed.addEntryBlock());
  ValueRange arrays = exposed.getArguments();
  SmallVector<Value> operands, returned;
  for (Type type : function.getArgumentTypes())
    operands.push_back(raise(b, type, arrays));
  if (llvm::is_contained(operands, Value()))
    return failure();
  for (Value result : func::CallOp::create(b, function, operands).getResults())
    if (failed(lower(b, result, returned)))
      return failure();
  func::ReturnOp::create(b, returned);
  return success();
}

} // namespace

LogicalResult exposeComponents(ModuleOp module) {
  SymbolTable symbols(module);
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal() &&
        (llvm::any_of(function.getArgumentTypes(), isHi) || llvm::any_of(function.getResultTypes(), isHi)) &&
        failed(expose(function, symbols)))
      return failure();
  return success();
}

} // namespace hjx
