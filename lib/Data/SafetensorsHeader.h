// SPDX-License-Identifier: Apache-2.0
//
// The JSON part of a safetensors header, parsed as a stream of events: no tree is built,
// so an input of ten million entries or a hundred thousand brackets costs no memory and is
// refused at the first event that does not fit.
#pragma once

#include "lib/Data/Safetensors.h"

namespace hjx {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses `json`; `subject` leads the messages. Offsets are not checked against anything yet.
absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view subject,
                                                         std::string_view json);

} // namespace hjx
