// SPDX-License-Identifier: Apache-2.0
//
// Addresses in the shared memory of a cluster; see the header.
#include "runtime/ptxsim/Cluster.h"

#include "absl/strings/str_format.h"

namespace hjx::ptxsim {

Block *locateShared(Warp &w, unsigned lane, Space space, unsigned sizeBytes, AccessKind kind,
                    uint64_t &address) {
  auto refuse = [&](absl::string_view what) -> Block * {
    w.fail(Finding::Kind::IllegalAddress, lane, what);
    return nullptr;
  };
  if (space == Space::Generic) {
    if (address / kWindowBytes != kSharedWindow / kWindowBytes)
      return refuse(absl::StrFormat("expected an address of shared memory, got 0x%x", address));
    address %= kWindowBytes;
  }
  Block *block = w.block;
  if (uint64_t rank = address >> kRankShift) {
    if (rank > block->cluster.size())
      return refuse(absl::StrFormat("0x%x is in the shared memory of block %d of the cluster, which has %d",
                                    address, rank - 1, block->cluster.size()));
    block = block->cluster[rank - 1];
    address &= (uint64_t(1) << kRankShift) - 1;
  }
  uint64_t bytes = block->launch->sharedBytes();
  if (address <= bytes && sizeBytes <= bytes - address)
    return block;
  return refuse(absl::StrFormat("%s of %d bytes at 0x%x: the block's shared memory has %d bytes",
                                kind == AccessKind::Read    ? "read"
                                : kind == AccessKind::Write ? "write"
                                                            : "atomic access",
                                sizeBytes, address, bytes));
}

} // namespace hjx::ptxsim
