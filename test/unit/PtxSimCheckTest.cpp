// SPDX-License-Identifier: Apache-2.0
//
// Planted faults: each check fires, with the words that lead to the place; next to each
// stands the program without the fault, where it must not fire.
#include "test/unit/PtxSimTest.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PtxSimCheck : public PtxSim {
protected:
  /// Loads a kernel of two pointers (%rd1, %rd2); %r0 is the thread's number.
  void kernel(const std::string &body) {
    load(absl::StrCat(R"(
.extern .shared .align 16 .b8 tile[];
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b16 %rs<4>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r0, %tid.x;
  mov.u32 %r9, tile;
  mad.lo.s32 %r9, %r0, 4, %r9;
)", body, "\n  ret;\n}"));
  }
  std::string run(Shape shape = {1, 64, 256}) {
    from = upload(std::vector<uint32_t>(64, 5));
    to = upload(std::vector<uint32_t>(64));
    return launch("k", shape, from.pointer, to.pointer);
  }
  Buffer<uint32_t> from, to;
};

TEST_F(PtxSimCheck, ReadBehindTheEnd) {
  kernel("mad.wide.u32 %rd3, %r0, 4, %rd1;\nld.global.b32 %r1, [%rd3+4];");
  EXPECT_THAT(run(), AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered: "
                                     "kernel 'k', ptx line 15 `ld.global.b32 %r1, [%rd3+4]`: block "
                                     "(0,0,0), thread (63,0,0): read of 4 bytes at 0x"),
                           HasSubstr("256 bytes behind the begin of the allocation of 256 bytes")));
}

TEST_F(PtxSimCheck, ReadWithinTheEnd) {
  kernel("mad.wide.u32 %rd3, %r0, 4, %rd1;\nld.global.b32 %r1, [%rd3];");
  EXPECT_EQ(run(), "");
}

TEST_F(PtxSimCheck, WriteThroughAHostPointer) {
  kernel("st.global.b32 [%rd1], %r0;");
  uint32_t onHost = 0;
  CUdeviceptr pointer = reinterpret_cast<CUdeviceptr>(&onHost);
  EXPECT_THAT(launch("k", {1, 1}, pointer, pointer), HasSubstr("which is no device memory"));
  EXPECT_EQ(onHost, 0u);
}

// A row of addresses that runs over the end of all addresses has its ends in the wrong order.
TEST_F(PtxSimCheck, RowsThatWrapAround) {
  kernel("mad.wide.u32 %rd3, %r0, 4, -64;\nst.global.b32 [%rd3], %r0;");
  EXPECT_THAT(run({1, 32}), HasSubstr("thread (0,0,0): write of 4 bytes at 0xffffffffffffffc0"));
}

TEST_F(PtxSimCheck, ReadAfterFree) {
  kernel("ld.global.b32 %r1, [%rd1];");
  auto freed = upload(std::vector<uint32_t>(64));
  ASSERT_EQ(driver->cuMemFree_v2(freed.pointer), CUDA_SUCCESS);
  EXPECT_THAT(launch("k", {1, 1}, freed.pointer, freed.pointer), HasSubstr("ILLEGAL_ADDRESS"));
}

TEST_F(PtxSimCheck, FaultsStay) {
  kernel("ld.global.b32 %r1, [%rd1+-4];");
  EXPECT_THAT(run(), HasSubstr("ILLEGAL_ADDRESS"));
  EXPECT_THAT(launch("k", {1, 1}, to.pointer, to.pointer), HasSubstr("ILLEGAL_ADDRESS"));
  CUdeviceptr pointer = 0;
  EXPECT_NE(driver->cuMemAlloc_v2(&pointer, 4), CUDA_SUCCESS);
}

TEST_F(PtxSimCheck, MisalignedVector) {
  kernel("mad.wide.u32 %rd3, %r0, 4, %rd1;\nld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd3];");
  EXPECT_THAT(run({1, 8}), AllOf(HasSubstr("CUDA_ERROR_MISALIGNED_ADDRESS"), HasSubstr("thread (1,0,0)"),
                                 HasSubstr("which is not a multiple of 16")));
}

TEST_F(PtxSimCheck, UninitializedGlobal) {
  kernel("mad.wide.u32 %rd3, %r0, 4, %rd1;\nld.global.b32 %r1, [%rd3];");
  auto fresh = allocate<uint32_t>(64);
  std::vector<uint32_t> half(32);
  ASSERT_EQ(driver->cuMemcpyHtoDAsync_v2(fresh.pointer, half.data(), 128, stream), CUDA_SUCCESS);
  EXPECT_EQ(launch("k", {1, 32}, fresh.pointer, fresh.pointer), "");
  EXPECT_THAT(launch("k", {1, 33}, fresh.pointer, fresh.pointer),
              AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"), HasSubstr("thread (32,0,0)"),
                    HasSubstr("of global memory, which were never written")));
}

TEST_F(PtxSimCheck, HalvesOfAWordAreWrittenApart) {
  kernel(R"(
  mad.wide.u32 %rd3, %r0, 2, %rd1;
  cvt.u16.u32 %rs1, %r0;
  st.global.b16 [%rd3], %rs1;
  ld.global.b16 %rs2, [%rd3];)");
  auto fresh = allocate<uint32_t>(32);
  EXPECT_EQ(launch("k", {1, 64}, fresh.pointer, fresh.pointer), "");
}

TEST_F(PtxSimCheck, CopiesKeepWhatWasNotWritten) {
  kernel("ld.global.b32 %r1, [%rd1];");
  auto fresh = allocate<uint32_t>(4), copy = upload(std::vector<uint32_t>(4));
  ASSERT_EQ(driver->cuMemcpyDtoDAsync_v2(copy.pointer, fresh.pointer, 16, stream), CUDA_SUCCESS);
  EXPECT_THAT(launch("k", {1, 1}, copy.pointer, copy.pointer), HasSubstr("never written"));
}

TEST_F(PtxSimCheck, UninitializedShared) {
  kernel("ld.shared.b32 %r1, [%r9];");
  EXPECT_THAT(run(), HasSubstr("of shared memory, which were never written"));
}

TEST_F(PtxSimCheck, SharedOutOfBounds) {
  kernel("st.shared.b32 [%r9+4], %r0;");
  EXPECT_THAT(run(), AllOf(HasSubstr("thread (63,0,0)"), HasSubstr("the block's shared memory has 256 bytes")));
}

// Each thread reads what its neighbour in the other warp wrote.
const char *const kExchange = R"(
  st.shared.b32 [%r9], %r0;
  BARRIER
  xor.b32 %r1, %r0, 32;
  mov.u32 %r2, tile;
  mad.lo.s32 %r2, %r1, 4, %r2;
  ld.shared.b32 %r3, [%r2];)";

std::string exchangeWith(const char *barrier) {
  std::string text = kExchange;
  return text.replace(text.find("BARRIER"), 7, barrier);
}

TEST_F(PtxSimCheck, BarrierKept) {
  kernel(exchangeWith("bar.sync 0;"));
  EXPECT_EQ(run(), "");
}

// The order of execution decides which of the two is caught; here warp 0 reads before warp 1 wrote.
TEST_F(PtxSimCheck, BarrierRemoved) {
  kernel(exchangeWith(""));
  EXPECT_THAT(run(), HasSubstr("of shared memory, which were never written"));
}

TEST_F(PtxSimCheck, ReadAfterWriteRace) {
  kernel(R"(
  st.shared.b32 [%r9], %r0;
  bar.sync 0;
  st.shared.b32 [%r9], 7;
  xor.b32 %r1, %r0, 32;
  mov.u32 %r2, tile;
  mad.lo.s32 %r2, %r1, 4, %r2;
  ld.shared.b32 %r3, [%r2];)");
  EXPECT_THAT(run(), AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"), HasSubstr("write of 4 bytes at 0x80 of shared memory races with the "
                               "read by thread (0,0,0) in ptx line"),
                           HasSubstr("no barrier lies between them")));
}

TEST_F(PtxSimCheck, StoresRace) {
  kernel("st.shared.b32 [tile], %r0;");
  EXPECT_THAT(run(), HasSubstr("races with the write by thread (0,0,0)"));
}

TEST_F(PtxSimCheck, StoresOfOneValueAgree) {
  kernel("st.shared.b32 [tile], 5;");
  EXPECT_EQ(run(), "");
}

TEST_F(PtxSimCheck, LanesRaceUntilTheWarpSynchronises) {
  const char *body = R"(
  st.shared.b32 [%r9], %r0;
  SYNC
  xor.b32 %r1, %r0, 1;
  mov.u32 %r2, tile;
  mad.lo.s32 %r2, %r1, 4, %r2;
  ld.shared.b32 %r3, [%r2];)";
  std::string text = body;
  kernel(std::string(text).replace(text.find("SYNC"), 4, "bar.warp.sync -1;"));
  EXPECT_EQ(run({1, 32, 128}), "");
  kernel(std::string(text).replace(text.find("SYNC"), 4, ""));
  EXPECT_THAT(run({1, 32, 128}), HasSubstr("races with the write by thread (1,0,0)"));
}

// The maximum of a row, then its sum through the same shared cell: the second barrier matters.
TEST_F(PtxSimCheck, ReuseNeedsASecondBarrier) {
  const char *body = R"(
  setp.eq.b32 %p1, %r0, 32;
  @%p1 st.shared.b32 [tile], 1;
  bar.sync 0;
  ld.shared.b32 %r1, [tile];
  SECOND
  @%p1 st.shared.b32 [tile], 2;
  bar.sync 0;
  ld.shared.b32 %r2, [tile];)";
  std::string text = body;
  kernel(std::string(text).replace(text.find("SECOND"), 6, "bar.sync 0;"));
  EXPECT_EQ(run(), "");
  kernel(std::string(text).replace(text.find("SECOND"), 6, ""));
  EXPECT_THAT(run(), HasSubstr("races with the read by several threads"));
}

TEST_F(PtxSimCheck, DivergentBarrier) {
  kernel("setp.lt.u32 %p1, %r0, 16;\n@%p1 bar.sync 0;");
  EXPECT_THAT(run(), AllOf(HasSubstr("thread (16,0,0): divergent barrier: the lane has diverged"),
                           HasSubstr("(0xffff)")));
}

TEST_F(PtxSimCheck, BarrierThatNobodyElseReaches) {
  kernel("setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;");
  EXPECT_THAT(run(), HasSubstr("warp 0: waits at this barrier for threads that never arrive"));
}

TEST_F(PtxSimCheck, ExitedThreadsAreNotWaitedFor) {
  kernel("setp.lt.u32 %p1, %r0, 40;\n@!%p1 ret;\nbar.sync 0;");
  EXPECT_EQ(run(), "");
}

TEST_F(PtxSimCheck, ShuffleWithAbsentLanes) {
  kernel("setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, -1;");
  EXPECT_THAT(run(), HasSubstr("thread (16,0,0): the lane is in the mask 0xffffffff but has diverged"));
}

TEST_F(PtxSimCheck, ShuffleOutsideItsMask) {
  kernel("shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, 0xffff;");
  EXPECT_THAT(run(), HasSubstr("the lane executes this but is not in its mask 0xffff"));
}

TEST_F(PtxSimCheck, Trap) {
  kernel("setp.eq.b32 %p1, %r0, 33;\n@%p1 trap;");
  EXPECT_THAT(run(), AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_INSTRUCTION"), HasSubstr("thread (33,0,0): the program trapped")));
}

// The finding of the first faulty block is reported, whatever runs at the same time.
TEST_F(PtxSimCheck, FirstBlockIsNamed) {
  kernel("mov.u32 %r1, %ctaid.x;\nsetp.gt.u32 %p1, %r1, 20;\n@%p1 trap;");
  EXPECT_THAT(run({500, 64, 256}), HasSubstr("block (21,0,0)"));
}

} // namespace
} // namespace hjx::ptxsim::test
