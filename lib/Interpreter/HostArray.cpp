// SPDX-License-Identifier: Apache-2.0
#include "lib/Interpreter/HostArray.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace hjx {

int64_t HostArray::elementSizeBytes(Type element) {
  if (isa<ir::KeyType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

HostArray::HostArray(RankedTensorType type)
    : arrayType(type), storage(type.getNumElements() * elementSizeBytes(type.getElementType()), 0) {
}

FailureOr<HostArray> HostArray::fromElements(ElementsAttr elements) {
  HostArray array(cast<RankedTensorType>(elements.getType()));
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    if (array.isFloat()) {
      for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>()))
        array.setInteger(i, value.bitcastToAPInt());
    } else {
      for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
        array.setInteger(i, value);
    }
    return array;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != array.storage.size())
      return failure();
    llvm::copy(blob->getData(), array.storage.begin());
    return array;
  }
  return failure();
}

int64_t HostArray::offsetOf(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape()))
    offset = offset * size + i;
  return offset;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The bits of element `i`, of `sizeBytes`, in the low end.
static uint64_t loadBits(ArrayRef<char> storage, int64_t i, int64_t sizeBytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, storage.data() + i * sizeBytes, sizeBytes);
  return bits;
}

double HostArray::getFloat(int64_t i) const {
  auto type = cast<FloatType>(elementType());
  APInt bits(type.getWidth(), loadBits(storage, i, elementSizeBytes()));
  return APFloat(type.getFloatSemantics(), bits).convertToDouble();
}

void HostArray::setFloat(int64_t i, double value) {
  APFloat rounded(value);
  bool isInexact;
  rounded.convert(cast<FloatType>(elementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &isInexact);
  setInteger(i, rounded.bitcastToAPInt());
}

llvm::APSInt HostArray::getInteger(int64_t i) const {
  auto type = cast<IntegerType>(elementType());
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  return llvm::APSInt(APInt(type.getWidth(), loadBits(storage, i, elementSizeBytes())), isUnsigned);
}

void HostArray::setInteger(int64_t i, const APInt &value) {
  unsigned width = elementType().getIntOrFloatBitWidth();
  uint64_t bits = value.zextOrTrunc(width).getZExtValue();
  std::memcpy(storage.data() + i * elementSizeBytes(), &bits, elementSizeBytes());
}

int64_t HostArray::getIndex(int64_t i) const {
  llvm::APSInt value = getInteger(i);
  return value.isRepresentableByInt64() ? value.getExtValue() : std::numeric_limits<int64_t>::max();
}

void HostArray::setElement(int64_t i, const HostArray &from, int64_t j) {
  assert(from.elementType() == elementType());
  int64_t size = elementSizeBytes();
  std::memcpy(storage.data() + i * size, from.storage.data() + j * size, size);
}

std::pair<uint32_t, uint32_t> HostArray::getKey(int64_t i) const {
  uint32_t words[2];
  std::memcpy(words, storage.data() + i * sizeof(words), sizeof(words));
  return {words[0], words[1]};
}

void HostArray::setKey(int64_t i, std::pair<uint32_t, uint32_t> key) {
  uint32_t words[2] = {key.first, key.second};
  std::memcpy(storage.data() + i * sizeof(words), words, sizeof(words));
}

HostArray HostArray::withType(RankedTensorType type) const {
  HostArray array(type);
  assert(array.storage.size() == storage.size() && "a view keeps the number of bytes");
  array.storage = storage;
  return array;
}

void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    int64_t dim = shape.size() - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

} // namespace hjx
