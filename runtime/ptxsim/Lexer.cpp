// SPDX-License-Identifier: Apache-2.0
//
// PTX text -> tokens; see the header.
#include "runtime/ptxsim/Lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

#include <bit>
#include <charconv>

namespace hjx::ptxsim {

static bool startsWord(char c) {
  return absl::ascii_isalpha(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool continuesWord(char c) { return startsWord(c) || absl::ascii_isdigit(c); }

void Lexer::skipBlanks() {
  while (at < source.size()) {
    if (source[at] == '\n') {
      ++line;
      ++at;
    } else if (absl::ascii_isspace(source[at])) {
      ++at;
    } else if (source.substr(at, 2) == "//") {
      while (at < source.size() && source[at] != '\n')
        ++at;
    } else if (source.substr(at, 2) == "/*") {
      size_t end = source.find("*/", at + 2);
      end = end == source.npos ? source.size() : end + 2;
      for (; at < end; ++at)
        line += source[at] == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skipBlanks();
  Token token;
  token.line = line;
  // cuModuleLoadData takes a C string; whoever passes its size may count the terminator.
  if (at >= source.size() || source[at] == '\0')
    return token;
  size_t begin = at;
  char c = source[at];
  if (absl::ascii_isdigit(c))
    return number(token);
  if (startsWord(c)) {
    // `shared::cta` is part of a word, the colon behind a label is not.
    while (at < source.size() &&
           (continuesWord(source[at]) || source.substr(at, 2) == "::"))
      at += source[at] == ':' ? 2 : 1;
    token.kind = Token::Kind::Word;
  } else if (c == '"') {
    size_t end = source.find('"', at + 1);
    at = end == source.npos ? source.size() : end + 1;
    token.kind = Token::Kind::String;
  } else {
    ++at;
    token.kind = absl::string_view("{}()[]<>,;:@!|+-=").find(c) != absl::string_view::npos
                     ? Token::Kind::Punctuation
                     : Token::Kind::Bad;
  }
  token.text = source.substr(begin, at - begin);
  return token;
}

// 0f3F800000 and 0d3FF0000000000000 are bit patterns; 0x, 0b and octal integers may end in U.
Token Lexer::number(Token token) {
  size_t begin = at;
  while (at < source.size() && (absl::ascii_isalnum(source[at]) || source[at] == '.'))
    ++at;
  token.text = source.substr(begin, at - begin);
  absl::string_view text = token.text;
  auto parse = [&](absl::string_view digits, int base) {
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.bits, base);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  char prefix = text.size() > 1 && text[0] == '0' ? absl::ascii_tolower(text[1]) : '\0';
  bool good = false;
  if (prefix == 'f' || prefix == 'd') {
    token.kind = prefix == 'f' ? Token::Kind::Float32 : Token::Kind::Float64;
    good = text.size() == (prefix == 'f' ? 10u : 18u) && parse(text.substr(2), 16);
  } else if (text.find('.') != text.npos) {
    double value = 0;
    token.kind = Token::Kind::Float64;
    good = absl::SimpleAtod(text, &value);
    token.bits = std::bit_cast<uint64_t>(value);
  } else {
    token.kind = Token::Kind::Integer;
    if (text.back() == 'U')
      text.remove_suffix(1);
    if (prefix == 'x')
      good = parse(text.substr(2), 16);
    else if (prefix == 'b')
      good = parse(text.substr(2), 2);
    else
      good = parse(text, text.size() > 1 && text[0] == '0' ? 8 : 10);
  }
  if (!good)
    token.kind = Token::Kind::Bad;
  return token;
}

} // namespace hjx::ptxsim
