// SPDX-License-Identifier: Apache-2.0
//
// The dialect object and its verifiers.
#include "dialects/check/Check.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace hjx::check;

#include "dialects/check/Dialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/check/Check.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/check/Check.cpp.inc"
      >();
}

LogicalResult ExpectCloseOp::verify() {
  if (!getRtol() && !getAtol() && !getUlps())
    return emitOpError("(C2) expected rtol, atol or ulps; for equality use check.expect_eq");
  for (std::optional<APFloat> tolerance : {getRtol(), getAtol()})
    if (tolerance && (tolerance->isNegative() || tolerance->isNaN()))
      return emitOpError("(C2) expected tolerances that are not negative, got ")
             << tolerance->convertToDouble();
  if (getUlps() && static_cast<int64_t>(*getUlps()) < 0)
    return emitOpError("(C2) expected ulps not to be negative, got ")
           << static_cast<int64_t>(*getUlps());
  return success();
}
