// SPDX-License-Identifier: Apache-2.0
//
// A PTX module as it was written, names resolved: what the parser makes and the
// decoder reads. Registers, variables and labels of nested `{ }` scopes live in one
// list a function, because inline assembly declares the same names again and again.
#pragma once

#include "runtime/ptxsim/Types.h"

#include "absl/strings/string_view.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hjx::ptxsim {

struct Variable {
  /// A pointer inside an initialiser: the address of `symbol` plus `addend`.
  struct Relocation {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
  };
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t align = 1;
  uint64_t sizeBytes = 0;
  bool isExtern = false;
  bool isUnsized = false; ///< `dyn[]`: dynamic shared memory
  std::vector<uint8_t> initial;
  std::vector<Relocation> relocations;
  unsigned line = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    Register, ///< index: into Function::registers
    Special,  ///< name: "%tid.x"
    Integer,  ///< bits
    Float32,  ///< bits
    Float64,  ///< bits
    Variable, ///< index: into Function::variables
    Symbol,   ///< name: a variable or function of the module
    Label,    ///< index: into Function::body
    Table,    ///< index: into Function::branchTables
    Address,  ///< [parts[0] + bits]
    Vector,   ///< {parts...}
    Pair,     ///< parts[0]|parts[1]
    List,     ///< (parts...)
    Sink,     ///< _
  };
  Kind kind = Kind::Sink;
  bool negated = false; ///< `!%p`
  uint32_t index = 0;
  uint64_t bits = 0;
  std::string name;
  std::vector<Operand> parts;
};

/// A statement of a function's body.
struct Statement {
  absl::string_view opcode;
  absl::string_view text; ///< as written, for messages
  unsigned line = 0;
  int guard = -1; ///< register, or -1
  bool guardNegated = false;
  std::vector<Operand> operands;
};

struct Function {
  struct Register {
    std::string name;
    Type type;
  };
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  unsigned line = 0;
  std::vector<uint32_t> params, results; ///< into variables
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Statement> body;
  std::vector<std::vector<uint32_t>> branchTables;
  std::array<uint32_t, 3> requiredBlock = {0, 0, 0}; ///< .reqntid; zeros: none
  std::array<uint32_t, 3> largestBlock = {0, 0, 0};  ///< .maxntid
  std::array<uint32_t, 3> requiredCluster = {0, 0, 0}; ///< .reqnctapercluster
};

struct Module {
  std::unique_ptr<std::string> source; ///< what the string views look into
  std::string version, target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace hjx::ptxsim
