// SPDX-License-Identifier: Apache-2.0
//
// PTX text -> Module. Strict: a directive that is not understood is an error that names
// it and its line, because one that is skipped may change what the kernel means.
// Instructions are parsed by shape alone; the decoder knows the opcodes.
#pragma once

#include "runtime/Status.h"
#include "runtime/ptxsim/Module.h"

namespace hjx::ptxsim {

/// Errors: InvalidArgument "ptx line N: expected X, got Y".
absl::StatusOr<Module> parse(absl::string_view text);

} // namespace hjx::ptxsim
