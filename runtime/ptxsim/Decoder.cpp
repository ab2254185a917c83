// SPDX-License-Identifier: Apache-2.0
//
// Places of registers, constants and variables, and the walk over statements; see the
// header. Calls need no frames of their own: a function's registers and parameters have
// fixed places in the kernel's, because recursion is refused.
#include "runtime/ptxsim/ControlFlow.h"
#include "runtime/ptxsim/KernelDecoder.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace hjx::ptxsim {

static uint64_t alignTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

// Opcode.

Opcode::Opcode(absl::string_view text) {
  std::vector<absl::string_view> parts = absl::StrSplit(absl::string_view(text), '.');
  base = parts[0];
  modifiers.assign(parts.begin() + 1, parts.end());
}

bool Opcode::take(absl::string_view modifier) {
  auto found = std::find(modifiers.begin(), modifiers.end(), modifier);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

absl::string_view Opcode::takeOneOf(std::initializer_list<absl::string_view> list) {
  for (absl::string_view modifier : list)
    if (take(modifier))
      return modifier;
  return {};
}

std::optional<Type> Opcode::takeType() {
  for (auto at = modifiers.begin(); at != modifiers.end(); ++at)
    if (std::optional<Type> type = parseType(*at)) {
      modifiers.erase(at);
      return type;
    }
  return std::nullopt;
}

std::optional<Space> Opcode::takeSpace() {
  for (auto at = modifiers.begin(); at != modifiers.end(); ++at)
    if (std::optional<Space> space = parseSpace(*at)) {
      modifiers.erase(at);
      return space;
    }
  return std::nullopt;
}

// InstructionDecoder.

void InstructionDecoder::fail(absl::string_view message) {
  kernel.fail(statement.line, absl::StrCat(message, ": `", statement.text, "`"));
}

bool InstructionDecoder::failed() const { return !kernel.status.ok(); }

bool InstructionDecoder::expectOperands(size_t least, size_t most) {
  size_t count = operands().size();
  most = std::max(least, most);
  if (count >= least && count <= most)
    return true;
  fail(absl::StrCat("expected ", least, most > least ? absl::StrCat(" to ", most) : "",
                    " operands, got ", count));
  return false;
}

unsigned InstructionDecoder::registerBytes(const Operand &operand) const {
  if (operand.kind == Operand::Kind::Special)
    return operand.name == "%clock64" || operand.name == "%globaltimer" ? 8 : 4;
  if (operand.kind != Operand::Kind::Register)
    return 0;
  return std::max(2u, sizeOf(function.registers[operand.index].type));
}

Slot InstructionDecoder::constant(uint64_t bits, unsigned laneBytes) {
  return kernel.constantSlot(bits, laneBytes);
}
Slot InstructionDecoder::scratch(unsigned) { return kernel.scratchSlot(); }
Slot InstructionDecoder::carry() { return kernel.carrySlot(); }

void InstructionDecoder::noteAccess(Space space, unsigned sizeBytes) {
  Kernel &to = kernel.kernel;
  if (space == Space::Shared || space == Space::Generic)
    to.sharedGranule = std::min(to.sharedGranule, sizeBytes);
  if (space == Space::Global || space == Space::Generic)
    to.globalGranule = std::min(to.globalGranule, sizeBytes);
}

void InstructionDecoder::extraAddress(const Operand &operand, unsigned which, Space &space) {
  InstructionDecoder inner(kernel, function, statement);
  inner.address(operand, space);
  out.src[2 * which - 1] = inner.out.src[0];
  out.src[2 * which] = constant(inner.out.immediate, 8);
  out.flags |= inner.out.flags & kNarrowBase ? narrowExtra(which) : 0;
}

void InstructionDecoder::list(const Operand &operand, size_t count, Type type, bool isResult) {
  const std::vector<Operand> single = {operand};
  const std::vector<Operand> &parts = operand.kind == Operand::Kind::Vector ? operand.parts : single;
  if (parts.size() != count)
    return fail(absl::StrCat("expected ", count, " registers in this operand, got ", parts.size()));
  std::vector<Slot> &slots = kernel.kernel.slots;
  if (!out.numListed)
    out.list = slots.size();
  for (const Operand &part : parts)
    slots.push_back(isResult ? destination(part, type) : source(part, type));
  out.numListed += count;
  out.numListedResults += isResult ? count : 0;
}

// sm_80 code runs on what came later, sm_90a code on 9.0 alone.
void InstructionDecoder::expectTarget(unsigned least, bool exact) {
  absl::string_view target = kernel.target();
  unsigned has = 0;
  bool isExact = absl::EndsWith(target, "a");
  bool isKnown = absl::SimpleAtoi(target.substr(3, target.size() - 3 - isExact), &has);
  if (!isKnown || (exact ? has != least || !isExact : has < least))
    fail(absl::StrCat("expected .target sm_", least, exact ? "a" : " or later",
                      " for this instruction, got ", target));
}

static uint64_t immediateBits(const Operand &operand, Type type) {
  if (operand.kind == Operand::Kind::Float64 && sizeOf(type) == 4) {
    double wide;
    std::memcpy(&wide, &operand.bits, 8);
    auto narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  if (operand.kind == Operand::Kind::Float32 && type == Type::F64) {
    float narrow;
    std::memcpy(&narrow, &operand.bits, 4);
    double wide = narrow;
    uint64_t bits;
    std::memcpy(&bits, &wide, 8);
    return bits;
  }
  return operand.bits;
}

Slot InstructionDecoder::source(const Operand &operand, Type type, bool wider) {
  bool isPredicate = type == Type::Pred;
  unsigned bytes = std::max(2u, sizeOf(type));
  switch (operand.kind) {
  case Operand::Kind::Register: {
    Type declared = function.registers[operand.index].type;
    unsigned has = registerBytes(operand);
    if ((declared == Type::Pred) != isPredicate ||
        (!isPredicate && (wider ? has < sizeOf(type) : has != bytes))) {
      fail(absl::StrCat("register '", operand.name, "' has the wrong size for this instruction"));
      return 0;
    }
    Slot slot = kernel.registerSlot(function, operand.index);
    if (operand.negated && isPredicate)
      fail("a negated predicate is not supported as this operand");
    return slot;
  }
  case Operand::Kind::Special:
    if (isPredicate || bytes != 4) {
      if (!(wider && bytes < 4)) {
        fail(absl::StrCat("special register '", operand.name, "' has 32 bits"));
        return 0;
      }
    }
    return kernel.specialSlot(operand.name);
  case Operand::Kind::Integer:
  case Operand::Kind::Float32:
  case Operand::Kind::Float64:
    if (isPredicate)
      return constant(operand.bits ? ~uint64_t(0) : 0, 0);
    return constant(immediateBits(operand, type), bytes);
  case Operand::Kind::Variable:
    return constant(kernel.variableOffset(function, operand.index), bytes);
  case Operand::Kind::Symbol: {
    Space space;
    if (std::optional<uint64_t> address = kernel.symbolAddress(operand.name, space))
      return constant(*address, bytes);
    fail(absl::StrCat("unknown name '", operand.name, "'"));
    return 0;
  }
  default:
    fail("expected a register or an immediate operand");
    return 0;
  }
}

Slot InstructionDecoder::destination(const Operand &operand, Type type, bool wider) {
  if (operand.kind == Operand::Kind::Sink)
    return kernel.scratchSlot();
  if (operand.kind != Operand::Kind::Register) {
    fail("expected a register as the destination");
    return 0;
  }
  return source(operand, type, wider);
}

void InstructionDecoder::address(const Operand &operand, Space &space) {
  if (operand.kind != Operand::Kind::Address || operand.parts.size() != 1)
    return fail("expected an address in brackets");
  const Operand &base = operand.parts[0];
  out.immediate = operand.bits;
  switch (base.kind) {
  case Operand::Kind::Register:
    if (registerBytes(base) != 8 && registerBytes(base) != 4)
      return fail("expected an address of 32 or 64 bits");
    if (registerBytes(base) == 4) {
      out.flags |= kNarrowBase;
      out.src[0] = source(base, Type::B32);
    } else {
      out.src[0] = source(base, Type::B64);
    }
    return;
  case Operand::Kind::Integer:
    out.src[0] = constant(0, 8);
    out.immediate += base.bits;
    return;
  case Operand::Kind::Variable: {
    const Variable &variable = function.variables[base.index];
    out.src[0] = constant(0, 8);
    out.immediate += kernel.variableOffset(function, base.index);
    bool isKernelParam =
        variable.space == Space::Param && &function == kernel.entry &&
        std::count(function.params.begin(), function.params.end(), base.index);
    if (variable.space == Space::Param && !isKernelParam)
      space = Space::Local;
    return;
  }
  case Operand::Kind::Symbol: {
    Space of;
    std::optional<uint64_t> address = kernel.symbolAddress(base.name, of);
    if (!address)
      return fail(absl::StrCat("unknown name '", base.name, "'"));
    out.src[0] = constant(0, 8);
    out.immediate += *address;
    if (space == Space::Generic && of == Space::Shared)
      space = Space::Shared;
    return;
  }
  default:
    fail("expected a register, a name or a number as the address");
  }
}

void InstructionDecoder::emit() {
  if (failed())
    return;
  if (statement.guard >= 0) {
    out.guard = kernel.registerSlot(function, statement.guard);
    out.guardNegated = statement.guardNegated;
  }
  kernel.kernel.code.push_back(out);
  kernel.kernel.lines.push_back({statement.line, statement.text});
}

// KernelDecoder.

void KernelDecoder::fail(unsigned line, absl::string_view message) {
  if (status.ok())
    status = absl::InvalidArgumentError(absl::StrCat("ptx line ", line, ": ", message));
}

uint32_t KernelDecoder::newRow(unsigned bytes) {
  uint32_t at = alignTo(kernel.registerFileBytes, bytes >= 64 ? 64 : 4);
  kernel.registerFileBytes = at + bytes;
  return at;
}

Slot KernelDecoder::registerSlot(const Function &function, uint32_t index) {
  auto [at, isNew] = registers.try_emplace({&function, index}, 0);
  if (isNew) {
    unsigned bytes = sizeOf(function.registers[index].type);
    at->second = newRow(bytes ? std::max(2u, bytes) * 32 : 4);
  }
  return at->second;
}

Slot KernelDecoder::specialSlot(const std::string &name) {
  static constexpr absl::string_view known[] = {
      "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
      "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid",
      "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
      "%dynamic_smem_size", "%total_smem_size", "%cluster_ctaid.x", "%cluster_ctaid.y",
      "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
      "%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y",
      "%nclusterid.z", "%cluster_ctarank", "%cluster_nctarank"};
  for (const SpecialRow &special : kernel.specials)
    if (special.name == name)
      return special.slot;
  if (std::find(std::begin(known), std::end(known), name) == std::end(known))
    fail(entry->body[0].line, absl::StrCat("unknown register '", name, "'"));
  kernel.specials.push_back({name, newRow(128)});
  return kernel.specials.back().slot;
}

Slot KernelDecoder::constantSlot(uint64_t bits, unsigned laneBytes) {
  if (laneBytes == 2)
    bits = uint16_t(bits);
  if (laneBytes == 4 || laneBytes == 0)
    bits = uint32_t(bits);
  auto [at, isNew] = constants.try_emplace({bits, laneBytes}, 0);
  if (isNew) {
    uint32_t offset = alignTo(kernel.constants.size(), 64);
    at->second = offset | kConstantBit;
    unsigned width = laneBytes ? laneBytes : 4, lanes = laneBytes ? 32 : 1;
    kernel.constants.resize(offset + width * lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      std::memcpy(&kernel.constants[offset + lane * width], &bits, width);
  }
  return at->second;
}

Slot KernelDecoder::scratchSlot() {
  if (scratchRow == kNoSlot)
    scratchRow = newRow(256);
  return scratchRow;
}

Slot KernelDecoder::carrySlot() {
  if (carryRow == kNoSlot)
    carryRow = newRow(4);
  return carryRow;
}

uint64_t KernelDecoder::variableOffset(const Function &function, uint32_t index) const {
  return offsets.at({&function, index});
}

std::optional<uint64_t> KernelDecoder::symbolAddress(const std::string &name,
                                                     Space &space) const {
  space = Space::Shared;
  if (auto found = sharedSymbols.find(name); found != sharedSymbols.end())
    return found->second;
  space = Space::Global;
  if (auto found = symbols.find(name); found != symbols.end())
    return found->second;
  return std::nullopt;
}

const Function *KernelDecoder::findFunction(const std::string &name) const {
  for (const Function &function : module.functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

// Depth first over calls; a function on the path again is recursion.
bool KernelDecoder::collect(const Function &function, std::vector<const Function *> &path) {
  if (std::find(path.begin(), path.end(), &function) != path.end()) {
    fail(function.line, absl::StrCat("function '", function.name, "' calls itself, which the "
                                     "simulated device does not support"));
    return false;
  }
  if (std::find(functions.begin(), functions.end(), &function) == functions.end())
    functions.push_back(&function);
  path.push_back(&function);
  for (const Statement &statement : function.body) {
    if (!absl::StartsWith(statement.opcode, "call"))
      continue;
    for (const Operand &operand : statement.operands)
      if (operand.kind == Operand::Kind::Symbol)
        if (const Function *callee = findFunction(operand.name))
          if (!collect(*callee, path))
            return false;
  }
  path.pop_back();
  return true;
}

static void forEachName(const Operand &operand, const std::function<void(const Operand &)> &f) {
  f(operand);
  for (const Operand &part : operand.parts)
    forEachName(part, f);
}

void KernelDecoder::placeShared(const Variable &variable, uint64_t &end) {
  if (sharedSymbols.count(variable.name))
    return;
  end = alignTo(end, variable.align);
  sharedSymbols[variable.name] = end;
  end += variable.sizeBytes;
}

// Static shared variables that are used, in order of declaration, then the dynamic array;
// parameters by the rules of the ABI; local variables and the parameters of calls.
void KernelDecoder::layOut() {
  std::map<std::string, bool, std::less<>> used;
  for (const Function *function : functions)
    for (const Statement &statement : function->body)
      for (const Operand &operand : statement.operands)
        forEachName(operand, [&](const Operand &name) {
          if (name.kind == Operand::Kind::Symbol)
            used[name.name] = true;
        });
  uint64_t shared = 0, dynamicAlign = 1, local = 0, param = 0;
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Shared && used.count(variable.name) && !variable.isUnsized)
      placeShared(variable, shared);
  for (const Function *function : functions)
    for (uint32_t index = 0; index < function->variables.size(); ++index) {
      const Variable &variable = function->variables[index];
      bool isKernelParam = function == entry && std::count(function->params.begin(),
                                                           function->params.end(), index);
      if (variable.space == Space::Shared) {
        shared = alignTo(shared, variable.align);
        offsets[{function, index}] = shared;
        shared += variable.sizeBytes;
      } else if (isKernelParam) {
        param = alignTo(param, variable.align);
        offsets[{function, index}] = param;
        kernel.params.push_back({uint32_t(param), uint32_t(variable.sizeBytes)});
        param += variable.sizeBytes;
      } else {
        local = alignTo(local, std::max<uint64_t>(variable.align, 4));
        offsets[{function, index}] = local;
        local += variable.sizeBytes;
      }
    }
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Shared && variable.isUnsized && used.count(variable.name))
      dynamicAlign = std::max(dynamicAlign, variable.align);
  kernel.staticSharedBytes = shared;
  kernel.dynamicSharedOffset = alignTo(shared, dynamicAlign);
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Shared && variable.isUnsized)
      sharedSymbols[variable.name] = kernel.dynamicSharedOffset;
  kernel.localBytes = alignTo(local, 16);
  kernel.paramBytes = param;
}

void KernelDecoder::decodeFunction(const Function &function) {
  static constexpr bool (*groups[])(InstructionDecoder &) = {
      decodeMemory, decodeFloat, decodeHalf, decodeInteger, decodeCompare,
      decodeConvert, decodeWarp, decodeAtomic, decodeMatrix, decodeMma,
      decodeBulk, decodeMBarrier, decodeAsyncCopy,
      decodeCluster, decodeWgmma, decodeControl};
  starts[&function] = kernel.code.size();
  meetings = findMeetingPoints(function);
  std::vector<uint32_t> begins;
  jumps.clear();
  for (statementIndex = 0; statementIndex < function.body.size(); ++statementIndex) {
    const Statement &statement = function.body[statementIndex];
    begins.push_back(kernel.code.size());
    InstructionDecoder d(*this, function, statement);
    bool known = false;
    for (auto group : groups)
      if ((known = group(d)))
        break;
    if (!known)
      d.fail(absl::StrCat("unknown instruction '", statement.opcode, "'"));
    else if (!d.failed() && !d.op.rest().empty())
      d.fail(absl::StrCat("unknown modifier '.", d.op.rest()[0], "' of '", d.op.base, "'"));
    if (!status.ok())
      return;
  }
  // Falling off the end returns; a label may stand there.
  begins.push_back(kernel.code.size());
  Statement end;
  end.opcode = end.text = "ret";
  end.line = function.body.empty() ? function.line : function.body.back().line;
  InstructionDecoder d(*this, function, end);
  decodeControl(d);
  auto place = [&](uint32_t statement) {
    return statement == kNever ? kNever : begins[statement];
  };
  for (Jump jump : jumps) {
    Instruction &branch = kernel.code[jump.instruction];
    if (branch.count)
      branch.target = place(branch.target);
    else // a table: targets are in the kernel's list
      for (uint32_t entry = 0; entry < branch.immediate; ++entry)
        kernel.branchTargets[branch.target + entry] =
            place(kernel.branchTargets[branch.target + entry]);
    uint32_t meet = meetings[jump.statement];
    branch.reconverge = meet == function.body.size() ? kNever : place(meet);
  }
}

absl::StatusOr<Kernel> KernelDecoder::run(const Function &function) {
  entry = &function;
  kernel.name = function.name;
  kernel.requiredBlock = function.requiredBlock;
  kernel.largestBlock = function.largestBlock;
  kernel.requiredCluster = function.requiredCluster;
  std::vector<const Function *> path;
  collect(function, path);
  if (status.ok())
    layOut();
  for (const Function *one : functions)
    if (status.ok())
      decodeFunction(*one);
  if (!status.ok())
    return status;
  for (auto [instruction, callee] : calls)
    kernel.code[instruction].target = starts.at(callee);
  kernel.registerFileBytes = alignTo(kernel.registerFileBytes, 64);
  return std::move(kernel);
}

absl::StatusOr<Kernel> decode(const Module &module, const Function &entry,
                              const SymbolTable &symbols) {
  return KernelDecoder(module, symbols).run(entry);
}

} // namespace hjx::ptxsim
