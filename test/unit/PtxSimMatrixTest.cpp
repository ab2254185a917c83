// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix, movmatrix and mma.sync. Fragments are written down here as the PTX
// manual does, element by element; the simulated device uses shorter formulas for them.
#include "test/unit/PtxSimTest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include <bit>
#include <cmath>
#include <random>

namespace hjx::ptxsim::test {
namespace {

using testing::HasSubstr;

class PtxSimMatrix : public PtxSim {
protected:
  /// Runs one warp on 32 * `inputs` words, `inputs` of each lane; returns 32 * `outputs`.
  /// `body` finds them in %i0, %i1, ... and leaves %o0, %o1, ...
  std::vector<uint32_t> runWarp(const std::string &body, const std::vector<uint32_t> &values,
                                unsigned outputs) {
    unsigned inputs = values.size() / 32;
    std::string loads, stores;
    for (unsigned k = 0; k < inputs; ++k)
      absl::StrAppend(&loads, "  ld.global.b32 %i", k, ", [%rd1+", 4 * k, "];\n");
    for (unsigned k = 0; k < outputs; ++k)
      absl::StrAppend(&stores, "  st.global.b32 [%rd2+", 4 * k, "], %o", k, ";\n");
    load(absl::StrCat(R"(
.shared .align 16 .b8 tile[1024];
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<8>; .reg .b32 %i<32>; .reg .b32 %o<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %rd1, %r0, )", 4 * inputs, ", %rd1;\n  mad.wide.u32 %rd2, %r0, ", 4 * outputs,
                      ", %rd2;\n", loads, body, stores, "  ret;\n}\n"), target);
    auto from = upload(values);
    auto to = allocate<uint32_t>(32 * outputs);
    error = launch("k", {1, 32}, from.pointer, to.pointer);
    return error.empty() ? download(to) : std::vector<uint32_t>();
  }
  std::string target = "sm_80", error;
};

// Tile j has the half 256 * j + 8 * row + column.
std::vector<uint32_t> tileWords() {
  std::vector<uint32_t> words(128);
  for (unsigned at = 0; at < 128; ++at) {
    unsigned half = 2 * at, value = half / 64 * 256 + half % 64;
    words[at] = value | (value + 1) << 16;
  }
  return words;
}
uint32_t pairOf(unsigned tile, unsigned row, unsigned column, bool transposed) {
  auto at = [&](unsigned c) { return 256 * tile + (transposed ? 8 * c + row : 8 * row + c); };
  return at(column) | at(column + 1) << 16;
}

// Lane l of tile j's register has row l / 4, columns 2 * (l % 4) and the next.
TEST_F(PtxSimMatrix, LoadsTiles) {
  for (bool transposed : {false, true})
    for (unsigned count : {1u, 2u, 4u}) {
      std::vector<std::string> registers;
      for (unsigned j = 0; j < count; ++j)
        registers.push_back(absl::StrCat("%o", j));
      std::vector<uint32_t> words = tileWords(), perLane;
      for (unsigned lane = 0; lane < 32; ++lane)
        perLane.insert(perLane.end(), &words[4 * lane], &words[4 * lane] + 4);
      std::vector<uint32_t> result = runWarp(
          absl::StrCat("  mov.u32 %r1, tile;\n  mad.lo.u32 %r1, %r0, 16, %r1;\n"
                       "  st.shared.v4.b32 [%r1], {%i0, %i1, %i2, %i3};\n  bar.warp.sync -1;\n"
                       "  ldmatrix.sync.aligned.m8n8.x", count, transposed ? ".trans" : "",
                       ".shared.b16 {", absl::StrJoin(registers, ", "), "}, [%r1];\n"),
          perLane, count);
      ASSERT_EQ(error, "");
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned j = 0; j < count; ++j)
          EXPECT_EQ(result[lane * count + j], pairOf(j, lane / 4, 2 * (lane % 4), transposed))
              << "lane " << lane << ", tile " << j << ", x" << count;
    }
}

TEST_F(PtxSimMatrix, TransposesRegisters) {
  std::vector<uint32_t> words = tileWords();
  words.resize(32);
  std::vector<uint32_t> result = runWarp("  movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;\n", words, 1);
  ASSERT_EQ(error, "");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(result[lane], pairOf(0, lane / 4, 2 * (lane % 4), true));
}

TEST_F(PtxSimMatrix, RefusesLanesThatDiverged) {
  std::vector<uint32_t> words(32);
  runWarp("  setp.lt.u32 %p1, %r0, 16;\n  @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;\n", words, 1);
  EXPECT_THAT(error, HasSubstr("thread (16,0,0): expected all lanes of the warp to execute this, got 0xffff"));
}

TEST_F(PtxSimMatrix, RefusesRowsThatAreNotAligned) {
  std::vector<uint32_t> words(32);
  runWarp("  mov.u32 %r1, tile;\n  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%r1+8];\n", words, 1);
  EXPECT_THAT(error, HasSubstr("read of 16 bytes at 0x8, which is not a multiple of 16"));
}

// mma.

enum class Kind { F16, BF16, TF32, S8, U8 };
unsigned bitsOf(Kind kind) { return kind == Kind::TF32 ? 32 : kind <= Kind::BF16 ? 16 : 8; }

uint32_t encode(Kind kind, double value) {
  switch (kind) {
  case Kind::F16: return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  case Kind::BF16: return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
  case Kind::TF32: return std::bit_cast<uint32_t>(static_cast<float>(value));
  default: return uint8_t(int(value));
  }
}

struct MmaCase {
  const char *name, *opcode;
  unsigned k;
  Kind a, b;
  bool halfSums = false;
};
void PrintTo(const MmaCase &one, std::ostream *out) { *out << one.opcode; }

class PtxSimMma : public PtxSimMatrix, public testing::WithParamInterface<MmaCase> {};

// The manual's tables: element i of lane's fragment. g = lane / 4, t = lane % 4.
struct Place {
  unsigned row, column;
};
Place placeOfA(Kind kind, unsigned k, unsigned lane, unsigned i) {
  unsigned g = lane / 4, t = lane % 4;
  switch (bitsOf(kind)) {
  case 32:
    return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  case 16:
    if (k == 8)
      return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
    return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
  default:
    if (k == 16)
      return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
    return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
  }
}
Place placeOfB(Kind kind, unsigned lane, unsigned i) {
  unsigned g = lane / 4, t = lane % 4;
  switch (bitsOf(kind)) {
  case 32: return {i < 1 ? t : t + 4, g};
  case 16: return {i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
  default: return {i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
  }
}
Place placeOfC(unsigned lane, unsigned i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

// Values that all types hold exactly, and whose f32 sums are not exact for the wide types.
TEST_P(PtxSimMma, MultipliesAndAdds) {
  const MmaCase &mma = GetParam();
  unsigned k = mma.k, perA = 32 / bitsOf(mma.a), numA = 16 * k / 32 / perA, numB = 8 * k / 32 / perA;
  unsigned numC = mma.halfSums ? 2 : 4;
  bool isInteger = bitsOf(mma.a) == 8;
  std::mt19937 random(k);
  auto value = [&](Kind kind) -> double {
    if (isInteger)
      return double(random() % 256) - (kind == Kind::S8 ? 128 : 0);
    double digits = double(random() % 256) - 128, scale = std::ldexp(1, -int(random() % 12));
    return digits * (mma.halfSums ? 1.0 / 256 : scale);
  };
  double a[16][32], b[32][8];
  float c[16][8];
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned at = 0; at < k; ++at)
      a[row][at] = value(mma.a);
    for (unsigned column = 0; column < 8; ++column)
      c[row][column] = isInteger ? int(random() % 1000) : mma.halfSums ? row : float(random()) / (1 << 28);
  }
  for (unsigned at = 0; at < k; ++at)
    for (unsigned column = 0; column < 8; ++column)
      b[at][column] = value(mma.b);

  std::vector<uint32_t> words;
  auto bitsOfC = [&](float x) -> uint32_t {
    return isInteger ? uint32_t(int(x)) : mma.halfSums ? encode(Kind::F16, x) : std::bit_cast<uint32_t>(x);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned r = 0; r < numA; ++r) {
      uint32_t word = 0;
      for (unsigned e = 0; e < perA; ++e) {
        Place at = placeOfA(mma.a, k, lane, r * perA + e);
        word |= encode(mma.a, a[at.row][at.column]) << e * bitsOf(mma.a);
      }
      words.push_back(word);
    }
    for (unsigned r = 0; r < numB; ++r) {
      uint32_t word = 0;
      for (unsigned e = 0; e < perA; ++e) {
        Place at = placeOfB(mma.b, lane, r * perA + e);
        word |= encode(mma.b, b[at.row][at.column]) << e * bitsOf(mma.b);
      }
      words.push_back(word);
    }
    for (unsigned r = 0; r < numC; ++r) {
      auto at = [&](unsigned i) { return bitsOfC(c[placeOfC(lane, i).row][placeOfC(lane, i).column]); };
      words.push_back(mma.halfSums ? at(2 * r) | at(2 * r + 1) << 16 : at(r));
    }
  }
  auto list = [](const char *letter, unsigned from, unsigned count) {
    std::vector<std::string> names;
    for (unsigned r = 0; r < count; ++r)
      names.push_back(absl::StrCat("%", letter, from + r));
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  };
  bool needsFloats = !isInteger && !mma.halfSums;
  std::string sums = list(needsFloats ? "f" : "i", numA + numB, numC), results = list(needsFloats ? "g" : "o", 0, numC);
  std::string before, after;
  if (needsFloats)
    for (unsigned r = 0; r < numC; ++r) {
      absl::StrAppend(&before, "  mov.b32 %f", numA + numB + r, ", %i", numA + numB + r, ";\n");
      absl::StrAppend(&after, "  mov.b32 %o", r, ", %g", r, ";\n");
    }
  std::vector<uint32_t> result =
      runWarp(absl::StrCat("  .reg .f32 %f<32>; .reg .f32 %g<8>;\n", before, "  ", mma.opcode, " ", results, ", ",
                           list("i", 0, numA), ", ", list("i", numA, numB), ", ", sums, ";\n", after),
              words, numC);
  ASSERT_EQ(error, "");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      Place at = placeOfC(lane, i);
      uint32_t expected;
      if (isInteger) {
        double exact = c[at.row][at.column];
        for (unsigned x = 0; x < k; ++x)
          exact += a[at.row][x] * b[x][at.column];
        expected = uint32_t(int64_t(exact));
      } else {
        float sum = c[at.row][at.column];
        for (unsigned x = 0; x < k; ++x)
          sum = std::fma(float(a[at.row][x]), float(b[x][at.column]), sum);
        expected = bitsOfC(sum);
      }
      uint32_t word = result[lane * numC + (mma.halfSums ? i / 2 : i)];
      if (mma.halfSums)
        word = word >> (i & 1) * 16 & 0xFFFF;
      EXPECT_EQ(word, expected) << "row " << at.row << ", column " << at.column;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PtxSimMma,
    testing::Values(
        MmaCase{"f16k16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, Kind::F16, Kind::F16},
        MmaCase{"f16k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, Kind::F16, Kind::F16},
        MmaCase{"f16k16f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, Kind::F16, Kind::F16, true},
        MmaCase{"f16k8f16", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 8, Kind::F16, Kind::F16, true},
        MmaCase{"bf16k16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, Kind::BF16, Kind::BF16},
        MmaCase{"bf16k8", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, Kind::BF16, Kind::BF16},
        MmaCase{"tf32k8", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, Kind::TF32, Kind::TF32},
        MmaCase{"tf32k4", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, Kind::TF32, Kind::TF32},
        MmaCase{"s8k32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, Kind::S8, Kind::S8},
        MmaCase{"s8k16", "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", 16, Kind::S8, Kind::S8},
        MmaCase{"u8k32", "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", 32, Kind::U8, Kind::U8},
        MmaCase{"u8s8k32", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 32, Kind::U8, Kind::S8}),
    [](const auto &info) { return info.param.name; });

// The digits that tf32 does not have are cut off, not rounded.
TEST_F(PtxSimMatrix, Tf32IgnoresLowDigits) {
  std::vector<uint32_t> words(32, std::bit_cast<uint32_t>(1.0f + 0x1p-10f) | 0x1FFF);
  std::vector<uint32_t> result = runWarp(
      "  .reg .f32 %f<4>;\n  mov.f32 %f0, 0f00000000;\n"
      "  mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%i0, %i0}, {%i0}, "
      "{%f0, %f0, %f0, %f0};\n  mov.b32 %o0, %f3;\n",
      words, 1);
  float one = 1.0f + 0x1p-10f;
  EXPECT_THAT(result, testing::Each(std::bit_cast<uint32_t>(4 * one * one)));
}

TEST_F(PtxSimMatrix, SaturatesIntegers) {
  std::vector<uint32_t> words;
  for (unsigned lane = 0; lane < 32; ++lane)
    words.insert(words.end(), {0x7F7F7F7F, 0x7FFFFFFF});
  auto opcode = [](const char *more) {
    return absl::StrCat("  mma.sync.aligned.m16n8k16.row.col", more, ".s32.s8.s8.s32 {%o0, %r1, %r2, %r3}, "
                        "{%i0, %i0}, {%i0}, {%i1, %i1, %i1, %i1};\n");
  };
  EXPECT_THAT(runWarp(opcode(".satfinite"), words, 1), testing::Each(0x7FFFFFFFu));
  EXPECT_THAT(runWarp(opcode(""), words, 1), testing::Each(0x7FFFFFFFu + 16 * 127 * 127));
}

TEST_F(PtxSimMatrix, RefusesWhatIsNoMma) {
  auto error = [&](std::string opcode) {
    return loadError(absl::StrCat(".visible .entry k() { .reg .b32 %r<8>; .reg .f32 %f<4>;\n", opcode,
                                  " {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r0}, {%f0, %f1, %f2, %f3};\nret; }"));
  };
  EXPECT_THAT(error("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), HasSubstr("unknown shape of mma for these types"));
  EXPECT_THAT(error("mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32"), HasSubstr("unknown types of mma"));
  EXPECT_THAT(error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
              HasSubstr("expected 4 registers in this operand, got 2"));
  EXPECT_THAT(error("mma.sync.aligned.m16n8k8.frob.row.col.f32.f16.f16.f32"), HasSubstr("unknown modifier '.frob' of 'mma'"));
}

} // namespace
} // namespace hjx::ptxsim::test
