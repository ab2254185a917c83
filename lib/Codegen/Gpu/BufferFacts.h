// SPDX-License-Identifier: Apache-2.0
//
// What is known about the buffers that kernels are given, at all of their calls: how their first
// elements are aligned, and whether two of them may overlap. A 16-byte load needs the one, a load
// through the read-only cache the other.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

struct BufferFacts {
  int64_t alignment = 16;  // Bytes.
  bool isWritten = false;  // By the kernel.
  bool isAlone = true;     // No other argument overlaps it, unless both are only read.
};

/// The facts about each argument of `kernel`, from its body and from `calls` of it.
llvm::SmallVector<BufferFacts> bufferFacts(mlir::func::FuncOp kernel,
                                           llvm::ArrayRef<mlir::func::CallOp> calls);

} // namespace hjx
