// SPDX-License-Identifier: Apache-2.0
//
// A structured op on buffers, seen as loops over addresses.
//
// Concept. Once shapes are static, `linalg.generic` on memrefs is a nest of loops
// and, per operand, one linear function from loop variables to an address:
//
//   address = offset + sum over loops of stride[loop] * iv[loop]      (in elements)
//
// All that code generation must know is in the strides: 1 means a vector load,
// 0 a broadcast, anything else a strided access. Two neighbouring loops whose
// strides fit (outer stride = inner size * inner stride, for every operand) are
// one loop, so that an elementwise op on [4, 64, 768] is one loop over 196608:
//
//   x: memref<4x64x768>, bias: memref<768>      sizes 4 64 768
//   x    strides 49152 768 1                    256 768      4 and 64 are one loop,
//   bias strides 0 0 1                          768 1 / 0 1  64 and 768 are not
//
// Source: the same view as Halide's storage strides and XLA's "IrArray"; the
// collapse rule is that of PyTorch's TensorIterator.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

/// How one operand is reached from the loops.
struct Access {
  mlir::Value operand;     // As the op has it.
  bool byValue = false;    // A scalar operand: no memory behind it.
  int64_t offset = 0;      // Relative to the operand's first element.
  llvm::SmallVector<int64_t> strides; // Per loop, in elements.
  int64_t alignment = 0; // Bytes to which each step of a vector loop is aligned; 0: not known.
};

struct Loop {
  int64_t size = 0;
  bool isReduction = false;
  int row = -1; // Which of the kernel's row loops this is; -1: a loop of this op alone.
};

/// A structured op as loops; `accesses` follow the op's operands: inputs, then outputs.
struct LoopNest {
  mutable mlir::linalg::GenericOp op; // Mutable: accessors of ops are not const.
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Access> accesses;
  // Per iteration dimension of the op, its loop; -1 if it has size 1 or went into another loop
  // (which happens only where the body does not ask for its index).
  llvm::SmallVector<int> loopOfDim;

  unsigned numInputs() const { return op.getNumDpsInputs(); }
  unsigned numOutputs() const { return op.getNumDpsInits(); }
  llvm::ArrayRef<Access> outputs() const { return llvm::ArrayRef(accesses).drop_front(numInputs()); }
  bool isEmpty() const {
    return llvm::any_of(loops, [](const Loop &loop) { return loop.size == 0; });
  }

  /// Per loop its variable, given those of the row loops; null where there is none yet.
  llvm::SmallVector<mlir::Value> ivsOfRows(llvm::ArrayRef<mlir::Value> rowIvs) const;

  /// Returns the nest of `op`: unit loops dropped, nothing collapsed yet.
  ///
  /// Errors: failure, silently, if an operand's address is not linear in the loop variables.
  static mlir::FailureOr<LoopNest> get(mlir::linalg::GenericOp op);

  /// Whether loops `outer` and `inner` can become one loop, `outer` the slower.
  bool canCollapse(unsigned outer, unsigned inner) const;
  void collapse(unsigned outer, unsigned inner);

  /// Collapses whatever can be among the loops that are not row loops. Pairs (outer, inner) that can are offered to
  /// `join`, if it is there, which refuses with false.
  void collapseAll(llvm::function_ref<bool(unsigned outer, unsigned inner)> join = nullptr);
};

/// A rough cost of one iteration of `op`, in nanoseconds on one core: memory traffic plus
/// arithmetic. Only good for deciding what is worth a second thread.
double estimatedIterationNs(const LoopNest &nest);

} // namespace hjx
