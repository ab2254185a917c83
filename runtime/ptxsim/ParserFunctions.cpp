// SPDX-License-Identifier: Apache-2.0
//
// Functions: parameters, registers, statements and their operands. Names are resolved here, through
// the scopes that stand around a statement; labels at the end, because they may be used before.
#include "runtime/ptxsim/ModuleParser.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {

void ModuleParser::parameters(Function &function, std::vector<uint32_t> &list) {
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

void ModuleParser::performance(Function &function) {
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
    else if (accept(".reqnctapercluster"))
      function.requiredCluster = triple();
    else if (accept(".maxclusterrank"))
      expectInteger(); // a limit on what may be launched, which ours is below
    else if (accept(".minnctapersm") || accept(".maxnreg") || accept(".maxnctapersm"))
      expectInteger(); // how registers are shared out, which nothing here depends on
    else if (!accept(".noreturn") && !accept(".explicitcluster"))
      failExpected("'{', ';' or a performance directive");
  }
}

void ModuleParser::function(bool isEntry) {
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

void ModuleParser::body() {
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
void ModuleParser::registers() {
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

void ModuleParser::label(std::string name) {
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

void ModuleParser::statement() {
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

Operand ModuleParser::operand() {
  Operand first = primary();
  if (!accept("|"))
    return first;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(primary());
  return pair;
}

Operand ModuleParser::primary() {
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

const uint32_t *ModuleParser::find(int scope, std::unordered_map<std::string, uint32_t> Scope::*table,
                             const std::string &name) const {
  for (; scope >= 0; scope = scopes[scope].parent)
    if (auto found = (scopes[scope].*table).find(name); found != (scopes[scope].*table).end())
      return &found->second;
  return nullptr;
}

// Labels may be used before they are seen.
void ModuleParser::resolveLabels() {
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

} // namespace hjx::ptxsim
