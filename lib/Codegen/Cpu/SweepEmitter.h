// SPDX-License-Identifier: Apache-2.0
//
// Emits one walk along a vector loop: of one structured op, or of several of a group
// that share it (hjx-join-sweeps says which may). What one op writes the next takes
// from the register:
//
//   mu = 0.9 mu + 0.1 g           for j by 32:    one loop, g, mu and p loaded once
//   p = p - 0.001 mu                .. mu[j] .. p[j]
//
// Reductions. The partial sums of a row and the tree that joins them depend on the
// sizes alone, so the bits of a result do not depend on how rows are spread over
// threads, nor on which ops share the walk.
//
// Masks. "x[j] where j <= i, else -1e10" is the same for all j behind i: what is left
// to do there has a loop of its own, in which the compiler finds little to compute.
//
// Remainders. Sizes are static, so what is left after whole vectors is cut into
// powers of two (29 = 16 + 8 + 4 + 1), each with vectors of exactly that size: no
// masks, nothing read or written out of bounds, the same arithmetic per element.
#pragma once

#include "lib/Codegen/Cpu/LaneReduction.h"
#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/VectorSchedule.h"

namespace hjx {

/// Part of a parallel vector loop: `begin` is a multiple of the lanes, `end` is one or the size.
struct VectorRange {
  mlir::Value begin, end;
};

/// A vector loop: all that ops must agree on to share one.
struct VectorLoop {
  int64_t size = 1;
  unsigned lanes = 1;
  bool operator==(const VectorLoop &) const = default;

  /// That of `nest`, or a loop of one iteration if it has none.
  static VectorLoop of(const LoopNest &nest, const VectorSchedule &schedule);
  /// That of `nest` if its other loops are row loops: what an op needs to share it.
  static std::optional<VectorLoop> onlyOneOf(const LoopNest &nest, const VectorSchedule &schedule);
};

using Values = llvm::SmallVector<mlir::Value>;
using WholeStep = llvm::function_ref<Values(mlir::Value iv, mlir::ValueRange carried)>;
using RestStep = llvm::function_ref<void(mlir::Value iv, unsigned lanes)>;

/// Other steps for the vectors that begin at iteration `from` (of any value) or later.
struct VectorTail {
  mlir::Value from;
  WholeStep whole;
};

/// Emits `loop`, or `range` of it: `whole` for each vector of all lanes, in a loop that carries
/// `carried`, then `rest` for shorter ones. Returns what is carried in the end.
Values emitVectorLoop(mlir::ImplicitLocOpBuilder &b, VectorLoop loop,
                      std::optional<VectorRange> range, mlir::ValueRange carried, WholeStep whole,
                      RestStep rest, std::optional<VectorTail> tail = std::nullopt);

class SweepEmitter {
public:
  SweepEmitter(mlir::ImplicitLocOpBuilder &b, const mlir::IRMapping &flatBuffers)
      : b(b), flatBuffers(flatBuffers) {}

  /// Appends an op, whose vector loop must be that of the ops before; it and its schedule must
  /// outlive this. Its loops but the vector loop are rows, or emitted by the caller around the
  /// walk: their variables are in `ivs`, which is read when something is emitted.
  void add(const LoopNest &nest, const VectorSchedule &schedule, const Values &ivs);

  /// Emits what comes before the walk; returns what reductions carry.
  Values begin();
  /// Emits the walk, for parallel ops perhaps over `range` only; returns what reductions carry.
  Values walk(mlir::ValueRange carried, std::optional<VectorRange> range = std::nullopt);
  /// Emits what comes after the last walk: stores what reductions carried.
  void end(mlir::ValueRange carried);

private:
  struct Member {
    const LoopNest &nest;
    const VectorSchedule &schedule;
    const Values &ivs;
    BodyEmitter body;
    llvm::SmallVector<LaneReduction, 0> reductions; // One per output, or none.
  };
  /// What this step has stored: `operand` is reached at one place only in a step.
  struct Stored {
    mlir::Value operand, value;
  };

  void emitBody(Member &member, mlir::Value iv, unsigned lanes);
  void emitStores(Member &member, mlir::Value iv, unsigned lanes);
  Values emitStep(mlir::Value iv, unsigned lanes, mlir::ValueRange inLanes);
  void emitRest(mlir::Value iv, unsigned lanes, llvm::MutableArrayRef<mlir::Value> totals);
  /// What this step has stored in the place of `access`, or null.
  mlir::Value storedAt(const Access &access) const;

  mlir::ImplicitLocOpBuilder &b;
  const mlir::IRMapping &flatBuffers;
  llvm::SmallVector<Member, 0> members;
  llvm::SmallVector<Stored> stored;
  size_t numInLanes = 0; // Of the carried values; totals that remainders add to follow.
};

} // namespace hjx
