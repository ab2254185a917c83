// SPDX-License-Identifier: Apache-2.0
//
// Emits one structured op for the threads of a team: see ThreadSchedule.h for who does what.
#pragma once

#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/Combiner.h"
#include "lib/Codegen/Gpu/ThreadSchedule.h"
#include "lib/Codegen/Gpu/Threads.h"

namespace hjx {

/// Emits a reduction of values that `term` makes, joined by `combiners` (one per value).
class TeamReduction {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  TeamReduction(KernelBuilder &kernel, const ReductionTile &tile,
                llvm::ArrayRef<Combiner> combiners);

  /// Where this thread stands: which result of the tile, which of the threads on it.
  mlir::Value resultInTile() const { return along; }
  mlir::Value threadOfResult() const { return across; }
  mlir::Value isLeader(); // Null if every thread is one.

  /// Joins `partial`, one value per combiner, of the threads of each result: in the leader the
  /// result is the total. All threads of the block must take part.
  Values join(Values partial);

private:
  Values joinWarps(Values partial);
  Values joinStripes(Values partial);
  mlir::Value bufferFor(unsigned output, mlir::Type type, int64_t numElements);

  KernelBuilder &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ReductionTile tile;
  llvm::ArrayRef<Combiner> combiners;
  mlir::Value along, across;
  llvm::SmallVector<mlir::Value> buffers; // Per output, made at first use.
};

class ThreadNestEmitter {
public:
  ThreadNestEmitter(KernelBuilder &kernel, const LoopNest &nest, const ThreadSchedule &schedule,
                    const mlir::IRMapping &flatBuffers, llvm::ArrayRef<mlir::Value> rowIvs = {});

  /// Reductions start from zero, whatever their outputs hold.
  void startFromZero() { isFromZero = true; }

  /// One unit of the parallel loops after the other per thread; reductions stay within a thread,
  /// in the order of the loops.
  void emitUnits(const Team &team);

  /// The body for unit `unit` of the parallel loops.
  void emitUnit(mlir::Value unit);

  /// The reduction for the results of tile `tileIndex`. With `partials` (one buffer per output)
  /// only split `split` of the terms, stored there at [split, result].
  void emitTile(const ReductionTile &tile, mlir::Value tileIndex, mlir::Value split = {},
                llvm::ArrayRef<mlir::Value> partials = {});

  /// The reduction for all results, one tile after the other.
  void emitTiles(const ReductionTile &tile);

  /// Joins what `numSplits` splits left in `partials`, for the results of tile `tileIndex`.
  void emitJoin(const ReductionTile &tile, mlir::Value tileIndex, int64_t numSplits,
                llvm::ArrayRef<mlir::Value> partials);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  void takeUnit(llvm::ArrayRef<unsigned> loops, mlir::Value unit);
  mlir::Value vectorIv() const;
  /// What output `output` begins with.
  mlir::Value startOf(unsigned output, mlir::Value iv, unsigned lanes);
  Values reduceInThread(unsigned depth, mlir::ValueRange carried);
  Values results();

  /// Which terms of which result are this thread's.
  struct Share {
    mlir::Value result, isMine, begin, end; // isMine is null if there is a result for all threads.
  };
  Values reduce(TeamReduction &team, const ReductionTile &tile, const Share &share, unsigned lanes,
                llvm::function_ref<Values(mlir::Value term)> terms);
  Share shareOf(TeamReduction &team, const ReductionTile &tile, mlir::Value tileIndex,
                int64_t numTerms, mlir::Value split);
  void whenWriting(TeamReduction &team, const Share &share, llvm::function_ref<void()> body);
  void storeTotals(llvm::ArrayRef<mlir::Value> totals);

  KernelBuilder &kernel;
  mlir::ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  const ThreadSchedule &schedule;
  BodyEmitter body;
  llvm::SmallVector<Combiner> combiners; // If the reductions may be split.
  llvm::SmallVector<mlir::Value> ivs;    // Per loop; null where not yet known.
  bool isFromZero = false;
};

/// The type in which values of `type` lie in shared memory: no buffer holds i1.
mlir::Type storedType(mlir::Type type);
void storeValue(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Value buffer,
                mlir::Value at);
mlir::Value loadValue(mlir::ImplicitLocOpBuilder &b, mlir::Type type, mlir::Value buffer,
                      mlir::Value at);

} // namespace hjx
