// SPDX-License-Identifier: Apache-2.0
//
// What the functions of a generated matrix product share: the context that carries the arguments
// between them, and the generator that emits them. From the entry point down:
//
//   entry       stores its arguments in a context; batch, or one product after the other
//   .batch      (context, part): whole products, each by one thread
//   .product    (context): chooses one of the ways below
//
//   packed      for chunks of B: parallel .pack_b, parallel .multiply       GemmPacked.cpp
//   light       small or narrow: A is read in place, B when it can be       GemmLight.cpp
//   row, dots   one row of C: B is read once, in its own order              GemmLight.cpp
//
// A part is a share of the work. Functions that take one are bodies of parallel loops, which
// is why the arguments travel in a context in memory.
#pragma once

#include "lib/Codegen/Cpu/GemmKernels.h"

namespace hjx::gemm {

/// The fields of a context: 64-bit integers and pointers.
enum Slot : unsigned {
  // clang-format off
  A, ABatch0, ABatch1, ARow, ACol,
  B, BBatch0, BBatch1, BRow, BCol,
  C, CBatch0, CBatch1, CRow, CCol,
  Batch0, Batch1, M, N, K,
  Accumulate, Workspace, Parts,
  Scales, ScalesBatch0, ScalesBatch1, ScalesSide, ScalesSum, SideGroup, SumGroup, // As the next, if a factor is scaled.
  // clang-format on
  FirstSide, FirstSum, ///< where the scaled factor begins in the whole one
  Private,       ///< where the private buffers of part 0 begin
  PrivateStride, ///< bytes between the private buffers of two parts
  PackB,         ///< light: whether B is packed
  NumSlots
};

/// The fields of a context as values in a function, null where they are not used.
struct Context {
  std::array<mlir::Value, NumSlots> slots;
  Emitter *e;

  Int operator[](Slot slot) const { return e->wrap(slots[slot]); }
  void set(Slot slot, mlir::Value value) { slots[slot] = value; }
  mlir::Value isSet(Slot slot) const {
    return e->compare(mlir::arith::CmpIPredicate::ne, (*this)[slot], e->constant(0));
  }
  /// Address of element (i, j) of A, B or C.
  mlir::Value element(Slot matrix, mlir::Type type, Int i, Int j) const;

  static Context load(Emitter &e, mlir::Value address);
  void store(mlir::Value address) const;
  /// Memory for a context. Only at the top of a function: stack memory in a loop adds up.
  static mlir::Value allocate(Emitter &e);
};

class Generator {
public:
  Generator(mlir::ModuleOp module, const GemmConfig &config, const Tiling &tiling);
  mlir::func::FuncOp generate();

private:
  using Function = mlir::LLVM::LLVMFuncOp;

  /// A rectangle of tiles of C.
  struct Rectangle {
    Int rowBegin, rowEnd, colBegin, colEnd;
  };

  // GemmPacked.cpp
  Function emitPackPart();
  Function emitMultiplyPart();
  /// Fills a panel: `count` rows of A or columns of B from `first` on, `depth` of k from k0 on.
  void pack(bool isLhs, const Context &c, Int first, Int count, Int k0, Int depth, mlir::Value panel);
  void emitTiles(const Context &c, mlir::Value buffers, Int k0, Int depth, Int firstRow,
                 Int lastRow, Int firstCol, Int lastCol);
  // GemmLight.cpp
  mlir::Value isLight(const Context &c);
  mlir::Value packsBWhenLight(const Context &c);
  Rectangle allLightTiles(const Context &c);
  void emitLightTiles(const Context &c, const Rectangle &tiles, mlir::Value buffer);
  Function emitLightPart();
  Function emitRowPart();
  Function emitDotsPart();
  // Gemm.cpp
  void emitChunks(const Context &c, mlir::Value chunkAddress);
  Function emitProduct();
  Function emitBatchPart();
  mlir::func::FuncOp emitEntry();

  mlir::Value bytes(mlir::Value base, Int offset) { return e.at(base, e.getI8Type(), offset); }
  /// Part `part` of `parts` nearly equal shares of [0, total).
  std::pair<Int, Int> share(Int total, Int part, Int parts) {
    return {total * part / parts, total * (part + 1) / parts};
  }
  /// Cuts [begin, end) into the fewest blocks of at most `limit`, all nearly equal.
  void forBlocks(Int begin, Int end, int64_t limit, llvm::function_ref<void(Int, Int)> body);

  /// The share of C that belongs to a part.
  Rectangle rectangleOf(Int rowTiles, Int colTiles, Int part, Int parts);

  /// The function (context, part). `body` also gets memory for another context.
  Function parallelBody(llvm::StringRef suffix,
                        llvm::function_ref<void(Context, Int, mlir::Value)> body);
  /// Runs `body` for parts [0, parts), through the runtime's pool when there is one.
  void parallel(Function body, mlir::Value context, Int parts);

  Emitter e;
  mlir::ModuleOp module;
  const GemmConfig &config;
  const Tiling &t;
  std::string name;
  Function microKernel, packA, packB, scalePanel, writeBack, lightKernel, narrowKernel, rowKernel, dotsKernel;
  Function packPart, multiplyPart, lightPart, rowPart, dotsPart, product, batchPart;
};

} // namespace hjx::gemm
