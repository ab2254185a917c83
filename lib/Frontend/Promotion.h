// SPDX-License-Identifier: Apache-2.0
//
// The common type of operands; see DType.cpp for the lattice.
#pragma once

#include <hjx/dtype.h>

#include <vector>

namespace hjx::detail {

/// An element type and whether it is weak (came from a C++ number).
struct Promoted {
  DType dtype;
  bool isWeak;
};

/// The least upper bound of one or more types, none of which is a key.
Promoted promote(const std::vector<Promoted> &operands);

} // namespace hjx::detail
