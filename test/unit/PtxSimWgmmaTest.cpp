// SPDX-License-Identifier: Apache-2.0
//
// Where wgmma finds its operands: all layouts in shared memory, written down as CUTLASS does
// (include/cute/arch/mma_sm90_desc.hpp), and A in registers.
#include "test/unit/PtxSimHopper.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <cmath>
#include <random>

namespace hjx::ptxsim::test {
namespace {

constexpr unsigned kM = 64, kN = 64, kK = 16;

struct Layout {
  unsigned width; ///< of the swizzle, in chunks of 16 bytes: 1 (none), 2, 4, 8
  bool transposedA, transposedB;
  bool registersA = false, halfSums = false, negated = false;
};
void PrintTo(const Layout &one, std::ostream *out) { *out << one.width; }
std::string nameOf(const Layout &one) {
  return absl::StrCat("Swizzle", 16 * one.width, one.registersA ? "Registers" : one.transposedA ? "MMajor" : "KMajor",
                      one.transposedB ? "NMajor" : "KMajor", one.halfSums ? "HalfSums" : "", one.negated ? "Negated" : "");
}

// T elements make 16 bytes. Strides and offsets in elements.
struct Operand {
  static constexpr unsigned T = 8;
  unsigned width;
  bool transposed;
  unsigned leading, stride;

  Operand(unsigned width, bool transposed) : width(width), transposed(transposed) {
    if (width == 1) {
      leading = 64;
      stride = 128;
    } else {
      stride = 8 * width * T;
      leading = transposed ? 2 * stride : 8;
    }
  }
  unsigned byteOf(unsigned mn, unsigned k) const {
    unsigned w = width, at;
    if (!transposed)
      at = w == 1 ? mn % 8 * T + mn / 8 * stride + k % T + k / T * leading
                  : mn % 8 * w * T + mn / 8 * stride + k % T + k / T * T;
    else
      at = w == 1 ? mn % T + mn / T * stride + k % 8 * T + k / 8 * leading
                  : mn % T + mn / T % w * T + mn / (w * T) * leading + k % 8 * w * T + k / 8 * stride;
    unsigned byte = 2 * at;
    return byte ^ (byte / 128 % w) * 16;
  }
  uint64_t descriptor(unsigned start) const {
    uint64_t mode = width == 8 ? 1 : width == 4 ? 2 : width == 2 ? 3 : 0;
    return start / 16 | uint64_t(leading * 2 / 16) << 16 | uint64_t(stride * 2 / 16) << 32 | mode << 62;
  }
};

class PtxSimWgmma : public PtxSimHopper, public testing::WithParamInterface<Layout> {};

TEST_P(PtxSimWgmma, FindsItsOperands) {
  const Layout &layout = GetParam();
  Operand operandA(layout.width, layout.transposedA), operandB(layout.width, layout.transposedB);
  std::mt19937 random(3);
  double a[kM][kK], b[kN][kK];
  // Shared memory: A, B from 8192 on. Behind it, for registers: A by rows.
  std::vector<uint16_t> image(8192 + kM * kK);
  auto half = [](double x) { return std::bit_cast<uint16_t>(static_cast<_Float16>(x)); };
  for (unsigned m = 0; m < kM; ++m)
    for (unsigned k = 0; k < kK; ++k) {
      a[m][k] = double(random() % 65) - 32;
      image[operandA.byteOf(m, k) / 2] = half(a[m][k]);
      image[8192 + m * kK + k] = half(a[m][k]);
    }
  for (unsigned n = 0; n < kN; ++n)
    for (unsigned k = 0; k < kK; ++k) {
      b[n][k] = (double(random() % 65) - 32) / 64;
      image[4096 + operandB.byteOf(n, k) / 2] = half(b[n][k]);
    }
  unsigned numD = layout.halfSums ? 16 : 32;
  const char *type = layout.halfSums ? "b32" : "f32";
  std::string sums;
  for (unsigned r = 0; r < numD; ++r)
    absl::StrAppend(&sums, r ? ", " : "", "%c", r);
  std::string text = absl::StrCat(R"(
.shared .align 1024 .b8 tile[16384];
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b32 %v<4>; .reg .)", type, R"( %c<32>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 128, %r1;
  mad.wide.u32 %rd3, %r0, 128, %rd1;
)");
  for (unsigned at = 0; at < 128; at += 16)
    absl::StrAppend(&text, "  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%rd3+", at,
                    "];\n  st.shared.v4.b32 [%r2+", at, "], {%v0, %v1, %v2, %v3};\n");
  // A's registers: row 16 * warp + lane / 4, columns 2 * (lane % 4).
  absl::StrAppend(&text, R"(
  shr.u32 %r3, %r0, 5;
  and.b32 %r4, %r0, 31;
  shr.u32 %r5, %r4, 2;
  mad.lo.u32 %r5, %r3, 16, %r5;
  and.b32 %r6, %r4, 3;
  shl.b32 %r6, %r6, 2;
  mad.lo.u32 %r5, %r5, 32, %r6;
  cvt.u64.u32 %rd4, %r5;
  add.u64 %rd4, %rd4, %rd1;
  ld.global.b32 %v0, [%rd4+16384];
  ld.global.b32 %v1, [%rd4+16640];
  ld.global.b32 %v2, [%rd4+16400];
  ld.global.b32 %v3, [%rd4+16656];
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mov.b64 %rd5, )", operandA.descriptor(0), ";\n  mov.b64 %rd6, ", operandB.descriptor(8192),
                  ";\n  setp.ne.u32 %p1, %r0, %r0;\n  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n64k16.",
                  layout.halfSums ? "f16" : "f32", ".f16.f16 {", sums, "}, ",
                  layout.registersA ? "{%v0, %v1, %v2, %v3}" : "%rd5", ", %rd6, %p1, ", layout.negated ? "-1" : "1", ", 1",
                  layout.registersA ? "" : layout.transposedA ? ", 1" : ", 0", layout.transposedB ? ", 1" : ", 0",
                  ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n  mad.wide.u32 %rd7, %r0, ",
                  4 * numD, ", %rd2;\n");
  for (unsigned r = 0; r < numD; ++r)
    absl::StrAppend(&text, "  st.global.", type, " [%rd7+", 4 * r, "], %c", r, ";\n");
  load(text + "  ret;\n}\n", "sm_90a");
  auto from = upload(image);
  auto to = allocate<uint32_t>(128 * numD);
  ASSERT_EQ(launch("k", {1, 128}, from.pointer, to.pointer), "");
  std::vector<uint32_t> result = download(to);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 32; ++i) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + (i & 2 ? 8 : 0), column = i / 4 * 8 + thread % 4 * 2 + (i & 1);
      double exact = 0;
      for (unsigned k = 0; k < kK; ++k)
        exact += a[row][k] * b[column][k] * (layout.negated ? -1 : 1);
      uint32_t word = result[thread * numD + (layout.halfSums ? i / 2 : i)];
      double got = layout.halfSums ? double(std::bit_cast<_Float16>(uint16_t(word >> 16 * (i & 1))))
                                   : std::bit_cast<float>(word);
      ASSERT_EQ(got, layout.halfSums ? double(static_cast<_Float16>(exact)) : exact) << "row " << row << ", column " << column;
    }
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (unsigned width : {1, 2, 4, 8})
    for (bool a : {false, true})
      for (bool b : {false, true})
        all.push_back({width, a, b});
  all.push_back({8, false, false, true});
  all.push_back({8, false, true, true});
  all.push_back({8, false, false, false, true});
  all.push_back({8, false, false, false, false, true});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, PtxSimWgmma, testing::ValuesIn(layouts()),
                         [](const auto &info) { return nameOf(info.param); });

} // namespace
} // namespace hjx::ptxsim::test
