// SPDX-License-Identifier: Apache-2.0
//
// f16, bf16 and their pairs in one 32-bit register.
#include "runtime/ptxsim/Half.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

namespace hjx::ptxsim {
namespace {

using U16 = uint16_t;
using U32 = uint32_t;

template <typename H> U16 flush(U16 a) {
  return std::is_same_v<H, F16> && !(a & 0x7C00) ? a & 0x8000 : a;
}
template <typename H, bool ftz, bool sat, bool relu> U16 finish(float x) {
  U16 result = H::round(x);
  if (ftz)
    result = flush<H>(result);
  if (sat)
    result = x > 0 ? H::round(std::min(x, 1.0f)) : 0;
  if (relu)
    result = x != x ? H::kNan : x > 0 ? result : 0;
  return result;
}

enum class Op { Add, Sub, Mul, Fma, Min, Max, MinNan, MaxNan, Neg, Abs, Exp2, Tanh };

template <typename H, Op op> float compute(float a, float b, float c) {
  constexpr bool isMin = op == Op::Min || op == Op::MinNan;
  switch (op) {
  case Op::Add: return a + b;
  case Op::Sub: return a - b;
  case Op::Mul: return a * b;
  case Op::Fma: return fmaToOdd(a, b, c);
  case Op::MinNan:
  case Op::MaxNan:
    if (a != a || b != b)
      return NAN;
    [[fallthrough]];
  case Op::Min:
  case Op::Max:
    if (a != a)
      return b;
    if (b != b)
      return a;
    if (a == b)
      return std::signbit(a) == isMin ? a : b;
    return (a < b) == isMin ? a : b;
  case Op::Exp2: return roundToOdd(std::exp2(double(a)));
  case Op::Tanh: return roundToOdd(std::tanh(double(a)));
  default: return a;
  }
}

template <typename H, Op op, bool ftz, bool sat, bool relu>
constexpr auto scalar = [](U16 a, U16 b, U16 c) {
  if constexpr (op == Op::Neg)
    return U16(a ^ 0x8000);
  if constexpr (op == Op::Abs)
    return U16(a & 0x7FFF);
  if (ftz) {
    a = flush<H>(a);
    b = flush<H>(b);
    c = flush<H>(c);
  }
  return finish<H, ftz, sat, relu>(compute<H, op>(H::widen(a), H::widen(b), H::widen(c)));
};
template <auto f> constexpr auto pair = [](U32 a, U32 b, U32 c) {
  return U32(f(U16(a), U16(b), U16(c))) | U32(f(U16(a >> 16), U16(b >> 16), U16(c >> 16))) << 16;
};

template <auto f> Handler pickWidth(bool isPair) {
  return isPair ? Handler(each<pair<f>, U32, U32, U32, U32>) : Handler(each<f, U16, U16, U16, U16>);
}

template <typename H, Op op> Handler pickModifiers(bool isPair, bool ftz, bool sat, bool relu) {
  if (ftz)
    return sat    ? pickWidth<scalar<H, op, true, true, false>>(isPair)
           : relu ? pickWidth<scalar<H, op, true, false, true>>(isPair)
                  : pickWidth<scalar<H, op, true, false, false>>(isPair);
  return sat    ? pickWidth<scalar<H, op, false, true, false>>(isPair)
         : relu ? pickWidth<scalar<H, op, false, false, true>>(isPair)
                : pickWidth<scalar<H, op, false, false, false>>(isPair);
}

template <typename H> Handler pickOp(Op op, bool isPair, bool ftz, bool sat, bool relu) {
  switch (op) {
#define HJX_PTXSIM_OP(name)                                                                        \
  case Op::name: return pickModifiers<H, Op::name>(isPair, ftz, sat, relu);
    HJX_PTXSIM_OP(Add)
    HJX_PTXSIM_OP(Sub)
    HJX_PTXSIM_OP(Mul)
    HJX_PTXSIM_OP(Fma)
    HJX_PTXSIM_OP(Min)
    HJX_PTXSIM_OP(Max)
    HJX_PTXSIM_OP(MinNan)
    HJX_PTXSIM_OP(MaxNan)
    HJX_PTXSIM_OP(Neg)
    HJX_PTXSIM_OP(Abs)
    HJX_PTXSIM_OP(Exp2)
    HJX_PTXSIM_OP(Tanh)
#undef HJX_PTXSIM_OP
  }
  return nullptr;
}

} // namespace

bool decodeHalf(InstructionDecoder &d) {
  struct Entry {
    absl::string_view name;
    Op op;
    unsigned numSources;
  };
  static constexpr Entry entries[] = {
      {"add", Op::Add, 2}, {"sub", Op::Sub, 2}, {"mul", Op::Mul, 2}, {"fma", Op::Fma, 3},
      {"min", Op::Min, 2}, {"max", Op::Max, 2}, {"neg", Op::Neg, 1}, {"abs", Op::Abs, 1},
      {"ex2", Op::Exp2, 1}, {"tanh", Op::Tanh, 1}};
  const Entry *entry = std::find_if(std::begin(entries), std::end(entries),
                                    [&](const Entry &e) { return e.name == d.op.base; });
  if (entry == std::end(entries))
    return false;
  Opcode before = d.op;
  std::optional<Type> type = d.op.takeType();
  bool isPair = type == Type::F16x2 || type == Type::BF16x2;
  bool isBrain = type == Type::BF16 || type == Type::BF16x2;
  if (!isPair && type != Type::F16 && type != Type::BF16) {
    d.op = before;
    return false;
  }
  bool ftz = d.op.take("ftz"), sat = d.op.take("sat"), relu = d.op.take("relu");
  bool propagates = d.op.take("NaN");
  d.op.take("rn");
  d.op.take("approx");
  Op op = entry->op;
  if (propagates)
    op = op == Op::Min ? Op::MinNan : Op::MaxNan;
  // Registers may be declared .b16 or .f16: the size is what counts.
  Type raw = isPair ? Type::B32 : Type::B16;
  decodeUniform(d, raw, entry->numSources);
  for (unsigned index = entry->numSources; index < 3 && entry->numSources; ++index)
    d.out.src[index] = d.out.src[0];
  d.out.run = isBrain ? pickOp<BF16>(op, isPair, ftz, sat, relu)
                      : pickOp<F16>(op, isPair, ftz, sat, relu);
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
