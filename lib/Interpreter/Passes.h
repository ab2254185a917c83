// SPDX-License-Identifier: Apache-2.0
//
// The interpreter as a pass; what it does is in Passes.td.
#pragma once

#include "dialects/check/Check.h"
#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Interpreter/Passes.h.inc"

} // namespace hjx
