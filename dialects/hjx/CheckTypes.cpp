// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/CheckTypes.h"

using namespace mlir;

LogicalResult hjx::ir::checkTypes(Operation *op, const Twine &what, TypeRange expected, TypeRange got) {
  if (expected.size() != got.size())
    return op->emitOpError(what) << ": expected " << expected.size() << " values, got " << got.size();
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(expected, got)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError(what) << ": expected " << std::get<0>(types) << " at position " << i << ", got "
                                   << std::get<1>(types);
  return success();
}
