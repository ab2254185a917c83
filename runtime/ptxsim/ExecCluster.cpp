// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a cluster together: mapa, getctarank, barrier.cluster.
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {
namespace {

template <typename T> void mapAddress(const Instruction &i, Warp &w) {
  const T *from = w.read<T>(i.src[0]);
  const auto *rank = w.read<uint32_t>(i.src[1]);
  T out[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (w.exec >> lane & 1 && rank[lane] >= w.block->cluster.size())
      return w.fail(Finding::Kind::LaunchFailed, lane,
                    absl::StrCat("expected a rank below ", w.block->cluster.size(), ", got ", rank[lane]));
    T bits = T(0xFF) << kRankShift;
    out[lane] = (from[lane] & ~bits) | T(rank[lane] + 1) << kRankShift;
  }
  w.write<T>(i.dst[0], out);
}

template <typename T> void rankOf(const Instruction &i, Warp &w) {
  const T *from = w.read<T>(i.src[0]);
  uint32_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t field = from[lane] >> kRankShift & 0xFF;
    out[lane] = field ? field - 1 : w.block->rank;
  }
  w.write<uint32_t>(i.dst[0], out);
}

void arrive(const Instruction &, Warp &w) {
  w.block->shared.publish(w.index, w.block->clusterJoined);
  ++w.clusterArrivals;
  ++w.block->events;
}

// All warps that live have arrived as often as this one.
void wait(const Instruction &, Warp &w) {
  for (const Block *block : w.block->cluster)
    for (const Warp &other : block->warps)
      if (other.state != Warp::State::Exited && other.clusterArrivals < w.clusterArrivals) {
        w.pc = w.current;
        w.waitsFor = Warp::kClusterBarrier;
        w.state = Warp::State::Yielded;
        return;
      }
  w.waitsFor = kNever;
  w.block->shared.resume(w.index, w.block->clusterJoined);
}

} // namespace

void decodeClusterBarrier(InstructionDecoder &d) {
  d.expectTarget(90);
  d.op.take("aligned");
  for (absl::string_view word : {"release", "acquire", "relaxed"})
    d.op.take(word);
  d.expectOperands(0);
  d.out.run = d.op.take("arrive") ? arrive : d.op.take("wait") ? wait : nullptr;
}

bool decodeCluster(InstructionDecoder &d) {
  bool isMap = d.op.base == "mapa";
  if (!isMap && d.op.base != "getctarank")
    return false;
  d.expectTarget(90);
  d.op.takeSpace();
  std::optional<Type> type = d.op.takeType();
  if (type != Type::U32 && type != Type::U64)
    d.fail("expected .u32 or .u64");
  if (d.failed() || !d.expectOperands(2 + isMap))
    return true;
  d.out.dst[0] = d.destination(0, isMap ? *type : Type::U32);
  d.out.src[0] = d.source(1, *type);
  if (isMap)
    d.out.src[1] = d.source(2, Type::U32);
  bool isWide = type == Type::U64;
  d.out.run = isMap ? (isWide ? mapAddress<uint64_t> : mapAddress<uint32_t>)
                    : (isWide ? rankOf<uint64_t> : rankOf<uint32_t>);
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
