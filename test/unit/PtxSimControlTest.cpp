// SPDX-License-Identifier: Apache-2.0
//
// Divergence and its end, barriers, warp-wide instructions, calls, local memory.
#include "test/unit/PtxSimTest.h"

#include "absl/strings/str_cat.h"

#include <numeric>

namespace hjx::ptxsim::test {
namespace {

using testing::ElementsAre;

class PtxSimControl : public PtxSim {
protected:
  /// A kernel whose body leaves its result in %r1 of each thread; %r0 is the thread's number.
  std::vector<uint32_t> run(const std::string &body, Shape shape, const std::string &module = "") {
    load(absl::StrCat(module, R"(
.visible .entry k(.param .u64 to)
{
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
  ld.param.u64 %rd0, [to];
  mov.u32 %r0, %tid.x;
  mov.b32 %r1, 0;
)", body, R"(
  mad.wide.u32 %rd1, %r0, 4, %rd0;
  st.global.b32 [%rd1], %r1;
  ret;
})"));
    auto to = upload(std::vector<uint32_t>(shape.block, 0xDEAD));
    EXPECT_EQ(launch("k", shape, to.pointer), "");
    return download(to);
  }
};

std::vector<uint32_t> perThread(unsigned count, uint32_t (*value)(uint32_t)) {
  std::vector<uint32_t> values(count);
  for (uint32_t thread = 0; thread < count; ++thread)
    values[thread] = value(thread);
  return values;
}

TEST_F(PtxSimControl, NestedBranchesMeetAgain) {
  auto result = run(R"(
  setp.lt.u32 %p1, %r0, 16;
  @%p1 bra low;
  add.s32 %r1, %r1, 100;
  and.b32 %r2, %r0, 1;
  setp.eq.b32 %p2, %r2, 0;
  @!%p2 bra odd;
  add.s32 %r1, %r1, 10;
  bra meet;
odd:
  add.s32 %r1, %r1, 20;
  bra meet;
low:
  add.s32 %r1, %r1, 1;
meet:
  activemask.b32 %r3;
  popc.b32 %r4, %r3;
  mad.lo.s32 %r1, %r4, 1000, %r1;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) {
              return 32000u + (t < 16 ? 1 : t % 2 ? 120 : 110);
            }));
}

TEST_F(PtxSimControl, LoopsOfDifferentLengths) {
  auto result = run(R"(
  mov.b32 %r2, 0;
outer:
  setp.gt.u32 %p1, %r2, %r0;
  @%p1 bra done;
  mov.b32 %r3, 0;
inner:
  add.s32 %r1, %r1, 1;
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, %r2;
  @%p2 bra inner;
  add.s32 %r2, %r2, 1;
  bra outer;
done:
  activemask.b32 %r4;
  popc.b32 %r4, %r4;
  mad.lo.s32 %r1, %r4, 10000, %r1;
)", {1, 20});
  EXPECT_EQ(result, perThread(20, [](uint32_t t) { return 200000u + 1 + t * (t + 1) / 2; }));
}

TEST_F(PtxSimControl, EarlyExitLeavesTheOthers) {
  auto result = run(R"(
  setp.ge.u32 %p1, %r0, 24;
  @%p1 ret;
  and.b32 %r2, %r0, 3;
  setp.eq.b32 %p2, %r2, 0;
  @%p2 exit;
  mov.b32 %r1, 7;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) { return t >= 24 || t % 4 == 0 ? 0xDEADu : 7u; }));
}

TEST_F(PtxSimControl, JumpTables) {
  auto result = run(R"(
  and.b32 %r2, %r0, 3;
table: .branchtargets zero, one, two, one;
  brx.idx %r2, table;
zero:
  mov.b32 %r1, 10;
  bra done;
one:
  mov.b32 %r1, 11;
  bra done;
two:
  mov.b32 %r1, 12;
done:
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) { return t % 4 == 3 ? 11u : 10 + t % 4; }));
}

TEST_F(PtxSimControl, Shuffles) {
  auto result = run(R"(
  shfl.sync.down.b32 %r2|%p1, %r0, 1, 0x1f, -1;
  shfl.sync.up.b32 %r3|%p2, %r0, 4, 0, -1;
  shfl.sync.bfly.b32 %r4, %r0, 3, 0x1f, -1;
  shfl.sync.idx.b32 %r5, %r0, 2, 0x181f, -1;
  selp.b32 %r6, 1, 0, %p1;
  selp.b32 %r7, 1, 0, %p2;
  mad.lo.s32 %r1, %r2, 100, %r3;
  mad.lo.s32 %r1, %r1, 100, %r4;
  mad.lo.s32 %r1, %r1, 100, %r5;
  shl.b32 %r6, %r6, 31;
  shl.b32 %r7, %r7, 30;
  xor.b32 %r1, %r1, %r6;
  xor.b32 %r1, %r1, %r7;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) {
              uint32_t down = t < 31 ? t + 1 : t, up = t >= 4 ? t - 4 : t;
              uint32_t value = ((down * 100 + up) * 100 + (t ^ 3)) * 100 + (t / 8 * 8 + 2);
              return value ^ (t < 31) << 31 ^ (t >= 4) << 30;
            }));
}

TEST_F(PtxSimControl, ShufflesWithinADivergedHalf) {
  auto result = run(R"(
  setp.lt.u32 %p1, %r0, 16;
  @!%p1 bra done;
  shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, 0xffff;
done:
  bar.warp.sync -1;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) { return t < 16 ? t ^ 1 : 0; }));
}

TEST_F(PtxSimControl, VotesMatchesAndReductions) {
  auto result = run(R"(
  setp.lt.u32 %p1, %r0, 5;
  vote.sync.ballot.b32 %r2, %p1, -1;
  vote.sync.any.pred %p2, %p1, -1;
  vote.sync.all.pred %p3, !%p1, -1;
  and.b32 %r3, %r0, 1;
  match.any.sync.b32 %r4, %r3, -1;
  redux.sync.add.s32 %r5, %r0, -1;
  selp.b32 %r6, 1, 0, %p2;
  selp.b32 %r7, 2, 0, %p3;
  popc.b32 %r4, %r4;
  add.s32 %r1, %r2, %r5;
  add.s32 %r1, %r1, %r4;
  mad.lo.s32 %r1, %r6, 10000, %r1;
  add.s32 %r1, %r1, %r7;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t) { return 31u + 496 + 16 + 10000; }));
}

// Sum of 1..n by shuffles within warps and shared memory among them: the kernel every layer has.
TEST_F(PtxSimControl, ReducesABlock) {
  auto result = run(R"(
  .shared .align 4 .b8 partial[32];
  add.s32 %r1, %r0, 1;
  shfl.sync.bfly.b32 %r2, %r1, 16, 0x1f, -1;
  add.s32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 8, 0x1f, -1;
  add.s32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 4, 0x1f, -1;
  add.s32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 2, 0x1f, -1;
  add.s32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 1, 0x1f, -1;
  add.s32 %r1, %r1, %r2;
  and.b32 %r3, %r0, 31;
  setp.ne.b32 %p1, %r3, 0;
  @%p1 bra written;
  shr.u32 %r4, %r0, 3;
  mov.u32 %r5, partial;
  add.s32 %r4, %r5, %r4;
  st.shared.b32 [%r4], %r1;
written:
  bar.sync 0;
  ld.shared.v4.b32 {%r6, %r7, %r8, %r9}, [partial];
  ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [partial+16];
  add.s32 %r1, %r6, %r7;
  add.s32 %r1, %r1, %r8;
  add.s32 %r1, %r1, %r9;
  add.s32 %r1, %r1, %r10;
  add.s32 %r1, %r1, %r11;
  add.s32 %r1, %r1, %r12;
  add.s32 %r1, %r1, %r13;
)", {1, 256});
  EXPECT_EQ(result, std::vector<uint32_t>(256, 256 * 257 / 2));
}

// Warps 0 and 1 hand values to warps 2 and 3 through named barriers.
TEST_F(PtxSimControl, NamedBarriers) {
  auto result = run(R"(
  .shared .align 4 .b8 box[256];
  mov.u32 %r2, box;
  and.b32 %r3, %r0, 63;
  mad.lo.s32 %r2, %r3, 4, %r2;
  setp.ge.u32 %p1, %r0, 64;
  @%p1 bra consume;
  st.shared.b32 [%r2], %r0;
  bar.arrive 1, 128;
  bra.uni done;
consume:
  bar.sync 1, 128;
  ld.shared.b32 %r1, [%r2];
done:
)", {1, 128});
  EXPECT_EQ(result, perThread(128, [](uint32_t t) { return t < 64 ? 0 : t - 64; }));
}

TEST_F(PtxSimControl, BarriersReduce) {
  auto result = run(R"(
  setp.lt.u32 %p1, %r0, 40;
  bar.red.popc.u32 %r2, 0, %p1;
  bar.red.or.pred %p2, 0, %p1;
  bar.red.and.pred %p3, 0, %p1;
  selp.b32 %r3, 100, 0, %p2;
  selp.b32 %r4, 1000, 0, %p3;
  add.s32 %r1, %r2, %r3;
  add.s32 %r1, %r1, %r4;
)", {1, 64});
  EXPECT_EQ(result, std::vector<uint32_t>(64, 140));
}

TEST_F(PtxSimControl, DynamicSharedMemoryFollowsTheStatic) {
  auto result = run(R"(
  .shared .align 4 .b8 fixed[20];
  mov.u32 %r2, fixed;
  mov.u32 %r3, dynamic;
  sub.s32 %r1, %r3, %r2;
)", {1, 1, 64}, ".extern .shared .align 16 .b8 dynamic[];");
  EXPECT_THAT(result, ElementsAre(32));
}

TEST_F(PtxSimControl, GenericAddressesFindTheirSpace) {
  auto result = run(R"(
  .local .align 8 .b8 stack[16];
  .shared .align 4 .b8 box[128];
  mov.u64 %rd2, stack;
  cvta.local.u64 %rd2, %rd2;
  mov.u64 %rd3, box;
  cvta.shared.u64 %rd3, %rd3;
  mad.wide.u32 %rd3, %r0, 4, %rd3;
  and.b32 %r2, %r0, 1;
  setp.eq.b32 %p1, %r2, 0;
  selp.b64 %rd4, %rd2, %rd3, %p1;
  st.b32 [%rd4], %r0;
  mov.b32 %r1, 1000;
  @%p1 ld.local.b32 %r1, [stack];
  @!%p1 ld.b32 %r1, [%rd4];
  isspacep.shared %p2, %rd4;
  @%p2 add.s32 %r1, %r1, 500;
)", {1, 32});
  EXPECT_EQ(result, perThread(32, [](uint32_t t) { return t % 2 ? t + 500 : t; }));
}

TEST_F(PtxSimControl, CallsUnderDivergence) {
  auto result = run(R"(
  setp.lt.u32 %p1, %r0, 8;
  @!%p1 bra done;
  {
  .param .b32 param0;
  st.param.b32 [param0], %r0;
  .param .b32 retval0;
  call.uni (retval0), triangle, (param0);
  ld.param.b32 %r1, [retval0];
  }
done:
)", {1, 32}, R"(
.func (.param .b32 result) triangle(.param .b32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.b32 %r1, [n];
  mov.b32 %r2, 0;
  setp.eq.b32 %p1, %r1, 3;
  @%p1 bra out;
again:
  add.s32 %r2, %r2, %r1;
  sub.s32 %r1, %r1, 1;
  setp.gt.s32 %p1, %r1, 0;
  @%p1 bra again;
out:
  st.param.b32 [result], %r2;
  ret;
})");
  EXPECT_EQ(result, perThread(32, [](uint32_t t) { return t < 8 && t != 3 ? t * (t + 1) / 2 : 0; }));
}

TEST_F(PtxSimControl, SpecialRegisters) {
  load(R"(
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<16>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %laneid;
  mov.u32 %r7, %warpid;
  mov.u32 %r8, %lanemask_lt;
  popc.b32 %r8, %r8;
  mad.wide.u32 %rd2, %r4, 16, %rd1;
  st.global.v4.b32 [%rd2], {%r5, %r6, %r7, %r8};
  ret;
})");
  auto to = allocate<uint32_t>(3 * 40 * 4);
  EXPECT_EQ(launch("k", {3, 40}, to.pointer), "");
  auto values = download(to);
  for (unsigned thread = 0; thread < 120; ++thread) {
    unsigned inBlock = thread % 40;
    EXPECT_EQ(std::vector<uint32_t>(&values[thread * 4], &values[thread * 4] + 4),
              (std::vector<uint32_t>{3, inBlock % 32, inBlock / 32, inBlock % 32}));
  }
}

} // namespace
} // namespace hjx::ptxsim::test
