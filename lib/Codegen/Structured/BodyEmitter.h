// SPDX-License-Identifier: Apache-2.0
//
// The body of a structured op, emitted for several neighbouring iterations at
// once.
//
// Concept. One loop of the nest is the vector loop; a step covers `lanes` of its
// iterations. Each value of the body is one of three things in a step:
//
//   uniform      the same in all lanes: stays a scalar, and is emitted once
//                before the vector loop (a row's mean, a bias of another axis)
//   consecutive  base, base + 1, ...: the index of the vector loop; kept as its
//                scalar base, so that table[i, index] is one vector load
//   varying      a vector of `lanes` elements
//
// Example, x[i, j] * scale[i] with j the vector loop: scale[i] is uniform, its load
// is emitted before the loop over j; x[i, j] is varying, one vector load; the
// product broadcasts the scalar.
//
// With `lanes` = 1 everything is scalar; the same code serves remainders.
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"

namespace hjx {

/// A condition of a body on the variable of its vector loop, "j <= i" or the like, that no longer
/// changes from iteration `from` on.
struct Threshold {
  mlir::Operation *condition = nullptr;
  mlir::Value from;  // Of type index.
  bool then = false; // What it is from there on.
};

class BodyEmitter {
public:
  /// `vectorLoop` is -1 if the nest is emitted with scalars only. `flatBuffers` gives the rank-1
  /// buffer behind an operand or a captured memref, starting at its first element.
  BodyEmitter(const LoopNest &nest, int vectorLoop, const mlir::IRMapping &flatBuffers);

  /// Whether the body can be emitted for several lanes at once.
  static bool canVectorize(mlir::linalg::GenericOp op);

  /// Emits the addresses of the outputs, given the variables of the parallel loops.
  void emitOutputAddresses(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> ivs);

  /// Emits what is uniform, given the variables of all loops but the vector loop.
  void emitUniform(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> ivs);

  /// Emits the rest for iterations [iv, iv + lanes) of the vector loop. `accumulators` holds, per
  /// output, the value of its block argument, or null if the body does not need it; `inputs` may
  /// hold values of inputs that need no load, null for others.
  void emitVarying(mlir::ImplicitLocOpBuilder &b, mlir::Value iv, unsigned lanes,
                   llvm::ArrayRef<mlir::Value> accumulators,
                   llvm::ArrayRef<mlir::Value> inputs = {});

  /// After emitUniform: thresholds beyond which the body has less to do, because a select takes
  /// what is uniform and drops what was loaded or computed.
  llvm::SmallVector<Threshold> emitThresholds(mlir::ImplicitLocOpBuilder &b);
  /// What emitVarying emits from now on lies beyond `thresholds`.
  void assumeBeyond(llvm::ArrayRef<Threshold> thresholds);

  /// After emitVarying: `value` of the body as a vector of `lanes` (a scalar if that is 1).
  mlir::Value result(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

  /// Loads and stores of output `output` at the current step.
  mlir::Value loadOutput(mlir::ImplicitLocOpBuilder &b, unsigned output, mlir::Value iv,
                         unsigned lanes);
  void storeOutput(mlir::ImplicitLocOpBuilder &b, unsigned output, mlir::Value iv, unsigned lanes,
                   mlir::Value value);

private:
  enum class Kind { Uniform, Consecutive, Varying };
  void classify();
  Kind kindOfResult(mlir::Operation &op) const;
  void emitScalar(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op);
  void emitVector(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op);
  bool dropsVarying(mlir::arith::CmpIOp condition, bool then) const;
  mlir::Value emitKnown(mlir::ImplicitLocOpBuilder &b, bool value);
  mlir::Value emitGather(mlir::ImplicitLocOpBuilder &b, mlir::memref::LoadOp load);
  mlir::Value loopIndex(mlir::ImplicitLocOpBuilder &b, mlir::linalg::IndexOp index);
  mlir::Value asVector(mlir::ImplicitLocOpBuilder &b, mlir::Value bodyValue);
  mlir::Value baseAddress(mlir::ImplicitLocOpBuilder &b, const Access &access,
                          llvm::ArrayRef<mlir::Value> ivs);
  mlir::Value address(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value iv);
  mlir::Value loadStep(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value iv,
                       unsigned lanes);
  int64_t vectorStride(const Access &access) const {
    return vectorLoop < 0 ? 0 : access.strides[vectorLoop];
  }
  /// A value from outside the body, or one emitted for this step.
  mlir::Value lookup(mlir::Value bodyValue) const { return values.lookupOrDefault(bodyValue); }
  Kind kindOf(mlir::Value bodyValue) const {
    auto it = kinds.find(bodyValue);
    return it == kinds.end() ? Kind::Uniform : it->second;
  }

  const LoopNest &nest;
  int vectorLoop;
  const mlir::IRMapping &flatBuffers;
  llvm::DenseMap<mlir::Value, Kind> kinds;
  llvm::SmallVector<mlir::Operation *> uniformOps, varyingOps;
  llvm::SmallDenseMap<mlir::Operation *, bool>
      known; // Conditions that hold, or do not, in all lanes.
  llvm::SmallVector<mlir::Value> loopIvs;
  mlir::IRMapping values;
  llvm::SmallVector<mlir::Value> bases; // Per access: its address without the vector loop.
  unsigned stepLanes = 1;
};

} // namespace hjx
