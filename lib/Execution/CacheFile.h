// SPDX-License-Identifier: Apache-2.0
//
// Files of HJX_CACHE_DIR: a line of the format and the SHA-256 of the rest, then the rest. They appear whole, and what is
// damaged is told from what is not there.
#pragma once

#include "runtime/Status.h"

#include <string>
#include <string_view>

namespace hjx {

/// What the file holds.
/// Errors: NOT_FOUND if there is none; DATA_LOSS if it is not what was written in that format.
absl::StatusOr<std::string> readCacheFile(const std::string &path, std::string_view format);

/// Replaces the file, and makes its folder if that is not there.
absl::Status writeCacheFile(const std::string &path, std::string_view format, std::string_view contents);

} // namespace hjx
