// SPDX-License-Identifier: Apache-2.0
//
// rules.h for hjx-opt.
#include "rules.h"
