// SPDX-License-Identifier: Apache-2.0
//
// bra, brx.idx, call, ret, exit, trap.
#include "runtime/ptxsim/KernelDecoder.h"
#include "runtime/ptxsim/Warp.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {

static void runBranch(const Instruction &i, Warp &w) {
  w.branch(w.exec, i.target, i.reconverge);
}

// One target after the other: lanes that are not sent there yet stay at the instruction itself.
static void runBranchTable(const Instruction &i, Warp &w) {
  const auto *index = w.read<uint32_t>(i.src[0]);
  unsigned first = __builtin_ctz(w.exec);
  uint32_t chosen = index[first];
  if (chosen >= i.immediate)
    return w.fail(Finding::Kind::IllegalInstruction, first,
                  absl::StrCat("branch table has ", i.immediate, " entries, index is ", chosen));
  Mask same = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    same |= Mask((w.exec >> lane & 1) && index[lane] == chosen) << lane;
  if (same != w.exec)
    w.pc = w.current;
  w.branch(same, w.block->launch->kernel.branchTargets[i.target + chosen], i.reconverge);
}

static void runReturn(const Instruction &i, Warp &w) { w.leave(w.exec, false); }
static void runExit(const Instruction &i, Warp &w) { w.leave(w.exec, true); }

static void runTrap(const Instruction &i, Warp &w) {
  w.fail(Finding::Kind::IllegalInstruction, __builtin_ctz(w.exec), "the program trapped");
}

static void runCall(const Instruction &i, Warp &w) { w.call(i.target); }

// A parameter from where the caller put it to where the callee reads it, or a result back: from
// `reconverge` to `target`, places in local memory.
static void runCopyParam(const Instruction &i, Warp &w) {
  uint64_t bytes = w.block->launch->kernel.localBytes;
  for (Mask lanes = w.exec; lanes; lanes &= lanes - 1) {
    uint8_t *local = w.local + bytes * __builtin_ctz(lanes);
    std::memcpy(local + i.target, local + i.reconverge, i.immediate);
  }
}

static void copyParams(InstructionDecoder &d, const Function &callee, const Operand &list,
                       const std::vector<uint32_t> &formals, bool toCallee) {
  if (list.parts.size() != formals.size())
    return d.fail(absl::StrCat("'", callee.name, "' expects ", formals.size(), " of these, got ",
                               list.parts.size()));
  for (size_t index = 0; index < formals.size(); ++index) {
    const Operand &actual = list.parts[index];
    if (actual.kind != Operand::Kind::Variable)
      return d.fail("expected .param variables as arguments of a call");
    uint32_t size = callee.variables[formals[index]].sizeBytes;
    if (d.function.variables[actual.index].sizeBytes != size)
      return d.fail(absl::StrCat("'", callee.name, "' expects ", size, " bytes as parameter ",
                                 index));
    uint32_t outside = d.kernel.variableOffset(d.function, actual.index);
    uint32_t inside = d.kernel.variableOffset(callee, formals[index]);
    d.out = Instruction();
    d.out.run = runCopyParam;
    d.out.target = toCallee ? inside : outside;
    d.out.reconverge = toCallee ? outside : inside;
    d.out.immediate = size;
    d.emit();
  }
}

static void decodeCall(InstructionDecoder &d) {
  static const Operand none;
  const Operand *results = &none, *arguments = &none;
  const Function *callee = nullptr;
  d.op.take("uni");
  for (const Operand &operand : d.operands()) {
    if (operand.kind == Operand::Kind::List)
      (callee ? arguments : results) = &operand;
    else if (operand.kind == Operand::Kind::Symbol && !callee)
      callee = d.kernel.findFunction(operand.name);
    else
      return d.fail("indirect calls are not supported");
    if (operand.kind == Operand::Kind::Symbol && (!callee || !callee->hasBody))
      return d.fail(absl::StrCat("function '", operand.name, "' is not defined in this module"));
  }
  if (!callee)
    return d.fail("expected the name of a function");
  copyParams(d, *callee, *arguments, callee->params, true);
  d.out = Instruction();
  d.out.run = runCall;
  d.kernel.calls.push_back({uint32_t(d.kernel.kernel.code.size()), callee});
  d.emit();
  copyParams(d, *callee, *results, callee->results, false);
}

bool decodeControl(InstructionDecoder &d) {
  absl::string_view base = d.op.base;
  if (base == "bra") {
    d.op.take("uni");
    if (!d.expectOperands(1))
      return true;
    if (d.operands()[0].kind != Operand::Kind::Label) {
      d.fail(absl::StrCat("unknown label '", d.operands()[0].name, "'"));
      return true;
    }
    d.out.run = runBranch;
    d.out.target = d.operands()[0].index;
    d.kernel.jumps.push_back({uint32_t(d.kernel.kernel.code.size()), d.kernel.statementIndex});
  } else if (base == "brx") {
    d.op.take("uni");
    if (!d.op.take("idx") || !d.expectOperands(2))
      return true;
    if (d.operands()[1].kind != Operand::Kind::Table) {
      d.fail("expected a label of .branchtargets");
      return true;
    }
    const std::vector<uint32_t> &table = d.function.branchTables[d.operands()[1].index];
    std::vector<uint32_t> &all = d.kernel.kernel.branchTargets;
    d.out.run = runBranchTable;
    d.out.src[0] = d.source(0, Type::U32);
    d.out.count = 0;
    d.out.target = all.size();
    d.out.immediate = table.size();
    all.insert(all.end(), table.begin(), table.end());
    d.kernel.jumps.push_back({uint32_t(d.kernel.kernel.code.size()), d.kernel.statementIndex});
  } else if (base == "call") {
    decodeCall(d);
    return true;
  } else if (base == "ret") {
    d.op.take("uni");
    d.out.run = runReturn;
  } else if (base == "exit") {
    d.out.run = runExit;
  } else if (base == "trap") {
    d.out.run = runTrap;
  } else {
    return false;
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
