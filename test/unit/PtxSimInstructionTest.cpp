// SPDX-License-Identifier: Apache-2.0
//
// One-instruction kernels against written-down results: a table a family. A row of
// values is the inputs and then the expected result, all as bit patterns. Values come
// from the PTX manual's definitions; where it leaves a choice, from what hardware does.
#include "test/unit/PtxSimTest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include <bit>
#include <cmath>
#include <limits>

namespace hjx::ptxsim::test {
namespace {

struct Case {
  std::string instruction; ///< of registers d, a, b, c
  std::string types;       ///< of d, a, b, c: "b32 b32 pred"
  std::vector<std::vector<uint64_t>> rows;
};

uint64_t f(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t d(double x) { return std::bit_cast<uint64_t>(x); }
const uint64_t kNan = 0x7FFFFFFF, kInf = 0x7F800000, kMinusInf = 0xFF800000, kMinusZero = 0x80000000;
const float kPi = 3.14159265f;

class PtxSimInstruction : public PtxSim {
protected:
  // All cases become kernels of one module: starting ptxas is what takes time.
  void check(const std::vector<Case> &cases, const std::string &target = "sm_80");
};

std::string kernelText(const Case &one, size_t index) {
  std::vector<std::string> types = absl::StrSplit(one.types, ' ');
  const char *names = "dabc";
  std::string text = absl::StrCat(".visible .entry k", index, "(.param .u64 from, .param .u64 to)\n{\n",
                                  ".reg .b32 %r<3>; .reg .b64 %rd<6>;\n");
  std::string loads;
  for (size_t k = 0; k < types.size(); ++k) {
    absl::StrAppend(&text, ".reg .", types[k], " ", std::string(1, names[k]), ";\n");
    std::string name(1, names[k]), at = absl::StrCat("[%rd5+", 8 * (k - 1), "]");
    if (k == 0)
      continue;
    if (types[k] == "pred")
      absl::StrAppend(&loads, "ld.global.b32 %r2, ", at, ";\nsetp.ne.b32 ", name, ", %r2, 0;\n");
    else
      absl::StrAppend(&loads, "ld.global.", types[k], " ", name, ", ", at, ";\n");
  }
  absl::StrAppend(&text, "mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [from];\nld.param.u64 %rd2, [to];\n",
                  "mad.wide.u32 %rd5, %r1, 24, %rd1;\nmad.wide.u32 %rd4, %r1, 8, %rd2;\n",
                  "mov.b64 %rd3, 0;\nst.global.b64 [%rd4], %rd3;\n", loads, one.instruction,
                  one.instruction.front() == '{' ? "\n" : ";\n");
  if (types[0] == "pred")
    absl::StrAppend(&text, "selp.b32 %r2, 1, 0, d;\nst.global.b32 [%rd4], %r2;\n");
  else
    absl::StrAppend(&text, "st.global.", types[0], " [%rd4], d;\n");
  return text + "ret;\n}\n";
}

void PtxSimInstruction::check(const std::vector<Case> &cases, const std::string &target) {
  std::string text;
  for (size_t index = 0; index < cases.size(); ++index)
    text += kernelText(cases[index], index);
  load(text, target);
  for (size_t index = 0; index < cases.size(); ++index) {
    const auto &rows = cases[index].rows;
    std::vector<uint64_t> inputs(3 * rows.size());
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t k = 0; k + 1 < rows[row].size(); ++k)
        inputs[3 * row + k] = rows[row][k];
    auto from = upload(inputs);
    auto to = allocate<uint64_t>(rows.size());
    ASSERT_EQ(launch(absl::StrCat("k", index), {1, unsigned(rows.size())}, from.pointer, to.pointer), "")
        << cases[index].instruction;
    std::vector<uint64_t> results = download(to);
    for (size_t row = 0; row < rows.size(); ++row)
      EXPECT_EQ(results[row], rows[row].back())
          << cases[index].instruction << ", row " << row << ": got 0x" << std::hex << results[row]
          << ", expected 0x" << rows[row].back();
  }
}

TEST_F(PtxSimInstruction, IntegerArithmetic) {
  const uint64_t kMin = 0x80000000, kMinus1 = 0xFFFFFFFF, kMin64 = uint64_t(1) << 63;
  check({
      {"add.s32 d, a, b", "b32 b32 b32", {{1, 2, 3}, {0x7FFFFFFF, 1, kMin}}},
      {"add.s32 d, a, -7", "b32 b32", {{10, 3}}},
      {"add.sat.s32 d, a, b", "b32 b32 b32", {{0x7FFFFFFF, 1, 0x7FFFFFFF}, {kMin, kMinus1, kMin}}},
      {"add.s16 d, a, b", "b16 b16 b16", {{0x7FFF, 1, 0x8000}}},
      {"sub.s64 d, a, b", "b64 b64 b64", {{0, 1, ~0ull}}},
      {"mul.lo.s32 d, a, b", "b32 b32 b32", {{0x10001, 0x10001, 0x20001}}},
      {"mul.hi.s32 d, a, b", "b32 b32 b32", {{kMinus1, 2, kMinus1}, {0x40000000, 4, 1}}},
      {"mul.hi.u32 d, a, b", "b32 b32 b32", {{kMinus1, 2, 1}}},
      {"mul.hi.u64 d, a, b", "b64 b64 b64", {{~0ull, ~0ull, ~1ull}}},
      {"mul.hi.s16 d, a, b", "b16 b16 b16", {{0xFFFF, 2, 0xFFFF}}},
      {"mul.wide.s32 d, a, b", "b64 b32 b32", {{kMinus1, 2, ~1ull}}},
      {"mul.wide.u32 d, a, b", "b64 b32 b32", {{kMinus1, 2, 0x1FFFFFFFE}}},
      {"mul.wide.u16 d, a, b", "b32 b16 b16", {{0xFFFF, 0xFFFF, 0xFFFE0001}}},
      {"mad.lo.s32 d, a, b, c", "b32 b32 b32 b32", {{3, 4, 5, 17}}},
      {"mad.wide.s32 d, a, b, c", "b64 b32 b32 b64", {{kMinus1, 3, 10, 7}}},
      {"mul24.lo.s32 d, a, b", "b32 b32 b32", {{0xFFFFFF, 3, 0xFFFFFFFD}}},
      {"div.s32 d, a, b", "b32 b32 b32", {{uint32_t(-7), 2, uint32_t(-3)}, {kMin, kMinus1, kMin}}},
      {"div.u32 d, a, b", "b32 b32 b32", {{7, 2, 3}, {7, 0, kMinus1}}},
      {"div.s64 d, a, b", "b64 b64 b64", {{uint64_t(-7), 2, uint64_t(-3)}, {kMin64, ~0ull, kMin64}}},
      {"rem.s32 d, a, b", "b32 b32 b32", {{uint32_t(-7), 2, kMinus1}, {kMin, kMinus1, 0}}},
      {"rem.u64 d, a, b", "b64 b64 b64", {{17, 5, 2}}},
      {"neg.s32 d, a", "b32 b32", {{5, uint32_t(-5)}, {kMin, kMin}}},
      {"abs.s32 d, a", "b32 b32", {{uint32_t(-5), 5}, {kMin, kMin}}},
      {"abs.s64 d, a", "b64 b64", {{uint64_t(-5), 5}}},
      {"min.s32 d, a, b", "b32 b32 b32", {{kMinus1, 1, kMinus1}}},
      {"min.u32 d, a, b", "b32 b32 b32", {{kMinus1, 1, 1}}},
      {"max.s64 d, a, b", "b64 b64 b64", {{~0ull, 1, 1}}},
      {"max.u16 d, a, b", "b16 b16 b16", {{0xFFFF, 1, 0xFFFF}}},
      {"sad.s32 d, a, b, c", "b32 b32 b32 b32", {{kMinus1, 3, 10, 14}}},
      {"dp4a.s32.s32 d, a, b, c", "b32 b32 b32 b32", {{0x01FF0203, 0x04050607, 10, 10 + 4 - 5 + 12 + 21}}},
  });
}

TEST_F(PtxSimInstruction, CarriesGoOn) {
  check({
      {"{ .reg .b32 x, y, u, v; mov.b64 {x, y}, a; mov.b64 {u, v}, b; add.cc.u32 x, x, u; "
       "addc.u32 y, y, v; mov.b64 d, {x, y}; }", "b64 b64 b64",
       {{0xFFFFFFFF, 1, 0x100000000}, {~0ull, 2, 1}, {5, 6, 11}}},
      {"{ .reg .b32 x, y, u, v; mov.b64 {x, y}, a; mov.b64 {u, v}, b; sub.cc.u32 x, x, u; "
       "subc.u32 y, y, v; mov.b64 d, {x, y}; }", "b64 b64 b64",
       {{0x100000000, 1, 0xFFFFFFFF}, {0, 1, ~0ull}, {7, 5, 2}}},
  });
}

TEST_F(PtxSimInstruction, Bits) {
  check({
      {"and.b32 d, a, b", "b32 b32 b32", {{0xF0F0, 0xFF00, 0xF000}}},
      {"or.b64 d, a, b", "b64 b64 b64", {{0xF0, 0x0F, 0xFF}}},
      {"xor.b16 d, a, b", "b16 b16 b16", {{0xFF, 0x0F, 0xF0}}},
      {"not.b32 d, a", "b32 b32", {{0, 0xFFFFFFFF}}},
      {"cnot.b32 d, a", "b32 b32", {{0, 1}, {7, 0}}},
      {"shl.b32 d, a, b", "b32 b32 b32", {{1, 4, 16}, {1, 32, 0}, {1, 0xFFFFFFFF, 0}}},
      {"shl.b64 d, a, b", "b64 b64 b32", {{1, 40, 1ull << 40}, {1, 64, 0}}},
      {"shl.b16 d, a, b", "b16 b16 b32", {{3, 15, 0x8000}, {1, 16, 0}}},
      {"shr.u32 d, a, b", "b32 b32 b32", {{0x80000000, 31, 1}, {0x80000000, 32, 0}}},
      {"shr.s32 d, a, b", "b32 b32 b32", {{0x80000000, 31, 0xFFFFFFFF}, {0x80000000, 40, 0xFFFFFFFF}}},
      {"shr.s64 d, a, b", "b64 b64 b32", {{uint64_t(-16), 2, uint64_t(-4)}, {uint64_t(-16), 99, ~0ull}}},
      {"shf.l.wrap.b32 d, a, b, c", "b32 b32 b32 b32", {{0x80000000, 1, 1, 3}, {5, 7, 32, 7}}},
      {"shf.l.clamp.b32 d, a, b, c", "b32 b32 b32 b32", {{5, 7, 33, 5}}},
      {"shf.r.wrap.b32 d, a, b, c", "b32 b32 b32 b32", {{2, 1, 1, 0x80000001}}},
      {"shf.r.clamp.b32 d, a, b, c", "b32 b32 b32 b32", {{5, 7, 32, 7}}},
      {"lop3.b32 d, a, b, c, 0xE8", "b32 b32 b32 b32", {{0xC, 0xA, 0x6, 0xE}}}, // majority
      {"prmt.b32 d, a, b, 0x7531", "b32 b32 b32", {{0x33221100, 0x77665544, 0x77553311}}},
      {"prmt.b32 d, a, b, 0x888B", "b32 b32 b32", {{0x80221190, 0, 0xFFFFFFFF}}},
      {"prmt.b32.rc16 d, a, b, c", "b32 b32 b32 b32", {{0xAABBCCDD, 0, 1, 0xAABBAABB}}},
      {"bfe.u32 d, a, 4, 8", "b32 b32", {{0xABCD, 0xBC}}},
      {"bfe.s32 d, a, 4, 8", "b32 b32", {{0xABCD, 0xFFFFFFBC}}},
      {"bfe.s32 d, a, 28, 8", "b32 b32", {{0x80000000, 0xFFFFFFF8}}},
      {"bfe.u32 d, a, 40, 8", "b32 b32", {{0xABCD, 0}}},
      {"bfe.u64 d, a, 32, 64", "b64 b64", {{0xABCD00000000, 0xABCD}}},
      {"bfi.b32 d, a, b, 8, 4", "b32 b32 b32", {{0xF7, 0, 0x700}}},
      {"bfi.b64 d, a, b, 32, 32", "b64 b64 b64", {{1, 2, 0x100000002}}},
      {"brev.b32 d, a", "b32 b32", {{1, 0x80000000}}},
      {"clz.b32 d, a", "b32 b32", {{1, 31}, {0, 32}}},
      {"clz.b64 d, a", "b32 b64", {{1, 63}, {0, 64}}},
      {"popc.b64 d, a", "b32 b64", {{~0ull, 64}}},
      {"bfind.u32 d, a", "b32 b32", {{0x100, 8}, {0, 0xFFFFFFFF}}},
      {"bfind.s32 d, a", "b32 b32", {{0xFFFFFFFE, 0}}},
      {"bmsk.clamp.b32 d, a, b", "b32 b32 b32", {{4, 8, 0xFF0}, {0, 40, 0xFFFFFFFF}}},
  });
}

TEST_F(PtxSimInstruction, FloatArithmetic) {
  const float tiny = 1e-40f, third = 1.0f / 3;
  check({
      {"add.rn.f32 d, a, b", "f32 f32 f32", {{f(1), f(2), f(3)}, {kInf, kMinusInf, kNan}, {f(tiny), f(0), f(tiny)}}},
      {"add.ftz.f32 d, a, b", "f32 f32 f32", {{f(tiny), f(tiny), 0}, {f(-tiny), f(-tiny), kMinusZero}}},
      {"add.rz.f32 d, a, b", "f32 f32 f32", {{f(1), f(1e-10f), f(1)}, {f(-1), f(1e-10f), f(std::nextafter(-1.0f, 0.0f))}}},
      {"add.rm.f32 d, a, b", "f32 f32 f32", {{f(1), f(-1e-10f), f(std::nextafter(1.0f, 0.0f))}}},
      {"add.rp.f32 d, a, b", "f32 f32 f32", {{f(1), f(1e-10f), f(std::nextafter(1.0f, 2.0f))}}},
      {"add.sat.f32 d, a, b", "f32 f32 f32", {{f(1), f(2), f(1)}, {f(-1), f(0), f(0)}, {kNan, f(0), 0}}},
      {"sub.f32 d, a, b", "f32 f32 f32", {{f(1), f(1), f(0)}}},
      {"mul.rn.f32 d, a, b", "f32 f32 f32", {{f(3), f(third), f(3 * third)}, {kInf, f(0), kNan}}},
      {"fma.rn.f32 d, a, b, c", "f32 f32 f32 f32",
       {{f(1.0000001f), f(1.0000001f), f(-1.0000002f), f(std::fma(1.0000001f, 1.0000001f, -1.0000002f))}}},
      {"fma.rm.f32 d, a, b, c", "f32 f32 f32 f32", {{f(1), f(1), f(-1e-10f), f(std::nextafter(1.0f, 0.0f))}}},
      {"div.rn.f32 d, a, b", "f32 f32 f32", {{f(1), f(3), f(third)}, {f(1), f(0), kInf}, {f(0), f(0), kNan}}},
      {"div.full.f32 d, a, b", "f32 f32 f32", {{f(6), f(3), f(2)}}},
      {"div.approx.f32 d, a, b", "f32 f32 f32", {{f(6), f(3), f(2)}, {f(1), f(2e38f), f(0)}}},
      {"rcp.rn.f32 d, a", "f32 f32", {{f(3), f(third)}, {kMinusZero, kMinusInf}}},
      {"sqrt.rn.f32 d, a", "f32 f32", {{f(2), f(std::sqrt(2.0f))}, {f(-1), kNan}, {kMinusZero, kMinusZero}}},
      {"sqrt.approx.ftz.f32 d, a", "f32 f32", {{f(4), f(2)}, {f(tiny), 0}}},
      {"rsqrt.approx.f32 d, a", "f32 f32", {{f(4), f(0.5f)}, {f(0), kInf}, {f(-1), kNan}}},
      {"ex2.approx.f32 d, a", "f32 f32", {{f(3), f(8)}, {f(-140), f(std::exp2(-140.0f))}, {kMinusInf, 0}, {f(200), kInf}}},
      {"ex2.approx.ftz.f32 d, a", "f32 f32", {{f(-140), 0}}},
      {"lg2.approx.f32 d, a", "f32 f32", {{f(8), f(3)}, {f(0), kMinusInf}, {f(-1), kNan}}},
      {"sin.approx.f32 d, a", "f32 f32", {{f(kPi / 6), f(float(std::sin(double(kPi / 6))))}, {kInf, kNan}}},
      {"cos.approx.f32 d, a", "f32 f32", {{f(0), f(1)}}},
      {"tanh.approx.f32 d, a", "f32 f32", {{f(0), f(0)}, {f(20), f(1)}}},
      {"neg.f32 d, a", "f32 f32", {{f(0), kMinusZero}, {f(2), f(-2)}}},
      {"abs.f32 d, a", "f32 f32", {{f(-2), f(2)}}},
      {"min.f32 d, a, b", "f32 f32 f32", {{kNan, f(1), f(1)}, {f(0), kMinusZero, kMinusZero}, {kNan, kNan, kNan}}},
      {"min.NaN.f32 d, a, b", "f32 f32 f32", {{kNan, f(1), kNan}, {f(1), kNan, kNan}, {f(1), f(2), f(1)}}},
      {"max.f32 d, a, b", "f32 f32 f32", {{f(1), kNan, f(1)}, {kMinusZero, f(0), f(0)}}},
      {"max.NaN.f32 d, a, b", "f32 f32 f32", {{f(-3), f(2), f(2)}, {kNan, f(2), kNan}}},
      {"copysign.f32 d, a, b", "f32 f32 f32", {{f(-1), f(2), f(-2)}, {f(1), f(-2), f(2)}}},
      {"add.f64 d, a, b", "f64 f64 f64", {{d(1), d(1e-16), d(1)}}},
      {"add.rp.f64 d, a, b", "f64 f64 f64", {{d(1), d(1e-20), d(std::nextafter(1.0, 2.0))}}},
      {"fma.rn.f64 d, a, b, c", "f64 f64 f64 f64", {{d(3), d(5), d(1), d(16)}}},
      {"div.rn.f64 d, a, b", "f64 f64 f64", {{d(1), d(3), d(1.0 / 3)}}},
      {"sqrt.rn.f64 d, a", "f64 f64", {{d(2), d(std::sqrt(2.0))}}},
      {"rcp.approx.ftz.f64 d, a", "f64 f64", {{d(4), d(0.25)}}},
      {"min.f64 d, a, b", "f64 f64 f64", {{d(NAN), d(1), d(1)}}},
  });
}

TEST_F(PtxSimInstruction, Halves) {
  check({
      {"add.f16 d, a, b", "b16 b16 b16", {{0x3C00, 0x3C00, 0x4000}, {0x7BFF, 0x7BFF, 0x7C00}}},
      {"sub.f16 d, a, b", "b16 b16 b16", {{0x7C00, 0x7C00, 0x7FFF}}},
      {"mul.f16 d, a, b", "b16 b16 b16", {{0x4000, 0x4200, 0x4600}}},
      // 1 + 2^-11 is a tie and goes to even; any more, and it goes up.
      {"fma.rn.f16 d, a, b, c", "b16 b16 b16 b16",
       {{0x3C00, 0x1000, 0x3C00, 0x3C00}, {0x3C00, 0x1001, 0x3C00, 0x3C01}}},
      {"fma.rn.f16x2 d, a, b, c", "b32 b32 b32 b32", {{0x3C004000, 0x40003C00, 0x3C003C00, 0x42004200}}},
      {"fma.rn.relu.f16 d, a, b, c", "b16 b16 b16 b16", {{0xBC00, 0x3C00, 0, 0}}},
      {"min.f16 d, a, b", "b16 b16 b16", {{0x7FFF, 0x3C00, 0x3C00}}},
      {"max.NaN.f16 d, a, b", "b16 b16 b16", {{0x7FFF, 0x3C00, 0x7FFF}}},
      {"neg.f16 d, a", "b16 b16", {{0x3C00, 0xBC00}}},
      {"abs.f16x2 d, a", "b32 b32", {{0xBC00C000, 0x3C004000}}},
      {"ex2.approx.f16 d, a", "b16 b16", {{0x4200, 0x4800}}},
      {"tanh.approx.f16 d, a", "b16 b16", {{0, 0}}},
      {"fma.rn.bf16 d, a, b, c", "b16 b16 b16 b16", {{0x4000, 0x4040, 0x3F80, 0x40E0}}},
      {"fma.rn.bf16x2 d, a, b, c", "b32 b32 b32 b32", {{0x40003F80, 0x40403F80, 0x3F803F80, 0x40E04000}}},
      {"min.bf16 d, a, b", "b16 b16 b16", {{0xBF80, 0x3F80, 0xBF80}}},
      {"neg.bf16x2 d, a", "b32 b32", {{0x3F80BF80, 0xBF803F80}}},
      {"setp.lt.f16 d, a, b", "pred b16 b16", {{0x3C00, 0x4000, 1}, {0x7FFF, 0x4000, 0}}},
  });
}

TEST_F(PtxSimInstruction, Comparisons) {
  check({
      {"setp.lt.s32 d, a, b", "pred b32 b32", {{0xFFFFFFFF, 0, 1}, {0, 0, 0}}},
      {"setp.lt.u32 d, a, b", "pred b32 b32", {{0xFFFFFFFF, 0, 0}}},
      {"setp.ge.u64 d, a, b", "pred b64 b64", {{~0ull, 0, 1}}},
      {"setp.hi.u32 d, a, b", "pred b32 b32", {{0xFFFFFFFF, 0, 1}}},
      {"setp.eq.s16 d, a, b", "pred b16 b16", {{5, 5, 1}, {5, 6, 0}}},
      {"setp.lt.f32 d, a, b", "pred f32 f32", {{f(1), f(2), 1}, {kNan, f(2), 0}}},
      {"setp.ltu.f32 d, a, b", "pred f32 f32", {{f(2), f(1), 0}, {kNan, f(2), 1}}},
      {"setp.ne.f32 d, a, b", "pred f32 f32", {{f(1), f(2), 1}, {kNan, f(2), 0}}},
      {"setp.neu.f32 d, a, b", "pred f32 f32", {{kNan, f(2), 1}, {f(0), kMinusZero, 0}}},
      {"setp.equ.f32 d, a, b", "pred f32 f32", {{kNan, f(2), 1}, {f(0), f(1), 0}}},
      {"setp.num.f32 d, a, b", "pred f32 f32", {{kNan, f(2), 0}, {f(1), f(2), 1}}},
      {"setp.nan.f64 d, a, b", "pred f64 f64", {{d(NAN), d(2), 1}, {d(1), d(2), 0}}},
      {"setp.gt.ftz.f32 d, a, b", "pred f32 f32", {{f(1e-40f), f(0), 0}}},
      {"setp.lt.and.s32 d, a, b, c", "pred b32 b32 pred", {{1, 2, 1, 1}, {1, 2, 0, 0}}},
      {"setp.lt.or.s32 d, a, b, !c", "pred b32 b32 pred", {{3, 2, 1, 0}, {3, 2, 0, 1}}},
      {"{ .reg .pred q; setp.lt.s32 q|d, a, b; }", "pred b32 b32", {{1, 2, 0}, {3, 2, 1}}},
      {"set.lt.u32.f32 d, a, b", "b32 f32 f32", {{f(1), f(2), 0xFFFFFFFF}, {f(2), f(1), 0}}},
      {"set.lt.f32.s32 d, a, b", "f32 b32 b32", {{1, 2, f(1)}}},
      {"selp.b32 d, a, b, c", "b32 b32 b32 pred", {{1, 2, 1, 1}, {1, 2, 0, 2}}},
      {"selp.f64 d, a, b, c", "f64 f64 f64 pred", {{d(1), d(2), 0, d(2)}}},
      {"slct.s32.f32 d, a, b, c", "b32 b32 b32 f32", {{1, 2, f(-1), 2}, {1, 2, kMinusZero, 1}}},
      {"testp.finite.f32 d, a", "pred f32", {{kInf, 0}, {f(1), 1}}},
      {"testp.subnormal.f32 d, a", "pred f32", {{f(1e-40f), 1}, {0, 0}}},
      {"testp.notanumber.f64 d, a", "pred f64", {{d(NAN), 1}}},
      {"xor.pred d, a, b", "pred pred pred", {{1, 1, 0}, {1, 0, 1}}},
      {"not.pred d, a", "pred pred", {{1, 0}, {0, 1}}},
  });
}

TEST_F(PtxSimInstruction, Conversions) {
  const double tie = 1.0 + std::ldexp(1.0, -24);
  check({
      {"cvt.s64.s32 d, a", "b64 b32", {{0xFFFFFFFF, ~0ull}}},
      {"cvt.u64.u32 d, a", "b64 b32", {{0xFFFFFFFF, 0xFFFFFFFF}}},
      {"cvt.u32.u64 d, a", "b32 b64", {{0x123456789, 0x23456789}}},
      {"cvt.s32.s8 d, a", "b32 b32", {{0x80, 0xFFFFFF80}}},
      {"cvt.u16.u32 d, a", "b16 b32", {{0x12345, 0x2345}}},
      {"cvt.s8.s32 d, a", "b32 b32", {{0x1FF, 0xFFFFFFFF}}},
      {"cvt.sat.u8.s32 d, a", "b32 b32", {{300, 255}, {uint32_t(-5), 0}}},
      {"cvt.sat.s16.s32 d, a", "b16 b32", {{70000, 0x7FFF}, {uint32_t(-70000), 0x8000}}},
      {"cvt.rn.f32.s32 d, a", "f32 b32", {{uint32_t(-3), f(-3)}, {16777217, f(16777216)}}},
      {"cvt.rp.f32.s32 d, a", "f32 b32", {{16777217, f(16777218)}}},
      {"cvt.rn.f32.u64 d, a", "f32 b64", {{~0ull, f(0x1p64f)}}},
      {"cvt.rn.f64.s64 d, a", "f64 b64", {{uint64_t(-3), d(-3)}}},
      {"cvt.rn.f16.s32 d, a", "b16 b32", {{2049, 0x6800}, {2051, 0x6802}, {70000, 0x7C00}}},
      {"cvt.rni.s32.f32 d, a", "b32 f32", {{f(2.5f), 2}, {f(3.5f), 4}, {kNan, 0}, {f(1e20f), 0x7FFFFFFF}}},
      {"cvt.rzi.s32.f32 d, a", "b32 f32", {{f(-2.9f), uint32_t(-2)}, {kMinusInf, 0x80000000}}},
      {"cvt.rmi.s32.f32 d, a", "b32 f32", {{f(-2.1f), uint32_t(-3)}}},
      {"cvt.rpi.u32.f32 d, a", "b32 f32", {{f(2.1f), 3}, {f(-5), 0}}},
      {"cvt.rzi.u64.f64 d, a", "b64 f64", {{d(1e19), 10000000000000000000ull}}},
      {"cvt.rzi.s64.f32 d, a", "b64 f32", {{kNan, 1ull << 63}, {f(-7.5f), uint64_t(-7)}}},
      {"cvt.rzi.u16.f32 d, a", "b16 f32", {{f(70000), 0xFFFF}}},
      {"cvt.rni.f32.f32 d, a", "f32 f32", {{f(2.5f), f(2)}, {f(-0.25f), kMinusZero}}},
      {"cvt.rmi.f64.f64 d, a", "f64 f64", {{d(-0.5), d(-1)}}},
      {"cvt.sat.f32.f32 d, a", "f32 f32", {{f(2), f(1)}, {f(-2), 0}, {kNan, 0}}},
      {"cvt.f64.f32 d, a", "f64 f32", {{f(1.5f), d(1.5)}}},
      {"cvt.rn.f32.f64 d, a", "f32 f64", {{d(tie), f(1)}, {d(1e300), kInf}}},
      {"cvt.rz.f32.f64 d, a", "f32 f64", {{d(1e300), f(std::numeric_limits<float>::max())}}},
      {"cvt.rp.f32.f64 d, a", "f32 f64", {{d(tie), f(std::nextafter(1.0f, 2.0f))}}},
      {"cvt.rn.f16.f32 d, a", "b16 f32", {{f(1), 0x3C00}, {f(65520), 0x7C00}, {kNan, 0x7FFF}}},
      {"cvt.rz.f16.f32 d, a", "b16 f32", {{f(65535), 0x7BFF}}},
      {"cvt.f32.f16 d, a", "f32 b16", {{0x3C01, f(1.0009765625f)}, {1, f(0x1p-24f)}}},
      {"cvt.rn.f16.f64 d, a", "b16 f64", {{d(1 + 0x1p-11 + 0x1p-40), 0x3C01}}},
      {"cvt.rn.bf16.f32 d, a", "b16 f32", {{f(1.00390625f), 0x3F80}, {f(1.01171875f), 0x3F82}, {kNan, 0x7FFF}}},
      {"cvt.rz.bf16.f32 d, a", "b16 f32", {{f(1.99999f), 0x3FFF}}},
      {"cvt.rn.relu.bf16.f32 d, a", "b16 f32", {{f(-1), 0}}},
      {"cvt.rn.bf16x2.f32 d, a, b", "b32 f32 f32", {{f(1), f(2), 0x3F804000}}},
      {"cvt.rn.f16x2.f32 d, a, b", "b32 f32 f32", {{f(1), f(2), 0x3C004000}}},
      {"cvt.rna.tf32.f32 d, a", "b32 f32", {{f(1 + 0x1p-11f), f(1 + 0x1p-10f)}, {f(1 + 0x1p-12f), f(1)}}},
      {"mov.b64 d, {a, b}", "b64 b32 b32", {{1, 2, 0x200000001}}},
      {"{ .reg .b32 x; mov.b64 {x, d}, a; }", "b32 b64", {{0x200000001, 2}}},
      {"mov.b32 d, {a, b}", "b32 b16 b16", {{1, 2, 0x20001}}},
      {"mov.b32 d, 0f3F800000", "b32 b32", {{0, f(1)}}},
      {"mov.pred d, a", "pred pred", {{1, 1}, {0, 0}}},
  });
}

TEST_F(PtxSimInstruction, SmallLoadsExtend) {
  load(R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b16 %rs<3>; .reg .b32 %r<3>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.s8 %rs1, [%rd1];
  cvt.s64.s16 %rd3, %rs1;
  ld.global.u8 %r1, [%rd1+1];
  cvt.u64.u32 %rd4, %r1;
  ld.global.s16 %rd5, [%rd1+2];
  st.global.v2.b64 [%rd2], {%rd3, %rd4};
  st.global.b64 [%rd2+16], %rd5;
  st.global.u8 [%rd2+24], %r1;
  ret;
})");
  auto from = upload(std::vector<uint8_t>{0x80, 0x80, 0xFE, 0xFF});
  auto to = upload(std::vector<int64_t>(4));
  EXPECT_EQ(launch("k", {1, 1}, from.pointer, to.pointer), "");
  EXPECT_THAT(download(to), testing::ElementsAre(-128, 128, -2, 128));
}

TEST_F(PtxSimInstruction, Atomics) {
  load(R"(
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  atom.global.add.u32 %r2, [%rd1], 1;
  red.global.max.s32 [%rd1+4], %r1;
  atom.global.inc.u32 %r3, [%rd1+8], 9;
  mov.f32 %f1, 0f3F000000;
  red.global.add.f32 [%rd1+12], %f1;
  atom.global.cas.b32 %r4, [%rd1+16], 0, 77;
  red.global.or.b32 [%rd1+20], %r1;
  atom.global.exch.b32 %r5, [%rd1+24], 5;
  red.global.add.u64 [%rd1+32], 3;
  ret;
})");
  auto to = upload(std::vector<uint32_t>(10));
  EXPECT_EQ(launch("k", {4, 64}, to.pointer), "");
  EXPECT_THAT(download(to), testing::ElementsAre(256, 63, 6, f(128), 77, 63, 5, 0, 768, 0));
}

} // namespace
} // namespace hjx::ptxsim::test
