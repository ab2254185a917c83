// SPDX-License-Identifier: Apache-2.0
//
// A dense array in host memory, as the interpreter and the tests see it: an
// array type and its elements, row-major, in the layout of the runtime's ABI
// (runtime/ElementType.h): a bool is one byte, 0 or 1; a random key is its two
// 32-bit words; everything is little-endian and contiguous. Bytes can therefore
// be copied to and from a compiled program's buffers without conversion.
//
// Elements are read as `double` (floats) or `APSInt` (integers and bools, which
// know width and signedness) and written with one rounding to the element type.
#pragma once

#include "dialects/hjx/Hjx.h"

#include "llvm/ADT/APSInt.h"

#include <cstring>
#include <vector>

namespace hjx {

class HostArray {
public:
  HostArray() = default;
  /// Zeros of `type`, whose elements are numbers, bools or keys.
  explicit HostArray(mlir::RankedTensorType type);

  /// The array `elements` stands for.
  ///
  /// Errors: failure, without a diagnostic, for kinds of ElementsAttr that hold
  ///         no elements here (a resource that was not loaded).
  static mlir::FailureOr<HostArray> fromElements(mlir::ElementsAttr elements);

  /// `values` are the elements' storage: `float` for f32, `uint8_t` for bool.
  template <typename T> static HostArray of(mlir::RankedTensorType type, llvm::ArrayRef<T> values) {
    HostArray array(type);
    assert(values.size() * sizeof(T) == array.storage.size() && "values do not fill the array");
    if (!values.empty())
      std::memcpy(array.storage.data(), values.data(), array.storage.size());
    return array;
  }

  mlir::RankedTensorType type() const { return arrayType; }
  mlir::Type elementType() const { return arrayType.getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return arrayType.getShape(); }
  int64_t rank() const { return arrayType.getRank(); }
  int64_t dim(int64_t axis) const { return arrayType.getDimSize(axis); }
  int64_t numElements() const { return arrayType.getNumElements(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(elementType()); }
  /// Integers and bools.
  bool isInteger() const { return mlir::isa<mlir::IntegerType>(elementType()); }

  llvm::ArrayRef<char> bytes() const { return storage; }
  llvm::MutableArrayRef<char> bytes() { return storage; }

  /// Bytes of one element: 8 for a key.
  static int64_t elementSizeBytes(mlir::Type element);
  int64_t elementSizeBytes() const { return elementSizeBytes(elementType()); }

  /// The place of `index` in row-major order.
  int64_t offsetOf(llvm::ArrayRef<int64_t> index) const;

  /// Element `i` in row-major order, of a float array.
  double getFloat(int64_t i) const;
  /// Rounds to the element type, to nearest even.
  void setFloat(int64_t i, double value);

  /// Element `i` of an integer or bool array (bools are unsigned, of width 1).
  llvm::APSInt getInteger(int64_t i) const;
  /// Wraps to the element type's width.
  void setInteger(int64_t i, const llvm::APInt &value);
  /// As getInteger, saturated to int64_t: an index or a start.
  int64_t getIndex(int64_t i) const;

  /// Copies element `j` of `from`, which has this array's element type.
  void setElement(int64_t i, const HostArray &from, int64_t j);

  /// The two words of key `i`.
  std::pair<uint32_t, uint32_t> getKey(int64_t i) const;
  void setKey(int64_t i, std::pair<uint32_t, uint32_t> words);

  /// The same bytes under a type of equal size: reshape and bitcast.
  HostArray withType(mlir::RankedTensorType type) const;

private:
  mlir::RankedTensorType arrayType;
  std::vector<char> storage;
};

/// Calls `visit(index)` for each index of `shape`, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

} // namespace hjx
