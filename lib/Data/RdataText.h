// SPDX-License-Identifier: Apache-2.0
//
// Text out of R's lazy-load databases (Rdata.rdb), without R.
//
// Debian's r-cran-janeaustenr holds six novels, four megabytes of public-domain English that any
// machine with apt can have: the demonstration corpus. A database is a sequence of records
//
//   u32 big-endian raw size | zlib stream ->
//   "X\n" version writer minimum | u32 size, encoding | u32 flags, u32 count |
//   count times (u32 flags, i32 size, bytes)
//
// of which this reads the kind that such packages use: character vectors of serialisation
// version 3. Source: R Internals, section 1.8.
#pragma once

#include "lib/Data/Status.h"

namespace hjx {

/// Returns the lines of all character vectors in `database`, each ended by a newline.
absl::StatusOr<std::string> textOfRdata(std::string_view database);

/// SHA-256 of what textOfRdata gives for r-cran-janeaustenr 1.0.0.
inline constexpr std::string_view kAustenSha256 =
    "65b434d16a8755142bfa95ba19c5f9abd0d30cf3dffe3b6793e834f9f56dcc96";

} // namespace hjx
