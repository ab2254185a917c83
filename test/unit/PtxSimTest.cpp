// SPDX-License-Identifier: Apache-2.0
//
// The driver's own behaviour: devices, modules, errors, launch limits.
#include "test/unit/PtxSimTest.h"

namespace hjx::ptxsim::test {

using testing::HasSubstr;

namespace {

constexpr const char *kCopy = R"(
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n) .maxntid 256
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.b32 %r1, [%rd6];
  st.global.b32 [%rd7], %r1;
done:
  ret;
})";

TEST_F(PtxSim, NamesItself) {
  char name[64] = {};
  int major = 0;
  ASSERT_EQ(driver->cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "hjx simulated sm_80");
  ASSERT_EQ(driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(major, 8);
}

TEST_F(PtxSim, CopiesThroughAKernel) {
  load(kCopy);
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i)
    values[i] = i * i;
  auto from = upload(values);
  auto to = allocate<int>(1000);
  EXPECT_EQ(launch("copy", {8, 128}, from.pointer, to.pointer, 1000), "");
  EXPECT_EQ(download(to), values);
}

TEST_F(PtxSim, RefusesImpossibleLaunches) {
  load(kCopy);
  auto buffer = upload(std::vector<int>(32));
  EXPECT_THAT(launch("copy", {1, 2048}, buffer.pointer, buffer.pointer, 0),
              HasSubstr("expected a block of 1 to 1024 threads"));
  EXPECT_THAT(launch("copy", {1, 512}, buffer.pointer, buffer.pointer, 0),
              HasSubstr("expected at most 256 threads, which .maxntid promises, got 512"));
  EXPECT_THAT(launch("copy", {0, 32}, buffer.pointer, buffer.pointer, 0),
              HasSubstr("expected a grid of 1 to"));
  EXPECT_THAT(launch("copy", {1, 32, 50000}, buffer.pointer, buffer.pointer, 0),
              HasSubstr("expected at most 49152 bytes of shared memory, got 50000"));
  void *tooFew[] = {&buffer.pointer, &buffer.pointer, nullptr};
  EXPECT_THAT(launchWith("copy", {1, 32}, tooFew), HasSubstr("argument 2 of 3 is a null pointer"));
  EXPECT_THAT(launch("missing", {1, 32}), HasSubstr("no kernel 'missing' in the module"));
  // None of these put the device out of use.
  EXPECT_EQ(launch("copy", {1, 32}, buffer.pointer, buffer.pointer, 32), "");
}

TEST_F(PtxSim, RefusesWhatItDoesNotUnderstand) {
  auto kernel = [](std::string body) {
    return ".visible .entry k() { .reg .b32 %r<4>; .reg .f32 %f<4>;\n" + body + "\nret; }";
  };
  EXPECT_THAT(loadError(kernel("frob.b32 %r1, %r2;")),
              HasSubstr("ptx line 5: unknown instruction 'frob.b32': `frob.b32 %r1, %r2`"));
  EXPECT_THAT(loadError(kernel("add.frob.s32 %r1, %r2, %r3;")),
              HasSubstr("unknown modifier '.frob' of 'add'"));
  EXPECT_THAT(loadError(kernel("add.s32 %r1, %r2;")), HasSubstr("expected 3 operands, got 2"));
  EXPECT_THAT(loadError(kernel("add.s64 %r1, %r2, %r3;")),
              HasSubstr("register '%r1' has the wrong size"));
  EXPECT_THAT(loadError(kernel("add.s32 %r1, %r2, %r9;")), HasSubstr("unknown register '%r9'"));
  EXPECT_THAT(loadError(kernel("bra nowhere;")), HasSubstr("unknown label 'nowhere'"));
  EXPECT_THAT(loadError(kernel("div.f32 %f1, %f2, %f3;")), HasSubstr("expected a rounding"));
  EXPECT_THAT(loadError(kernel("add.s32 %r1, %r2, %r3")), HasSubstr("expected ',' or ';', got 'ret'"));
  EXPECT_THAT(loadError(kernel("mbarrier.init.shared.b64;")), HasSubstr("expected 1 to 4 operands, got 0"));
  EXPECT_THAT(loadError(kernel("mbarrier.frob.shared.b64 [%r1];")), HasSubstr("unknown form of this instruction"));
  EXPECT_THAT(loadError(kernel("cp.async.ca.shared.global [%r1], [%r2], 5;")), HasSubstr("expected 4, 8 or 16 bytes"));
  EXPECT_THAT(loadError(kernel("cp.async.cg.shared.global [%r1], [%r2], 8;")), HasSubstr("expected 16 bytes"));
  EXPECT_THAT(loadError(kernel("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [%r0];")),
              HasSubstr("expected .m8n8, .x1, .x2 or .x4, and .b16"));
  EXPECT_THAT(loadError(kernel("cp.async.bulk.commit_group;")),
              HasSubstr("expected .target sm_90 or later for this instruction, got sm_80"));
  EXPECT_THAT(loadError(kernel("wgmma.fence.sync.aligned;")),
              HasSubstr("expected .target sm_90a for this instruction, got sm_80"));
  EXPECT_THAT(loadError(".frob 3;"), HasSubstr("ptx line 4: unknown directive '.frob'"));
  EXPECT_THAT(loadError(".visible .entry k() { ret;"), HasSubstr("expected '}', got the end of the text"));
}

TEST_F(PtxSim, RefusesAnotherArchitecture) {
  CUmodule refused = nullptr;
  CUresult result = driver->cuModuleLoadDataEx(
      &refused, ".version 8.0\n.target sm_90\n.address_size 64\n", 0, nullptr, nullptr);
  EXPECT_THAT(driver->describe(result), HasSubstr("the module is for sm_90, the simulated device is sm_80"));
}

TEST_F(PtxSim, ModuleVariablesAreInitialised) {
  load(R"(
.global .align 4 .u32 counter = 3;
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};
.global .align 8 .u64 where = generic(counter);
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.global.u64 %rd2, [where];
  ld.u32 %r1, [%rd2];
  ld.const.u32 %r2, [table+4];
  st.global.v2.u32 [%rd1], {%r1, %r2};
  ret;
})");
  auto to = allocate<uint32_t>(2);
  EXPECT_EQ(launch("k", {1, 1}, to.pointer), "");
  EXPECT_THAT(download(to), testing::ElementsAre(3, 2));
}

} // namespace
} // namespace hjx::ptxsim::test
