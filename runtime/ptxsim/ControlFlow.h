// SPDX-License-Identifier: Apache-2.0
//
// Where diverged lanes meet again: for each branch of a function the first statement
// of its immediate post-dominator.
#pragma once

#include "runtime/ptxsim/Module.h"

#include <vector>

namespace hjx::ptxsim {

/// For each statement of the body that may diverge, the index of the statement where its ways
/// meet; `body.size()` where they never do. Entries of other statements mean nothing.
std::vector<uint32_t> findMeetingPoints(const Function &function);

/// Whether a statement is a branch: `bra` or `brx.idx`.
bool isBranch(const Statement &statement);
/// Whether control does not go on to the next statement, whoever executes it.
bool endsBlock(const Statement &statement);
/// The statements that a branch may jump to.
std::vector<uint32_t> branchTargets(const Function &function, const Statement &statement);

} // namespace hjx::ptxsim
