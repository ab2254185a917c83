// SPDX-License-Identifier: Apache-2.0
//
// Addresses of shared memory as asynchronous instructions name them: of the own block, of
// another block of the cluster, or generic.
#pragma once

#include "runtime/ptxsim/Access.h"

namespace hjx::ptxsim {

/// In a shared::cluster address, the block's rank + 1 stands above these bits; 0: the own block.
constexpr unsigned kRankShift = 24;

/// The block whose shared memory an address is in, and the offset there; null after a finding: it is
/// none, or the `sizeBytes` bytes are not all inside.
Block *locateShared(Warp &w, unsigned lane, Space space, unsigned sizeBytes, AccessKind kind,
                    uint64_t &address);

} // namespace hjx::ptxsim
