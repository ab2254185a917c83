// SPDX-License-Identifier: Apache-2.0
//
// Function of a parsed module -> Kernel. Each group of instructions (integer, float,
// memory, ...) has one function that looks at an opcode, picks the handler and fills the
// operand slots; an opcode that no group knows, or a modifier that none consumed, is an
// error that names it: nothing is skipped.
#pragma once

#include "runtime/Status.h"
#include "runtime/ptxsim/Kernel.h"
#include "runtime/ptxsim/Module.h"

#include "absl/strings/string_view.h"

#include <map>
#include <vector>

namespace hjx::ptxsim {

/// Device addresses of a module's .global and .const variables.
using SymbolTable = std::map<std::string, uint64_t, std::less<>>;

/// Decodes `entry` and the functions that it calls. `module` must outlive the kernel.
/// Errors: InvalidArgument "ptx line N: ...".
absl::StatusOr<Kernel> decode(const Module &module, const Function &entry,
                              const SymbolTable &symbols);

/// `cvt.rn.f32.s32`: "cvt" and what follows, each part of which somebody must take.
class Opcode {
public:
  explicit Opcode(absl::string_view text);
  absl::string_view base;

  /// Removes the modifier; whether it was there.
  bool take(absl::string_view modifier);
  /// Removes the first of these that is there; empty when none is.
  absl::string_view takeOneOf(std::initializer_list<absl::string_view> modifiers);
  /// Removes the first modifier that is a type, a state space.
  std::optional<Type> takeType();
  std::optional<Space> takeSpace();
  const std::vector<absl::string_view> &rest() const { return modifiers; }

private:
  std::vector<absl::string_view> modifiers;
};

class KernelDecoder;

/// One statement while it is decoded: what the groups' functions work with.
class InstructionDecoder {
public:
  InstructionDecoder(KernelDecoder &kernel, const Function &function, const Statement &statement)
      : op(statement.opcode), kernel(kernel), function(function), statement(statement) {}

  Opcode op;
  Instruction out; ///< becomes an instruction when `emit` is called

  const std::vector<Operand> &operands() const { return statement.operands; }
  /// Fails unless there are this many.
  bool expectOperands(size_t least, size_t most = 0);

  /// The row that a source operand is read from; `type` says how an immediate is meant, and the
  /// size that a register must have (`wider`: at least).
  Slot source(size_t index, Type type, bool wider = false) {
    return source(operands()[index], type, wider);
  }
  Slot source(const Operand &operand, Type type, bool wider = false);
  Slot destination(size_t index, Type type, bool wider = false) {
    return destination(operands()[index], type, wider);
  }
  Slot destination(const Operand &operand, Type type, bool wider = false);
  /// Bytes of a lane of the register that an operand is; 0 for an immediate or `_`.
  unsigned registerBytes(const Operand &operand) const;
  /// Fills src[0] (base, 8 bytes a lane, or 4 with `flags & kNarrowBase`) and `immediate` of `out`
  /// from an address operand; `space` may change: parameters of device functions are local.
  void address(const Operand &operand, Space &space);
  static constexpr uint8_t kNarrowBase = 0x80;
  /// A further address: base and offset in src[2 * which - 1] and the next, for `loadExtraAddresses`.
  void extraAddress(const Operand &operand, unsigned which, Space &space);
  static constexpr uint8_t narrowExtra(unsigned which) { return 0x80 >> which; }
  /// Appends the registers of `{...}`, or a single one, to the instruction's list: `count` of them.
  /// Results come before all else.
  void list(const Operand &operand, size_t count, Type type, bool isResult = false);

  Slot scratch(unsigned laneBytes);
  Slot constant(uint64_t bits, unsigned laneBytes);
  /// The warp's carry flags, a predicate.
  Slot carry();
  void noteAccess(Space space, unsigned sizeBytes);
  /// Fails unless the module is for this architecture or a later one; `exact`: for sm_<least>a.
  void expectTarget(unsigned least, bool exact = false);
  void emit();
  void fail(absl::string_view message);
  bool failed() const;

  KernelDecoder &kernel;
  const Function &function;
  const Statement &statement;
};

// One function a group; each returns whether the opcode is its own.
bool decodeInteger(InstructionDecoder &d);
bool decodeFloat(InstructionDecoder &d);
bool decodeHalf(InstructionDecoder &d);
bool decodeCompare(InstructionDecoder &d);
bool decodeConvert(InstructionDecoder &d);
bool decodeMemory(InstructionDecoder &d);
bool decodeAtomic(InstructionDecoder &d);
bool decodeWarp(InstructionDecoder &d);
bool decodeMatrix(InstructionDecoder &d);
bool decodeMma(InstructionDecoder &d);
bool decodeAsyncCopy(InstructionDecoder &d);
bool decodeBulk(InstructionDecoder &d);
bool decodeCluster(InstructionDecoder &d);
bool decodeMBarrier(InstructionDecoder &d);
bool decodeWgmma(InstructionDecoder &d);
bool decodeControl(InstructionDecoder &d);

} // namespace hjx::ptxsim
