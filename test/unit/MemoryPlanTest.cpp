// SPDX-License-Identifier: Apache-2.0
//
// Placement in the arena: buffers that live at one time never share a byte, on the
// header's example and on random lifetimes; text and attribute keep the plan.
#include "lib/Codegen/Structured/MemoryPlan.h"

#include "mlir/IR/BuiltinAttributes.h"
#include <gmock/gmock.h>

#include <random>

using namespace hjx;
using testing::HasSubstr;

static MemoryPlan::Entry entry(std::string name, int64_t sizeBytes, int64_t first, int64_t last) {
  return {std::move(name), sizeBytes, 0, first, last};
}

TEST(MemoryPlan, ExampleOfTheHeader) {
  MemoryPlan plan;
  plan.entries = {entry("a", 256, 0, 2), entry("b", 128, 1, 3), entry("c", 192, 3, 4)};
  plan.place();
  EXPECT_EQ(plan.entries[0].offset, 0);
  EXPECT_EQ(plan.entries[1].offset, 256);
  EXPECT_EQ(plan.entries[2].offset, 0);
  EXPECT_EQ(plan.sizeBytes, 384);
  EXPECT_EQ(plan.peakBytes, 384);
}

// By size alone there would be a hole below the last one: 512 bytes and 576.
TEST(MemoryPlan, TakesTheOrderThatLeavesFewestHoles) {
  MemoryPlan byLife, byBoth;
  byLife.entries = {entry("a", 128, 0, 4), entry("b", 128, 0, 2), entry("c", 192, 5, 6), entry("d", 192, 2, 5)};
  byLife.place();
  EXPECT_EQ(byLife.sizeBytes, 448);
  EXPECT_EQ(byLife.peakBytes, 448);
  byBoth.entries = {entry("a", 192, 2, 6), entry("b", 192, 5, 8), entry("c", 128, 4, 6), entry("d", 256, 3, 3)};
  byBoth.place();
  EXPECT_EQ(byBoth.sizeBytes, 512);
  EXPECT_EQ(byBoth.peakBytes, 512);
}

TEST(MemoryPlan, NothingToPlace) {
  MemoryPlan plan;
  plan.place();
  EXPECT_EQ(plan.sizeBytes, 0);
  EXPECT_EQ(plan.peakBytes, 0);
}

TEST(MemoryPlan, RandomLifetimesNeverOverlap) {
  std::mt19937 generator(3);
  auto number = [&](int64_t limit) { return static_cast<int64_t>(generator() % limit); };
  for (int round = 0; round < 50; ++round) {
    MemoryPlan plan;
    for (int i = 0; i < 60; ++i) {
      int64_t first = number(100);
      plan.entries.push_back(entry("x", number(5000), first, first + number(30)));
    }
    plan.place();
    EXPECT_GE(plan.sizeBytes, plan.peakBytes);
    EXPECT_LE(plan.sizeBytes, 2 * plan.peakBytes);
    for (const auto &a : plan.entries) {
      EXPECT_EQ(a.offset % MemoryPlan::kAlignment, 0);
      EXPECT_LE(a.offset + a.sizeBytes, plan.sizeBytes);
      for (const auto &b : plan.entries) {
        bool together = &a != &b && a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
        bool apart = a.offset + a.sizeBytes <= b.offset || b.offset + b.sizeBytes <= a.offset;
        EXPECT_TRUE(!together || apart || a.sizeBytes == 0 || b.sizeBytes == 0);
      }
    }
  }
}

TEST(MemoryPlan, SurvivesAsAttributeAndPrints) {
  MemoryPlan plan;
  plan.entries = {entry("model.cpp:7", 100, 0, 2), entry("model.cpp:9", 50, 1, 3)};
  plan.place();
  mlir::MLIRContext context;
  mlir::FailureOr<MemoryPlan> copy = MemoryPlan::fromAttribute(plan.toAttribute(&context));
  ASSERT_TRUE(succeeded(copy));
  EXPECT_EQ(copy->sizeBytes, plan.sizeBytes);
  EXPECT_EQ(copy->entries[1].offset, plan.entries[1].offset);
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os);
  EXPECT_THAT(text, HasSubstr("memory plan: 2 buffers, arena 192 bytes, peak 192 bytes"));
  EXPECT_THAT(text, HasSubstr("model.cpp:9"));
}

TEST(MemoryPlan, RefusesOtherAttributes) {
  mlir::MLIRContext context;
  EXPECT_TRUE(failed(MemoryPlan::fromAttribute({})));
  EXPECT_TRUE(failed(MemoryPlan::fromAttribute(mlir::UnitAttr::get(&context))));
  EXPECT_TRUE(failed(MemoryPlan::fromAttribute(mlir::DictionaryAttr::get(&context))));
}
