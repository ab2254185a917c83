// SPDX-License-Identifier: Apache-2.0
//
// What every kernel of a matrix product does around its tiles, whichever unit multiplies them: it
// reads the arguments (ProductKernel.h), finds the tile of its block, and loops over summed axes
// beside k.
#pragma once

#include "lib/Codegen/Gpu/KernelFrame.h"
#include "lib/Codegen/Gpu/ProductKernel.h"
#include "lib/Support/SizeBytes.h"

namespace hjx {

/// A or B as a block sees it: a matrix of sides (rows of A, columns of B) times k.
struct ProductFactor {
  mlir::Value buffer; ///< Flat.
  mlir::Value sideStride, sumStride, sideSize;
  mlir::Value first;     ///< Where this block's part begins, in elements.
  mlir::Value firstSide; ///< Its first side.
  int64_t tileSide, lanes;
  bool alongSum, raggedSide;
  Packing packing;
  bool isScaled = false;
};

class ProductFrame : protected KernelFrame {
protected:
  /// Emits at the start of `kernel`, whose arguments are those of emitProductKernel.
  ProductFrame(mlir::gpu::GPUFuncOp kernel, const ProductKernelConfig &config);

  /// Runs `tiles`, which adds the product along k to the accumulators, for each combination of the
  /// other summed axes.
  Values emitSum(Values accumulators, llvm::function_ref<Values(Values)> tiles, unsigned depth = 0);

  Value argument(unsigned index) { return kernel.getArgument(index); }
  /// What a loop has: 0 its size, 1 and 2 its stride in A and B.
  Value batchArgument(unsigned loop, unsigned which) { return size(9 + 3 * loop + which); }
  Value sumArgument(unsigned loop, unsigned which) {
    return size(9 + 3 * (config.numBatchLoops + loop) + which);
  }
  mlir::VectorType vectorOf(mlir::Type type, int64_t lanes) {
    return mlir::VectorType::get({lanes}, type);
  }
  Value zero(mlir::Type type) { return mlir::arith::ConstantOp::create(b, b.getZeroAttr(type)); }
  int64_t operandBytes() const { return elementBytes(config.operandType); }
  /// Vectors of a tile that a thread brings.
  int64_t numChunks(const ProductFactor &factor) const {
    return factor.tileSide * tile.k / factor.lanes / k.blockSize;
  }
  /// This element of `factor`, or these neighbours, as they lie in memory.
  Value loadLanes(const ProductFactor &factor, Value at);
  /// As operands of the product: those of `side` in the tile and `position` along k, or from there on.
  Value unpack(const ProductFactor &factor, Value loaded, Value side, Value position);
  /// How many tiles lie along k.
  Value numSteps() { return quotient(add(sum, index(tile.k - 1)), tile.k); }

  /// Runs `body` with the sums of the block's tile, as they came. Of a split product they are those of all its
  /// blocks, and only the last of these runs it. Not called by threads that have no sums.
  void whenSummed(llvm::ArrayRef<Value> sums, llvm::function_ref<void(llvm::ArrayRef<Value>)> body);
  /// Ends neighbouring sums of a row: the epilogue runs, and its results are written. Row and column are
  /// those of the block's tile.
  void finish(llvm::ArrayRef<Value> sums, Value row, Value column);
  /// Ends a warp's part of C, which begins at a row and a column of the block's tile: sums as mma and
  /// wgmma leave them, 16 rows after 16 rows, 8 columns after 8.
  void finishFragments(llvm::ArrayRef<Value> sums, Value warpRow, Value warpCol, int64_t numM);

  const ProductKernelConfig &config;
  const ProductTile &tile;
  ProductFactor lhs, rhs;
  Value m, n, sum;
  Value firstRow, firstCol; ///< Of the block's tile of C.
  Values batchDigits;       ///< Which one of the batch it is, along each axis.
  Value firstSum;           ///< Where its part of k begins; null if that is at 0. `sum` is how much it is.

private:
  /// Buffers before those of the epilogue.
  unsigned numFactors() const { return config.scales ? 3 : 2; }
  /// The arguments after the buffers.
  Value size(unsigned index) { return argument(numFactors() + config.elements.size() + index); }
  /// The scales of the numbers that unpack takes.
  Value loadScales(const ProductFactor &factor, Value side, Value position);
  /// What a split product has: its tiles; blocks for each; elements of k for each of these; the first of its
  /// counters; a buffer for sums.
  Value splitArgument(unsigned index) { return argument(kernel.getNumArguments() - 5 + index); }
  /// Waits for the threads that have sums.
  void joinSummers();
  void finishGroup(llvm::ArrayRef<Value> sums, llvm::ArrayRef<Value> places);

  /// A buffer of the epilogue as a block sees it.
  struct Elements {
    Value buffer, row, col; ///< Strides; null where the elements do not differ.
    Value first;            ///< Where the tile begins.
  };
  llvm::SmallVector<Elements> elements;
  struct {
    Value side, sum; ///< Strides from group to group.
    Value first;     ///< Where those of the block's matrix begin.
    Values loops;    ///< Strides along sum loops.
  } scales;
  Value tileNumber, split; ///< Of a split product.
};

} // namespace hjx
