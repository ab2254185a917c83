// SPDX-License-Identifier: Apache-2.0
//
// Functions are compared by their text: see the header.
#include "lib/Codegen/Structured/SharedFunctions.h"

using namespace mlir;
using namespace hjx;

static Type parameterType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)) || offset == 0)
    return type;
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(memref.getShape(), memref.getElementType(), layout);
}

OwningOpRef<func::FuncOp> SharedFunctions::create(Location loc, ValueRange arguments) {
  SmallVector<Type> types = llvm::map_to_vector(
      arguments, [](Value argument) { return parameterType(argument.getType()); });
  auto type = FunctionType::get(loc.getContext(), types, {});
  auto function = func::FuncOp::create(loc, "kernel", type);
  function.setPrivate();
  function.addEntryBlock();
  return function;
}

func::FuncOp SharedFunctions::share(OwningOpRef<func::FuncOp> function, StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (*function)->print(os, OpPrintingFlags().useLocalScope());
  auto [it, isNew] = functions.try_emplace(text);
  if (isNew) {
    function->setName(name);
    it->second = *function;
    symbols.insert(function.release()); // Makes the name unique.
  }
  return it->second;
}

void SharedFunctions::call(ImplicitLocOpBuilder &b, func::FuncOp callee, ValueRange arguments) {
  SmallVector<Value> operands(arguments);
  for (auto [operand, type] : llvm::zip(operands, callee.getArgumentTypes()))
    if (operand.getType() != type)
      operand = memref::CastOp::create(b, type, operand);
  func::CallOp::create(b, callee, operands);
}

std::string SharedFunctions::summary(Block &body) {
  std::string summary;
  for (Operation &op : body.without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp>(op))
      continue;
    StringRef name = op.getName().stripDialect();
    if (summary.size() + name.size() > 40)
      return summary + "_etc";
    summary += (summary.empty() ? "" : "_") + name.str();
  }
  return summary;
}
