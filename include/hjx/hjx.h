// SPDX-License-Identifier: Apache-2.0
//
// All of hjx: arrays, their functions, trees, transforms and control flow; but for
// types and operations of your own, hjx/hi_type.h. Nothing of the compiler is
// reachable from here.
#pragma once

#include <hjx/array.h>
#include <hjx/autodiff.h>
#include <hjx/control_flow.h>
#include <hjx/device.h>
#include <hjx/export.h>
#include <hjx/jit.h>
#include <hjx/ops.h>
#include <hjx/random.h>
#include <hjx/ref.h>
#include <hjx/tree.h>
#include <hjx/vmap.h>
