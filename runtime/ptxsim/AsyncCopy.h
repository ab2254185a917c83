// SPDX-License-Identifier: Apache-2.0
//
// How the copies of cp.async come to an end: a wait of their thread, or an mbarrier that
// they report to.
#pragma once

#include "runtime/ptxsim/Warp.h"

namespace hjx::ptxsim {

/// Lets the copies of `lanes` arrive, all but the last `open` groups of each lane; also those that
/// were not committed, if asked for. They become writes of their lane, or of a worker
/// (SharedMemory::worker) whom others wait for.
void finishCopies(Warp &w, Mask lanes, uint32_t open, bool withUncommitted, int worker = -1);

} // namespace hjx::ptxsim
