// SPDX-License-Identifier: Apache-2.0
//
// Work that goes on by itself, in groups that are waited for: cp.async, cp.async.bulk and wgmma say
// it in the same words.
#pragma once

#include "runtime/ptxsim/KernelDecoder.h"

namespace hjx::ptxsim {

/// Decodes what is left of `commit_group`, or of `wait_group N` (`.read`, if `canRead`), whose handler
/// finds in `immediate` how many groups may still be open. False if it is neither.
inline bool decodeGroup(InstructionDecoder &d, Handler commit, Handler wait, bool canRead = false) {
  if (d.op.take("commit_group")) {
    d.expectOperands(0);
    d.out.run = commit;
    return true;
  }
  if (!d.op.take("wait_group"))
    return false;
  if (canRead)
    d.op.take("read");
  if (d.expectOperands(1) && d.operands()[0].kind != Operand::Kind::Integer)
    d.fail("expected a number of groups");
  if (!d.failed())
    d.out.immediate = d.operands()[0].bits;
  d.out.run = wait;
  return true;
}

} // namespace hjx::ptxsim
