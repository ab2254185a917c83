// SPDX-License-Identifier: Apache-2.0
//
// How long the kernel of a matrix product takes with a tile, by a model of the chip: what
// ProductSchedule.cpp chooses by.
//
// Concept (idea: the roofline, Williams et al. 2009, per multiprocessor, and the waves of blocks of CUTLASS's
// heuristics). All multiprocessors but the busiest are idle at the end, so its blocks count:
//
//   blocks of the busiest = blocks / multiprocessors, rounded up
//   a step along k takes the longest of   multiplications / rate
//                                         bytes of fragments / shared memory's rate
//                                         bytes of the tiles / L2's rate
//   and no less than a load's latency / loads under way, once for all blocks that are resident at the same time
//
// What does not depend on the tile is left out: the launch, and the bytes of the device's memory, which are read
// once. Splitting the sum among blocks (ProductKernel.h) is more blocks of fewer steps; each writes its sums, one
// of them reads those of all, and both may go to the device's memory.
//
// The model is a function of the chip that is compiled for: the same on every machine.
#pragma once

#include "lib/Codegen/Gpu/ProductKernel.h"

namespace hjx {

/// A chip, per multiprocessor and cycle where it says nothing else.
struct ChipModel {
  int64_t numProcessors;
  int64_t sharedBytes;         ///< for all resident blocks
  double multiplyBytes;        ///< multiplications on tensor cores times the bytes of a factor's element
  double mmaShare;             ///< of these, that mma.sync reaches
  double l2Bytes, deviceBytes; ///< deviceBytes: of all multiprocessors together

  /// The model of "sm_80" or a later chip.
  static const ChipModel &of(llvm::StringRef chip);
};

/// A product as the model sees it.
struct ProductWork {
  ProductSizes sizes;
  int64_t numBatches = 1, numSums = 1; ///< products that are results, and that are added up
  int64_t operandBytes = 4, accumulatorBytes = 4;
};

/// A tile, and among how many blocks each of its sums is split.
struct ProductSchedule {
  ProductTile tile;
  int64_t splits = 1;

  int64_t numTiles(const ProductWork &work) const;
  /// How much of k a block sums up: whole steps.
  int64_t sumOfSplit(int64_t k) const;
  /// Cycles that a kernel takes.
  double cycles(const ProductWork &work, const ChipModel &chip) const;
  /// "128x128 split 2": the tile, and the splits if there are several.
  std::string text() const;
  /// All of `tiles` and their splits, the one that takes least first; a split comes first only if that gains enough.
  static std::vector<ProductSchedule> rank(llvm::ArrayRef<ProductTile> tiles, bool maySplit, const ProductWork &work,
                                           const ChipModel &chip);
};

} // namespace hjx
