// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of attention share: where a block's matrices are, tiles in shared memory, and
// the two products, scores = rows * columns^T and sums += scores * columns. See AttentionKernel.h.
#pragma once

#include "lib/Codegen/Gpu/AttentionFragments.h"

namespace hjx {

class AttentionFrame : protected AttentionFragments {
protected:
  AttentionFrame(mlir::gpu::GPUFuncOp kernel, const AttentionKernelConfig &config);

  /// A matrix of this block's batch and head: rows of features, or one number a row.
  struct Matrix {
    Value address;  ///< Of position 0, in global memory.
    Value rowBytes; ///< From position to position.
    Value size;     ///< How many there are.
  };
  Matrix matrix(unsigned number, mlir::Type elementType, Value size);

  /// A tile in shared memory, or a ring of two; rows have 16 bytes of padding, so that the 8 rows
  /// that ldmatrix reads lie in different banks.
  struct Tile {
    Value address;
    int64_t numRows, stageBytes;
  };
  Tile makeTile(int64_t numRows, int64_t numStages);
  Value makeBytes(int64_t size);
  /// Asks for the rows of `from` that begin at `first`.
  void copy(const Tile &to, const Matrix &from, Value first, Value stage = {});

  /// A tile of scores, 16 rows of it a warp's: for each 8 columns an mma's 4 results, which are two
  /// neighbours in row lane / 4, and two 8 rows further on. Without tensor cores, too.
  Values scores(const Tile &rows, const Tile &columns, Value stage);
  /// sums + scores * columns, with sums as scores: 4 for each 8 features. Without tensor cores two
  /// such groups have 16 features, of which a lane has 4 neighbours.
  void accumulate(Values &sums, llvm::ArrayRef<Value> scores, const Tile &columns, Value stage);
  /// `scores` of the columns from `firstColumn` on, with -inf where a query does not see a key.
  Values hide(Values scores, Value firstColumn);
  /// exp2(score * factor + shift)
  Value weight(Value score, Value factor, Value shift);
  /// Writes sums * factor (one for each half of the rows) to a tile of rows of `to`.
  void write(llvm::ArrayRef<Value> sums, std::array<Value, 2> factors, const Matrix &to);

  /// For each tile of columns that a row of this block sees, runs `body` with the number of its
  /// first column, the stage where `copyColumns` has put it, and values that go from one to the
  /// next.
  Values forEachColumns(Values values,
                        llvm::function_ref<void(Value first, Value stage)> copyColumns,
                        llvm::function_ref<Values(Value first, Value stage, Values)> body);

  Value number(double value) {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value addF(Value x, Value y) { return mlir::arith::AddFOp::create(b, x, y); }
  Value subF(Value x, Value y) { return mlir::arith::SubFOp::create(b, x, y); }
  Value mulF(Value x, Value y) { return mlir::arith::MulFOp::create(b, x, y); }
  /// Strict f32 has the functions that every other kernel has.
  Value exp2(Value x) {
    return isTensor() ? intrinsic("llvm.nvvm.ex2.approx.ftz", b.getF32Type(), x)
                      : mlir::math::Exp2Op::create(b, x).getResult();
  }
  Value log2(Value x) {
    return isTensor() ? intrinsic("llvm.nvvm.lg2.approx.f", b.getF32Type(), x)
                      : mlir::math::Log2Op::create(b, x).getResult();
  }

  /// The row of this lane in the tile: lane / 4 of its warp's 16, or 8 rows further on.
  Value laneRow(int64_t half) { return add(firstLaneRow, index(8 * half)); }
  /// The number of a row at this block's tile, from a number in the tile.
  Value position(Value row) { return add(firstRow, row); }
  bool rowsAreQueries() const { return config.part != AttentionPart::KeyBar; }
  Value numRows() const { return rowsAreQueries() ? numQueries : numKeys; }
  Value numColumns() const { return rowsAreQueries() ? numKeys : numQueries; }

  Value numQueries, numKeys, scale;
  Value scaleLog2;  ///< scale / ln 2: exponentials are of base 2.
  Value firstRow;   ///< Of the block.

private:
  /// A left factor times pairs of right factors.
  void multiplyTile(Values &sums, llvm::ArrayRef<Value> row, int64_t numPairs,
                    llvm::function_ref<Values(int64_t pair)> fragment);
  /// A loop: multiply-adds that were written out would be thousands.
  Values repeat(int64_t count, Values values, llvm::function_ref<void(Value, Values &)> body);
  Value stageOf(const Tile &tile, Value stage);

  Value batch, head;
  Value copyRow, copyColumn; // This thread's part of a copy.
  int64_t copyStep;
};

} // namespace hjx
