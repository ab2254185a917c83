// SPDX-License-Identifier: Apache-2.0
//
// Which elementwise ops are computed inside another op's loop nest.
//
// Concept. An elementwise op whose every use is in one nest needs no array of its
// own: the nest computes it, element by element. Walking a block backwards, the
// nest of an op is known when all its users are:
//
//   %a = mul %x, %x        users {%s}       nest of %s
//   %e = exp %d            users {%s, %y}   two nests: a nest of its own, stored
//   %s = reduce_sum %a     reduction        its own nest; computes %a inside
//
// Nothing is computed twice and no order changes, so fusing never costs, but for
// time to compile very long chains, which are cut. What is left to a target's own
// fusion is whatever trades memory for arithmetic.
// Source: the "no duplication" half of XLA's instruction fusion.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hjx {

class LoweringRules;

class Clusters {
public:
  /// Looks at all blocks of `func`. Without `fuse` every op has its own nest.
  Clusters(mlir::func::FuncOp func, const LoweringRules &rules, bool fuse);

  /// Whether the nest of another op computes `op`.
  bool isInside(mlir::Operation *op) const { return nestOf.contains(op); }
  /// Whether every user of `op` looks through it (Nest.h): no array of its result is needed.
  bool isOnlyRead(mlir::Operation *op) const { return onlyRead.contains(op); }
  /// The ops that the nest of `root` computes, in block order, `root` not among them.
  llvm::ArrayRef<mlir::Operation *> inside(mlir::Operation *root) const {
    auto it = members.find(root);
    return it == members.end() ? llvm::ArrayRef<mlir::Operation *>()
                               : llvm::ArrayRef<mlir::Operation *>(it->second);
  }

private:
  void findOnlyRead(mlir::Block &block, const LoweringRules &rules);
  void findInside(mlir::Block &block, const LoweringRules &rules);
  llvm::DenseSet<mlir::Operation *> onlyRead;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> nestOf; // Only of ops inside another's nest.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> members;
};

} // namespace hjx
