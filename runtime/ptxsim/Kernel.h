// SPDX-License-Identifier: Apache-2.0
//
// A kernel in the form that is executed: decoded once, run many times.
//
// Registers. Each has a place in the warp's register file, 32 lanes side by side (a
// predicate is one 32-bit mask), so that an instruction is a loop over lanes that the
// compiler vectorises. Immediates and addresses are such rows, too, in a pool that all
// warps share: an operand is an offset whose top bit says in which of the two it is.
// What %tid and its kind hold is written into the register file before a block starts.
#pragma once

#include "runtime/ptxsim/Types.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hjx::ptxsim {

struct Warp;
struct Instruction;
using Handler = void (*)(const Instruction &, Warp &);
using Mask = uint32_t;

/// Byte offset of a row of lanes; see above.
using Slot = uint32_t;
constexpr Slot kConstantBit = 1u << 31;
constexpr Slot kNoSlot = 0x7FFFFFFF;
constexpr uint32_t kNever = 0xFFFFFFFF; ///< a program counter that is never reached

struct Instruction {
  Handler run = nullptr;
  Slot guard = kNoSlot;
  bool guardNegated = false;
  bool isWgmma = false; ///< its registers are its own affair
  // What these mean is the handler's affair; names say what most of them do with it.
  uint8_t sizeBytes = 0;      ///< of one element in memory
  uint8_t registerBytes = 0;  ///< of the registers loaded or stored
  uint8_t count = 1;          ///< elements of a vector access
  uint8_t flags = 0;
  Type type = Type::B32, sourceType = Type::B32;
  std::array<Slot, 4> dst = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::array<Slot, 5> src = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  /// Operands of instructions with many: places in Kernel::slots, results first.
  uint32_t list = 0;
  uint16_t numListed = 0, numListedResults = 0;
  uint64_t immediate = 0;
  uint32_t target = kNever;     ///< of a branch or call; first entry of a branch table
  uint32_t reconverge = kNever; ///< where the two sides of a divergent branch meet again
};

/// A special register that is written before a block starts.
struct SpecialRow {
  std::string name;
  Slot slot;
};

struct Kernel {
  struct Param {
    uint32_t offset, sizeBytes;
  };
  struct Line {
    uint32_t number;
    absl::string_view text; ///< lives as long as the module
  };
  std::string name;
  std::vector<Instruction> code;
  std::vector<Line> lines; ///< of each instruction
  std::vector<uint32_t> branchTargets;
  std::vector<Slot> slots; ///< see Instruction::list
  std::vector<uint8_t> constants;
  std::vector<SpecialRow> specials;
  std::vector<Param> params;
  uint32_t paramBytes = 0;
  uint32_t registerFileBytes = 0;
  uint32_t localBytes = 0; ///< a thread
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedOffset = 0; ///< where `extern .shared x[]` begins
  unsigned sharedGranule = 4;       ///< narrowest access to shared memory
  unsigned globalGranule = 16;      ///< and to global memory
  bool ordersBlocks = false;        ///< by fences
  bool ordersBlocksOtherwise = false; ///< by ld.acquire and its kind
  std::array<uint32_t, 3> requiredBlock = {0, 0, 0}, largestBlock = {0, 0, 0};
  std::array<uint32_t, 3> requiredCluster = {0, 0, 0}; ///< .reqnctapercluster; zeros: none
  bool usesWgmma = false;
};

} // namespace hjx::ptxsim
