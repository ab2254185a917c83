// SPDX-License-Identifier: Apache-2.0
//
// Counting, and reading exponents.
#include "lib/Train/NonFinite.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <cstring>

namespace hjx {
namespace {

/// The layout of a floating-point type: a value is not finite when its exponent is all ones.
struct Layout {
  uint64_t exponentMask, mantissaMask;
};

std::optional<Layout> layoutOf(StoredType type) {
  switch (type) {
  case StoredType::F16:
    return Layout{0x7c00, 0x03ff};
  case StoredType::BF16:
    return Layout{0x7f80, 0x007f};
  case StoredType::F32:
    return Layout{0x7f800000, 0x007fffff};
  case StoredType::F64:
    return Layout{0x7ff0000000000000, 0x000fffffffffffff};
  default:
    return std::nullopt;
  }
}

} // namespace

NonFiniteAction NonFiniteGuard::observe(double loss, double gradientNorm) {
  if (std::isfinite(loss) && std::isfinite(gradientNorm)) {
    consecutive_ = 0;
    return NonFiniteAction::Apply;
  }
  ++skipped_;
  return ++consecutive_ > maxConsecutiveSkips_ ? NonFiniteAction::Abort : NonFiniteAction::Skip;
}

Json NonFiniteGuard::state() const {
  return {{"consecutive", consecutive_}, {"skipped", skipped_}};
}

absl::Status NonFiniteGuard::restore(const Json &state) {
  for (const char *key : {"consecutive", "skipped"})
    if (!state.is_object() || !state.contains(key) || !state[key].is_number_integer() ||
        state[key] < 0)
      return badInput("checkpoint: non-finite counts", absl::StrCat("a count '", key, "'"),
                      printable(state.dump(), 60), "resume from another checkpoint");
  consecutive_ = state["consecutive"].get<int64_t>();
  skipped_ = state["skipped"].get<int64_t>();
  return absl::OkStatus();
}

std::vector<NonFiniteTensor> findNonFinite(std::span<const TensorView> tensors) {
  std::vector<NonFiniteTensor> found;
  for (const TensorView &tensor : tensors) {
    std::optional<Layout> layout = layoutOf(tensor.type);
    if (!layout)
      continue;
    const size_t width = storedTypeBits(tensor.type) / 8;
    NonFiniteTensor finding{tensor.name};
    for (size_t i = 0; i < tensor.bytes.size() / width; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, tensor.bytes.data() + i * width, width);
      if ((bits & layout->exponentMask) != layout->exponentMask)
        continue;
      if (finding.numNan + finding.numInfinite == 0)
        finding.firstIndex = i;
      ++(bits & layout->mantissaMask ? finding.numNan : finding.numInfinite);
    }
    if (finding.numNan + finding.numInfinite)
      found.push_back(std::move(finding));
  }
  return found;
}

std::string describe(const NonFiniteTensor &tensor) {
  return absl::StrCat(printable(tensor.name), ": ", tensor.numNan, " NaN, ", tensor.numInfinite,
                      " infinite, first at element ", tensor.firstIndex);
}

} // namespace hjx
