// SPDX-License-Identifier: Apache-2.0
//
// Keys and random bits have no tangents; floats made from bits differentiate
// through the arithmetic that makes them.
#include "lib/Autodiff/Rules/Rules.h"

void hjx::populateRandomAutodiffRules(RuleRegistry &rules) {
  markZeroTangent<ir::Threefry2x32Op, ir::RandomWrapOp, ir::RandomUnwrapOp, ir::RandomSeedOp, ir::RandomSplitOp,
                  ir::RandomFoldInOp, ir::RandomBitsOp>(rules);
}
