// SPDX-License-Identifier: Apache-2.0
//
// The types of this folder for tools: hjx-opt --load-hjx-plugin=libHiTypesPlugin.so.
#include "q8.h"
#include "rank1.h"
#include "tup.h"
