// SPDX-License-Identifier: Apache-2.0
//
// cp.async by itself, and a matrix product made of cp.async, ldmatrix and mma.sync: its results
// in all types against f64, and faults planted in it, each of which must be found.
#include "test/unit/ProductReference.h"
#include "test/unit/PtxSimGemm.h"
#include "test/unit/PtxSimTest.h"

#include <bit>
#include <random>

namespace hjx::ptxsim::test {
namespace {

using testing::HasSubstr;

struct Format {
  const char *name, *shape, *types;
  unsigned bits;
  double tolerance;
  uint32_t (*encode)(double);
};
void PrintTo(const Format &one, std::ostream *out) { *out << one.name; }

const Format kFormats[] = {
    {"f16", "m16n8k16", "f32.f16.f16.f32", 16, 1e-5,
     [](double x) -> uint32_t { return std::bit_cast<uint16_t>(static_cast<_Float16>(x)); }},
    {"bf16", "m16n8k16", "f32.bf16.bf16.f32", 16, 1e-5,
     [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16; }},
    {"tf32", "m16n8k8", "f32.tf32.tf32.f32", 32, 1e-5,
     [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); }},
    {"s8", "m16n8k32", "s32.s8.s8.s32", 8, 0, [](double x) { return uint32_t(uint8_t(int(x))); }},
};

class PtxSimGemm : public PtxSim {
protected:
  /// C = A * B' for random small integers, which all formats hold, scaled for floats. Returns what
  /// was found, or "wrong result", or "".
  std::string run(const Format &format, const std::string &text, unsigned m = 128, unsigned n = 64,
                  unsigned steps = 4) {
    load(text);
    unsigned k = steps * 64 * 8 / format.bits;
    double scale = format.bits == 8 ? 1 : 1.0 / 16;
    std::mt19937 random(1);
    auto matrix = [&](unsigned rows, std::vector<double> &values) {
      std::vector<uint8_t> bytes;
      for (unsigned at = 0; at < rows * k; ++at) {
        values.push_back((double(random() % 255) - 127) * scale);
        uint32_t bits = format.encode(values.back());
        for (unsigned byte = 0; byte < format.bits / 8; ++byte)
          bytes.push_back(bits >> 8 * byte);
      }
      return upload(bytes);
    };
    std::vector<double> a, b;
    auto onDeviceA = matrix(m, a), onDeviceB = matrix(n, b);
    auto c = allocate<uint32_t>(m * n);
    CUfunction function = nullptr;
    EXPECT_EQ(driver->cuModuleGetFunction(&function, module, "gemm"), CUDA_SUCCESS);
    void *arguments[] = {&onDeviceA.pointer, &onDeviceB.pointer, &c.pointer, &steps, &n};
    EXPECT_EQ(driver->cuLaunchKernel(function, m / 64, n / 64, 1, 128, 1, 1, 0, stream, arguments, nullptr),
              CUDA_SUCCESS);
    if (std::string error = describe(); !error.empty())
      return error;
    std::vector<uint32_t> result = download(c);
    return hjx::test::compareProduct(
        m, n, k, format.tolerance, [&](int64_t row, int64_t x) { return a[row * k + x]; },
        [&](int64_t x, int64_t column) { return b[column * k + x]; }, [](int64_t, int64_t) { return 0.0; },
        [&](int64_t row, int64_t column) {
          uint32_t bits = result[row * n + column];
          return format.bits == 8 ? double(int32_t(bits)) : double(std::bit_cast<float>(bits));
        });
  }
};

class PtxSimGemmFormats : public PtxSimGemm, public testing::WithParamInterface<Format> {};
TEST_P(PtxSimGemmFormats, AgreesWithF64) {
  EXPECT_EQ(run(GetParam(), gemmText(GetParam().shape, GetParam().types)), "");
}
INSTANTIATE_TEST_SUITE_P(All, PtxSimGemmFormats, testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

struct Fault {
  const char *name, *from, *to, *finding;
};
void PrintTo(const Fault &one, std::ostream *out) { *out << one.name; }

class PtxSimGemmFaults : public PtxSimGemm, public testing::WithParamInterface<Fault> {};
TEST_P(PtxSimGemmFaults, AreFound) {
  const Fault &fault = GetParam();
  std::string text = gemmText(kFormats[0].shape, kFormats[0].types);
  ASSERT_THAT(text, HasSubstr(fault.from));
  EXPECT_THAT(run(kFormats[0], absl::StrReplaceAll(text, {{fault.from, fault.to}})), HasSubstr(fault.finding));
}
INSTANTIATE_TEST_SUITE_P(
    All, PtxSimGemmFaults,
    testing::Values(
        Fault{"NoBarrierBeforeReading", "bar.sync 0;                           // arrived", "",
              "`ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r34]`: block (0,0,0), thread (1,0,0): "
              "read of 16 bytes at 0x40 of shared memory races with the write by thread (4,0,0) in ptx line"},
        Fault{"NoBarrierAfterReading", "bar.sync 0;                           // read", "",
              "write of 16 bytes at 0x10 of shared memory races with the read by thread (16,0,0) in ptx line"},
        Fault{"WaitCountsAGroupTooMany", "wait_group 1", "wait_group 2", "has not arrived: nothing waits for it"},
        Fault{"NoWait", "cp.async.wait_group 1;", "", "has not arrived: nothing waits for it"},
        Fault{"NoCommit", "cp.async.commit_group;                // next", "", "has not arrived: nothing waits for it"},
        Fault{"NoFirstCommit", "cp.async.commit_group;                // first", "", "wait"},
        Fault{"NoSwizzleOfWrites", "xor.b32 %r10, %r10, %r9;", "mov.b32 %r10, %r9;", "wrong result"},
        Fault{"WrongSwizzleOfReads", "xor.b32 %r34, %r34, %r20;", "xor.b32 %r34, %r34, %r19;", "wrong result"},
        Fault{"OneRowTooFar", "mad.lo.u32 %r12, %r4, 64, %r8;", "mad.lo.u32 %r12, %r4, 65, %r8;", "ILLEGAL_ADDRESS"},
        Fault{"OneStepTooMany", "setp.ge.u32 %p1, %r32, %r1;", "setp.gt.u32 %p1, %r32, %r1;", "ILLEGAL_ADDRESS"},
        Fault{"OneStepTooFew", "setp.lt.u32 %p2, %r31, %r1;", "add.u32 %r50, %r31, 1; setp.lt.u32 %p2, %r50, %r1;",
              "wrong result"},
        Fault{"PartNotCopied", "cp.async.cg.shared.global [%r30+6144], [%rd11], 16;", "",
              "of shared memory, which were never written"},
        Fault{"SameBuffer", "mad.lo.u32 %r30, %r33, 8192, %r10;", "mov.b32 %r30, %r10;",
              "where the copy by thread (0,0,0)"},
        Fault{"BeyondSharedMemory", "mad.lo.u32 %r30, %r33, 8192, %r10;", "mad.lo.u32 %r30, %r33, 8208, %r10;",
              "write of 16 bytes at 0x4000: the block's shared memory has 16384 bytes"},
        Fault{"Misaligned", "add.u64 %rd6, %rd1, %rd4;", "add.u64 %rd6, %rd1, %rd4; add.u64 %rd6, %rd6, 8;",
              "MISALIGNED_ADDRESS"},
        Fault{"DivergentMatrixLoad", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0",
              "setp.ne.u32 %p3, %r14, 5; @%p3 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0",
              "thread (5,0,0): expected all lanes of the warp to execute this"},
        Fault{"StoreBehindTheEnd", "mad.wide.u32 %rd20, %r42, 4, %rd3;", "mad.wide.u32 %rd20, %r42, 4, %rd3; add.u64 %rd20, %rd20, 8;",
              "ILLEGAL_ADDRESS"}),
    [](const auto &info) { return info.param.name; });

// cp.async.

class PtxSimAsyncCopy : public PtxSim {
protected:
  /// Each of 32 threads copies 16 of its bytes to shared memory and stores 4 words from there.
  std::string run(const std::string &copy, std::vector<uint32_t> *result = nullptr) {
    load(absl::StrCat(R"(
.shared .align 16 .b8 tile[512];
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .b32 %v<4>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %rd1, %r0, 16, %rd1;
  mad.wide.u32 %rd2, %r0, 16, %rd2;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %r0, 16, %r1;
  setp.lt.u32 %p1, %r0, 8;
)", copy, R"(
  ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%r1];
  st.global.v4.b32 [%rd2], {%v0, %v1, %v2, %v3};
  ret;
})"));
    std::vector<uint32_t> values(128);
    for (unsigned at = 0; at < 128; ++at)
      values[at] = at + 1;
    auto from = upload(values), to = upload(std::vector<uint32_t>(128));
    std::string error = launch("k", {1, 32}, from.pointer, to.pointer);
    if (result && error.empty())
      *result = download(to);
    return error;
  }
};

TEST_F(PtxSimAsyncCopy, CopiesAndFillsWithZeros) {
  std::vector<uint32_t> result;
  ASSERT_EQ(run("  shl.b32 %r2, %r0, 2;\n  min.u32 %r2, %r2, 16;\n"
                "  cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;\n  cp.async.wait_all;\n", &result), "");
  for (unsigned at = 0; at < 128; ++at)
    EXPECT_EQ(result[at], at % 4 < at / 4 ? at + 1 : 0);
}

// Nothing is read where nothing is copied.
TEST_F(PtxSimAsyncCopy, ReadsOnlyWhatItCopies) {
  EXPECT_EQ(run("  add.u64 %rd1, %rd1, 4096;\n  cp.async.ca.shared.global [%r1], [%rd1], 16, 0;\n  cp.async.wait_all;\n"), "");
  EXPECT_THAT(run("  add.u64 %rd1, %rd1, 4096;\n  cp.async.ca.shared.global [%r1], [%rd1], 16, 4;\n  cp.async.wait_all;\n"),
              HasSubstr("read of 4 bytes at 0x"));
}

TEST_F(PtxSimAsyncCopy, CopiesByHalves) {
  std::vector<uint32_t> result;
  ASSERT_EQ(run("  cp.async.ca.shared.global [%r1], [%rd1], 8;\n  cp.async.commit_group;\n"
                "  cp.async.ca.shared.global [%r1+8], [%rd1+8], 4;\n  cp.async.ca.shared.global [%r1+12], [%rd1+12], 4;\n"
                "  cp.async.commit_group;\n  cp.async.wait_group 0;\n", &result), "");
  EXPECT_EQ(result[127], 128u);
}

TEST_F(PtxSimAsyncCopy, WritesToWhatIsInFlight) {
  EXPECT_THAT(run("  cp.async.ca.shared.global [%r1], [%rd1], 16;\n  st.shared.b32 [%r1+4], %r0;\n  cp.async.wait_all;\n"),
              HasSubstr("write of 4 bytes at 0x4 of shared memory, where the copy by thread (0,0,0) in ptx line 17 "
                        "`cp.async.ca.shared.global [%r1], [%rd1], 16` has not arrived"));
}

// Lanes that did not wait have nothing.
TEST_F(PtxSimAsyncCopy, WaitsLaneByLane) {
  EXPECT_THAT(run("  cp.async.ca.shared.global [%r1], [%rd1], 16;\n  cp.async.commit_group;\n  @%p1 cp.async.wait_group 0;\n"),
              HasSubstr("thread (8,0,0): read of 16 bytes at 0x80 of shared memory, where the copy by thread (8,0,0)"));
}

TEST_F(PtxSimAsyncCopy, CopiesMoreThanItWants) {
  EXPECT_THAT(run("  mov.b32 %r2, 20;\n  cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;\n  cp.async.wait_all;\n"),
              HasSubstr("expected at most 16 bytes to copy, got 20"));
}

TEST_F(PtxSimAsyncCopy, ReadsWhatWasNeverWritten) {
  load(R"(
.shared .align 16 .b8 tile[16];
.visible .entry k(.param .u64 from)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [from];
  mov.u32 %r1, tile;
  cp.async.cg.shared.global [%r1], [%rd1], 16;
  ret;
})");
  auto from = allocate<uint32_t>(4);
  EXPECT_THAT(launch("k", {1, 1}, from.pointer), HasSubstr("of global memory, which were never written"));
}

} // namespace
} // namespace hjx::ptxsim::test
