// SPDX-License-Identifier: Apache-2.0
//
// Rows of registers whose width is known at decoding only.
#pragma once

#include "runtime/ptxsim/Warp.h"

namespace hjx::ptxsim {

/// Writes the low bits of 32 values to registers of 2, 4 or 8 bytes.
inline void storeRegister(Warp &w, Slot slot, unsigned registerBytes, const uint64_t *values) {
  auto narrow = [&]<typename T>(T *out) {
    for (unsigned lane = 0; lane < 32; ++lane)
      out[lane] = T(values[lane]);
    w.write<T>(slot, out);
  };
  uint16_t halves[32];
  uint32_t words[32];
  if (registerBytes == 2)
    narrow(halves);
  else if (registerBytes == 4)
    narrow(words);
  else
    w.write<uint64_t>(slot, values);
}

/// Reads registers of 2, 4 or 8 bytes as unsigned numbers.
inline void loadRegister(const Warp &w, Slot slot, unsigned registerBytes, uint64_t *values) {
  auto widen = [&](const auto *from) {
    for (unsigned lane = 0; lane < 32; ++lane)
      values[lane] = from[lane];
  };
  if (registerBytes == 2)
    widen(w.read<uint16_t>(slot));
  else if (registerBytes == 4)
    widen(w.read<uint32_t>(slot));
  else
    widen(w.read<uint64_t>(slot));
}

class InstructionDecoder;
void decodeCvt(InstructionDecoder &d);

} // namespace hjx::ptxsim
