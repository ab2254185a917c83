// SPDX-License-Identifier: Apache-2.0
//
// Amounts of memory as people write them: "64.0 MiB".
#pragma once

#include "absl/strings/string_view.h"

#include <cstdint>
#include <optional>
#include <string>

namespace hjx {

/// "17 bytes", "1.5 KiB", "12.0 MiB", "3.0 GiB".
std::string printBytes(int64_t bytes);

/// Returns the bytes of "4096", "64KiB", "1.5 GiB" (also "64K", "64k"), or nothing.
std::optional<int64_t> parseBytes(absl::string_view text);

} // namespace hjx
