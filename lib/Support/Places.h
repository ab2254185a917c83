// SPDX-License-Identifier: Apache-2.0
//
// Where code comes from, as messages say it.
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace hjx {

/// "folder/model.cpp:42", the first place in a file that `location` has; "" if it has none.
inline std::string placeOf(mlir::Location location) {
  std::string place;
  location->walk([&](mlir::Location part) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    place = file.getFilename().str() + ":" + std::to_string(file.getLine());
    return mlir::WalkResult::interrupt();
  });
  return place;
}

} // namespace hjx
