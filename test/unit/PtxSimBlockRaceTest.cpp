// SPDX-License-Identifier: Apache-2.0
//
// Global memory between the blocks of a launch: what orders them, and each link of that chain left
// out. Whichever of two blocks comes second is named, so findings are matched without it.
#include "test/unit/PtxSimTest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hjx::ptxsim::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class PtxSimBlockRace : public PtxSim {
protected:
  static constexpr unsigned kBlocks = 6, kThreads = 64;

  /// A kernel of three pointers; %r0 is the thread, %r1 the block, %r2 the thread in the grid; [%rd4] is its
  /// word of `parts`, [%rd5] that of the next block.
  void kernel(const std::string &body) {
    load(absl::StrCat(R"(
.shared .align 4 .b8 number[4];
.visible .entry k(.param .u64 parts, .param .u64 counter, .param .u64 total)
{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b16 %rs<4>;
  ld.param.u64 %rd1, [parts];
  ld.param.u64 %rd2, [counter];
  ld.param.u64 %rd3, [total];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.s32 %r2, %r1, 64, %r0;
  mad.wide.u32 %rd4, %r2, 4, %rd1;
  add.u64 %rd5, %rd4, 256;
)", body, "\n  ret;\n}"));
  }
  std::string run() {
    parts = upload(std::vector<uint32_t>((kBlocks + 1) * kThreads, 1));
    counter = upload(std::vector<uint32_t>(kThreads));
    total = upload(std::vector<uint32_t>(kThreads));
    return again();
  }
  std::string again() {
    return launch("k", {kBlocks, kThreads}, parts.pointer, counter.pointer, total.pointer);
  }
  Buffer<uint32_t> parts, counter, total;
};

// Each block writes its part, and the last one adds them up, as split products do.
const char *const kSum = R"(
  st.global.b32 [%rd4], %r2;
  bar.sync 0; // all of the block
  setp.eq.b32 %p1, %r0, 0;
  @!%p1 bra JOIN;
  fence.acq_rel.gpu; // release
  atom.global.gpu.inc.u32 %r3, [%rd2], 5;
  fence.acq_rel.gpu; // acquire
  st.shared.b32 [number], %r3;
JOIN:
  bar.sync 0; // the number
  ld.shared.b32 %r4, [number];
  setp.ne.b32 %p2, %r4, 5;
  @%p2 ret;
  mov.b32 %r5, 0;
  mov.b32 %r6, 0;
  mad.wide.u32 %rd6, %r0, 4, %rd1;
LOOP:
  ld.global.b32 %r7, [%rd6];
  add.s32 %r5, %r5, %r7;
  add.u64 %rd6, %rd6, 256;
  add.s32 %r6, %r6, 1;
  setp.lt.u32 %p3, %r6, 6;
  @%p3 bra LOOP;
  mad.wide.u32 %rd7, %r0, 4, %rd3;
  st.global.b32 [%rd7], %r5;)";

std::string sumWith(const char *from, const char *to) { return absl::StrReplaceAll(kSum, {{from, to}}); }

TEST_F(PtxSimBlockRace, LastBlockAddsUp) {
  kernel(kSum);
  for (int time = 0; time < 3; ++time) {
    ASSERT_EQ(time ? again() : run(), "");
    std::vector<uint32_t> sums = download(total);
    for (unsigned thread = 0; thread < kThreads; ++thread)
      EXPECT_EQ(sums[thread], kBlocks * thread + 64 * 15);
  }
}

TEST_F(PtxSimBlockRace, StrongerFencesDo) {
  kernel(sumWith("fence.acq_rel.gpu", "membar.gl"));
  EXPECT_EQ(run(), "");
  kernel(sumWith("fence.acq_rel.gpu", "fence.sc.sys"));
  EXPECT_EQ(run(), "");
}

TEST_F(PtxSimBlockRace, AtomicsThatReleaseAndAcquireDo) {
  kernel(absl::StrReplaceAll(kSum, {{"fence.acq_rel.gpu;", ""}, {"atom.global.gpu", "atom.acq_rel.gpu.global"}}));
  EXPECT_EQ(run(), "");
}

TEST_F(PtxSimBlockRace, CountersApartOrderNothing) {
  kernel(sumWith("atom.global.gpu.inc.u32 %r3, [%rd2], 5;",
                 "mad.wide.u32 %rd2, %r1, 4, %rd2; atom.global.gpu.add.u32 %r3, [%rd2], 5; mov.u32 %r3, 5;"));
  EXPECT_THAT(run(), HasSubstr("of global memory races with the "));
}

// A fence speaks for what its thread has seen, and not yet for what the others of the block wrote.
const char *const kJoin = R"(bar.sync 0; // all of the block
  setp.eq.b32 %p1, %r0, 0;
  @!%p1 bra JOIN;
  fence.acq_rel.gpu; // release)";
const char *const kJoinBehindFences = R"(fence.acq_rel.gpu;
  bar.sync 0;
  setp.eq.b32 %p1, %r0, 0;
  @!%p1 bra JOIN;)";

struct Fault {
  const char *name, *from, *to;
};
class PtxSimChain : public PtxSimBlockRace, public testing::WithParamInterface<Fault> {};

TEST_P(PtxSimChain, IsFound) {
  kernel(sumWith(GetParam().from, GetParam().to));
  EXPECT_THAT(run(), AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"),
                           ContainsRegex("kernel 'k', ptx line [0-9]+ `ld.global.b32 %r7, .%rd6.`: block .[0-5],0,0., thread "
                                         ".[0-9]+,0,0.: read at 0x[0-9a-f]+ of global memory races with the write by "
                                         "block .[0-5],0,0. in ptx line 18 `st.global.b32 .%rd4., %r2`: no barrier, fence "
                                         "and atomic operation order them")));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, PtxSimChain,
    testing::Values(Fault{"NoBarrier", "bar.sync 0; // all of the block", ""},
                    Fault{"NoRelease", "fence.acq_rel.gpu; // release", ""},
                    Fault{"NoAcquire", "fence.acq_rel.gpu; // acquire", ""},
                    Fault{"BarrierOfOneWarp", "bar.sync 0; // all of the block", "bar.warp.sync -1;"},
                    Fault{"FenceOfTheBlock", "fence.acq_rel.gpu; // release", "membar.cta;"},
                    Fault{"FenceBeforeTheBarrier", kJoin, kJoinBehindFences},
                    Fault{"AtomicOnlyReleases", "atom.global.gpu.inc.u32 %r3, [%rd2], 5;\n  fence.acq_rel.gpu;",
                          "atom.release.gpu.global.inc.u32 %r3, [%rd2], 5;\n  // no fence;"}),
    [](const auto &info) { return info.param.name; });

TEST_F(PtxSimBlockRace, ReadsOfTheNeighbour) {
  kernel("st.global.b32 [%rd4], %r2;\nld.global.b32 %r3, [%rd5];");
  EXPECT_THAT(run(), ContainsRegex("(read|write) at 0x[0-9a-f]+ of global memory races with the (write|read) by block"));
}

TEST_F(PtxSimBlockRace, WritesOverWhatOthersRead) {
  kernel("ld.global.b32 %r3, [%rd1];\nsetp.eq.b32 %p1, %r2, 383;\n@%p1 st.global.b32 [%rd1], %r2;");
  EXPECT_THAT(run(), HasSubstr("of global memory races with the "));
}

TEST_F(PtxSimBlockRace, WritesOfAll) {
  kernel("st.global.b32 [%rd1], 7;");
  EXPECT_THAT(run(), ContainsRegex("write at 0x[0-9a-f]+ of global memory races with the write by block"));
}

TEST_F(PtxSimBlockRace, CopiesOfTheNeighbour) {
  kernel("st.global.b32 [%rd4], %r2;\nsetp.ne.b32 %p1, %r0, 0;\n@%p1 ret;\nmov.u32 %r3, number;\ncp.async.ca.shared.global [%r3], [%rd5], 4;\ncp.async.wait_all;");
  EXPECT_THAT(run(), HasSubstr("of global memory races with the "));
}

TEST_F(PtxSimBlockRace, AtomicsMeetPlainWrites) {
  kernel("red.global.add.u32 [%rd2], 1;\nsetp.eq.b32 %p1, %r2, 100;\n@%p1 st.global.b32 [%rd2], 0;");
  EXPECT_THAT(run(), HasSubstr("of global memory races with the "));
}

TEST_F(PtxSimBlockRace, AtomicsAmongTheBlockAlone) {
  kernel("red.relaxed.cta.global.add.u32 [%rd2], 1;");
  EXPECT_THAT(run(), HasSubstr("of global memory races with the write by block"));
}

TEST_F(PtxSimBlockRace, AtomicsDoNotRace) {
  kernel("red.global.add.u32 [%rd2], 1;");
  EXPECT_EQ(run(), "");
  EXPECT_EQ(download(counter)[0], kBlocks * kThreads);
}

// What one launch wrote the next one reads; and words, halves and bytes are told apart.
TEST_F(PtxSimBlockRace, LaunchesAreOrdered) {
  kernel("ld.global.b32 %r3, [%rd5];\nld.global.b32 %r4, [%rd1];");
  ASSERT_EQ(run(), "");
  EXPECT_EQ(again(), "");
  kernel("st.global.b32 [%rd4], 3;");
  EXPECT_EQ(again(), "");
  EXPECT_EQ(again(), "");
}

TEST_F(PtxSimBlockRace, BytesOfAWordAreWrittenApart) {
  kernel("setp.ne.b32 %p1, %r0, 0;\n@%p1 ret;\ncvt.u64.u32 %rd6, %r1;\nadd.u64 %rd6, %rd6, %rd1;\n"
         "cvt.u16.u32 %rs1, %r1;\nst.global.b8 [%rd6], %rs1;");
  ASSERT_EQ(run(), "");
  EXPECT_EQ(download(parts)[0], 0x03020100u);
}

} // namespace
} // namespace hjx::ptxsim::test
