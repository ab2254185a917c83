// SPDX-License-Identifier: Apache-2.0
//
// One mistake in a valid program, of those that users make: a shape that does not fit, a
// ref passed twice, a carry that changes its type. The program must be refused with an
// error that names a line, whatever is around the mistake.
#pragma once

#include "test/fuzz/Program.h"

namespace fuzz {

/// Makes a mistake at a place that depends on the seed; says which. Empty if nothing in the program allows one.
std::string mutate(Program &program, unsigned seed);

} // namespace fuzz
