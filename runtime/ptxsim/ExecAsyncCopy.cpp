// SPDX-License-Identifier: Apache-2.0
//
// cp.async: copies of 4 to 16 bytes from global to shared memory that a thread starts and
// later waits for. Here the source is read at once, but the bytes arrive when the thread
// waits, the latest moment a device may choose: a program that reads them earlier, or whose
// wait counts a group too many, meets old bytes and a finding.
#include "runtime/ptxsim/AsyncCopy.h"
#include "runtime/ptxsim/AsyncGroups.h"
#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Lanes.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {

void finishCopies(Warp &w, Mask lanes, uint32_t open, bool withUncommitted, int worker) {
  bool checks = w.block->launch->checks;
  std::vector<PendingCopy> &copies = w.copies;
  size_t kept = 0;
  for (size_t at = 0; at < copies.size(); ++at) {
    const PendingCopy &copy = copies[at];
    uint32_t committed = w.copyGroups[copy.lane];
    bool isDone = lanes >> copy.lane & 1 && (withUncommitted || copy.group + open < committed);
    if (!isDone) {
      if (kept != at)
        copies[kept] = copy;
      ++kept;
      continue;
    }
    std::memcpy(copy.to, copy.data, copy.sizeBytes);
    if (checks)
      w.block->shared.finishCopy(copy.offset, copy.sizeBytes,
                                 worker < 0 ? w.index * 32 + copy.lane : worker, copy.instruction);
  }
  copies.resize(kept);
}

namespace {

// i.count: bytes; flags: see below; list: bytes that are read, or a predicate that says none are.
constexpr uint8_t kHasSize = 1, kHasPredicate = 2, kPredicateNegated = 4;

void copyAsync(const Instruction &i, Warp &w) {
  unsigned size = i.count;
  Access to;
  uint64_t from[32];
  loadAddresses(i, w, to);
  loadExtraAddresses(i, w, 1, from);
  if (!resolve(w, Space::Shared, size, AccessKind::Write, to))
    return;
  const auto *sizes = i.flags & kHasSize ? w.read<uint32_t>(w.list(i)[0]) : nullptr;
  Mask ignores = 0;
  if (i.flags & kHasPredicate)
    ignores = w.predicate(w.list(i)[0]) ^ (i.flags & kPredicateNegated ? ~Mask(0) : 0);
  bool checks = w.block->launch->checks;
  for (Mask left = w.exec; left; left &= left - 1) {
    unsigned lane = __builtin_ctz(left);
    unsigned count = ignores >> lane & 1 ? 0 : sizes ? sizes[lane] : size;
    if (count > size)
      return w.fail(Finding::Kind::LaunchFailed, lane,
                    absl::StrCat("expected at most ", size, " bytes to copy, got ", count));
    PendingCopy copy{to.at[lane], uint32_t(to.address[lane]), w.current, w.copyGroups[lane],
                     uint8_t(lane), uint8_t(size), {}};
    if (count) {
      if (!checkAlignment(w, lane, from[lane], size, AccessKind::Read))
        return;
      const Allocation *source = findGlobal(w, lane, from[lane], count, AccessKind::Read);
      if (!source)
        return;
      if (checks && !source->isWritten(from[lane], count))
        return reportUninitialized(w, lane, from[lane], count, "global memory");
      if (!checkBlocks(w, lane, *source, from[lane], count, AccessKind::Read))
        return;
      std::memcpy(copy.data, source->at(from[lane]), count);
    }
    if (checks &&
        reportConflict(w, lane, copy.offset, size, AccessKind::Write,
                       w.block->shared.issueCopy(copy.offset, size, w.index * 32 + lane, w.current)))
      return;
    w.copies.push_back(copy);
  }
}

void commitGroup(const Instruction &, Warp &w) {
  for (unsigned lane = 0; lane < 32; ++lane)
    w.copyGroups[lane] += w.exec >> lane & 1;
}

void waitGroup(const Instruction &i, Warp &w) {
  finishCopies(w, w.exec, i.immediate, false);
}

void waitAll(const Instruction &, Warp &w) { finishCopies(w, w.exec, 0, true); }

void decodeCopy(InstructionDecoder &d) {
  bool isCg = d.op.take("cg");
  if (!isCg && !d.op.take("ca"))
    return d.fail("unknown form of this instruction");
  Space to = Space::Shared, from = Space::Global;
  bool hasTo = d.op.take("shared") || d.op.take("shared::cta"), hasFrom = d.op.take("global");
  if (!hasTo || !hasFrom)
    return d.fail("expected .shared.global");
  bool hasPolicy = d.op.take("L2::cache_hint");
  for (absl::string_view word : {"L2::64B", "L2::128B", "L2::256B"})
    d.op.take(word);
  if (!d.expectOperands(3 + hasPolicy, 4 + hasPolicy))
    return;
  const Operand &size = d.operands()[2];
  bool isSize = size.kind == Operand::Kind::Integer &&
                (size.bits == 16 || (!isCg && (size.bits == 4 || size.bits == 8)));
  if (!isSize)
    return d.fail(isCg ? "expected 16 bytes" : "expected 4, 8 or 16 bytes");
  d.address(d.operands()[0], to);
  d.extraAddress(d.operands()[1], 1, from);
  d.out.count = size.bits;
  d.noteAccess(Space::Shared, 4);
  d.noteAccess(Space::Global, size.bits);
  if (d.operands().size() - hasPolicy == 4) {
    Operand last = d.operands()[3];
    if (last.kind == Operand::Kind::Register &&
        d.function.registers[last.index].type == Type::Pred) {
      d.out.flags |= kHasPredicate | (last.negated ? kPredicateNegated : 0);
      last.negated = false;
      d.list(last, 1, Type::Pred);
    } else {
      d.out.flags |= kHasSize;
      d.list(last, 1, Type::B32);
    }
  }
  d.out.run = copyAsync;
}

} // namespace

bool decodeAsyncCopy(InstructionDecoder &d) {
  if (d.op.base != "cp" || !d.op.take("async"))
    return false;
  if (d.op.take("wait_all")) {
    d.expectOperands(0);
    d.out.run = waitAll;
  } else if (!decodeGroup(d, commitGroup, waitGroup)) {
    decodeCopy(d);
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
