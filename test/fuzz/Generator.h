// SPDX-License-Identifier: Apache-2.0
//
// Draws a valid program for a seed. What a program may not do with refs is in
// docs/tutorial/refs.md; the generator knows for each visible ref what is left of it: a
// derivative leaves refs from outside writable with stopped values, a map leaves them
// readable, a rule of the user sees nothing from outside.
#pragma once

#include "test/fuzz/Program.h"

#include <random>

namespace fuzz {

struct DrawOptions {
  size_t numSteps = 14;
  /// Only what has true derivatives: main is a function of floats alone, without refs.
  bool isSmooth = false;
};

Program draw(unsigned seed, const DrawOptions &options = {});

} // namespace fuzz
