// SPDX-License-Identifier: Apache-2.0
//
// The fixture of the property tests: one instance per op. Each file adds
// properties; PropertyTest.cpp has the list of ops and of gaps.
#pragma once

#include "test/unit/PropertyHarness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hjx::test {

/// Loads what samples and requests need, and registers the passes.
void initializeContext(mlir::MLIRContext &context);

class PropertyTest : public testing::TestWithParam<std::string> {
protected:
  PropertyTest() { initializeContext(context); }
  mlir::MLIRContext context;
};

inline void expectClose(llvm::ArrayRef<HostArray> got, llvm::ArrayRef<HostArray> expected,
                        double tolerance, const std::string &what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(got, expected)))
    if (auto difference = describeDifference(std::get<0>(pair), std::get<1>(pair),
                                             {.rtol = tolerance, .atol = tolerance}))
      ADD_FAILURE() << what << ", value " << i << ": " << *difference;
}

} // namespace hjx::test
