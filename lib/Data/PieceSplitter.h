// SPDX-License-Identifier: Apache-2.0
//
// GPT-2's pre-tokenisation: text into pieces that merges never cross.
#pragma once

#include "lib/Data/Status.h"

#include <memory>

struct pcre2_real_code_8;

namespace hjx {

class PieceSplitter {
public:
  PieceSplitter();
  ~PieceSplitter();

  /// Returns consecutive views that cover `text`, which must be valid UTF-8.
  absl::StatusOr<std::vector<std::string_view>> split(std::string_view text) const;

private:
  pcre2_real_code_8 *code_;
};

} // namespace hjx
