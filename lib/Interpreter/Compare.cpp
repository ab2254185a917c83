// SPDX-License-Identifier: Apache-2.0
#include "lib/Interpreter/Compare.h"

#include <charconv>
#include <cmath>

using namespace mlir;

namespace hjx {

static ArrayRef<char> elementBytes(const HostArray &array, int64_t i) {
  int64_t size = array.elementSizeBytes();
  return array.bytes().slice(i * size, size);
}

int64_t ulpDistance(const HostArray &a, const HostArray &b, int64_t i) {
  if (!std::isfinite(a.getFloat(i)) || !std::isfinite(b.getFloat(i)))
    return std::numeric_limits<int64_t>::max();
  // Magnitude bits count representable numbers from zero; the sign mirrors them.
  auto place = [&](const HostArray &array) {
    unsigned width = array.elementType().getIntOrFloatBitWidth();
    uint64_t bits = 0;
    llvm::copy(elementBytes(array, i), reinterpret_cast<char *>(&bits));
    APInt number(width, bits);
    bool isNegative = number.isNegative();
    number.clearSignBit();
    APInt magnitude = number.zext(66);
    return isNegative ? -magnitude : magnitude;
  };
  return static_cast<int64_t>(
      (place(a) - place(b)).abs().getLimitedValue(std::numeric_limits<int64_t>::max()));
}

static bool areEqual(const HostArray &got, const HostArray &expected, int64_t i,
                     const Tolerance &tolerance) {
  if (elementBytes(got, i) == elementBytes(expected, i))
    return true;
  if (!got.isFloat())
    return false;
  double g = got.getFloat(i), e = expected.getFloat(i);
  if (std::isnan(g) || std::isnan(e))
    return std::isnan(g) && std::isnan(e);
  if (tolerance.bitwise)
    return false;
  if (std::isinf(g) || std::isinf(e))
    return g == e;
  return std::abs(g - e) <= tolerance.atol + tolerance.rtol * std::abs(e) ||
         ulpDistance(got, expected, i) <= tolerance.ulps;
}

std::optional<Difference> findDifference(const HostArray &got, const HostArray &expected,
                                         Tolerance tolerance) {
  assert(got.type() == expected.type() && "only arrays of one type compare");
  constexpr unsigned maxShown = 4;
  Difference difference;
  for (int64_t i = 0, e = got.numElements(); i < e; ++i) {
    if (areEqual(got, expected, i, tolerance))
      continue;
    ++difference.numDifferent;
    if (difference.first.size() < maxShown)
      difference.first.push_back(i);
  }
  if (difference.numDifferent == 0)
    return std::nullopt;
  return difference;
}

std::optional<std::string> describeDifference(const HostArray &got, const HostArray &expected,
                                              Tolerance tolerance) {
  if (got.type() != expected.type()) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected " << expected.type() << ", got " << got.type();
    return text;
  }
  std::optional<Difference> difference = findDifference(got, expected, tolerance);
  if (!difference)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << difference->numDifferent << " of " << got.numElements() << " elements of " << got.type()
     << " differ";
  for (int64_t i : difference->first)
    os << "\n  at " << printIndex(got.shape(), i) << ": expected " << printElement(expected, i)
       << ", got " << printElement(got, i);
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

template <typename Float> static std::string shortest(Float value) {
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

std::string printElement(const HostArray &array, int64_t i) {
  if (isa<ir::KeyType>(array.elementType())) {
    auto [high, low] = array.getKey(i);
    return "(" + std::to_string(high) + ", " + std::to_string(low) + ")";
  }
  if (array.elementType().isInteger(1))
    return array.getInteger(i) == 1 ? "true" : "false";
  if (array.isInteger())
    return llvm::toString(array.getInteger(i), 10);
  double value = array.getFloat(i);
  return array.elementType().isF64() ? shortest(value) : shortest(static_cast<float>(value));
}

std::string printIndex(ArrayRef<int64_t> shape, int64_t i) {
  SmallVector<int64_t> index(shape.size());
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    index[dim] = i % shape[dim];
    i /= shape[dim];
  }
  return "[" +
         llvm::join(llvm::map_range(index, [](int64_t n) { return std::to_string(n); }), ", ") +
         "]";
}

static void printFrom(llvm::raw_ostream &os, const HostArray &array, int64_t dim, int64_t &next) {
  if (dim == array.rank()) {
    os << printElement(array, next++);
    return;
  }
  os << "[";
  for (int64_t i = 0; i < array.dim(dim); ++i) {
    if (i > 0)
      os << ", ";
    printFrom(os, array, dim + 1, next);
  }
  os << "]";
}

void print(llvm::raw_ostream &os, const HostArray &array) {
  int64_t next = 0;
  printFrom(os, array, 0, next);
}

} // namespace hjx
