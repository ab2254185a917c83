// SPDX-License-Identifier: Apache-2.0
//
// Arrays as NumPy prints them: columns aligned, the shortest digits that tell
// neighbours apart (8 at most), the middle of large arrays left out.
#include "lib/Frontend/ArrayImpl.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

using namespace hjx;
using namespace hjx::detail;

namespace {

constexpr int64_t kElideAbove = 1000, kEdge = 3;
constexpr int kPrecision = 8;

/// A float's shortest digits, with at most kPrecision after the point.
std::string shortest(double value, bool isFloat32, std::chars_format format) {
  char text[64];
  auto end = isFloat32 ? std::to_chars(text, text + 64, static_cast<float>(value), format).ptr
                       : std::to_chars(text, text + 64, value, format).ptr;
  std::string digits(text, end);
  size_t exponent = std::min(digits.find('e'), digits.size()), point = digits.find('.');
  if (point != std::string::npos && exponent - point - 1 > kPrecision) {
    end = std::to_chars(text, text + 64, value, format, kPrecision).ptr;
    digits.assign(text, end);
    exponent = std::min(digits.find('e'), digits.size());
    size_t last = digits.find_last_not_of('0', exponent - 1);
    digits.erase(last + 1, exponent - last - 1);
  }
  if (digits.find('.') == std::string::npos)
    digits.insert(std::min(digits.find('e'), digits.size()), ".");
  return digits;
}

/// Prints the elements of one array with a common width.
class Printer {
public:
  Printer(const Aval &aval, const std::byte *data)
      : aval(aval), data(data), isElided(aval.shape.size() > kElideAbove) {
    std::vector<int64_t> index;
    forEachShown(0, 0, [&](int64_t element) { shown.push_back(element); });
    if (is_floating(aval.dtype))
      chooseFloatFormat();
    for (int64_t element : shown) {
      std::string text = format(element);
      size_t point = std::min(text.find('.'), text.size());
      before = std::max(before, point);
      after = std::max(after, text.size() - point);
    }
  }

  std::string print() {
    if (aval.shape.ndim() == 0)
      return format(0);
    return printAxis(0, 0);
  }

private:
  int64_t strideOf(int axis) const {
    int64_t stride = 1;
    for (int i = axis + 1; i < aval.shape.ndim(); ++i)
      stride *= aval.shape[i];
    return stride;
  }
  bool isHidden(int axis, int64_t i) const {
    return isElided && aval.shape[axis] > 2 * kEdge && i >= kEdge && i < aval.shape[axis] - kEdge;
  }
  template <typename Visit>
  void forEachShown(int axis, int64_t offset, Visit visit) const {
    if (axis == aval.shape.ndim())
      return visit(offset);
    for (int64_t i = 0; i < aval.shape[axis]; ++i)
      if (!isHidden(axis, i))
        forEachShown(axis + 1, offset + i * strideOf(axis), visit);
  }

  void chooseFloatFormat() {
    double greatest = 0, least = INFINITY;
    for (int64_t element : shown) {
      double size = std::fabs(std::get<double>(readElement(data, aval.dtype, element)));
      if (!std::isfinite(size) || size == 0)
        continue;
      greatest = std::max(greatest, size);
      least = std::min(least, size);
    }
    if (greatest > 0 && (greatest >= 1e8 || least < 1e-4 || greatest / least > 1000))
      floatFormat = std::chars_format::scientific;
  }

  std::string format(int64_t element) const {
    Literal value = readElement(data, aval.dtype, element);
    if (auto *b = std::get_if<bool>(&value))
      return *b ? "True" : "False";
    if (auto *i = std::get_if<int64_t>(&value))
      return std::to_string(*i);
    if (auto *u = std::get_if<uint64_t>(&value))
      return std::to_string(*u);
    double number = std::get<double>(value);
    if (std::isnan(number))
      return "nan";
    if (std::isinf(number))
      return number > 0 ? "inf" : "-inf";
    bool isFloat32 = aval.dtype != DType::float64;
    return shortest(number, isFloat32, floatFormat);
  }

  /// Numbers stand with their points below each other.
  std::string aligned(int64_t element) const {
    std::string text = format(element);
    size_t point = std::min(text.find('.'), text.size());
    bool isNumber = is_floating(aval.dtype) && text.find_first_of("ni") == std::string::npos;
    if (!is_floating(aval.dtype) || !isNumber)
      return std::string(before + after - text.size(), ' ') + text;
    std::string padded = std::string(before - point, ' ') + text;
    return padded + std::string(before + after - padded.size(), ' ');
  }

  std::string printAxis(int axis, int64_t offset) {
    bool isLast = axis + 1 == aval.shape.ndim();
    std::string separator = isLast ? " " : std::string(aval.shape.ndim() - axis - 1, '\n') + std::string(axis + 1, ' ');
    std::string text = "[";
    bool isFirst = true, skipped = false;
    for (int64_t i = 0; i < aval.shape[axis]; ++i) {
      if (isHidden(axis, i)) {
        if (!skipped)
          text += separator + "...";
        skipped = true;
        continue;
      }
      if (!isFirst)
        text += separator;
      isFirst = false;
      text += isLast ? aligned(offset + i) : printAxis(axis + 1, offset + i * strideOf(axis));
    }
    return text + "]";
  }

  const Aval &aval;
  const std::byte *data;
  const bool isElided;
  std::vector<int64_t> shown;
  std::chars_format floatFormat = std::chars_format::fixed;
  size_t before = 0, after = 0;
};

} // namespace

std::string hjx::to_string(const Array &array) {
  const std::shared_ptr<ArrayImpl> &impl = Access::get(array);
  if (!impl)
    return "Array()";
  if (impl->isDonated)
    return "Array(" + describe(array) + ", donated)";
  if (!impl->storage && impl->literal)
    return print(*impl->literal);
  if (impl->parts) { // q8[2,3]([[42 85 127] ..], ..)
    std::string parts;
    for (const Array &part : *impl->parts)
      parts += (parts.empty() ? "" : ", ") + to_string(part);
    return describe(array) + "(" + parts + ")";
  }
  if (!impl->storage)
    return impl->value ? "Traced<" + describe(array) + ">" : "Abstract<" + describe(array) + ">";
  Aval aval{impl->dtype, impl->shape};
  if (aval.dtype == DType::key) { // Keys have no numbers of their own.
    aval.dtype = DType::uint32;
    std::vector<int64_t> words = aval.shape.vec();
    words.push_back(2);
    aval.shape = words;
  }
  return Printer(aval, hostStorageOf(array, "print of the array made here", impl->where)->as<std::byte>()).print();
}

std::ostream &hjx::operator<<(std::ostream &os, const Array &array) { return os << to_string(array); }
std::ostream &hjx::operator<<(std::ostream &os, const Shape &shape) { return os << to_string(shape); }
