// SPDX-License-Identifier: Apache-2.0
//
// Largest functions first, each into the part that is smallest so far.
#include "lib/Target/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

static int64_t numOps(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// Whether each part may have a copy of its own: nobody can tell copies of a constant apart.
static bool isRepeatable(LLVM::GlobalOp global) {
  LLVM::Linkage linkage = global.getLinkage();
  return global.getConstant() &&
         (linkage == LLVM::Linkage::Private || linkage == LLVM::Linkage::Internal);
}

/// Adds to `part` what `user` refers to and the part does not hold.
static void addReferences(Operation *user, SymbolTable &part, SymbolTable &whole) {
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(user);
  if (!uses)
    return;
  for (SymbolTable::SymbolUse use : *uses) {
    StringRef name = use.getSymbolRef().getRootReference();
    Operation *symbol = whole.lookup(name);
    if (!symbol || part.lookup(name))
      continue;
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(symbol)) {
      auto declaration = cast<LLVM::LLVMFuncOp>(function->cloneWithoutRegions());
      declaration.setLinkage(LLVM::Linkage::External);
      part.insert(declaration);
    } else if (auto global = dyn_cast<LLVM::GlobalOp>(symbol)) {
      auto copy = cast<LLVM::GlobalOp>(global->clone());
      if (!isRepeatable(global)) {
        copy.setLinkage(LLVM::Linkage::External);
        copy.removeValueAttr();
        copy.getInitializerRegion().getBlocks().clear();
      }
      part.insert(copy);
    }
  }
}

SmallVector<OwningOpRef<ModuleOp>> hjx::splitModule(ModuleOp module, unsigned numParts) {
  SmallVector<std::pair<int64_t, LLVM::LLVMFuncOp>> functions;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      functions.emplace_back(numOps(function), function);
  llvm::stable_sort(functions, [](auto &a, auto &b) { return a.first > b.first; });

  struct Part {
    OwningOpRef<ModuleOp> module;
    int64_t size = 0;
  };
  SmallVector<Part> parts(std::clamp<size_t>(numParts, 1, std::max<size_t>(functions.size(), 1)));
  for (Part &part : parts) {
    part.module = ModuleOp::create(module.getLoc());
    (*part.module)->setAttrs(module->getAttrDictionary());
  }
  for (auto &[size, function] : functions) {
    Part &smallest = *llvm::min_element(
        parts, [](const Part &a, const Part &b) { return a.size < b.size; });
    LLVM::LLVMFuncOp copy = function.clone();
    if (parts.size() > 1)
      copy.setLinkage(LLVM::Linkage::External);
    smallest.module->push_back(copy);
    smallest.size += size;
  }
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (!isRepeatable(global)) {
      LLVM::GlobalOp copy = global.clone();
      if (parts.size() > 1)
        copy.setLinkage(LLVM::Linkage::External);
      parts.front().module->push_back(copy);
    }

  SymbolTable whole(module);
  SmallVector<OwningOpRef<ModuleOp>> result;
  for (Part &part : parts) {
    SymbolTable symbols(*part.module);
    for (Operation &symbol : llvm::make_early_inc_range(*part.module->getBody()))
      addReferences(&symbol, symbols, whole);
    result.push_back(std::move(part.module));
  }
  return result;
}
