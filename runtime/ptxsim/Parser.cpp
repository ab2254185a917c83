// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent over the tokens; see the header. The first error is kept and the
// cursor put at the end of the text, where every loop stops: no error paths in between.
#include "runtime/ptxsim/Parser.h"

#include "runtime/ptxsim/Lexer.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <bit>
#include <cstring>
#include <unordered_map>

namespace hjx::ptxsim {
namespace {

class Parser {
public:
  explicit Parser(Module &module) : module(module), lexer(*module.source) { advance(); }

  absl::Status run();

private:
  struct Scope {
    int parent;
    std::unordered_map<std::string, uint32_t> registers, variables, labels, tables;
  };
  struct PendingTable {
    std::vector<std::string> labels;
    int scope;
    unsigned line;
  };

  // Tokens.
  void advance() { token = failed() ? Token() : lexer.next(); }
  bool failed() const { return !status.ok(); }
  bool atEnd() const { return token.kind == Token::Kind::End; }
  void fail(unsigned line, absl::string_view message);
  void failExpected(absl::string_view what);
  bool accept(absl::string_view text);
  void expect(absl::string_view text);
  std::string expectName();
  uint64_t expectInteger();

  // Module level.
  void directive();
  void skipLine();
  void variable(Variable var, bool isFunctionLevel);
  void initializer(Variable &var);
  void initialValue(Variable &var, uint64_t &offset);
  void function(bool isEntry);
  void parameters(Function &function, std::vector<uint32_t> &list);
  void performance(Function &function);

  // Function level.
  void body();
  void registers();
  void label(std::string name);
  void statement();
  Operand operand();
  Operand primary();
  void resolveLabels();
  const uint32_t *find(int scope, std::unordered_map<std::string, uint32_t> Scope::*table,
                       const std::string &name) const;

  Module &module;
  Lexer lexer;
  Token token;
  absl::Status status;
  Function *current = nullptr;
  std::vector<Scope> scopes;
  int scope = -1;
  std::vector<int> statementScopes;
  std::vector<PendingTable> pendingTables;
};

void Parser::fail(unsigned line, absl::string_view message) {
  if (status.ok())
    status = absl::InvalidArgumentError(absl::StrCat("ptx line ", line, ": ", message));
  token = Token();
}

void Parser::failExpected(absl::string_view what) {
  fail(token.line,
       absl::StrCat("expected ", what, ", got ",
                    atEnd() ? "the end of the text" : absl::StrCat("'", token.text, "'")));
}

bool Parser::accept(absl::string_view text) {
  if (!token.is(text))
    return false;
  advance();
  return true;
}

void Parser::expect(absl::string_view text) {
  if (!accept(text))
    failExpected(absl::StrCat("'", text, "'"));
}

std::string Parser::expectName() {
  std::string name(token.text);
  if (token.kind == Token::Kind::Word && name[0] != '.')
    advance();
  else
    failExpected("a name");
  return name;
}

uint64_t Parser::expectInteger() {
  uint64_t bits = token.bits;
  if (token.kind == Token::Kind::Integer)
    advance();
  else
    failExpected("an integer");
  return bits;
}

absl::Status Parser::run() {
  expect(".version");
  module.version = std::string(token.text);
  advance();
  while (!atEnd())
    directive();
  return status;
}

void Parser::skipLine() {
  for (unsigned line = token.line; !atEnd() && token.line == line;)
    advance();
}

// Everything outside functions. Linkage words and attributes come before what they describe.
void Parser::directive() {
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
void Parser::variable(Variable var, bool isFunctionLevel) {
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

void Parser::initializer(Variable &var) {
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

void Parser::initialValue(Variable &var, uint64_t &offset) {
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

void Parser::parameters(Function &function, std::vector<uint32_t> &list) {
  if (!accept("("))
    return;
  while (!atEnd() && !token.is(")")) {
    Variable var;
    var.space = Space::Param;
    var.line = token.line;
    if (accept(".reg"))
      return fail(var.line, "expected .param, got .reg: this form of function is not supported");
    expect(".param");
    uint64_t elements = 1;
    std::optional<Type> type;
    while (!atEnd() && token.kind == Token::Kind::Word && token.text[0] == '.') {
      if (accept(".align")) {
        // Behind .ptr it is the pointee's, which the parameter itself may ignore.
        uint64_t align = expectInteger();
        if (!type)
          var.align = align;
      } else if (std::optional<Type> word = parseType(token.text.substr(1))) {
        type = word;
        advance();
      } else if (!accept(".ptr") && !accept(".global") && !accept(".shared") &&
                 !accept(".const") && !accept(".local")) {
        failExpected("a parameter type");
      }
    }
    if (!type)
      return failExpected("a parameter type");
    var.type = *type;
    var.name = expectName();
    if (accept("[")) {
      elements = expectInteger();
      expect("]");
    }
    var.align = std::max<uint64_t>(var.align, sizeOf(*type));
    var.sizeBytes = elements * sizeOf(*type);
    if (!accept(","))
      if (!token.is(")"))
        failExpected("',' or ')'");
    list.push_back(function.variables.size());
    scopes[scope].variables[var.name] = function.variables.size();
    function.variables.push_back(std::move(var));
  }
  expect(")");
}

void Parser::performance(Function &function) {
  auto triple = [&] {
    std::array<uint32_t, 3> values = {1, 1, 1};
    for (unsigned axis = 0; axis < 3; ++axis) {
      values[axis] = expectInteger();
      if (!accept(","))
        break;
    }
    return values;
  };
  while (!atEnd() && !token.is("{") && !token.is(";")) {
    if (accept(".maxntid"))
      function.largestBlock = triple();
    else if (accept(".reqntid"))
      function.requiredBlock = triple();
    else if (accept(".minnctapersm") || accept(".maxnreg") || accept(".maxnctapersm"))
      expectInteger(); // how registers are shared out, which nothing here depends on
    else if (!accept(".noreturn"))
      failExpected("'{', ';' or a performance directive");
  }
}

void Parser::function(bool isEntry) {
  Function function;
  function.isEntry = isEntry;
  function.line = token.line;
  scopes.assign(1, Scope{-1, {}, {}, {}, {}});
  scope = 0;
  statementScopes.clear();
  pendingTables.clear();
  if (!isEntry)
    parameters(function, function.results);
  function.name = expectName();
  parameters(function, function.params);
  performance(function);
  if (!accept(";")) {
    function.hasBody = true;
    current = &function;
    body();
    resolveLabels();
    current = nullptr;
  }
  if (failed())
    return;
  // A declaration may come before its definition.
  for (Function &other : module.functions)
    if (other.name == function.name) {
      if (other.hasBody && function.hasBody)
        return fail(function.line, absl::StrCat("'", function.name, "' is defined twice"));
      if (function.hasBody)
        other = std::move(function);
      return;
    }
  module.functions.push_back(std::move(function));
}

void Parser::body() {
  expect("{");
  while (!atEnd()) {
    if (accept("{")) {
      scopes.push_back(Scope{scope, {}, {}, {}, {}});
      scope = scopes.size() - 1;
    } else if (accept("}")) {
      scope = scopes[scope].parent;
      if (scope < 0)
        return;
    } else if (accept(".reg")) {
      registers();
    } else if (token.is(".local") || token.is(".shared") || token.is(".param")) {
      Variable var;
      var.line = token.line;
      var.space = *parseSpace(token.text.substr(1));
      advance();
      variable(var, true);
    } else if (token.is(".loc") || token.is(".file")) {
      skipLine();
    } else if (accept(".pragma")) {
      // Hints to ptxas ("nounroll").
      while (!atEnd() && !token.is(";"))
        advance();
      expect(";");
    } else if (token.kind == Token::Kind::Word && token.text[0] == '.') {
      fail(token.line, absl::StrCat("unknown directive '", token.text, "'"));
    } else {
      statement();
    }
  }
  failExpected("'}'");
}

// .reg .b32 %r<10>, %x;
void Parser::registers() {
  uint64_t elements = token.kind == Token::Kind::Word && token.text.size() > 1 ? 1 : 0;
  std::optional<Type> type = elements ? parseType(token.text.substr(1)) : std::nullopt;
  if (!type)
    return failExpected("a register type");
  advance();
  do {
    std::string name = expectName();
    auto add = [&](std::string one) {
      scopes[scope].registers[one] = current->registers.size();
      current->registers.push_back({std::move(one), *type});
    };
    if (accept("<")) {
      uint64_t count = expectInteger();
      if (count > 1'000'000)
        return fail(token.line, absl::StrCat("expected at most 1000000 registers, got ", count));
      expect(">");
      for (uint64_t index = 0; index < count; ++index)
        add(absl::StrCat(name, index));
    } else {
      add(std::move(name));
    }
  } while (accept(","));
  expect(";");
}

void Parser::label(std::string name) {
  if (token.is(".callprototype")) {
    // Only an indirect call names it, and that is refused by the decoder.
    while (!atEnd() && !accept(";"))
      advance();
  } else if (accept(".branchtargets")) {
    PendingTable table{{}, scope, token.line};
    do
      table.labels.push_back(expectName());
    while (accept(","));
    expect(";");
    scopes[scope].tables[std::move(name)] = pendingTables.size();
    pendingTables.push_back(std::move(table));
  } else if (!scopes[scope].labels.try_emplace(name, current->body.size()).second) {
    fail(token.line, absl::StrCat("label '", name, "' is defined twice"));
  }
}

void Parser::statement() {
  Statement result;
  result.line = token.line;
  const char *begin = token.text.data();
  if (accept("@")) {
    result.guardNegated = accept("!");
    std::string name = expectName();
    const uint32_t *index = find(scope, &Scope::registers, name);
    if (!index)
      return fail(result.line, absl::StrCat("unknown predicate '", name, "'"));
    result.guard = *index;
  }
  if (token.kind != Token::Kind::Word)
    return failExpected("an instruction");
  result.opcode = token.text;
  advance();
  if (result.guard < 0 && accept(":"))
    return label(std::string(result.opcode));
  while (!atEnd() && !token.is(";")) {
    result.operands.push_back(operand());
    if (!accept(",") && !token.is(";"))
      failExpected("',' or ';'");
  }
  if (!token.is(";"))
    return failExpected("';'");
  result.text = absl::string_view(begin, token.text.data() - begin);
  advance();
  current->body.push_back(std::move(result));
  statementScopes.push_back(scope);
}

Operand Parser::operand() {
  Operand first = primary();
  if (!accept("|"))
    return first;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(primary());
  return pair;
}

Operand Parser::primary() {
  Operand result;
  auto list = [&](Operand::Kind kind, absl::string_view close) {
    result.kind = kind;
    while (!atEnd() && !token.is(close)) {
      result.parts.push_back(operand());
      if (!accept(","))
        break;
    }
    expect(close);
    return result;
  };
  if (accept("{"))
    return list(Operand::Kind::Vector, "}");
  if (accept("("))
    return list(Operand::Kind::List, ")");
  if (accept("[")) {
    result.kind = Operand::Kind::Address;
    result.parts.push_back(primary());
    // LLVM writes [%rd1+-4]; a tensor's coordinates would come behind a comma.
    while (!failed() && (token.is("+") || token.is("-"))) {
      bool negative = false;
      for (; token.is("+") || token.is("-"); advance())
        negative ^= token.is("-");
      uint64_t offset = expectInteger();
      result.bits += negative ? -offset : offset;
    }
    while (accept(","))
      result.parts.push_back(primary());
    expect("]");
    return result;
  }
  if (accept("!")) {
    result = primary();
    result.negated = true;
    return result;
  }
  bool negative = accept("-");
  result.bits = token.bits;
  switch (token.kind) {
  case Token::Kind::Integer:
    result.kind = Operand::Kind::Integer;
    result.bits = negative ? -result.bits : result.bits;
    advance();
    return result;
  case Token::Kind::Float32:
    result.kind = Operand::Kind::Float32;
    result.bits ^= negative ? uint64_t(1) << 31 : 0;
    advance();
    return result;
  case Token::Kind::Float64:
    result.kind = Operand::Kind::Float64;
    result.bits ^= negative ? uint64_t(1) << 63 : 0;
    advance();
    return result;
  case Token::Kind::Word:
    break;
  default:
    failExpected("an operand");
    return result;
  }
  result.name = std::string(token.text);
  if (result.name == "_") {
    result.kind = Operand::Kind::Sink;
  } else if (const uint32_t *index = find(scope, &Scope::registers, result.name)) {
    result.kind = Operand::Kind::Register;
    result.index = *index;
  } else if (const uint32_t *index = find(scope, &Scope::variables, result.name)) {
    result.kind = Operand::Kind::Variable;
    result.index = *index;
  } else if (result.name[0] == '%') {
    result.kind = Operand::Kind::Special;
  } else {
    result.kind = Operand::Kind::Symbol;
  }
  advance();
  return result;
}

const uint32_t *Parser::find(int scope, std::unordered_map<std::string, uint32_t> Scope::*table,
                             const std::string &name) const {
  for (; scope >= 0; scope = scopes[scope].parent)
    if (auto found = (scopes[scope].*table).find(name); found != (scopes[scope].*table).end())
      return &found->second;
  return nullptr;
}

// Labels may be used before they are seen.
void Parser::resolveLabels() {
  for (const PendingTable &table : pendingTables) {
    std::vector<uint32_t> targets;
    for (const std::string &name : table.labels) {
      const uint32_t *target = find(table.scope, &Scope::labels, name);
      if (!target)
        return fail(table.line, absl::StrCat("unknown label '", name, "'"));
      targets.push_back(*target);
    }
    current->branchTables.push_back(std::move(targets));
  }
  for (size_t index = 0; index < current->body.size(); ++index)
    for (Operand &operand : current->body[index].operands) {
      if (operand.kind != Operand::Kind::Symbol)
        continue;
      int scope = statementScopes[index];
      if (const uint32_t *target = find(scope, &Scope::labels, operand.name)) {
        operand.kind = Operand::Kind::Label;
        operand.index = *target;
      } else if (const uint32_t *table = find(scope, &Scope::tables, operand.name)) {
        operand.kind = Operand::Kind::Table;
        operand.index = *table;
      }
    }
}

} // namespace

absl::StatusOr<Module> parse(absl::string_view text) {
  Module module;
  module.source = std::make_unique<std::string>(text);
  if (absl::Status status = Parser(module).run(); !status.ok())
    return status;
  return module;
}

} // namespace hjx::ptxsim
