// SPDX-License-Identifier: Apache-2.0
//
// Modules at the machine stage, cut into parts: everything is there once, and each
// part stands alone.
#include "lib/Target/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

#include <map>

using namespace hjx;
using namespace mlir;
using testing::ElementsAre;
using testing::Pair;

namespace {

// @twice is the largest and local; it refers to a constant, a counter and another function.
constexpr const char *kProgram = R"mlir(
llvm.mlir.global private constant @seven(7 : i64) : i64
llvm.mlir.global private @counter(0 : i64) : i64
llvm.mlir.global external @exported(0 : i64) : i64
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func internal @twice(%x: i64) -> i64 {
  %a = llvm.mlir.addressof @seven : !llvm.ptr
  %b = llvm.mlir.addressof @counter : !llvm.ptr
  %c = llvm.load %a : !llvm.ptr -> i64
  llvm.store %c, %b : i64, !llvm.ptr
  %d = llvm.call @once(%x) : (i64) -> i64
  %e = llvm.call @once(%d) : (i64) -> i64
  llvm.return %e : i64
}
llvm.func internal @once(%x: i64) -> i64 {
  %a = llvm.mlir.addressof @seven : !llvm.ptr
  %b = llvm.load %a : !llvm.ptr -> i64
  %c = llvm.add %b, %x : i64
  llvm.return %c : i64
}
llvm.func @entry(%x: i64) -> i64 {
  %a = llvm.call @twice(%x) : (i64) -> i64
  llvm.return %a : i64
}
)mlir";

class SplitModuleTest : public testing::Test {
protected:
  SplitModuleTest() {
    context.loadDialect<LLVM::LLVMDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
  }

  /// How many parts define each symbol; checks that the parts stand alone.
  std::map<std::string, int> definitions(unsigned numParts, size_t expectedParts) {
    SmallVector<OwningOpRef<ModuleOp>> parts = splitModule(*module, numParts);
    EXPECT_EQ(parts.size(), expectedParts);
    std::map<std::string, int> count;
    for (OwningOpRef<ModuleOp> &part : parts) {
      EXPECT_TRUE(succeeded(verify(*part))); // Verifies calls and addresses, too.
      for (auto function : part->getOps<LLVM::LLVMFuncOp>())
        count[function.getName().str()] += !function.isExternal();
      for (auto global : part->getOps<LLVM::GlobalOp>())
        count[global.getSymName().str()] += global.getValueAttr() != nullptr;
    }
    return count;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(SplitModuleTest, OnePartHoldsEverything) {
  EXPECT_THAT(definitions(1, 1),
              ElementsAre(Pair("counter", 1), Pair("entry", 1), Pair("exported", 1),
                          Pair("once", 1), Pair("seven", 1), Pair("twice", 1)));
}

TEST_F(SplitModuleTest, PartsRepeatConstantsOnly) {
  // @seven is in the parts of @twice and @once, which are the largest and so apart.
  EXPECT_THAT(definitions(2, 2),
              ElementsAre(Pair("counter", 1), Pair("entry", 1), Pair("exported", 1),
                          Pair("once", 1), Pair("seven", 2), Pair("twice", 1)));
}

TEST_F(SplitModuleTest, NoPartIsWithoutAFunction) {
  definitions(0, 1);
  definitions(100, 3);
}

TEST_F(SplitModuleTest, WhatIsSharedIsVisibleToTheLinker) {
  for (OwningOpRef<ModuleOp> &part : splitModule(*module, 3)) {
    for (auto function : part->getOps<LLVM::LLVMFuncOp>())
      EXPECT_EQ(function.getLinkage(), LLVM::Linkage::External) << function.getName().str();
    if (auto counter = part->lookupSymbol<LLVM::GlobalOp>("counter"))
      EXPECT_EQ(counter.getLinkage(), LLVM::Linkage::External);
  }
}
