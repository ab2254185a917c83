// SPDX-License-Identifier: Apache-2.0
//
// How much memory is alive while launches run, for a pass that moves them: a launch may go where the program at
// no time needs more than it needs anyway at its worst. A buffer that lives longer then costs nothing: the arena is
// as large as that moment demands. An eighth is left for the holes of the plan (MemoryPlan.h), which would be
// large if memory were full for long.
//
//   live  ▁▃▅▇█▆▄▃▂   forward, then backward: what is kept for a sum until the end fits below the line,
//        ▔▔▔▔▔▔▔▔▔▔   what would be alive at the peak, too, does not
#pragma once

#include "lib/Support/Pch.h"

#include "llvm/ADT/MapVector.h"

namespace hjx {

class LaunchMemory {
public:
  /// Of the buffers that are allocated in `block`; smaller ones than `minBytes` do not count.
  LaunchMemory(mlir::Block &block, int64_t minBytes);

  /// Whether `launch` may run where `position` runs: at the same time, as far as memory is concerned.
  bool mayMove(mlir::Operation *launch, mlir::Operation *position) const;
  void move(mlir::Operation *launch, mlir::Operation *position);

private:
  struct Buffer {
    int64_t bytes;
    llvm::SmallVector<mlir::Operation *> users;
  };

  /// What moving changes, per time from `first` on.
  struct Change {
    unsigned first = 0;
    llvm::SmallVector<int64_t> bytes;
  };
  Change changeOf(mlir::Operation *launch, unsigned to) const;

  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 4>> buffersOf;
  llvm::DenseMap<mlir::Operation *, unsigned> times;
  llvm::SmallVector<int64_t> live; // Bytes, per time.
  int64_t limit = 0;
};

} // namespace hjx
