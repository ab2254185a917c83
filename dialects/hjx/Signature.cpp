// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/Signature.h"

#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx;

constexpr llvm::StringLiteral kType = "type", kArguments = "arguments", kResults = "results";

RankedTensorType hjx::storageType(RankedTensorType type) {
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  if (isa<ir::KeyType>(element)) {
    shape.push_back(2);
    element = IntegerType::get(type.getContext(), 32);
  } else if (auto integer = dyn_cast<IntegerType>(element)) {
    element = IntegerType::get(type.getContext(), integer.getWidth());
  }
  return RankedTensorType::get(shape, element);
}

Signature Signature::of(func::FuncOp function) {
  Signature signature{function.getFunctionType(), {}, {}};
  function.getAllArgAttrs(signature.argumentAttrs);
  function.getAllResultAttrs(signature.resultAttrs);
  auto none = DictionaryAttr::get(function.getContext());
  signature.argumentAttrs.resize(function.getNumArguments(), none);
  signature.resultAttrs.resize(function.getNumResults(), none);
  return signature;
}

void Signature::record(ModuleOp module) const {
  Builder b(module.getContext());
  auto list = [&](ArrayRef<DictionaryAttr> attrs) {
    return b.getArrayAttr(SmallVector<Attribute>(attrs.begin(), attrs.end()));
  };
  module->setAttr(kSignatureAttr, b.getDictionaryAttr({b.getNamedAttr(kArguments, list(argumentAttrs)),
                                                       b.getNamedAttr(kResults, list(resultAttrs)),
                                                       b.getNamedAttr(kType, TypeAttr::get(type))}));
}

static FailureOr<Signature> parse(ModuleOp module, Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto type = dictionary ? dictionary.getAs<TypeAttr>(kType) : TypeAttr();
  auto function = type ? dyn_cast<FunctionType>(type.getValue()) : FunctionType();
  Signature signature{function, {}, {}};
  auto read = [&](StringRef key, size_t count, SmallVector<DictionaryAttr> &out) {
    auto list = dictionary.getAs<ArrayAttr>(key);
    if (!list || list.size() != count)
      return false;
    for (Attribute entry : list)
      out.push_back(dyn_cast<DictionaryAttr>(entry));
    return !llvm::is_contained(out, DictionaryAttr());
  };
  auto isTensor = [](Type each) { return isa<RankedTensorType>(each); };
  auto namesResult = [&](DictionaryAttr attrs) {
    auto alias = attrs.getAs<IntegerAttr>("hjx.alias");
    return !alias || (alias.getInt() >= 0 && alias.getInt() < static_cast<int64_t>(function.getNumResults()));
  };
  if (!function || !llvm::all_of(function.getInputs(), isTensor) || !llvm::all_of(function.getResults(), isTensor) ||
      !read(kArguments, function.getNumInputs(), signature.argumentAttrs) ||
      !read(kResults, function.getNumResults(), signature.resultAttrs) || !llvm::all_of(signature.argumentAttrs, namesResult)) {
    module.emitError("expected '") << kSignatureAttr << "' to hold a function type of tensors, and as many dictionaries of 'arguments' and "
                                   << "'results', got " << attribute << "\n  help: remove the attribute, or take a new dump";
    return failure();
  }
  return signature;
}

/// Whether a value that the recorded signature calls `recorded` may be stored as `type`.
static bool isStoredAs(Type recorded, Type type) {
  auto tensor = storageType(cast<RankedTensorType>(recorded));
  if (auto buffer = dyn_cast<MemRefType>(type)) {
    Type element = tensor.getElementType();
    if (element.isInteger(1))
      element = buffer.getElementType().isInteger(1) ? element : IntegerType::get(type.getContext(), 8);
    return buffer.getShape() == tensor.getShape() && buffer.getElementType() == element;
  }
  auto own = dyn_cast<RankedTensorType>(type);
  return own && storageType(own) == tensor;
}

static bool isOnTensors(func::FuncOp main) {
  return !main->hasAttr("hjx.memory_plan") && llvm::all_of(main.getArgumentTypes(), llvm::IsaPred<TensorType>) &&
         (main.getNumArguments() > 0 || main.getNumResults() > 0);
}

/// @main takes tensors and returns tensors; or it takes buffers, those of results that no argument
/// stores after those of the arguments, and then perhaps the arena.
static LogicalResult checkAgainst(const Signature &recorded, func::FuncOp main) {
  SmallVector<Type> expected(recorded.type.getInputs()), got(main.getArgumentTypes());
  if (isOnTensors(main)) {
    llvm::append_range(expected, recorded.type.getResults());
    llvm::append_range(got, main.getResultTypes());
  } else {
    SmallVector<bool> isAlias(recorded.type.getNumResults(), false);
    for (DictionaryAttr attrs : recorded.argumentAttrs)
      if (auto alias = attrs.getAs<IntegerAttr>("hjx.alias"))
        isAlias[alias.getInt()] = true;
    for (auto [type, alias] : llvm::zip_equal(recorded.type.getResults(), isAlias))
      if (!alias)
        expected.push_back(type);
    if (!got.empty() && main.getArgAttr(got.size() - 1, "hjx.arena"))
      got.pop_back();
  }
  if (expected.size() == got.size() && llvm::all_of(llvm::zip_equal(expected, got), [](auto pair) {
        return isStoredAs(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  return main.emitOpError("has the type ") << main.getFunctionType() << ", which does not store what '" << kSignatureAttr
                                           << "' of the module records: " << recorded.type
                                           << "\n  help: after a change of @main's type change the attribute too";
}

FailureOr<Signature> Signature::of(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Attribute attribute = module->getAttr(kSignatureAttr);
  if (!attribute) {
    // Without arguments and results (the empty tuple, lowered) a function is on tensors, too.
    if (main && (isOnTensors(main) || main.getFunctionType() == FunctionType::get(main.getContext(), {}, {})))
      return Signature::of(main);
    module.emitError("expected a module with a function @main on tensors, or with the attribute '") << kSignatureAttr << "'";
    return failure();
  }
  FailureOr<Signature> recorded = parse(module, attribute);
  if (failed(recorded) || (main && failed(checkAgainst(*recorded, main))))
    return failure();
  if (main && isOnTensors(main)) {
    Signature own = Signature::of(main);
    own.type = recorded->type;
    return own;
  }
  return recorded;
}
