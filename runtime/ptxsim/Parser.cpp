// SPDX-License-Identifier: Apache-2.0
//
// The parser's tokens, and what stands outside functions.
#include "runtime/ptxsim/Parser.h"

#include "runtime/ptxsim/ModuleParser.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <cstring>

namespace hjx::ptxsim {

void ModuleParser::fail(unsigned line, absl::string_view message) {
  if (status.ok())
    status = absl::InvalidArgumentError(absl::StrCat("ptx line ", line, ": ", message));
  token = Token();
}

void ModuleParser::failExpected(absl::string_view what) {
  fail(token.line,
       absl::StrCat("expected ", what, ", got ",
                    atEnd() ? "the end of the text" : absl::StrCat("'", token.text, "'")));
}

bool ModuleParser::accept(absl::string_view text) {
  if (!token.is(text))
    return false;
  advance();
  return true;
}

void ModuleParser::expect(absl::string_view text) {
  if (!accept(text))
    failExpected(absl::StrCat("'", text, "'"));
}

std::string ModuleParser::expectName() {
  std::string name(token.text);
  if (token.kind == Token::Kind::Word && name[0] != '.')
    advance();
  else
    failExpected("a name");
  return name;
}

uint64_t ModuleParser::expectInteger() {
  uint64_t bits = token.bits;
  if (token.kind == Token::Kind::Integer)
    advance();
  else
    failExpected("an integer");
  return bits;
}

absl::Status ModuleParser::run() {
  expect(".version");
  module.version = std::string(token.text);
  advance();
  while (!atEnd())
    directive();
  return status;
}

void ModuleParser::skipLine() {
  for (unsigned line = token.line; !atEnd() && token.line == line;)
    advance();
}

// Everything outside functions. Linkage words and attributes come before what they describe.
void ModuleParser::directive() {
  Variable var;
  for (;; advance()) {
    if (token.is(".visible") || token.is(".weak") || token.is(".common"))
      continue;
    if (!token.is(".extern"))
      break;
    var.isExtern = true;
  }
  var.line = token.line;
  if (accept(".target")) {
    module.target = std::string(token.text);
    skipLine();
  } else if (accept(".address_size")) {
    if (uint64_t bits = expectInteger(); bits != 64)
      fail(var.line, absl::StrCat("expected .address_size 64, got ", bits));
  } else if (token.is(".file")) {
    skipLine();
  } else if (accept(".section")) {
    // Debug information: it says nothing about what is executed.
    while (!atEnd() && !token.is("{"))
      advance();
    while (!atEnd() && !token.is("}"))
      advance();
    expect("}");
  } else if (accept(".global")) {
    var.space = Space::Global;
    variable(var, false);
  } else if (accept(".const")) {
    var.space = Space::Const;
    variable(var, false);
  } else if (accept(".shared")) {
    var.space = Space::Shared;
    variable(var, false);
  } else if (accept(".entry")) {
    function(true);
  } else if (accept(".func")) {
    function(false);
  } else {
    fail(token.line, absl::StrCat("unknown directive '", token.text, "'"));
  }
}

// [.align N] [.v2] .type name[ [N] ... ] [= initialiser]
void ModuleParser::variable(Variable var, bool isFunctionLevel) {
  uint64_t elements = 1;
  std::optional<Type> type;
  while (!type && !atEnd()) {
    if (accept(".align")) {
      var.align = expectInteger();
      if (!std::has_single_bit(var.align))
        fail(var.line, absl::StrCat("expected a power of 2 as alignment, got ", var.align));
    } else if (accept(".v2")) {
      elements = 2;
    } else if (accept(".v4")) {
      elements = 4;
    } else if (token.kind == Token::Kind::Word && token.text[0] == '.' &&
               (type = parseType(token.text.substr(1)))) {
      advance();
    } else {
      failExpected("a type");
    }
  }
  if (failed())
    return;
  var.type = *type;
  var.align = std::max<uint64_t>(var.align, sizeOf(*type) * elements);
  do {
    Variable one = var;
    one.name = expectName();
    uint64_t count = elements;
    while (accept("[")) {
      if (token.is("]"))
        one.isUnsized = true;
      else
        count *= expectInteger();
      expect("]");
    }
    one.sizeBytes = one.isUnsized ? 0 : count * sizeOf(*type);
    if (accept("="))
      initializer(one);
    if (failed())
      return;
    if (isFunctionLevel) {
      scopes[scope].variables[one.name] = current->variables.size();
      current->variables.push_back(std::move(one));
    } else {
      module.variables.push_back(std::move(one));
    }
  } while (accept(","));
  expect(";");
}

void ModuleParser::initializer(Variable &var) {
  uint64_t offset = 0;
  if (!token.is("{"))
    return initialValue(var, offset);
  unsigned depth = 0;
  do {
    if (accept("{"))
      ++depth;
    else if (accept("}"))
      --depth;
    else if (!accept(","))
      initialValue(var, offset);
  } while (depth && !atEnd());
  if (depth)
    failExpected("'}'");
  if (var.isUnsized) {
    var.sizeBytes = var.initial.size();
    var.isUnsized = false;
  } else if (var.initial.size() > var.sizeBytes) {
    fail(var.line, absl::StrCat("expected at most ", var.sizeBytes, " bytes to initialise '",
                                var.name, "', got ", var.initial.size()));
  }
}

void ModuleParser::initialValue(Variable &var, uint64_t &offset) {
  unsigned size = sizeOf(var.type);
  uint64_t bits = 0;
  bool negative = accept("-");
  if (token.kind == Token::Kind::Word) {
    bool isGeneric = accept("generic");
    if (isGeneric)
      expect("(");
    Variable::Relocation relocation{offset, expectName(), 0};
    if (isGeneric)
      expect(")");
    if (accept("+"))
      relocation.addend = expectInteger();
    else if (accept("-"))
      relocation.addend = -expectInteger();
    if (size != 8)
      fail(token.line, absl::StrCat("expected a 64-bit type for the address of '",
                                    relocation.symbol, "'"));
    var.relocations.push_back(std::move(relocation));
  } else if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float32 ||
             token.kind == Token::Kind::Float64) {
    bits = token.bits;
    if (token.kind == Token::Kind::Float64 && var.type == Type::F32) {
      auto value = static_cast<float>(std::bit_cast<double>(bits));
      bits = std::bit_cast<uint32_t>(value);
    }
    if (negative)
      bits = token.kind == Token::Kind::Integer ? -bits : bits ^ (uint64_t(1) << (8 * size - 1));
    advance();
  } else {
    return failExpected("an initial value");
  }
  var.initial.resize(offset + size);
  std::memcpy(var.initial.data() + offset, &bits, size);
  offset += size;
}

absl::StatusOr<Module> parse(absl::string_view text) {
  Module module;
  module.source = std::make_unique<std::string>(text);
  if (absl::Status status = ModuleParser(module).run(); !status.ok())
    return status;
  return module;
}

} // namespace hjx::ptxsim
