// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace hjx::ir {

bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank) {
  SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return false;
    seen.set(dim);
  }
  return true;
}

bool areAscendingDims(ArrayRef<int64_t> dims, int64_t rank) {
  return areDistinctDims(dims, rank) && llvm::is_sorted(dims);
}

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  if (is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    if (MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

SmallVector<int64_t> dimsExcept(int64_t rank, ArrayRef<int64_t> excluded, ArrayRef<int64_t> alsoExcluded) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!is_contained(excluded, dim) && !is_contained(alsoExcluded, dim))
      dims.push_back(dim);
  return dims;
}

SmallVector<int64_t> iotaDims(int64_t rank) { return dimsExcept(rank, {}); }

SmallVector<int64_t> inversePermutation(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, dim] : enumerate(permutation))
    inverse[dim] = i;
  return inverse;
}

SmallVector<int64_t> pickDims(ArrayRef<int64_t> dims, ArrayRef<int64_t> indices) {
  return map_to_vector(indices, [&](int64_t i) { return dims[i]; });
}

} // namespace hjx::ir
