// SPDX-License-Identifier: Apache-2.0
//
// The dialect's diagnostics in the user's words. The frontend checks what
// newcomers get wrong by itself; this is the net below it.
#pragma once

#include <string>

namespace hjx::detail {

struct Explained {
  std::string message, help;
};

/// "'hjx.dot_general' op (C4) contracting dimensions differ: lhs tensor<8x16xf32> ..."
/// becomes "contracting dimensions differ: lhs f32[8,16] ..." and what to do about it.
Explained explain(const std::string &diagnostic);

/// The same for what a transform or the compiler reports, whose first line is
///   loc("loss.cpp":12:7): 'hjx.while' op cannot be differentiated in reverse: ..; remedy
Explained explainCompilation(const std::string &diagnostics);

} // namespace hjx::detail
