// SPDX-License-Identifier: Apache-2.0
//
// The functions that the engine makes: their creation and their end.
#include "lib/Autodiff/Autodiff.h"

using namespace mlir;

namespace hjx {

std::string maskName(ArrayRef<bool> mask) {
  std::string name;
  for (bool bit : mask)
    name += bit ? '1' : '0';
  return name;
}

LogicalResult checkDifferentiable(func::FuncOp f) {
  if (f.getBody().hasOneBlock())
    return success();
  return f.emitOpError(f.isExternal() ? "has no body to transform" : "cannot be transformed: expected one block, got several")
         << "; control flow inside a transform is hjx.scan, hjx.while and hjx.cond";
}

func::FuncOp Autodiff::createFunction(Location loc, StringRef name, TypeRange arguments) {
  OpBuilder builder(loc.getContext());
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  function.addEntryBlock();
  SymbolTable(module).insert(function); // renames on a clash
  created.push_back(function);
  return function;
}

void Autodiff::discard(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    function.getBody().dropAllReferences();
  for (func::FuncOp function : functions) {
    llvm::erase(created, function);
    function.erase();
  }
}

void Autodiff::eraseUnused() {
  // A caller comes after its callees, except where a rule created them while
  // the caller was being written: repeat until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    llvm::SmallDenseSet<StringAttr> named;
    module.walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
          named.insert(symbol.getAttr());
    });
    llvm::erase_if(created, [&](func::FuncOp function) {
      if (named.contains(function.getSymNameAttr()))
        return false;
      function.erase();
      return changed = true;
    });
  }
  jvps.clear();
  linearized.clear();
  transposed.clear();
}

} // namespace hjx
