// SPDX-License-Identifier: Apache-2.0
//
// A matrix product written by hand for sm_90a, C[m][n] = sum over k of A[m][k] * B[n][k]: one
// warpgroup has TMA bring 128 bytes of each row, swizzled, into one of two buffers; two others
// multiply with wgmma. Buffers change hands by mbarriers. Its results against f64, and faults
// planted in it, each of which must be found.
#include "test/unit/ProductReference.h"
#include "test/unit/PtxSimHopper.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include <bit>
#include <random>

namespace hjx::ptxsim::test {
namespace {

using testing::HasSubstr;

struct Format {
  const char *name;
  int mapType;
  const char *shape, *types, *scales; ///< of wgmma; scales and transpositions are part of it
  unsigned bits;
  uint32_t (*encode)(double);
};
void PrintTo(const Format &one, std::ostream *out) { *out << one.name; }

const Format kFormats[] = {
    {"f16", 6, "m64n64k16", "f32.f16.f16", ", 1, 1, 0, 0", 16,
     [](double x) -> uint32_t { return std::bit_cast<uint16_t>(static_cast<_Float16>(x)); }},
    {"bf16", 9, "m64n64k16", "f32.bf16.bf16", ", 1, 1, 0, 0", 16,
     [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16; }},
    {"tf32", 7, "m64n64k8", "f32.tf32.tf32", ", 1, 1", 32,
     [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); }},
    {"s8", 0, "m64n64k32", "s32.s8.s8", "", 8, [](double x) { return uint32_t(uint8_t(int(x))); }},
};

// Blocks of 128x64. Shared memory, of each buffer: 128 rows of A, 64 rows of B; then the mbarriers:
// full and empty, one for each buffer.
std::string gemmText(const Format &format) {
  unsigned elements = 128 * 8 / format.bits;
  std::string sum(format.types, 3), sums;
  for (unsigned r = 0; r < 32; ++r)
    absl::StrAppend(&sums, r ? ", " : "", "%c", r);
  std::string text = absl::StrCat(R"(
.extern .shared .align 1024 .b8 smem[];
.visible .entry gemm(.param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128], .param .u64 c,
                     .param .u32 steps, .param .u32 n)
  .maxntid 384
{
  .reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .)", sum, R"( %c<32>;
  mov.b64 %rd1, mapA;
  cvta.param.u64 %rd1, %rd1;
  mov.b64 %rd2, mapB;
  cvta.param.u64 %rd2, %rd2;
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [steps];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, smem;
  add.u32 %r7, %r6, 49152;              // full
  add.u32 %r8, %r6, 49168;              // empty
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra ready;
  mbarrier.init.shared::cta.b64 [%r7], 1;
  mbarrier.init.shared::cta.b64 [%r7+8], 1;
  mbarrier.init.shared::cta.b64 [%r8], 2;
  mbarrier.init.shared::cta.b64 [%r8+8], 2;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;                           // initialised
  mov.b32 %r10, 0;                      // step
  shr.u32 %r9, %r3, 7;
  setp.ne.u32 %p2, %r9, 0;
  @%p2 bra consumer;

  setmaxnreg.dec.sync.aligned.u32 40;
  @%p1 bra done;
  shl.b32 %r11, %r4, 7;
  shl.b32 %r12, %r5, 6;
produce:
  and.b32 %r13, %r10, 1;
  shr.u32 %r14, %r10, 1;
  and.b32 %r14, %r14, 1;
  xor.b32 %r15, %r14, 1;
  mad.lo.u32 %r16, %r13, 8, %r8;
waitEmpty:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r16], %r15;
  @!%p3 bra waitEmpty;
  mad.lo.u32 %r17, %r13, 8, %r7;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r17], 24576;
  mad.lo.u32 %r18, %r13, 24576, %r6;
  mul.lo.u32 %r19, %r10, )", elements, R"(;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r18], [%rd1, {%r19, %r11}], [%r17];
  add.u32 %r18, %r18, 16384;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r18], [%rd2, {%r19, %r12}], [%r17];
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r1;
  @%p4 bra produce;
  bra done;

consumer:
  setmaxnreg.inc.sync.aligned.u32 240;
  sub.u32 %r9, %r9, 1;
  and.b32 %r20, %r3, 127;
  setp.eq.u32 %p1, %r20, 0;
consume:
  and.b32 %r13, %r10, 1;
  shr.u32 %r14, %r10, 1;
  and.b32 %r14, %r14, 1;
  mad.lo.u32 %r17, %r13, 8, %r7;
waitFull:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r17], %r14;
  @!%p3 bra waitFull;
  // Descriptors: 8 rows of 128 bytes are 1024 apart, swizzled by 128.
  mad.lo.u32 %r18, %r13, 24576, %r6;
  mad.lo.u32 %r21, %r9, 8192, %r18;
  shr.u32 %r21, %r21, 4;
  cvt.u64.u32 %rd4, %r21;
  or.b64 %rd4, %rd4, 0x4000004000010000;
  add.u32 %r22, %r18, 16384;
  shr.u32 %r22, %r22, 4;
  cvt.u64.u32 %rd5, %r22;
  or.b64 %rd5, %rd5, 0x4000004000010000;
  setp.ne.u32 %p5, %r10, 0;
  wgmma.fence.sync.aligned;
)");
  for (unsigned part = 0; part < 4; ++part) {
    if (part)
      absl::StrAppend(&text, "  add.u64 %rd4, %rd4, 2;\n  add.u64 %rd5, %rd5, 2;\n  setp.eq.u32 %p5, %r10, %r10;\n");
    absl::StrAppend(&text, "  wgmma.mma_async.sync.aligned.", format.shape, ".", format.types, " {", sums,
                    "}, %rd4, %rd5, %p5", format.scales, ";\n");
  }
  absl::StrAppend(&text, R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mad.lo.u32 %r16, %r13, 8, %r8;
  @%p1 mbarrier.arrive.shared::cta.b64 _, [%r16];
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r1;
  @%p4 bra consume;
  // C: row 128 * block + 64 * warpgroup + 16 * warp + lane / 4, column 64 * block + 2 * (lane % 4).
  shr.u32 %r40, %r20, 5;
  and.b32 %r41, %r20, 31;
  shr.u32 %r42, %r41, 2;
  mad.lo.u32 %r42, %r40, 16, %r42;
  mad.lo.u32 %r42, %r9, 64, %r42;
  mad.lo.u32 %r42, %r4, 128, %r42;
  and.b32 %r43, %r41, 3;
  shl.b32 %r43, %r43, 1;
  mad.lo.u32 %r43, %r5, 64, %r43;
  mad.lo.u32 %r44, %r42, %r2, %r43;
  mad.wide.u32 %rd20, %r44, 4, %rd3;
  mul.wide.u32 %rd21, %r2, 32;
  add.u64 %rd21, %rd20, %rd21;
)");
  for (unsigned r = 0; r < 32; r += 2)
    absl::StrAppend(&text, "  st.global.v2.", sum == "f32" ? "f32" : "b32", " [%rd2", r >> 1 & 1, "+", r / 4 * 32,
                    "], {%c", r, ", %c", r + 1, "};\n");
  return text + "done:\n  ret;\n}\n";
}

class PtxSimHopperGemm : public PtxSimHopper {
protected:
  /// What was found, or "wrong result", or "". The last `missing` elements of each row do not exist.
  std::string run(const Format &format, const std::string &text, Swizzle swizzle = Swizzle::Bytes128,
                  unsigned missing = 0) {
    load(text, "sm_90a");
    unsigned m = 256, n = 128, steps = 5, k = steps * 128 * 8 / format.bits - missing;
    unsigned rowBytes = steps * 128;
    double scale = format.bits == 8 ? 1 : 1.0 / 16;
    std::mt19937 random(2);
    auto matrix = [&](unsigned rows, std::vector<double> &values) {
      std::vector<uint8_t> bytes(rows * rowBytes);
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned at = 0; at < k; ++at) {
          values.push_back((double(random() % 255) - 127) * scale);
          uint32_t bits = format.encode(values.back());
          std::memcpy(&bytes[row * rowBytes + at * format.bits / 8], &bits, format.bits / 8);
        }
      return upload(bytes);
    };
    std::vector<double> a, b;
    auto onDeviceA = matrix(m, a), onDeviceB = matrix(n, b);
    auto c = allocate<uint32_t>(m * n);
    TensorMapBytes mapA, mapB;
    unsigned elements = 128 * 8 / format.bits;
    if (swizzle == Swizzle::Bytes64) // two copies would be needed
      elements /= 2;
    EXPECT_EQ(encode(mapA, format.mapType, onDeviceA.pointer, {k, m}, {rowBytes}, {elements, 128}, swizzle), 0)
        << driver->describe(1);
    EXPECT_EQ(encode(mapB, format.mapType, onDeviceB.pointer, {k, n}, {rowBytes}, {elements, 64}, swizzle), 0);
    CUfunction function = nullptr;
    EXPECT_EQ(driver->cuModuleGetFunction(&function, module, "gemm"), CUDA_SUCCESS);
    EXPECT_EQ(driver->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49184), CUDA_SUCCESS);
    void *arguments[] = {&mapA, &mapB, &c.pointer, &steps, &n};
    EXPECT_EQ(driver->cuLaunchKernel(function, m / 128, n / 64, 1, 384, 1, 1, 49184, stream, arguments, nullptr), CUDA_SUCCESS);
    if (std::string error = describe(); !error.empty())
      return error;
    std::vector<uint32_t> result = download(c);
    return hjx::test::compareProduct(
        m, n, k, format.bits == 8 ? 0 : 1e-5, [&](int64_t row, int64_t x) { return a[row * k + x]; },
        [&](int64_t x, int64_t column) { return b[column * k + x]; }, [](int64_t, int64_t) { return 0.0; },
        [&](int64_t row, int64_t column) {
          uint32_t bits = result[row * n + column];
          return format.bits == 8 ? double(int32_t(bits)) : double(std::bit_cast<float>(bits));
        });
  }
};

class PtxSimHopperGemmFormats : public PtxSimHopperGemm, public testing::WithParamInterface<Format> {};
TEST_P(PtxSimHopperGemmFormats, AgreesWithF64) { EXPECT_EQ(run(GetParam(), gemmText(GetParam())), ""); }
INSTANTIATE_TEST_SUITE_P(All, PtxSimHopperGemmFormats, testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

// What lies outside of the tensor is zero, whatever the memory there holds.
TEST_F(PtxSimHopperGemm, FillsWithZeros) {
  EXPECT_EQ(run(kFormats[0], gemmText(kFormats[0]), Swizzle::Bytes128, 19), "");
}

TEST_F(PtxSimHopperGemm, AnotherSwizzleThanTheDescriptors) {
  EXPECT_THAT(run(kFormats[0], gemmText(kFormats[0]), Swizzle::None), HasSubstr("wrong result"));
  // Half as many bytes come as were announced.
  EXPECT_THAT(run(kFormats[0], gemmText(kFormats[0]), Swizzle::Bytes64),
              HasSubstr("0 of 1 arrivals and 12288 bytes are missing"));
}

struct Fault {
  const char *name, *from, *to, *finding;
};
void PrintTo(const Fault &one, std::ostream *out) { *out << one.name; }

class PtxSimHopperGemmFaults : public PtxSimHopperGemm, public testing::WithParamInterface<Fault> {};
TEST_P(PtxSimHopperGemmFaults, AreFound) {
  const Fault &fault = GetParam();
  std::string text = gemmText(kFormats[0]);
  ASSERT_THAT(text, HasSubstr(fault.from));
  EXPECT_THAT(run(kFormats[0], absl::StrReplaceAll(text, {{fault.from, fault.to}})), HasSubstr(fault.finding));
}
const char *const kWaitFull = "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r17], %r14;\n  @!%p3 bra waitFull;\n";
const char *const kWaitEmpty = "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r16], %r15;\n  @!%p3 bra waitEmpty;\n";
INSTANTIATE_TEST_SUITE_P(
    All, PtxSimHopperGemmFaults,
    testing::Values(
        Fault{"NoBarrierAfterInit", "bar.sync 0;                           // initialised", "",
              "races with the write by thread (0,0,0) in ptx line"},
        Fault{"NoFenceAfterInit", "fence.mbarrier_init.release.cluster;", "",
              "whose mbarrier.init has no fence.mbarrier_init or fence.proxy.async behind it"},
        Fault{"NoInit", "mbarrier.init.shared::cta.b64 [%r8+8], 2;", "", "expected an mbarrier at 0xc018"},
        Fault{"NoExpectTx", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r17], 24576;",
              "mbarrier.arrive.shared::cta.b64 _, [%r17];", "races with the write by a copy that reports to an mbarrier"},
        Fault{"ExpectsTooFewBytes", "[%r17], 24576", "[%r17], 24448", "-128 bytes are missing"},
        Fault{"ExpectsTooManyBytes", "[%r17], 24576", "[%r17], 24704", "128 bytes are missing"},
        Fault{"NoWaitForFull", kWaitFull, "", "of shared memory"},
        Fault{"WrongParityOfFull", "[%r17], %r14", "[%r17], %r10", "never ends"},
        Fault{"InvertedParityOfFull", "[%r17], %r14;", "[%r17], 1;", "never ends"},
        Fault{"WaitsForTheOtherBuffer", "  mad.lo.u32 %r17, %r13, 8, %r7;\nwaitFull:",
              "  xor.b32 %r50, %r13, 1;\n  mad.lo.u32 %r17, %r50, 8, %r7;\nwaitFull:", "of shared memory"},
        Fault{"NoWaitForEmpty", kWaitEmpty, "", "write of 16 bytes at 0x0 of shared memory races with the"},
        Fault{"WrongParityOfEmpty", "[%r16], %r15", "[%r16], %r14", "waits for phase 0 of the mbarrier at 0xc010, which never ends"},
        Fault{"NoArrivalAtEmpty", "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r16];", "",
              "waits for phase 0 of the mbarrier at 0xc010, which never ends: 2 of 2 arrivals"},
        Fault{"EverybodyArrives", "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r16];", "mbarrier.arrive.shared::cta.b64 _, [%r16];",
              "never ends"},
        Fault{"EmptyCountsOneConsumer", "mbarrier.init.shared::cta.b64 [%r8], 2;", "mbarrier.init.shared::cta.b64 [%r8], 1;",
              "never ends"},
        Fault{"EmptyCountsThreeConsumers", "mbarrier.init.shared::cta.b64 [%r8], 2;", "mbarrier.init.shared::cta.b64 [%r8], 3;",
              "1 of 3 arrivals and 0 bytes are missing"},
        Fault{"WaitCountsAGroupTooMany", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "wgmma"},
        Fault{"NoWaitForProducts", "wgmma.wait_group.sync.aligned 0;", "", "wgmma"},
        Fault{"NoCommit", "wgmma.commit_group.sync.aligned;", "", "wgmma"},
        Fault{"NoFence", "wgmma.fence.sync.aligned;", "", "expected a wgmma.fence before the first wgmma.mma_async"},
        Fault{"SumsReadTooEarly", "  wgmma.wait_group.sync.aligned 0;",
              "  mov.b32 %r50, %c3;\n  wgmma.wait_group.sync.aligned 0;", "reads a register that a wgmma.mma_async in flight uses"},
        Fault{"SumsWrittenTooEarly", "  wgmma.wait_group.sync.aligned 0;",
              "  mov.b32 %c31, 0f00000000;\n  wgmma.wait_group.sync.aligned 0;", "writes a register that a wgmma.mma_async in flight uses"},
        Fault{"SumsWrittenAfterTheFence", "  wgmma.fence.sync.aligned;\n",
              "  wgmma.fence.sync.aligned;\n  mov.b32 %c5, 0f00000000;\n", "a register was written since the last wgmma.fence"},
        Fault{"DescriptorOfAnotherSwizzle", "or.b64 %rd5, %rd5, 0x4000004000010000", "or.b64 %rd5, %rd5, 0x8000004000010000",
              "expected the swizzled matrix to start in the first row of a multiple of 512 bytes"},
        Fault{"DescriptorOfAnotherStride", "or.b64 %rd5, %rd5, 0x4000004000010000", "or.b64 %rd5, %rd5, 0x4000002000010000",
              "wrong result"},
        Fault{"DescriptorOfTheOtherBuffer", "or.b64 %rd5, %rd5, 0x4000004000010000", "or.b64 %rd5, %rd5, 0x4000020000010000",
              "races with the write by a copy"},
        Fault{"DescriptorBeyondSharedMemory", "add.u32 %r22, %r18, 16384;", "add.u32 %r22, %r18, 65536;",
              "read of 16 bytes at 0x10000: the block's shared memory has 49184 bytes"},
        Fault{"DescriptorOffTheSwizzle", "add.u32 %r22, %r18, 16384;", "add.u32 %r22, %r18, 16512;",
              "expected the swizzled matrix to start in the first row of a multiple of 1024 bytes"},
        Fault{"MBarrierInTheTile", "add.u32 %r7, %r6, 49152;", "add.u32 %r7, %r6, 49136;", "where an mbarrier lies"},
        Fault{"MisalignedBox", "add.u32 %r18, %r18, 16384;", "add.u32 %r18, %r18, 16400;", "which is not a multiple of 128"},
        Fault{"BoxBeyondSharedMemory", "mad.lo.u32 %r18, %r13, 24576, %r6;\n  mul", "mad.lo.u32 %r18, %r13, 32768, %r6;\n  mul",
              "write of 8192 bytes at 0xc000: the block's shared memory has 49184 bytes"},
        Fault{"CoordinatesExchanged", "[%rd2, {%r19, %r12}]", "[%rd2, {%r12, %r19}]", "wrong result"},
        Fault{"NoMap", "cvta.param.u64 %rd2, %rd2;", "cvta.param.u64 %rd2, %rd2; add.u64 %rd2, %rd2, 64;", "there is no tensor map at 0x"},
        Fault{"ProducerStopsTooEarly", "setp.lt.u32 %p4, %r10, %r1;\n  @%p4 bra produce;",
              "add.u32 %r50, %r10, 1;\n  setp.lt.u32 %p4, %r50, %r1;\n  @%p4 bra produce;", "waits for phase 2 of the mbarrier at 0xc000"},
        Fault{"WarpLeavesItsGroup", "sub.u32 %r9, %r9, 1;", "sub.u32 %r9, %r9, 1;\n  setp.eq.u32 %p6, %r3, 160; @%p6 bra done;", "warp"}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace hjx::ptxsim::test
