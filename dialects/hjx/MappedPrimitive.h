// SPDX-License-Identifier: Apache-2.0
//
// A primitive that vmap has mapped without a rule of its author's stays itself:
// `params {hjx.mapped = [{size, in = [specs], out = [specs]}, ...]}`, innermost
// first, unit where elements share a value. Its rules are those of the primitive,
// mapped; batching supplies them (lib/Batching/MappedPrimitive.cpp).
#pragma once

#include "dialects/hjx/HiTypes.h"

namespace hjx::ir {

constexpr llvm::StringLiteral kMappedParam = "hjx.mapped";

/// Makes the mapped form of any primitive.
using MakeMapped = std::unique_ptr<PrimitiveDef> (*)(const PrimitiveDef &primitive);
void setMakeMapped(MakeMapped make);

/// The definition for a call of `name` with `params`; null if the name is unknown.
const PrimitiveDef *findPrimitive(llvm::StringRef name, mlir::DictionaryAttr params);

} // namespace hjx::ir
