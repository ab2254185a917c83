// SPDX-License-Identifier: Apache-2.0
//
// Questions about dimension lists that verifiers and rules share.
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hjx::ir {

/// Every entry in [0, rank), none twice.
bool areDistinctDims(llvm::ArrayRef<int64_t> dims, int64_t rank);

/// As areDistinctDims, and ascending.
bool areAscendingDims(llvm::ArrayRef<int64_t> dims, int64_t rank);

/// The product of the sizes, or none when 64 bits do not hold it.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The dimensions of [0, rank) that are in none of the lists, ascending.
llvm::SmallVector<int64_t> dimsExcept(int64_t rank, llvm::ArrayRef<int64_t> excluded,
                                      llvm::ArrayRef<int64_t> alsoExcluded = {});

/// 0, 1, ..., rank - 1.
llvm::SmallVector<int64_t> iotaDims(int64_t rank);

/// inverse[permutation[i]] = i.
llvm::SmallVector<int64_t> inversePermutation(llvm::ArrayRef<int64_t> permutation);

/// dims[i] for each i in `indices`.
llvm::SmallVector<int64_t> pickDims(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> indices);

} // namespace hjx::ir
