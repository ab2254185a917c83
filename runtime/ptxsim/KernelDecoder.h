// SPDX-License-Identifier: Apache-2.0
//
// What is collected while a kernel and its callees are decoded: where registers,
// constants and variables live. Private to the decoder and the control-flow group.
#pragma once

#include "runtime/ptxsim/Decoder.h"

#include <map>
#include <unordered_map>

namespace hjx::ptxsim {

class KernelDecoder {
public:
  KernelDecoder(const Module &module, const SymbolTable &symbols)
      : module(module), symbols(symbols) {}

  absl::StatusOr<Kernel> run(const Function &entry);

  Slot registerSlot(const Function &function, uint32_t index);
  Slot specialSlot(const std::string &name);
  Slot constantSlot(uint64_t bits, unsigned laneBytes);
  Slot scratchSlot();
  Slot carrySlot();
  /// Offset of a variable in its state space.
  uint64_t variableOffset(const Function &function, uint32_t index) const;
  /// Address of a module-level variable, and its space.
  std::optional<uint64_t> symbolAddress(const std::string &name, Space &space) const;
  const Function *findFunction(const std::string &name) const;
  void fail(unsigned line, absl::string_view message);
  absl::string_view target() const { return module.target; }

  Kernel kernel;
  absl::Status status;
  const Function *entry = nullptr;
  /// Instructions whose target is the begin of a function, or a statement.
  std::vector<std::pair<uint32_t, const Function *>> calls;
  struct Jump {
    uint32_t instruction, statement;
  };
  std::vector<Jump> jumps;
  std::vector<uint32_t> meetings; ///< of the function that is decoded
  uint32_t statementIndex = 0;

private:
  bool collect(const Function &function, std::vector<const Function *> &path);
  void layOut();
  void placeShared(const Variable &variable, uint64_t &end);
  void decodeFunction(const Function &function);
  uint32_t newRow(unsigned bytes);

  const Module &module;
  const SymbolTable &symbols;
  std::vector<const Function *> functions; ///< the entry and what it calls
  std::map<std::pair<const Function *, uint32_t>, Slot> registers;
  std::map<std::pair<const Function *, uint32_t>, uint64_t> offsets;
  std::map<std::string, uint64_t, std::less<>> sharedSymbols;
  std::map<std::pair<uint64_t, unsigned>, Slot> constants;
  std::map<const Function *, uint32_t> starts;
  Slot scratchRow = kNoSlot, carryRow = kNoSlot;
};

} // namespace hjx::ptxsim
