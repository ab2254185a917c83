// SPDX-License-Identifier: Apache-2.0
//
// A matrix product written by hand for sm_80: C[m][n] = sum over k of A[m][k] * B[n][k], the
// rows of A and B contiguous. Blocks of 128 threads compute 64x64; cp.async brings 64 bytes
// of each row at a time into one of two buffers, ldmatrix takes them out, mma.sync
// multiplies. In bytes all types look the same, so one text serves all. Chunks of 16 bytes
// are stored where (row / 2) % 4 flips their number, which spares bank conflicts and gives
// the tests something to break.
#pragma once

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include <string>

namespace hjx::ptxsim::test {

/// `types`: "f32.f16.f16.f32", ...; `shape`: "m16n8k16", ...
inline std::string gemmText(const std::string &shape, const std::string &types) {
  std::string sum = types.substr(0, 3), zero = sum == "f32" ? "0f00000000" : "0";
  std::string text = absl::StrCat(R"(
.shared .align 16 .b8 tiles[16384];
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 steps, .param .u32 n)
{
  .reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b32 %a<8>; .reg .b32 %b<8>;
  .reg .)", sum, R"( %c<32>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [steps];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, tiles;
  shl.b32 %r7, %r1, 6;                  // bytes of a row
  // A thread copies chunk %r9 of the rows %r8 and %r8 + 32.
  shr.u32 %r8, %r3, 2;
  and.b32 %r9, %r3, 3;
  shr.u32 %r10, %r8, 1;
  and.b32 %r10, %r10, 3;
  xor.b32 %r10, %r10, %r9;              // swizzle
  shl.b32 %r10, %r10, 4;
  mad.lo.u32 %r10, %r8, 64, %r10;
  add.u32 %r10, %r10, %r6;              // to
  shl.b32 %r11, %r9, 4;
  mad.lo.u32 %r12, %r4, 64, %r8;        // row of A
  mul.wide.u32 %rd4, %r12, %r7;
  cvt.u64.u32 %rd5, %r11;
  add.u64 %rd4, %rd4, %rd5;
  add.u64 %rd6, %rd1, %rd4;             // from A
  mad.lo.u32 %r13, %r5, 64, %r8;
  mul.wide.u32 %rd7, %r13, %r7;
  add.u64 %rd7, %rd7, %rd5;
  add.u64 %rd8, %rd2, %rd7;             // from B
  mul.wide.u32 %rd9, %r7, 32;
  add.u64 %rd10, %rd6, %rd9;
  add.u64 %rd11, %rd8, %rd9;
  // Where ldmatrix finds rows: lane %r14, warp at row 32 * %r16, column 32 * %r17.
  and.b32 %r14, %r3, 31;
  shr.u32 %r15, %r3, 5;
  shr.u32 %r16, %r15, 1;
  and.b32 %r17, %r15, 1;
  // A: lanes 0-15 the rows, lanes 16-31 the same rows, 16 bytes on.
  and.b32 %r18, %r14, 15;
  mad.lo.u32 %r18, %r16, 32, %r18;
  shr.u32 %r19, %r14, 4;
  shr.u32 %r20, %r18, 1;
  and.b32 %r20, %r20, 3;
  mad.lo.u32 %r18, %r18, 64, %r6;
  // B: lanes 0-7 rows, 8-15 the same 16 bytes on, 16-31 the next 8 rows.
  and.b32 %r21, %r14, 7;
  shr.u32 %r22, %r14, 4;
  mad.lo.u32 %r21, %r22, 8, %r21;
  mad.lo.u32 %r21, %r17, 32, %r21;
  shr.u32 %r22, %r14, 3;
  and.b32 %r22, %r22, 1;
  shr.u32 %r23, %r21, 1;
  and.b32 %r23, %r23, 3;
  mad.lo.u32 %r21, %r21, 64, %r6;
)");
  for (unsigned r = 0; r < 32; ++r)
    absl::StrAppend(&text, "  mov.b32 %c", r, ", ", zero, ";\n");
  const char *copies = R"(
  cp.async.cg.shared.global [%r30], [%rd6], 16;
  cp.async.cg.shared.global [%r30+2048], [%rd10], 16;
  cp.async.cg.shared.global [%r30+4096], [%rd8], 16;
  cp.async.cg.shared.global [%r30+6144], [%rd11], 16;
)";
  absl::StrAppend(&text, "  mov.b32 %r30, %r10;", copies, R"(
  cp.async.commit_group;                // first
  mov.b32 %r31, 0;                      // step
loop:
  add.u32 %r32, %r31, 1;
  setp.ge.u32 %p1, %r32, %r1;
  and.b32 %r33, %r32, 1;
  mad.lo.u32 %r30, %r33, 8192, %r10;
  @%p1 bra last;
  add.u64 %rd6, %rd6, 64;
  add.u64 %rd8, %rd8, 64;
  add.u64 %rd10, %rd10, 64;
  add.u64 %rd11, %rd11, 64;)", copies, R"(
last:
  cp.async.commit_group;                // next
  cp.async.wait_group 1;
  bar.sync 0;                           // arrived
  and.b32 %r33, %r31, 1;
  shl.b32 %r33, %r33, 13;
)");
  for (unsigned half = 0; half < 2; ++half) {
    absl::StrAppend(&text, "  add.u32 %r34, %r19, ", 2 * half, R"(;
  xor.b32 %r34, %r34, %r20;
  shl.b32 %r34, %r34, 4;
  add.u32 %r34, %r34, %r33;
  add.u32 %r34, %r34, %r18;
  add.u32 %r35, %r22, )", 2 * half, R"(;
  xor.b32 %r35, %r35, %r23;
  shl.b32 %r35, %r35, 4;
  add.u32 %r35, %r35, %r33;
  add.u32 %r35, %r35, %r21;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r34];
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a4, %a5, %a6, %a7}, [%r34+1024];
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%r35+4096];
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b4, %b5, %b6, %b7}, [%r35+5120];
)");
    for (unsigned m = 0; m < 2; ++m)
      for (unsigned n = 0; n < 4; ++n) {
        auto four = [](const char *letter, unsigned from) {
          return absl::StrCat("{%", letter, from, ", %", letter, from + 1, ", %", letter, from + 2, ", %", letter,
                              from + 3, "}");
        };
        std::string sums = four("c", 16 * m + 4 * n);
        absl::StrAppend(&text, "  mma.sync.aligned.", shape, ".row.col.", types, " ", sums, ", ", four("a", 4 * m),
                        ", {%b", 2 * n, ", %b", 2 * n + 1, "}, ", sums, ";\n");
      }
  }
  absl::StrAppend(&text, R"(
  bar.sync 0;                           // read
  mov.b32 %r31, %r32;
  setp.lt.u32 %p2, %r31, %r1;
  @%p2 bra loop;
  // C: row 64 * block + 32 * warp + lane / 4, column likewise + 2 * (lane % 4).
  shr.u32 %r40, %r14, 2;
  mad.lo.u32 %r40, %r16, 32, %r40;
  mad.lo.u32 %r40, %r4, 64, %r40;
  and.b32 %r41, %r14, 3;
  shl.b32 %r41, %r41, 1;
  mad.lo.u32 %r41, %r17, 32, %r41;
  mad.lo.u32 %r41, %r5, 64, %r41;
  mad.lo.u32 %r42, %r40, %r2, %r41;
  mad.wide.u32 %rd20, %r42, 4, %rd3;
  mul.wide.u32 %rd21, %r2, 32;
)");
  for (unsigned m = 0; m < 2; ++m)
    for (unsigned high = 0; high < 2; ++high) {
      for (unsigned n = 0; n < 4; ++n) {
        unsigned r = 16 * m + 4 * n + 2 * high;
        absl::StrAppend(&text, "  st.global.v2.", sum == "f32" ? "f32" : "b32", " [%rd20+", 32 * n, "], {%c", r, ", %c", r + 1, "};\n");
      }
      absl::StrAppend(&text, "  add.u64 %rd20, %rd20, %rd21;\n");
    }
  return text + "  ret;\n}\n";
}

} // namespace hjx::ptxsim::test
