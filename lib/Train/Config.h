// SPDX-License-Identifier: Apache-2.0
//
// Run configuration: JSON checked against its defaults.
//
// The defaults are the schema: a key that they lack is an error that offers the nearest one, a
// value of another kind is an error too. Later sources (a file, then each --set key=value) are
// merged over earlier ones. A hash of the result names the run, and the difference of two
// configurations is a list of lines that a user can act on.
#pragma once

#include "lib/Data/Status.h"

#include <nlohmann/json.hpp>

namespace hjx {

using Json = nlohmann::json;

/// Merges `changes` over `config`, whose keys and kinds are the schema (null accepts any kind, an
/// integer is accepted where a float stands). `subject` leads the messages.
absl::Status mergeConfig(Json &config, const Json &changes, std::string_view subject);

/// Merges one "a.b.c=value"; the value is JSON, or else a string.
absl::Status applySetting(Json &config, std::string_view setting);

/// Merges the JSON object in a file.
absl::Status mergeConfigFile(Json &config, const std::string &path);

/// Returns 16 hexadecimal digits of the SHA-256 of `config` in canonical form.
std::string configHash(const Json &config);

/// Returns one line for each leaf that differs, "schedule.peak: 0.001 before, 0.002 now", but for
/// those that are, or lie under, a key of `ignored` ("a.b").
std::vector<std::string> configDifferences(const Json &before, const Json &now,
                                           const std::vector<std::string> &ignored = {});

} // namespace hjx
