// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent over the tokens; what is accepted is in Parser.h. The first error is kept and
// the cursor put at the end of the text, where every loop stops: no error paths in between.
#pragma once

#include "runtime/Status.h"
#include "runtime/ptxsim/Lexer.h"
#include "runtime/ptxsim/Module.h"

#include <unordered_map>

namespace hjx::ptxsim {

class ModuleParser {
public:
  explicit ModuleParser(Module &module) : module(module), lexer(*module.source) { advance(); }

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

  // What stands outside them, and variables anywhere.
  void directive();
  void skipLine();
  void variable(Variable var, bool isFunctionLevel);
  void initializer(Variable &var);
  void initialValue(Variable &var, uint64_t &offset);

  // Functions.
  void function(bool isEntry);
  void parameters(Function &function, std::vector<uint32_t> &list);
  void performance(Function &function);
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

} // namespace hjx::ptxsim
