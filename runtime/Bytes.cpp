// SPDX-License-Identifier: Apache-2.0
#include "runtime/Bytes.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx {

std::string printBytes(int64_t bytes) {
  if (bytes < 1024)
    return absl::StrCat(bytes, " bytes");
  double value = static_cast<double>(bytes) / 1024;
  const char *units[] = {"KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; value >= 1024 && unit < 2; ++unit)
    value /= 1024;
  return absl::StrFormat("%.1f %s", value, units[unit]);
}

std::optional<int64_t> parseBytes(absl::string_view text) {
  size_t numDigits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(numDigits)));
  double value = 0, factor = 1;
  if (!unit.empty()) {
    constexpr absl::string_view kUnits = "kmgt";
    size_t power = kUnits.find(unit[0]);
    std::string rest = unit.substr(1);
    if (power == kUnits.npos || (!rest.empty() && rest != "i" && rest != "ib" && rest != "b"))
      return std::nullopt;
    factor = static_cast<double>(int64_t{1} << 10 * (power + 1));
  }
  if (!absl::SimpleAtod(text.substr(0, numDigits), &value) || !(value * factor < 0x1p62))
    return std::nullopt;
  return static_cast<int64_t>(value * factor);
}

} // namespace hjx
