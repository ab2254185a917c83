// SPDX-License-Identifier: Apache-2.0
//
// PTX text -> tokens. An opcode with all its modifiers (`ld.global.nc.v4.b32`), a
// directive (`.reg`), a register (`%r1`) and a special register (`%tid.x`) are one
// word each: the parser splits opcodes, nobody else needs the pieces.
#pragma once

#include "absl/strings/string_view.h"

#include <cstdint>

namespace hjx::ptxsim {

struct Token {
  enum class Kind : uint8_t { End, Word, Integer, Float32, Float64, String, Punctuation, Bad };
  Kind kind = Kind::End;
  absl::string_view text;
  uint64_t bits = 0; ///< value of an Integer, bit pattern of a Float32 or Float64
  unsigned line = 1;

  bool is(absl::string_view word) const {
    return (kind == Kind::Word || kind == Kind::Punctuation) && text == word;
  }
};

class Lexer {
public:
  explicit Lexer(absl::string_view source) : source(source) {}
  Token next();

private:
  void skipBlanks();
  Token number(Token token);

  absl::string_view source;
  size_t at = 0;
  unsigned line = 1;
};

} // namespace hjx::ptxsim
