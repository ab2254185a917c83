// SPDX-License-Identifier: Apache-2.0
//
// The smallest program found that still fails: steps become constants or go, results
// and operands are left out, blocks are put in the place of the call that holds them.
#pragma once

#include "test/fuzz/Program.h"

namespace fuzz {

/// `fails` says whether a program shows the failure.
Program shrink(Program program, const std::function<bool(const Program &)> &fails);

} // namespace fuzz
