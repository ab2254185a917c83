// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic, logic, shifts and bit fields. All wraps; shifts by the width or
// more give what PTX says (0, or copies of the sign), not what C++ leaves open.
// Division by zero gives all ones, as the hardware does (PTX leaves it unspecified).
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/match.h"

#include <bit>
#include <limits>
#include <type_traits>

namespace hjx::ptxsim {
namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T>
using Wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;
template <typename T> constexpr unsigned kBits = 8 * sizeof(T);

template <typename T>
constexpr auto add = [](T a, T b) { return T(uint64_t(a) + uint64_t(b)); };
template <typename T>
constexpr auto sub = [](T a, T b) { return T(uint64_t(a) - uint64_t(b)); };
template <typename T>
constexpr auto mulLo = [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); };
template <typename T>
constexpr auto mulHi = [](T a, T b) { return T(Wide<T>(a) * Wide<T>(b) >> kBits<T>); };
template <typename T>
constexpr auto mulWide = [](T a, T b) { return Wide<T>(Wide<T>(a) * Wide<T>(b)); };
template <typename T>
constexpr auto madLo = [](T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); };
template <typename T>
constexpr auto madHi = [](T a, T b, T c) { return add<T>(mulHi<T>(a, b), c); };
template <typename T>
constexpr auto madWide = [](T a, T b, Wide<T> c) {
  return Wide<T>(std::make_unsigned_t<Wide<T>>(Wide<T>(a) * Wide<T>(b)) +
                 std::make_unsigned_t<Wide<T>>(c));
};
constexpr auto sat = [](int64_t value) {
  return int32_t(std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
};
constexpr auto addSat = [](int32_t a, int32_t b) { return sat(int64_t(a) + b); };
constexpr auto subSat = [](int32_t a, int32_t b) { return sat(int64_t(a) - b); };
constexpr auto mul24 = [](auto a, auto b) {
  using T = decltype(a);
  auto low = [](T v) { return Wide<T>(T(Unsigned<T>(v) << 8) >> 8); };
  return low(a) * low(b);
};

template <typename T> constexpr auto divide = [](T a, T b) {
  if (b == 0)
    return T(~T(0));
  if (std::is_signed_v<T> && b == T(-1))
    return T(Unsigned<T>(0) - Unsigned<T>(a));
  return T(a / b);
};
template <typename T> constexpr auto remainder = [](T a, T b) {
  if (b == 0)
    return a;
  if (std::is_signed_v<T> && b == T(-1))
    return T(0);
  return T(a % b);
};
template <typename T>
constexpr auto negate = [](T a) { return T(Unsigned<T>(0) - Unsigned<T>(a)); };
template <typename T>
constexpr auto absolute = [](T a) { return a < 0 ? negate<T>(a) : a; };
template <typename T> constexpr auto smaller = [](T a, T b) { return b < a ? b : a; };
template <typename T> constexpr auto larger = [](T a, T b) { return a < b ? b : a; };
constexpr auto reluOf = [](int32_t a) { return a < 0 ? 0 : a; };

template <typename T> constexpr auto bitAnd = [](T a, T b) { return T(a & b); };
template <typename T> constexpr auto bitOr = [](T a, T b) { return T(a | b); };
template <typename T> constexpr auto bitXor = [](T a, T b) { return T(a ^ b); };
template <typename T> constexpr auto bitNot = [](T a) { return T(~a); };
template <typename T> constexpr auto logicalNot = [](T a) { return T(a == 0); };

template <typename T> constexpr auto shiftLeft = [](T a, uint32_t n) {
  return n >= kBits<T> ? T(0) : T(Unsigned<T>(a) << (n & (kBits<T> - 1)));
};
template <typename T> constexpr auto shiftRight = [](T a, uint32_t n) {
  if constexpr (std::is_signed_v<T>)
    return T(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
  else
    return n >= kBits<T> ? T(0) : T(a >> (n & (kBits<T> - 1)));
};
template <bool isLeft, bool wraps>
constexpr auto funnel = [](uint32_t low, uint32_t high, uint32_t n) {
  n = wraps ? n & 31 : std::min(n, 32u);
  uint64_t both = uint64_t(high) << 32 | low;
  return isLeft ? uint32_t(both << n >> 32) : uint32_t(both >> n);
};
constexpr auto lop3 = [](uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row)
    result |= (table >> row & 1 ? ~0u : 0u) & (row & 4 ? a : ~a) & (row & 2 ? b : ~b) &
              (row & 1 ? c : ~c);
  return result;
};

// prmt: each selector nibble picks one of 8 bytes; its top bit copies that byte's sign instead.
uint32_t pickByte(uint32_t a, uint32_t b, unsigned selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  auto byte = uint8_t(both >> (selector & 7) * 8);
  return selector & 8 ? (byte & 0x80 ? 0xFF : 0) : byte;
}
constexpr auto permute = [](uint32_t a, uint32_t b, uint32_t selectors) {
  uint32_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte)
    result |= pickByte(a, b, selectors >> 4 * byte & 15) << 8 * byte;
  return result;
};
template <int mode> constexpr auto permuteMode = [](uint32_t a, uint32_t b, uint32_t c) {
  static constexpr uint16_t selectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  return permute(a, b, selectors[mode][c & 3]);
};

template <typename T> constexpr auto extractField = [](T a, uint32_t start, uint32_t length) {
  start &= 255;
  length &= 255;
  constexpr unsigned top = kBits<T> - 1;
  // Bits beyond the top read as the sign of the field.
  bool sign = std::is_signed_v<T> && length != 0 &&
              (Unsigned<T>(a) >> std::min(start + length - 1, top) & 1);
  Unsigned<T> field = start > top ? Unsigned<T>(0) : Unsigned<T>(Unsigned<T>(a) >> start);
  unsigned valid = start > top ? 0 : std::min(length, top + 1 - start);
  Unsigned<T> mask = valid > top ? ~Unsigned<T>(0) : (Unsigned<T>(1) << valid) - 1;
  return T((field & mask) | (sign ? ~mask : Unsigned<T>(0)));
};
template <typename T>
constexpr auto insertField = [](T field, T into, uint32_t start, uint32_t length) {
  start &= 255;
  length &= 255;
  if (start >= kBits<T> || length == 0)
    return into;
  T mask = length >= kBits<T> ? ~T(0) : (T(1) << length) - 1;
  return T((into & ~(mask << start)) | (field & mask) << start);
};
template <typename T> constexpr auto reverse = [](T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_bitreverse32(a);
  else
    return __builtin_bitreverse64(a);
};
template <typename T> constexpr auto leadingZeros = [](T a) { return uint32_t(std::countl_zero(a)); };
template <typename T> constexpr auto ones = [](T a) { return uint32_t(std::popcount(a)); };
template <typename T, bool isShift> constexpr auto findTop = [](T a) {
  Unsigned<T> bits = a < 0 ? ~a : a;
  if (bits == 0)
    return ~uint32_t(0);
  unsigned position = kBits<T> - 1 - std::countl_zero(bits);
  return uint32_t(isShift ? kBits<T> - 1 - position : position);
};
template <typename T> constexpr auto sad = [](T a, T b, T c) {
  return T(Unsigned<T>(c) + (a < b ? Unsigned<T>(b) - Unsigned<T>(a) : Unsigned<T>(a) - Unsigned<T>(b)));
};
constexpr auto bitMask = [](uint32_t start, uint32_t length) {
  uint64_t mask = length >= 32 ? 0xFFFFFFFFu : (uint64_t(1) << length) - 1;
  return start >= 32 ? 0u : uint32_t(mask << start);
};

// dp4a: four products of bytes, summed.
template <bool signedA, bool signedB, typename R>
constexpr auto dot4 = [](uint32_t a, uint32_t b, R c) {
  uint32_t sum = c;
  for (unsigned byte = 0; byte < 4; ++byte) {
    auto x = uint8_t(a >> 8 * byte), y = uint8_t(b >> 8 * byte);
    sum += (signedA ? int32_t(int8_t(x)) : int32_t(x)) * (signedB ? int32_t(int8_t(y)) : int32_t(y));
  }
  return R(sum);
};

// add.cc and its kind: flags bit 0: reads the carry, bit 1: writes it, bit 2: subtracts.
template <typename T> void withCarry(const Instruction &i, Warp &w) {
  const T *a = w.read<T>(i.src[0]), *b = w.read<T>(i.src[1]);
  Mask carryIn = w.predicate(i.src[3]), carryOut = 0;
  T out[32];
  bool reads = i.flags & 1, subtracts = i.flags & 4;
  for (unsigned lane = 0; lane < 32; ++lane) {
    // a - b is a + ~b + 1; the carry flag of a subtraction is its borrow.
    T addend = subtracts ? T(~b[lane]) : b[lane];
    bool carry = reads ? bool(carryIn >> lane & 1) != subtracts : subtracts;
    unsigned __int128 sum = (unsigned __int128)a[lane] + addend + carry;
    out[lane] = T(sum);
    carryOut |= Mask(bool(sum >> kBits<T> & 1) != subtracts) << lane;
  }
  w.write<T>(i.dst[0], out);
  if (i.flags & 2)
    w.writePredicate(i.src[3], carryOut);
}

bool decodeAddSub(InstructionDecoder &d) {
  bool isSub = d.op.base == "sub" || d.op.base == "subc";
  bool reads = d.op.base == "addc" || d.op.base == "subc", writes = d.op.take("cc");
  bool saturates = d.op.take("sat");
  std::optional<Type> type = d.op.takeType();
  if (!type || isFloat(*type))
    return false;
  if (*type == Type::U16x2 || *type == Type::S16x2)
    return false;
  decodeUniform(d, *type, 2);
  forInteger(*type, [&]<typename T> {
    d.out.run = isSub ? each<sub<T>, T, T, T> : each<add<T>, T, T, T>;
    if (reads || writes) {
      d.out.run = withCarry<Unsigned<T>>;
      d.out.flags = (reads ? 1 : 0) | (writes ? 2 : 0) | (isSub ? 4 : 0);
      d.out.src[3] = d.carry();
    }
  });
  if (saturates) {
    if (*type != Type::S32)
      d.fail(".sat needs .s32");
    d.out.run = isSub ? each<subSat, int32_t, int32_t, int32_t>
                      : each<addSat, int32_t, int32_t, int32_t>;
  }
  return true;
}

bool decodeMulMad(InstructionDecoder &d) {
  bool isMad = d.op.base == "mad" || d.op.base == "mad24", is24 = absl::EndsWith(d.op.base, "24");
  absl::string_view part = d.op.takeOneOf({"lo", "hi", "wide"});
  std::optional<Type> type = d.op.takeType();
  if (!type || isFloat(*type))
    return false;
  if (part.empty()) {
    d.fail("expected .lo, .hi or .wide");
    return true;
  }
  if (!d.expectOperands(isMad ? 4 : 3))
    return true;
  Type wide = sizeOf(*type) == 2   ? (isSigned(*type) ? Type::S32 : Type::U32)
              : sizeOf(*type) == 4 ? (isSigned(*type) ? Type::S64 : Type::U64)
                                   : Type::B128;
  Type result = part == "wide" ? wide : *type;
  if (result == Type::B128) {
    d.fail("expected a 16- or 32-bit type with .wide");
    return true;
  }
  d.out.dst[0] = d.destination(0, result);
  d.out.src[0] = d.source(1, *type);
  d.out.src[1] = d.source(2, *type);
  if (isMad)
    d.out.src[2] = d.source(3, result);
  if (is24) {
    bool isSignedType = isSigned(*type);
    if (part != "lo" || isMad || sizeOf(*type) != 4)
      d.fail("only mul24.lo is supported");
    else if (isSignedType)
      d.out.run = each<[](int32_t a, int32_t b) { return int32_t(mul24(a, b)); }, int32_t, int32_t,
                       int32_t>;
    else
      d.out.run = each<[](uint32_t a, uint32_t b) { return uint32_t(mul24(a, b)); }, uint32_t,
                       uint32_t, uint32_t>;
    return true;
  }
  forInteger(*type, [&]<typename T> {
    if (part == "lo")
      d.out.run = isMad ? each<madLo<T>, T, T, T, T> : each<mulLo<T>, T, T, T>;
    else if (part == "hi")
      d.out.run = isMad ? each<madHi<T>, T, T, T, T> : each<mulHi<T>, T, T, T>;
    else if constexpr (sizeof(T) < 8)
      d.out.run = isMad ? each<madWide<T>, Wide<T>, T, T, Wide<T>> : each<mulWide<T>, Wide<T>, T, T>;
  });
  return true;
}

bool decodeLogic(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  std::optional<Type> type = d.op.takeType();
  if (!type || *type == Type::Pred)
    return false; // predicates: the comparison group
  decodeUniform(d, *type, base == "not" || base == "cnot" ? 1 : 2);
  if (!forInteger(*type, [&]<typename T> {
        d.out.run = base == "and"   ? each<bitAnd<T>, T, T, T>
                    : base == "or"  ? each<bitOr<T>, T, T, T>
                    : base == "xor" ? each<bitXor<T>, T, T, T>
                    : base == "not" ? each<bitNot<T>, T, T>
                                    : each<logicalNot<T>, T, T>;
      }))
    d.fail("expected an integer type");
  return true;
}

bool decodeShift(InstructionDecoder &d) {
  bool isLeft = d.op.base == "shl";
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(3))
    return true;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = d.source(1, *type);
  d.out.src[1] = d.source(2, Type::U32);
  forInteger(*type, [&]<typename T> {
    d.out.run = isLeft ? each<shiftLeft<T>, T, T, uint32_t> : each<shiftRight<T>, T, T, uint32_t>;
  });
  return true;
}

bool decodeFunnel(InstructionDecoder &d) {
  bool isLeft = d.op.take("l") || !d.op.take("r");
  bool wraps = d.op.takeOneOf({"wrap", "clamp"}) == "wrap";
  d.op.takeType();
  decodeUniform(d, Type::B32, 3);
  using U = uint32_t;
  d.out.run = isLeft ? (wraps ? each<funnel<true, true>, U, U, U, U> : each<funnel<true, false>, U, U, U, U>)
                     : (wraps ? each<funnel<false, true>, U, U, U, U>
                              : each<funnel<false, false>, U, U, U, U>);
  return true;
}

bool decodePermute(InstructionDecoder &d) {
  d.op.takeType();
  absl::string_view mode = d.op.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  decodeUniform(d, Type::B32, 3);
  using U = uint32_t;
  d.out.run = mode == "f4e"    ? each<permuteMode<0>, U, U, U, U>
              : mode == "b4e"  ? each<permuteMode<1>, U, U, U, U>
              : mode == "rc8"  ? each<permuteMode<2>, U, U, U, U>
              : mode == "ecl"  ? each<permuteMode<3>, U, U, U, U>
              : mode == "ecr"  ? each<permuteMode<4>, U, U, U, U>
              : mode == "rc16" ? each<permuteMode<5>, U, U, U, U>
                               : each<permute, U, U, U, U>;
  return true;
}

bool decodeField(InstructionDecoder &d) {
  bool inserts = d.op.base == "bfi";
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(inserts ? 5 : 4))
    return true;
  unsigned values = inserts ? 2 : 1;
  d.out.dst[0] = d.destination(0, *type);
  for (unsigned index = 0; index < values + 2; ++index)
    d.out.src[index] = d.source(index + 1, index < values ? *type : Type::U32);
  forInteger(*type, [&]<typename T> {
    if constexpr (sizeof(T) >= 4) {
      using U = Unsigned<T>;
      d.out.run = inserts ? each<insertField<U>, U, U, U, uint32_t, uint32_t>
                          : each<extractField<T>, T, T, uint32_t, uint32_t>;
    }
  });
  return true;
}

bool decodeCount(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  bool isShift = d.op.take("shiftamt");
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(2))
    return true;
  d.out.dst[0] = d.destination(0, base == "brev" ? *type : Type::U32);
  d.out.src[0] = d.source(1, *type);
  forInteger(*type, [&]<typename T> {
    if constexpr (sizeof(T) >= 4) {
      using U = Unsigned<T>;
      if (base == "brev")
        d.out.run = each<reverse<U>, U, U>;
      else if (base == "clz")
        d.out.run = each<leadingZeros<U>, uint32_t, U>;
      else if (base == "popc")
        d.out.run = each<ones<U>, uint32_t, U>;
      else
        d.out.run = isShift ? each<findTop<T, true>, uint32_t, T> : each<findTop<T, false>, uint32_t, T>;
    }
  });
  return true;
}

bool decodeDot(InstructionDecoder &d) {
  std::optional<Type> a = d.op.takeType(), b = d.op.takeType();
  if (!a || !b || !d.expectOperands(4))
    return true;
  decodeUniform(d, Type::B32, 3);
  using U = uint32_t;
  d.out.run = isSigned(*a) ? (isSigned(*b) ? each<dot4<true, true, U>, U, U, U, U>
                                           : each<dot4<true, false, U>, U, U, U, U>)
                           : (isSigned(*b) ? each<dot4<false, true, U>, U, U, U, U>
                                           : each<dot4<false, false, U>, U, U, U, U>);
  return true;
}

// div rem neg abs min max sad: one type throughout.
bool decodePlain(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  bool relu = d.op.take("relu");
  std::optional<Type> type = d.op.takeType();
  if (!type || isFloat(*type) || *type == Type::U16x2 || *type == Type::S16x2)
    return false;
  decodeUniform(d, *type, base == "neg" || base == "abs" ? 1 : base == "sad" ? 3 : 2);
  forInteger(*type, [&]<typename T> {
    d.out.run = base == "div"   ? each<divide<T>, T, T, T>
                : base == "rem" ? each<remainder<T>, T, T, T>
                : base == "neg" ? each<negate<T>, T, T>
                : base == "abs" ? each<absolute<T>, T, T>
                : base == "min" ? each<smaller<T>, T, T, T>
                : base == "max" ? each<larger<T>, T, T, T>
                                : each<sad<T>, T, T, T, T>;
  });
  if (relu) {
    if (*type != Type::S32)
      d.fail(".relu needs .s32");
    using S = int32_t;
    d.out.run = base == "min" ? each<[](S a, S b) { return reluOf(smaller<S>(a, b)); }, S, S, S>
                              : each<[](S a, S b) { return reluOf(larger<S>(a, b)); }, S, S, S>;
  }
  return true;
}

} // namespace

bool decodeInteger(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  auto is = [&](std::initializer_list<absl::string_view> names) {
    for (absl::string_view name : names)
      if (base == name)
        return true;
    return false;
  };
  bool mine = false;
  Opcode before = d.op;
  if (is({"add", "sub", "addc", "subc"}))
    mine = decodeAddSub(d);
  else if (is({"mul", "mad", "mul24", "mad24"}))
    mine = decodeMulMad(d);
  else if (is({"and", "or", "xor", "not", "cnot"}))
    mine = decodeLogic(d);
  else if (is({"shl", "shr"}))
    mine = decodeShift(d);
  else if (is({"shf"}))
    mine = decodeFunnel(d);
  else if (is({"prmt"}))
    mine = decodePermute(d);
  else if (is({"bfe", "bfi"}))
    mine = decodeField(d);
  else if (is({"brev", "clz", "popc", "bfind"}))
    mine = decodeCount(d);
  else if (is({"dp4a"}))
    mine = decodeDot(d);
  else if (is({"div", "rem", "neg", "abs", "min", "max", "sad"}))
    mine = decodePlain(d);
  else if (base == "lop3") {
    d.op.takeType();
    decodeUniform(d, Type::B32, 4);
    using U = uint32_t;
    d.out.run = each<lop3, U, U, U, U, U>;
    mine = true;
  } else if (base == "bmsk") {
    bool clamps = d.op.take("clamp");
    d.op.takeType();
    decodeUniform(d, Type::B32, 2);
    if (!clamps)
      d.fail("only bmsk.clamp is supported");
    d.out.run = each<bitMask, uint32_t, uint32_t, uint32_t>;
    mine = true;
  }
  if (!mine) {
    d.op = before;
    return false;
  }
  if (!d.out.run)
    d.fail("unknown type of this instruction");
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
