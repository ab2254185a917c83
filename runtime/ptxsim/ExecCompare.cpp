// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, selections, and logic on predicates (one mask a warp).
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/Lanes.h"

#include <cmath>
#include <type_traits>

namespace hjx::ptxsim {
namespace {

// How a comparison's mask is combined with a third predicate.
enum Combine : uint8_t { kPlain = 0, kAnd = 1, kOr = 2, kXor = 3, kNegated = 4 };

Mask combine(const Instruction &i, const Warp &w, Mask mask) {
  Mask other = (i.flags & 3) ? w.predicate(i.src[2]) : 0;
  if (i.flags & kNegated)
    other = ~other;
  switch (i.flags & 3) {
  case kAnd: return mask & other;
  case kOr: return mask | other;
  case kXor: return mask ^ other;
  default: return mask;
  }
}

template <auto f, typename T> void setPredicate(const Instruction &i, Warp &w) {
  Mask mask = test<f, T, T>(i, w);
  Mask first = combine(i, w, mask);
  if (i.dst[1] != kNoSlot)
    w.writePredicate(i.dst[1], combine(i, w, ~mask));
  w.writePredicate(i.dst[0], first);
}

// set.lt.u32.f32: all ones, or 1.0, where it holds.
template <auto f, typename T> void setValue(const Instruction &i, Warp &w) {
  Mask mask = combine(i, w, test<f, T, T>(i, w));
  uint32_t out[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = mask >> lane & 1 ? uint32_t(i.immediate) : 0;
  w.write<uint32_t>(i.dst[0], out);
}

template <auto f, typename T> Handler pickForm(bool isSet) {
  return isSet ? Handler(setValue<f, T>) : Handler(setPredicate<f, T>);
}

template <typename T> float widen(T a) { return a; }
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
inline float widen(Half a) { return F16::widen(a.bits); }
inline float widen(Brain a) { return BF16::widen(a.bits); }
inline double widen(double a) { return a; }

template <typename T> Handler pickFloat(absl::string_view compare, bool isSet) {
#define HJX_PTXSIM_FLOAT(name, expression)                                                         \
  if (compare == name)                                                                             \
    return pickForm<[](T x, T y) {                                                                 \
      auto a = widen(x);                                                                           \
      auto b = widen(y);                                                                           \
      return expression;                                                                           \
    }, T>(isSet);
  HJX_PTXSIM_FLOAT("eq", a == b)
  HJX_PTXSIM_FLOAT("ne", a == a && b == b && a != b)
  HJX_PTXSIM_FLOAT("lt", a < b)
  HJX_PTXSIM_FLOAT("le", a <= b)
  HJX_PTXSIM_FLOAT("gt", a > b)
  HJX_PTXSIM_FLOAT("ge", a >= b)
  HJX_PTXSIM_FLOAT("equ", !(a < b || a > b))
  HJX_PTXSIM_FLOAT("neu", a != b)
  HJX_PTXSIM_FLOAT("ltu", !(a >= b))
  HJX_PTXSIM_FLOAT("leu", !(a > b))
  HJX_PTXSIM_FLOAT("gtu", !(a <= b))
  HJX_PTXSIM_FLOAT("geu", !(a < b))
  HJX_PTXSIM_FLOAT("num", a == a && b == b)
  HJX_PTXSIM_FLOAT("nan", a != a || b != b)
#undef HJX_PTXSIM_FLOAT
  return nullptr;
}

// .ftz compares subnormals as zeros.
struct Flushed {
  float value;
};
inline float widen(Flushed a) { return std::fabs(a.value) < 0x1p-126f ? 0.0f : a.value; }

template <typename T> Handler pickInteger(absl::string_view compare, bool isSet) {
  using U = std::make_unsigned_t<T>;
  if (compare == "eq") return pickForm<[](T a, T b) { return a == b; }, T>(isSet);
  if (compare == "ne") return pickForm<[](T a, T b) { return a != b; }, T>(isSet);
  if (compare == "lt") return pickForm<[](T a, T b) { return a < b; }, T>(isSet);
  if (compare == "le") return pickForm<[](T a, T b) { return a <= b; }, T>(isSet);
  if (compare == "gt") return pickForm<[](T a, T b) { return a > b; }, T>(isSet);
  if (compare == "ge") return pickForm<[](T a, T b) { return a >= b; }, T>(isSet);
  if (compare == "lo") return pickForm<[](U a, U b) { return a < b; }, U>(isSet);
  if (compare == "ls") return pickForm<[](U a, U b) { return a <= b; }, U>(isSet);
  if (compare == "hi") return pickForm<[](U a, U b) { return a > b; }, U>(isSet);
  if (compare == "hs") return pickForm<[](U a, U b) { return a >= b; }, U>(isSet);
  return nullptr;
}

Handler pickCompare(Type type, absl::string_view compare, bool ftz, bool isSet) {
  Handler handler = nullptr;
  switch (type) {
  case Type::F32:
    return ftz ? pickFloat<Flushed>(compare, isSet) : pickFloat<float>(compare, isSet);
  case Type::F64: return pickFloat<double>(compare, isSet);
  case Type::F16: return pickFloat<Half>(compare, isSet);
  case Type::BF16: return pickFloat<Brain>(compare, isSet);
  default:
    forInteger(type, [&]<typename T> { handler = pickInteger<T>(compare, isSet); });
    return handler;
  }
}

bool decodeSet(InstructionDecoder &d, bool isSet) {
  absl::string_view compare =
      d.op.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
                      "ltu", "leu", "gtu", "geu", "num", "nan"});
  absl::string_view how = d.op.takeOneOf({"and", "or", "xor"});
  bool ftz = d.op.take("ftz");
  std::optional<Type> result = isSet ? d.op.takeType() : std::nullopt;
  std::optional<Type> type = d.op.takeType();
  if (!type || compare.empty() || !d.expectOperands(how.empty() ? 3 : 4))
    return true;
  const Operand &to = d.operands()[0];
  if (isSet) {
    if (sizeOf(*result) != 4)
      d.fail("expected a 32-bit result type");
    d.out.dst[0] = d.destination(to, *result);
    d.out.immediate = *result == Type::F32 ? 0x3F800000 : 0xFFFFFFFF;
  } else if (to.kind == Operand::Kind::Pair) {
    d.out.dst[0] = d.destination(to.parts[0], Type::Pred);
    d.out.dst[1] = d.destination(to.parts[1], Type::Pred);
  } else {
    d.out.dst[0] = d.destination(to, Type::Pred);
  }
  d.out.src[0] = d.source(1, *type);
  d.out.src[1] = d.source(2, *type);
  if (!how.empty()) {
    bool negated = false;
    d.out.src[2] = predicateSource(d, 3, negated);
    d.out.flags = (how == "and" ? kAnd : how == "or" ? kOr : kXor) | (negated ? kNegated : 0);
  }
  d.out.run = pickCompare(*type, compare, ftz, isSet);
  return true;
}

template <typename T> void select(const Instruction &i, Warp &w) {
  const T *a = w.read<T>(i.src[0]), *b = w.read<T>(i.src[1]);
  Mask mask = w.predicate(i.src[2]);
  T out[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = mask >> lane & 1 ? a[lane] : b[lane];
  w.write<T>(i.dst[0], out);
}

template <typename T, typename C>
constexpr auto selectBySign = [](T a, T b, C c) { return c >= C(0) ? a : b; };

enum class Logic { And, Or, Xor, Not };
template <Logic op> void predicateLogic(const Instruction &i, Warp &w) {
  Mask a = w.predicate(i.src[0]);
  Mask b = op == Logic::Not ? 0 : w.predicate(i.src[1]);
  w.writePredicate(i.dst[0], op == Logic::And ? a & b : op == Logic::Or ? a | b : op == Logic::Xor ? a ^ b : ~a);
}

template <typename T> Handler pickTest(absl::string_view property) {
#define HJX_PTXSIM_TEST(name, expression)                                                          \
  if (property == name)                                                                            \
    return [](const Instruction &i, Warp &w) {                                                     \
      w.writePredicate(i.dst[0], test<[](T a) { return expression; }, T>(i, w));                   \
    };
  HJX_PTXSIM_TEST("finite", bool(std::isfinite(a)))
  HJX_PTXSIM_TEST("infinite", bool(std::isinf(a)))
  HJX_PTXSIM_TEST("number", !std::isnan(a))
  HJX_PTXSIM_TEST("notanumber", bool(std::isnan(a)))
  HJX_PTXSIM_TEST("normal", bool(std::isnormal(a)))
  HJX_PTXSIM_TEST("subnormal", a != 0 && std::isfinite(a) && !std::isnormal(a))
#undef HJX_PTXSIM_TEST
  return nullptr;
}

void decodeSelect(InstructionDecoder &d) {
  std::optional<Type> type = d.op.takeType();
  if (!type || !d.expectOperands(4))
    return;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = d.source(1, *type);
  d.out.src[1] = d.source(2, *type);
  d.out.src[2] = d.source(3, Type::Pred);
  d.out.run = sizeOf(*type) == 2   ? select<uint16_t>
              : sizeOf(*type) == 4 ? select<uint32_t>
                                   : select<uint64_t>;
}

void decodeSelectBySign(InstructionDecoder &d) {
  std::optional<Type> type = d.op.takeType(), by = d.op.takeType();
  d.op.take("ftz");
  if (!type || !by || !d.expectOperands(4))
    return;
  d.out.dst[0] = d.destination(0, *type);
  d.out.src[0] = d.source(1, *type);
  d.out.src[1] = d.source(2, *type);
  d.out.src[2] = d.source(3, *by);
  bool isFloatSign = *by == Type::F32;
  if (sizeOf(*type) == 4)
    d.out.run = isFloatSign ? each<selectBySign<uint32_t, float>, uint32_t, uint32_t, uint32_t, float>
                            : each<selectBySign<uint32_t, int32_t>, uint32_t, uint32_t, uint32_t, int32_t>;
  else if (sizeOf(*type) == 8)
    d.out.run = isFloatSign ? each<selectBySign<uint64_t, float>, uint64_t, uint64_t, uint64_t, float>
                            : each<selectBySign<uint64_t, int32_t>, uint64_t, uint64_t, uint64_t, int32_t>;
}

} // namespace

bool decodeCompare(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base == "setp" || base == "set") {
    decodeSet(d, base == "set");
  } else if (base == "selp") {
    decodeSelect(d);
  } else if (base == "slct") {
    decodeSelectBySign(d);
  } else if (base == "testp") {
    absl::string_view property = d.op.takeOneOf(
        {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    std::optional<Type> type = d.op.takeType();
    if (!type || !d.expectOperands(2))
      return true;
    d.out.dst[0] = d.destination(0, Type::Pred);
    d.out.src[0] = d.source(1, *type);
    forFloat(*type, [&]<typename T> { d.out.run = pickTest<T>(property); });
  } else if (base == "and" || base == "or" || base == "xor" || base == "not") {
    d.op.take("pred");
    decodeUniform(d, Type::Pred, base == "not" ? 1 : 2);
    d.out.run = base == "and"   ? predicateLogic<Logic::And>
                : base == "or"  ? predicateLogic<Logic::Or>
                : base == "xor" ? predicateLogic<Logic::Xor>
                                : predicateLogic<Logic::Not>;
  } else {
    return false;
  }
  if (!d.out.run)
    d.fail("unknown comparison or type");
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
