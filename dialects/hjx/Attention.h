// SPDX-License-Identifier: Apache-2.0
//
// The ops of Attention.td. They are of the family of contractions, which registers
// them; a header of their own, because few verbs look at them.
#pragma once

#include "dialects/hjx/Hjx.h"

#define GET_OP_CLASSES
#include "dialects/hjx/Attention.h.inc"
