// SPDX-License-Identifier: Apache-2.0
//
// cvt between all scalar types, with its roundings and saturations.
//
// Every source type is exact in int64 or in double, so a conversion is three loops:
// load, convert, store. f16 and bf16 are rounded from a float that was rounded to odd.
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Move.h"
#include "absl/strings/match.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace hjx::ptxsim {
namespace {

enum Flag : uint8_t { kFlush = 1, kSat = 2, kRelu = 4, kSatFinite = 8, kInteger = 16 };

template <typename T, typename R>
void widenLanes(const Warp &w, Slot slot, R *to) {
  const auto *from = w.read<T>(slot);
  for (unsigned lane = 0; lane < 32; ++lane)
    to[lane] = R(from[lane]);
}

// The low bits of registers that may be wider than the type.
void loadIntegers(const Instruction &i, const Warp &w, int64_t *to) {
  if (i.registerBytes == 2)
    widenLanes<uint16_t>(w, i.src[0], to);
  else if (i.registerBytes == 4)
    widenLanes<uint32_t>(w, i.src[0], to);
  else
    widenLanes<uint64_t>(w, i.src[0], to);
  unsigned unused = 64 - 8 * sizeOf(i.sourceType);
  if (isSigned(i.sourceType))
    for (unsigned lane = 0; lane < 32; ++lane)
      to[lane] = int64_t(uint64_t(to[lane]) << unused) >> unused;
  else
    for (unsigned lane = 0; lane < 32; ++lane)
      to[lane] = int64_t(uint64_t(to[lane]) << unused >> unused);
}

void storeIntegers(const Instruction &i, Warp &w, const int64_t *values) {
  unsigned unused = 64 - 8 * sizeOf(i.type);
  int64_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t high = uint64_t(values[lane]) << unused;
    out[lane] = isSigned(i.type) ? int64_t(high) >> unused : int64_t(high >> unused);
  }
  storeRegister(w, i.dst[0], i.sizeBytes, reinterpret_cast<const uint64_t *>(out));
}

void loadFloats(const Instruction &i, const Warp &w, double *to) {
  switch (i.sourceType) {
  case Type::F64: return widenLanes<double>(w, i.src[0], to);
  case Type::F32: {
    const auto *from = w.read<float>(i.src[0]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      float x = from[lane];
      to[lane] = (i.flags & kFlush) && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
    }
    return;
  }
  default: {
    const auto *from = w.read<uint16_t>(i.src[0]);
    for (unsigned lane = 0; lane < 32; ++lane)
      to[lane] = i.sourceType == Type::F16 ? F16::widen(from[lane]) : BF16::widen(from[lane]);
  }
  }
}

// Largest magnitude instead of infinity, 0 instead of what is negative.
template <typename H> uint16_t narrow(float x, int mode, uint8_t flags) {
  uint16_t bits = H::round(x);
  if (mode == FE_TOWARDZERO && std::fabs(H::widen(bits)) > std::fabs(x))
    --bits;
  if ((flags & kSatFinite) && x == x && std::isinf(H::widen(bits)))
    bits = (bits & 0x8000) | H::kLargest;
  if ((flags & kRelu) && x == x && (bits & 0x8000))
    bits = 0;
  return bits;
}

// tf32 keeps 10 bits of the fraction; .rna rounds ties away from zero.
uint32_t roundTf32(float x, int mode, uint8_t flags) {
  if (x != x)
    return 0x7FFFFFFF;
  auto bits = std::bit_cast<uint32_t>(x);
  if (std::isfinite(x)) {
    if (mode == FE_UPWARD) // stands for .rna
      bits += 0x1000;
    else if (mode == FE_TONEAREST)
      bits += 0xFFF + (bits >> 13 & 1);
    bits &= 0xFFFFE000;
  }
  if ((flags & kRelu) && (bits >> 31))
    bits = 0;
  if ((flags & kSatFinite) && (bits & 0x7FFFFFFF) == 0x7F800000)
    bits = (bits & 0x80000000) | 0x7F7FE000;
  return bits;
}

void storeFloats(const Instruction &i, Warp &w, const double *values, int mode) {
  double in[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    in[lane] = values[lane];
    if (i.flags & kSat)
      in[lane] = in[lane] > 0 ? std::min(in[lane], 1.0) : 0.0;
  }
  if (i.type == Type::F64)
    return w.write<double>(i.dst[0], in);
  if (i.type == Type::F32) {
    float out[32];
    std::fesetround(mode);
    for (unsigned lane = 0; lane < 32; ++lane) {
      volatile double exact = in[lane];
      out[lane] = static_cast<float>(exact);
    }
    std::fesetround(FE_TONEAREST);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((i.flags & kFlush) && std::fabs(out[lane]) < 0x1p-126f)
        out[lane] = std::copysign(0.0f, out[lane]);
      if (out[lane] != out[lane])
        out[lane] = std::bit_cast<float>(0x7FFFFFFFu);
    }
    return w.write<float>(i.dst[0], out);
  }
  if (i.type == Type::TF32) {
    uint32_t out[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      out[lane] = roundTf32(static_cast<float>(in[lane]), mode, i.flags);
    return w.write<uint32_t>(i.dst[0], out);
  }
  uint64_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    float odd = roundToOdd(in[lane]);
    out[lane] = i.type == Type::F16 ? narrow<F16>(odd, mode, i.flags)
                                    : narrow<BF16>(odd, mode, i.flags);
  }
  storeRegister(w, i.dst[0], i.sizeBytes, out);
}

template <typename T> int64_t clamp(T value, Type type) {
  unsigned bits = 8 * sizeOf(type);
  auto low = isSigned(type) ? -(__int128(1) << (bits - 1)) : __int128(0);
  auto high = (__int128(1) << (bits - isSigned(type))) - 1;
  return int64_t(std::min(std::max(__int128(value), low), high));
}

void integerToInteger(const Instruction &i, Warp &w) {
  int64_t values[32];
  loadIntegers(i, w, values);
  if (i.flags & kSat)
    for (int64_t &value : values)
      value = i.sourceType == Type::U64 ? clamp(uint64_t(value), i.type) : clamp(value, i.type);
  storeIntegers(i, w, values);
}

void integerToFloat(const Instruction &i, Warp &w) {
  int64_t values[32];
  loadIntegers(i, w, values);
  int mode = i.target;
  bool isUnsigned = i.sourceType == Type::U64;
  if (i.type == Type::F32 || i.type == Type::F64) {
    // Straight to the type, in one rounding.
    float narrow[32];
    double wide[32];
    std::fesetround(mode);
    for (unsigned lane = 0; lane < 32; ++lane) {
      volatile int64_t exact = values[lane];
      int64_t value = exact;
      if (i.type == Type::F32)
        narrow[lane] = isUnsigned ? float(uint64_t(value)) : float(value);
      else
        wide[lane] = isUnsigned ? double(uint64_t(value)) : double(value);
    }
    std::fesetround(FE_TONEAREST);
    if (i.flags & kSat)
      for (unsigned lane = 0; lane < 32; ++lane) {
        narrow[lane] = std::min(std::max(narrow[lane], 0.0f), 1.0f);
        wide[lane] = std::min(std::max(wide[lane], 0.0), 1.0);
      }
    return i.type == Type::F32 ? w.write<float>(i.dst[0], narrow) : w.write<double>(i.dst[0], wide);
  }
  double odd[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    __int128 exact = isUnsigned ? __int128(uint64_t(values[lane])) : __int128(values[lane]);
    auto value = static_cast<double>(exact);
    if (__int128(value) != exact) {
      auto bits = std::bit_cast<uint64_t>(value);
      if (std::fabs(value) > std::fabs(static_cast<long double>(exact)))
        --bits;
      value = std::bit_cast<double>(bits | 1);
    }
    odd[lane] = value;
  }
  storeFloats(i, w, odd, mode);
}

double roundToInteger(double x, int mode) {
  switch (mode) {
  case FE_TOWARDZERO: return std::trunc(x);
  case FE_DOWNWARD: return std::floor(x);
  case FE_UPWARD: return std::ceil(x);
  default: return std::nearbyint(x);
  }
}

void floatToInteger(const Instruction &i, Warp &w) {
  double values[32];
  loadFloats(i, w, values);
  int64_t out[32];
  unsigned bits = 8 * sizeOf(i.type);
  bool zeroNan = i.sourceType != Type::F64 && bits != 64;
  double low = isSigned(i.type) ? -std::ldexp(1.0, bits - 1) : 0;
  double high = std::ldexp(1.0, bits - isSigned(i.type)); // first that does not fit
  auto largest = int64_t(isSigned(i.type) ? (uint64_t(1) << (bits - 1)) - 1
                                          : ~uint64_t(0) >> (64 - bits));
  for (unsigned lane = 0; lane < 32; ++lane) {
    double x = roundToInteger(values[lane], i.target);
    if (x != x)
      out[lane] = zeroNan ? 0 : int64_t(uint64_t(1) << (bits - 1));
    else if (x >= high)
      out[lane] = largest;
    else if (x < low)
      out[lane] = isSigned(i.type) ? int64_t(-(uint64_t(1) << (bits - 1))) : 0;
    else
      out[lane] = x >= 0x1p63 ? int64_t(uint64_t(x)) : int64_t(x);
  }
  storeIntegers(i, w, out);
}

void floatToFloat(const Instruction &i, Warp &w) {
  double values[32];
  loadFloats(i, w, values);
  if (i.flags & kInteger)
    for (double &value : values)
      value = roundToInteger(value, i.target);
  storeFloats(i, w, values, i.flags & kInteger ? FE_TONEAREST : int(i.target));
}

// d = {a, b}: the first source becomes the high half.
void floatsToPair(const Instruction &i, Warp &w) {
  const auto *high = w.read<float>(i.src[0]), *low = w.read<float>(i.src[1]);
  uint32_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto half = [&](float x) -> uint32_t {
      return i.type == Type::F16x2 ? narrow<F16>(x, i.target, i.flags)
                                   : narrow<BF16>(x, i.target, i.flags);
    };
    out[lane] = half(high[lane]) << 16 | half(low[lane]);
  }
  w.write<uint32_t>(i.dst[0], out);
}

int takeRounding(InstructionDecoder &d, bool &isInteger) {
  absl::string_view word =
      d.op.takeOneOf({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"});
  isInteger = word.size() == 3 && word != "rna";
  return absl::StartsWith(word, "rz")   ? FE_TOWARDZERO
         : absl::StartsWith(word, "rm") ? FE_DOWNWARD
         : absl::StartsWith(word, "rp") || word == "rna" ? FE_UPWARD
                                                   : FE_TONEAREST;
}

} // namespace

void decodeCvt(InstructionDecoder &d) {
  bool isInteger = false;
  d.out.target = takeRounding(d, isInteger);
  d.out.flags = (d.op.take("ftz") ? kFlush : 0) | (d.op.take("sat") ? kSat : 0) |
                (d.op.take("relu") ? kRelu : 0) | (d.op.take("satfinite") ? kSatFinite : 0) |
                (isInteger ? kInteger : 0);
  std::optional<Type> to = d.op.takeType(), from = d.op.takeType();
  if (!to || !from)
    return d.fail("expected two types");
  d.out.type = *to;
  d.out.sourceType = *from;
  if (*to == Type::F16x2 || *to == Type::BF16x2) {
    if (!d.expectOperands(3))
      return;
    if (*from != Type::F32)
      return d.fail("expected .f32 as the source of a pair");
    d.out.dst[0] = d.destination(0, Type::B32);
    d.out.src[0] = d.source(1, Type::F32);
    d.out.src[1] = d.source(2, Type::F32);
    d.out.run = floatsToPair;
    return;
  }
  if (!d.expectOperands(2))
    return;
  d.out.dst[0] = d.destination(0, *to, true);
  d.out.src[0] = d.source(1, *from, true);
  d.out.sizeBytes = std::max(2u, d.registerBytes(d.operands()[0]));
  unsigned sourceBytes = d.registerBytes(d.operands()[1]);
  d.out.registerBytes = sourceBytes ? sourceBytes : std::max(2u, sizeOf(*from));
  if (isFloat(*from) && d.out.registerBytes != sizeOf(*from))
    return d.fail("the source register has the wrong size");
  if (isFloat(*from))
    d.out.run = isFloat(*to) ? floatToFloat : floatToInteger;
  else
    d.out.run = isFloat(*to) ? integerToFloat : integerToInteger;
}

} // namespace hjx::ptxsim
