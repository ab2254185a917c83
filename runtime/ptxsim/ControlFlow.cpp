// SPDX-License-Identifier: Apache-2.0
//
// Immediate post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy
// (2001), on the reversed graph of statements' blocks with one exit that every return
// leads to. A block that cannot reach the exit (an endless loop) has none.
#include "runtime/ptxsim/ControlFlow.h"

#include "absl/strings/match.h"

#include <algorithm>

namespace hjx::ptxsim {

bool isBranch(const Statement &statement) {
  return statement.opcode == "bra" || absl::StartsWith(statement.opcode, "bra.") ||
         absl::StartsWith(statement.opcode, "brx.");
}

static bool isReturn(const Statement &statement) {
  return statement.opcode == "ret" || statement.opcode == "ret.uni" ||
         statement.opcode == "exit" || statement.opcode == "trap";
}

bool endsBlock(const Statement &statement) {
  return statement.guard < 0 && (isBranch(statement) || isReturn(statement));
}

std::vector<uint32_t> branchTargets(const Function &function, const Statement &statement) {
  std::vector<uint32_t> targets;
  for (const Operand &operand : statement.operands)
    if (operand.kind == Operand::Kind::Label)
      targets.push_back(operand.index);
    else if (operand.kind == Operand::Kind::Table)
      targets = function.branchTables[operand.index];
  return targets;
}

std::vector<uint32_t> findMeetingPoints(const Function &function) {
  const std::vector<Statement> &body = function.body;
  uint32_t size = body.size();
  // Blocks: the exit is the last one; a label at the end of the body is the exit as well.
  std::vector<bool> leads(size + 1, false);
  leads[0] = leads[size] = true;
  for (uint32_t index = 0; index < size; ++index) {
    if (!isBranch(body[index]) && !isReturn(body[index]))
      continue;
    leads[index + 1] = true;
    for (uint32_t target : branchTargets(function, body[index]))
      leads[target] = true;
  }
  std::vector<uint32_t> blockOf(size + 1), firstOf;
  for (uint32_t index = 0; index <= size; ++index) {
    if (leads[index])
      firstOf.push_back(index);
    blockOf[index] = firstOf.size() - 1;
  }
  uint32_t numBlocks = firstOf.size(), exit = numBlocks - 1;
  std::vector<std::vector<uint32_t>> successors(numBlocks), predecessors(numBlocks);
  for (uint32_t block = 0; block < exit; ++block) {
    const Statement &last = body[firstOf[block + 1] - 1];
    for (uint32_t target : branchTargets(function, last))
      if (isBranch(last))
        successors[block].push_back(blockOf[target]);
    if (isReturn(last))
      successors[block].push_back(exit);
    if (!endsBlock(last))
      successors[block].push_back(block + 1);
    for (uint32_t successor : successors[block])
      predecessors[successor].push_back(block);
  }

  // Post-order of the reversed graph from the exit.
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> order(numBlocks, kNone), postOrder;
  std::vector<std::pair<uint32_t, size_t>> path = {{exit, 0}};
  std::vector<bool> seen(numBlocks, false);
  seen[exit] = true;
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next < predecessors[block].size()) {
      uint32_t predecessor = predecessors[block][next++];
      if (!seen[predecessor]) {
        seen[predecessor] = true;
        path.push_back({predecessor, 0});
      }
    } else {
      order[block] = postOrder.size();
      postOrder.push_back(block);
      path.pop_back();
    }
  }

  std::vector<uint32_t> dominator(numBlocks, kNone);
  dominator[exit] = exit;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (order[a] < order[b])
        a = dominator[a];
      while (order[b] < order[a])
        b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t at = postOrder.size() - 1; at-- > 0;) {
      uint32_t block = postOrder[at], meet = kNone;
      for (uint32_t successor : successors[block])
        if (order[successor] != kNone && dominator[successor] != kNone)
          meet = meet == kNone ? successor : intersect(meet, successor);
      changed |= dominator[block] != meet;
      dominator[block] = meet;
    }
  }

  std::vector<uint32_t> meetings(size, size);
  for (uint32_t block = 0; block < exit; ++block)
    if (dominator[block] != kNone)
      meetings[firstOf[block + 1] - 1] = firstOf[dominator[block]];
  return meetings;
}

} // namespace hjx::ptxsim
