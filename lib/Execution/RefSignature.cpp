// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/RefSignature.h"

#include "dialects/hjx/Effects.h"
#include "dialects/hjx/Hjx.h"
#include "lib/Refs/Discharge.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace hjx {

static LogicalResult wrap(func::FuncOp function, SymbolTable &symbols, ArrayRef<bool> isWritten) {
  StringAttr name = function.getSymNameAttr();
  OpBuilder at(function);
  if (failed(symbols.renameToUnique(function, {})))
    return function.emitOpError("takes refs and cannot be renamed");
  function.setPrivate();
  SmallVector<Type> inputs, results(function.getResultTypes());
  for (Type type : function.getArgumentTypes())
    inputs.push_back(ir::heldType(type));
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  function.getAllArgAttrs(argumentAttrs);
  function.getAllResultAttrs(resultAttrs);
  argumentAttrs.resize(inputs.size(), at.getDictionaryAttr({}));
  resultAttrs.resize(results.size(), at.getDictionaryAttr({}));
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  for (auto [i, type] : llvm::enumerate(inputs)) {
    if (!isWritten[i])
      continue;
    NamedAttrList attrs(argumentAttrs[i]), resultAttr;
    if (!attrs.get("hjx.name"))
      attrs.set("hjx.name", at.getStringAttr("arg" + Twine(i)));
    for (StringRef key : {"hjx.name", "hjx.role"})
      if (Attribute value = attrs.get(key))
        resultAttr.set(key, value);
    argumentAttrs[i] = attrs.getDictionary(at.getContext());
    resultAttrs.push_back(resultAttr.getDictionary(at.getContext()));
    results.push_back(type);
  }

  auto outer = func::FuncOp::create(at, function.getLoc(), name, at.getFunctionType(inputs, results));
  outer.setAllArgAttrs(argumentAttrs);
  outer.setAllResultAttrs(resultAttrs);
  Block &body = *outer.addEntryBlock();
  ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockEnd(function.getLoc(), &body);
  SmallVector<Value> operands;
  for (auto [argument, inner] : llvm::zip_equal(body.getArguments(), function.getArguments())) {
    argument.setLoc(inner.getLoc());
    bool isRef = isa<ir::RefType>(inner.getType());
    operands.push_back(argument);
    if (isRef)
      operands.back() = ir::RefNewOp::create(b, inner.getType(), argument);
  }
  auto call = func::CallOp::create(b, function, operands);
  SmallVector<Value> returned(call.getResults());
  for (auto [operand, written] : llvm::zip_equal(operands, isWritten))
    if (written)
      returned.push_back(ir::RefFreezeOp::create(b, ir::heldType(operand.getType()), operand));
  func::ReturnOp::create(b, returned);
  symbols.insert(outer);
  return success();
}

LogicalResult exposeRefs(ModuleOp module) {
  SymbolTable symbols(module);
  Discharger refs(module);
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isExternal() && llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<ir::RefType>) &&
        failed(wrap(function, symbols, refs.writtenArguments(function))))
      return failure();
  return success();
}

} // namespace hjx
