// SPDX-License-Identifier: Apache-2.0
//
// The hi-types that hjx ships; docs/tutorial/hi_types.md introduces them. Written with
// hjx/hi_type.h alone, and known to hjx-opt and hjx-run without a plugin.
#pragma once

#include <hjx/types/low_rank.h>
#include <hjx/types/optional.h>
#include <hjx/types/quantized.h>
#include <hjx/types/tuple.h>
