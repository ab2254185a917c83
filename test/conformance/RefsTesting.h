// SPDX-License-Identifier: Apache-2.0
//
// A program with refs means one thing, run as it is written or compiled: most cases
// run both ways.
#pragma once

#include "test/unit/FrontendTesting.h"

namespace hjx::testing {

/// check(f) and check(jit(f)). What f captures is then constants and refs.
template <typename F, typename Check>
void eagerAndJit(const F &f, const Check &check) {
  {
    SCOPED_TRACE("eager");
    check(f);
  }
  SCOPED_TRACE("jit");
  check(jit(f));
}

/// How often `part` stands in `text`.
inline size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

} // namespace hjx::testing
