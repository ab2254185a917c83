// SPDX-License-Identifier: Apache-2.0
//
// The check dialect: expectations about the values of a program.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "dialects/check/Dialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/check/Check.h.inc"
