// SPDX-License-Identifier: Apache-2.0
//
// Handlers from scalar functions: `each<f, R, A...>` computes R = f(A...) in 32 lanes,
// a loop without branches that the compiler vectorises. Lanes that do not execute are
// computed, too, and thrown away; a scalar function must therefore bear any input.
#pragma once

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Warp.h"

#include <tuple>
#include <utility>

namespace hjx::ptxsim {

template <auto f, typename R, typename... A> void each(const Instruction &i, Warp &w) {
  [&]<size_t... k>(std::index_sequence<k...>) {
    auto in = std::tuple<const A *...>(w.read<A>(i.src[k])...);
    alignas(64) R out[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      out[lane] = f(std::get<k>(in)[lane]...);
    w.write<R>(i.dst[0], out);
  }(std::index_sequence_for<A...>{});
}

/// The lanes for which f(A...) holds.
template <auto f, typename... A> Mask test(const Instruction &i, const Warp &w) {
  return [&]<size_t... k>(std::index_sequence<k...>) {
    auto in = std::tuple<const A *...>(w.read<A>(i.src[k])...);
    Mask bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      bits |= Mask(f(std::get<k>(in)[lane]...)) << lane;
    return bits;
  }(std::index_sequence_for<A...>{});
}

/// Calls f.operator()<T>() with the C++ type of an integer type (signedness kept); false if none.
template <typename F> bool forInteger(Type type, F f) {
  switch (type) {
  case Type::U16: case Type::B16: f.template operator()<uint16_t>(); return true;
  case Type::S16: f.template operator()<int16_t>(); return true;
  case Type::U32: case Type::B32: f.template operator()<uint32_t>(); return true;
  case Type::S32: f.template operator()<int32_t>(); return true;
  case Type::U64: case Type::B64: f.template operator()<uint64_t>(); return true;
  case Type::S64: f.template operator()<int64_t>(); return true;
  default: return false;
  }
}

template <typename F> bool forFloat(Type type, F f) {
  switch (type) {
  case Type::F32: f.template operator()<float>(); return true;
  case Type::F64: f.template operator()<double>(); return true;
  default: return false;
  }
}

/// False, after a finding, unless all lanes of the warp execute: `.aligned` promises it.
bool expectWholeWarp(Warp &w);

/// barrier.cluster.
void decodeClusterBarrier(InstructionDecoder &d);

/// dst = op(src...), all of one type: the usual shape.
inline void decodeUniform(InstructionDecoder &d, Type type, unsigned numSources) {
  if (!d.expectOperands(numSources + 1))
    return;
  d.out.dst[0] = d.destination(0, type);
  for (unsigned index = 0; index < numSources; ++index)
    d.out.src[index] = d.source(index + 1, type);
}

/// A predicate that may be written `!%p`.
inline Slot predicateSource(InstructionDecoder &d, size_t index, bool &negated) {
  Operand operand = d.operands()[index];
  negated = operand.negated;
  operand.negated = false;
  return d.source(operand, Type::Pred);
}

} // namespace hjx::ptxsim
