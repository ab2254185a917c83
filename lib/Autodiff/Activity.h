// SPDX-License-Identifier: Apache-2.0
//
// Which values have a tangent, without emitting anything. Loops need the answer
// before their body is written: a carry whose tangent starts as zero may gain
// one in the first iteration. Answering by booleans first, to a fixpoint, and
// emitting once keeps nested loops linear in size.
//
//   scan carries (s, n), body: s' = s * w, n' = n + 1    w active
//   pass 1: s none, n none  ->  s' active, n' none
//   pass 2: s active        ->  unchanged: the answer is (s active, n none)
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

class Autodiff;
using Mask = llvm::SmallVector<bool>;

/// The results of `op` that may have a tangent when the operands in `active` do.
Mask activeResults(const Autodiff &engine, mlir::Operation *op, llvm::ArrayRef<bool> active);

/// The operands of `block`'s terminator that may have a tangent.
Mask activeYields(const Autodiff &engine, mlir::Block &block, llvm::ArrayRef<bool> arguments);

/// The operands of `block`'s terminator that depend on the arguments in `from`.
Mask dependentYields(mlir::Block &block, llvm::ArrayRef<bool> from);

/// The arguments of `block`, among those in `linear`, that may have a cotangent
/// when the terminator operands in `bars` do.
Mask reachedArguments(mlir::Block &block, llvm::ArrayRef<bool> linear, llvm::ArrayRef<bool> bars);

/// Least fixpoint for a loop: `carries` grows until `step(carries)` adds nothing.
Mask growCarries(Mask carries, llvm::function_ref<Mask(llvm::ArrayRef<bool>)> step);

/// The carries of a loop that may have a tangent, for a body that takes
/// (consts, carries, xs) and yields carries first.
Mask activeCarries(const Autodiff &engine, mlir::Block &body, llvm::ArrayRef<bool> consts, Mask inits,
                   llvm::ArrayRef<bool> xs = {});

Mask concat(llvm::ArrayRef<bool> a, llvm::ArrayRef<bool> b, llvm::ArrayRef<bool> c = {});

/// Per value, whether it is there.
inline Mask isPresent(llvm::ArrayRef<mlir::Value> values) {
  return llvm::map_to_vector(values, [](mlir::Value v) { return bool(v); });
}
inline bool anyOf(llvm::ArrayRef<bool> mask) { return llvm::is_contained(mask, true); }

} // namespace hjx
