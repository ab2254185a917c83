// SPDX-License-Identifier: Apache-2.0
//
// Pieces of sm_90: stmatrix, mbarriers, bulk copies, tensor maps, wgmma's operands, clusters.
#include "test/unit/PtxSimHopper.h"

#include "absl/strings/str_cat.h"

#include <bit>

namespace hjx::ptxsim::test {
namespace {

using testing::HasSubstr;

class PtxSimHopperPieces : public PtxSimHopper {
protected:
  /// A kernel of two pointers (%rd1, %rd2); %r0 is the thread, %r1 a tile of 4096 bytes, %r2 three
  /// mbarriers, and %p1 says whether this is thread 0.
  void kernel(const std::string &body, const std::string &target = "sm_90") {
    load(absl::StrCat(R"(
.shared .align 1024 .b8 tile[4096];
.shared .align 8 .b8 bars[24];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 from, .param .u64 to)
{
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b32 %v<8>; .reg .f32 %f<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, bars;
  setp.eq.u32 %p1, %r0, 0;
)", body, "\n  ret;\n}"), target);
  }
  std::string run(Shape shape = {1, 32}) { return launch("k", shape, map, from.pointer, to.pointer); }
  /// 1024 words from %rd1: 1, 2, ...
  void buffers() {
    std::vector<uint32_t> values(1024);
    for (unsigned at = 0; at < 1024; ++at)
      values[at] = at + 1;
    from = upload(values);
    to = upload(std::vector<uint32_t>(1024));
  }
  TensorMapBytes map = {};
  Buffer<uint32_t> from, to;
};

// One mbarrier, ready for copies; everybody knows.
const std::string kInit = R"(
  @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";
const std::string kWait = R"(
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra wait;
)";
const std::string kExpect = "  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], ";
// Everybody stores the word of the tile with its number.
const std::string kStore = R"(
  mad.lo.u32 %r8, %r0, 4, %r1;
  ld.shared.b32 %v0, [%r8];
  mad.wide.u32 %rd8, %r0, 4, %rd2;
  st.global.b32 [%rd8], %v0;
)";

TEST_F(PtxSimHopperPieces, MBarrierPhasesAndTokens) {
  buffers();
  kernel(R"(
  @!%p1 bra end;
  mbarrier.init.shared.b64 [%r2], 3;
  mbarrier.arrive.shared.b64 %rd4, [%r2], 2;
  mbarrier.pending_count.b64 %r3, %rd4;
  mbarrier.test_wait.shared.b64 %p2, [%r2], %rd4;
  mbarrier.arrive.shared.b64 %rd5, [%r2];
  mbarrier.test_wait.shared.b64 %p3, [%r2], %rd4;
  mbarrier.test_wait.parity.shared.b64 %p4, [%r2], 0;
  mbarrier.test_wait.parity.shared.b64 %p5, [%r2], 1;
  mbarrier.arrive_drop.shared.b64 _, [%r2];
  mbarrier.arrive.shared.b64 _, [%r2], 2;
  mbarrier.arrive.shared.b64 %rd6, [%r2], 2;
  mbarrier.test_wait.shared.b64 %p6, [%r2], %rd6;
  mbarrier.inval.shared.b64 [%r2];
  selp.b32 %v0, 1, 0, %p2;
  selp.b32 %v1, 1, 0, %p3;
  selp.b32 %v2, 1, 0, %p4;
  selp.b32 %v3, 1, 0, %p5;
  st.global.v4.b32 [%rd2], {%v0, %v1, %v2, %v3};
  selp.b32 %v0, 1, 0, %p6;
  st.global.v2.b32 [%rd2+16], {%v0, %r3};
  st.shared.b64 [%r2], %rd4;
end:
)");
  ASSERT_EQ(run(), "");
  std::vector<uint32_t> result = download(to);
  result.resize(6);
  // With one dropped, two arrivals complete each later phase.
  EXPECT_THAT(result, testing::ElementsAre(0, 1, 1, 0, 1, 3));
}

TEST_F(PtxSimHopperPieces, MBarrierMisuse) {
  buffers();
  kernel("  @%p1 mbarrier.init.shared.b64 [%r2], 1;\n  bar.sync 0;\n  mbarrier.arrive.shared.b64 _, [%r2], 2;");
  EXPECT_THAT(run({1, 1}), HasSubstr("an arrival too many: phase 0 of the mbarrier at 0x1000 expects 1, and 0 are there"));
}
TEST_F(PtxSimHopperPieces, MBarrierIsNoMemory) {
  buffers();
  kernel("  @%p1 mbarrier.init.shared.b64 [%r2], 1;\n  @%p1 ld.shared.b64 %rd4, [%r2];");
  EXPECT_THAT(run(), HasSubstr("read of 8 bytes at 0x1000 of shared memory, where an mbarrier lies"));
}
TEST_F(PtxSimHopperPieces, MBarrierTwice) {
  buffers();
  kernel("  @%p1 mbarrier.init.shared.b64 [%r2], 1;\n  @%p1 mbarrier.init.shared.b64 [%r2], 1;");
  EXPECT_THAT(run(), HasSubstr("where an mbarrier lies"));
}
TEST_F(PtxSimHopperPieces, MBarrierMisaligned) {
  buffers();
  kernel("  @%p1 mbarrier.init.shared.b64 [%r2+4], 1;");
  EXPECT_THAT(run(), HasSubstr("MISALIGNED"));
}

// Those who arrive release what they wrote to those who wait.
TEST_F(PtxSimHopperPieces, MBarrierOrdersMemory) {
  buffers();
  std::string exchange = R"(
  @%p1 mbarrier.init.shared.b64 [%r2], 64;
  bar.sync 0;
  mad.lo.u32 %r8, %r0, 4, %r1;
  st.shared.b32 [%r8], %r0;
  mbarrier.arrive.shared.b64 _, [%r2];
)";
  std::string read = "  xor.b32 %r8, %r8, 252;\n  ld.shared.b32 %v0, [%r8];";
  kernel(exchange + kWait + read);
  EXPECT_EQ(run({1, 64}), "");
  kernel(exchange + read);
  EXPECT_THAT(run({1, 64}), HasSubstr("of shared memory"));
}

// cp.async that reports to an mbarrier.
TEST_F(PtxSimHopperPieces, AsyncCopiesReportToAnMBarrier) {
  buffers();
  std::string copy = R"(
  @%p1 mbarrier.init.shared.b64 [%r2], 32;
  bar.sync 0;
  mad.lo.u32 %r8, %r0, 4, %r1;
  mad.wide.u32 %rd4, %r0, 4, %rd1;
  cp.async.ca.shared.global [%r8], [%rd4], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];
)";
  kernel(copy + kWait + kStore);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(download(to)[31], 32u);
  kernel(copy + kStore);
  EXPECT_THAT(run(), HasSubstr("races with the write by a copy that reports to an mbarrier"));
}

TEST_F(PtxSimHopperPieces, BulkCopiesIn) {
  buffers();
  std::string copy = "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n";
  kernel(kInit + kExpect + "256;\n" + copy + kWait + kStore);
  ASSERT_EQ(run({1, 64}), "");
  EXPECT_EQ(download(to)[63], 64u);
  kernel(kInit + kExpect + "256;\n" + copy + kStore);
  EXPECT_THAT(run({1, 64}), HasSubstr("races with the write by a copy that reports to an mbarrier"));
}
TEST_F(PtxSimHopperPieces, BulkCopyOfOddSize) {
  buffers();
  kernel(kInit + "  mov.b32 %r9, 24;\n  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r9, [%r2];\n");
  EXPECT_THAT(run(), HasSubstr("expected a multiple of 16 bytes to copy, got 24"));
}

// The way out: stores, a fence, a barrier, the copy, a wait.
struct Step {
  const char *name, *without, *finding;
};
void PrintTo(const Step &one, std::ostream *out) { *out << one.name; }
class PtxSimBulkOut : public PtxSimHopperPieces, public testing::WithParamInterface<Step> {};
TEST_P(PtxSimBulkOut, NeedsAllSteps) {
  buffers();
  std::string body = R"(
  mad.lo.u32 %r8, %r0, 4, %r1;
  st.shared.b32 [%r8], %r0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 256;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group.read 0;
  bar.sync 1;
  st.shared.b32 [%r8], 7;
)";
  std::string without = GetParam().without;
  if (!without.empty()) {
    size_t at = body.find(without);
    ASSERT_NE(at, body.npos);
    body.erase(at, without.size());
  }
  kernel(body);
  EXPECT_THAT(run({1, 64}), without.empty() ? testing::Matcher<std::string>("") : HasSubstr(GetParam().finding));
  if (without.empty())
    EXPECT_EQ(download(to)[63], 63u);
}
INSTANTIATE_TEST_SUITE_P(
    All, PtxSimBulkOut,
    testing::Values(Step{"Whole", "", ""},
                    Step{"NoFence", "  fence.proxy.async.shared::cta;\n",
                         "read of 256 bytes at 0x0 of shared memory, asynchronously, after the write by thread (0,0,0)"},
                    Step{"NoBarrier", "  bar.sync 0;\n", "of shared memory"},
                    Step{"NoWait", "  @%p1 cp.async.bulk.wait_group.read 0;\n", "races with the read by a bulk copy of warp 0"},
                    Step{"NoCommit", "  @%p1 cp.async.bulk.commit_group;\n", "races with the read by a bulk copy of warp 0"}),
    [](const auto &info) { return info.param.name; });

TEST_F(PtxSimHopperPieces, BlockEndsBeforeACopyHasRead) {
  buffers();
  kernel("  st.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};\n  fence.proxy.async;\n"
         "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;\n  cp.async.bulk.commit_group;\n");
  EXPECT_THAT(run({1, 1}), HasSubstr("the block ends and nothing has waited for this copy to read its source"));
}

// A 3-d tensor of 5x6x16 words; a box of 2x3x8 with a corner outside.
TEST_F(PtxSimHopperPieces, TensorBoxes) {
  buffers();
  ASSERT_EQ(encode(map, 2, from.pointer, {16, 6, 5}, {64, 384}, {8, 3, 2}, Swizzle::None), 0);
  kernel(kInit + kExpect + R"(192;
  mov.b32 %r10, 12; mov.b32 %r11, -1; mov.b32 %r12, 4;
  @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd3, {%r10, %r11, %r12}], [%r2];
)" + kWait + kStore);
  ASSERT_EQ(run({1, 48}), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned at = 0; at < 48; ++at) {
    unsigned x = 12 + at % 8, z = 4 + at / 24;
    int y = int(at / 8 % 3) - 1;
    EXPECT_EQ(result[at], x < 16 && y >= 0 && z < 5 ? z * 96 + y * 16 + x + 1 : 0) << at;
  }
}

// Chunk c of row r lies at c ^ (address bits 7 and up); a store takes it back.
class PtxSimSwizzle : public PtxSimHopperPieces, public testing::WithParamInterface<Swizzle> {};
TEST_P(PtxSimSwizzle, TradesChunks) {
  buffers();
  unsigned span = 16 << int(GetParam()), words = span / 4;
  ASSERT_EQ(encode(map, 7, from.pointer, {words, 8}, {span}, {words, 8}, GetParam()), 0);
  kernel(kInit + kExpect + absl::StrCat(8 * span, R"(;
  mov.b32 %r10, 0;
  @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd3, {%r10, %r10}], [%r2];
)") + kWait + kStore);
  ASSERT_EQ(run({1, 8 * words}), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned at = 0; at < 8 * words; ++at) {
    unsigned byte = at * 4, flip = byte / 128 % (1 << int(GetParam()));
    EXPECT_EQ(result[at], ((byte ^ flip * 16) / 4) + 1) << at;
  }
}
INSTANTIATE_TEST_SUITE_P(All, PtxSimSwizzle, testing::Values(Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128),
                         [](const auto &info) { return absl::StrCat(16 << int(info.param)); });

TEST_F(PtxSimHopperPieces, TensorStores) {
  buffers();
  ASSERT_EQ(encode(map, 2, to.pointer, {12, 3}, {48}, {8, 4}, Swizzle::Bytes32), 0);
  kernel(R"(
  mad.lo.u32 %r8, %r0, 4, %r1;
  st.shared.b32 [%r8], %r0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mov.b32 %r10, 8; mov.b32 %r11, 1;
  @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r10, %r11}], [%r1];
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;
)");
  ASSERT_EQ(run(), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned x = 0; x < 12; ++x)
      EXPECT_EQ(result[12 * row + x], row >= 1 && x >= 8 ? 8 * (row - 1) + x - 8 : 0);
}

TEST_F(PtxSimHopperPieces, RefusesTensorMaps) {
  buffers();
  auto error = [&](std::vector<uint64_t> strides, std::vector<uint32_t> box, Swizzle swizzle) {
    CUresult result = encode(map, 2, from.pointer, {16, 16}, strides, box, swizzle);
    return result ? driver->describe(result) : "";
  };
  EXPECT_EQ(error({64}, {8, 8}, Swizzle::None), "");
  EXPECT_THAT(error({60}, {8, 8}, Swizzle::None), HasSubstr("dimension 1: expected a stride that is a multiple of 16 below 2^40, got 60"));
  EXPECT_THAT(error({64}, {8, 257}, Swizzle::None), HasSubstr("dimension 1: expected a box of 1 to 256 elements, got 257"));
  EXPECT_THAT(error({64}, {6, 8}, Swizzle::None), HasSubstr("expected rows of the box of a multiple of 16 bytes, got 24"));
  EXPECT_THAT(error({64}, {16, 8}, Swizzle::Bytes32), HasSubstr("at most the swizzle's 32 bytes, got 64"));
  EXPECT_THAT(error({64}, {8, 8}, Swizzle::Bytes128), HasSubstr("rows of exactly the swizzle's 128 bytes"));
}

TEST_F(PtxSimHopperPieces, StoresTiles) {
  buffers();
  kernel(R"(
  shl.b32 %r3, %r0, 1;
  add.u32 %r4, %r3, 1;
  shl.b32 %r4, %r4, 16;
  or.b32 %r3, %r3, %r4;
  and.b32 %r5, %r0, 7;
  mad.lo.u32 %r5, %r5, 16, %r1;
  stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r5], {%r3};
  bar.sync 0;
)" + kStore);
  ASSERT_EQ(run(), "");
  std::vector<uint32_t> result = download(to);
  // Element (row, column) was 8 * row + column.
  for (unsigned at = 0; at < 32; ++at) {
    unsigned row = at / 4, column = at % 4 * 2;
    EXPECT_EQ(result[at], (8 * column + row) | (8 * (column + 1) + row) << 16);
  }
}

// Clusters.

TEST_F(PtxSimHopperPieces, ClustersShareMemory) {
  buffers();
  load(R"(
.shared .align 16 .b8 tile[128];
.visible .entry k(.param .u64 to) .reqnctapercluster 2, 1, 1
{
  .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, tile;
  mad.lo.u32 %r3, %r0, 4, %r3;
  mad.lo.u32 %r4, %r2, 100, %r0;
  st.shared.b32 [%r3], %r4;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  xor.b32 %r5, %r1, 1;
  mapa.shared::cluster.u32 %r6, %r3, %r5;
  ld.shared::cluster.b32 %r7, [%r6];
  mad.lo.u32 %r8, %r2, 32, %r0;
  mad.wide.u32 %rd2, %r8, 4, %rd1;
  st.global.b32 [%rd2], %r7;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
})", "sm_90");
  EXPECT_EQ(launch("k", {4, 32}, to.pointer), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned at = 0; at < 128; ++at)
    EXPECT_EQ(result[at], (at / 32 ^ 1) * 100 + at % 32);
  EXPECT_THAT(launch("k", {3, 32}, to.pointer), HasSubstr("expected a grid of whole clusters (2,1,1), got (3,1,1)"));
}

// One block's copy reaches both, each with an mbarrier of its own.
TEST_F(PtxSimHopperPieces, MulticastsBoxes) {
  buffers();
  ASSERT_EQ(encode(map, 2, from.pointer, {32, 1}, {128}, {32, 1}, Swizzle::None), 0);
  load(R"(
.shared .align 128 .b8 tile[128];
.shared .align 8 .b8 bar[8];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 to) .reqnctapercluster 2, 1, 1
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .b16 %rs<2>;
  ld.param.u64 %rd1, [to];
  mov.b64 %rd2, map;
  cvta.param.u64 %rd2, %rd2;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, bar;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  mov.u32 %r3, %cluster_ctarank;
  setp.eq.and.u32 %p2, %r3, 0, %p1;
  mov.b32 %r4, 0;
  mov.b16 %rs1, 3;
  @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd2, {%r4, %r4}], [%r2], %rs1;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
  @!%p3 bra wait;
  mad.lo.u32 %r5, %r0, 4, %r1;
  ld.shared.b32 %r6, [%r5];
  mov.u32 %r7, %ctaid.x;
  mad.lo.u32 %r7, %r7, 32, %r0;
  mad.wide.u32 %rd3, %r7, 4, %rd1;
  st.global.b32 [%rd3], %r6;
  ret;
})", "sm_90");
  EXPECT_EQ(launch("k", {2, 32}, map, to.pointer), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned at = 0; at < 64; ++at)
    EXPECT_EQ(result[at], at % 32 + 1);
}

TEST_F(PtxSimHopperPieces, ClusterBarrierWithoutEverybody) {
  buffers();
  load(R"(
.visible .entry k() .reqnctapercluster 2, 1, 1
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  mov.u32 %r1, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 barrier.cluster.arrive.aligned;
  @!%p1 bar.sync 1, 64;
  barrier.cluster.wait.aligned;
  ret;
})", "sm_90");
  EXPECT_THAT(launch("k", {2, 32}), HasSubstr("waits"));
}

} // namespace
} // namespace hjx::ptxsim::test
