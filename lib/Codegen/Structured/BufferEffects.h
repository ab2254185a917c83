// SPDX-License-Identifier: Apache-2.0
//
// Which buffers an op on buffers reads and writes: what passes ask that move ops past each other.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

struct BufferEffects {
  llvm::SmallDenseSet<mlir::Value> reads, writes; // Root buffers.
  bool unknown = false;                           // Anything may be read or written.

  /// What `root` and the ops in it do.
  static BufferEffects of(mlir::Operation *root);

  /// Of `buffer` or a view of it.
  void addRead(mlir::Value buffer) { add(reads, buffer); }
  void addWrite(mlir::Value buffer) { add(writes, buffer); }
  void addAll(const BufferEffects &other);
  /// Whether the order of two ops with these effects counts.
  bool conflictsWith(const BufferEffects &other) const;

private:
  void add(llvm::SmallDenseSet<mlir::Value> &set, mlir::Value buffer);
};

/// Whether two views, of parts of one buffer, certainly have no element in common. A kernel gets a flat view of a
/// part, and touches no more than the part.
bool areDisjoint(mlir::Value a, mlir::Value b);

} // namespace hjx
