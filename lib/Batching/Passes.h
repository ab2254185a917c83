// SPDX-License-Identifier: Apache-2.0
//
// What batching offers to the driver of requests (lib/Transforms): the
// expansion of hjx.vmap, and `hjx-vmap`, which expands it alone.
#pragma once

#include "lib/Transforms/ExpandTransforms.h"

namespace hjx {

TransformVerb getBatchingVerb();

} // namespace hjx
