// SPDX-License-Identifier: Apache-2.0
//
// Walks over pairs of JSON trees.
#include "lib/Train/Config.h"

#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace hjx {
namespace {

constexpr int kMaxDepth = 32;

std::string join(const std::string &path, const std::string &key) {
  return path.empty() ? key : absl::StrCat(path, ".", key);
}

std::string kindOf(const Json &value) {
  if (value.is_number_integer())
    return "an integer";
  if (value.is_number())
    return "a number";
  std::string kind = value.type_name();
  return absl::StrCat(kind == "array" || kind == "object" ? "an " : "a ", kind);
}

bool sameKind(const Json &schema, const Json &value) {
  if (schema.is_null())
    return true;
  if (schema.is_number_integer())
    return value.is_number_integer();
  if (schema.is_number())
    return value.is_number();
  return schema.type() == value.type();
}

absl::Status merge(Json &config, const Json &changes, const std::string &path,
                   const std::string &subject) {
  for (const auto &[key, value] : changes.items()) {
    std::string where = join(path, key);
    auto it = config.find(key);
    if (it == config.end()) {
      std::vector<std::string> names;
      for (const auto &[name, unused] : config.items())
        names.push_back(name);
      std::string nearest = nearestName(key, names);
      std::string known;
      for (const std::string &name : names)
        absl::StrAppend(&known, known.empty() ? "" : ", ", name);
      return badInput(subject, "a known key", absl::StrCat("'", printable(where), "'"),
                      nearest.empty() ? absl::StrCat("the keys are ", known)
                                      : absl::StrCat("did you mean '", join(path, nearest), "'?"));
    }
    if (!sameKind(*it, value))
      return badInput(absl::StrCat(subject, ": ", printable(where)), kindOf(*it),
                      absl::StrCat(kindOf(value), ", ", printable(value.dump(), 40)),
                      absl::StrCat("write it like ", printable(it->dump(), 60)));
    if (it->is_object()) {
      HJX_RETURN_IF_ERROR(merge(*it, value, where, subject));
    } else if (it->is_number_float()) {
      *it = value.get<double>(); // 1 and 1.0 must hash alike
    } else {
      *it = value;
    }
  }
  return absl::OkStatus();
}

/// Parses text, refusing what would be deep enough to exhaust the stack of the walks.
absl::StatusOr<Json> parseJson(const std::string &text) {
  bool tooDeep = false;
  Json parsed = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json &) {
        tooDeep |= depth > kMaxDepth;
        return !tooDeep;
      },
      /*allow_exceptions=*/false);
  if (parsed.is_discarded() || tooDeep)
    return absl::InvalidArgumentError(tooDeep ? "deeper nesting" : "a syntax error");
  return parsed;
}

void collectLeaves(const Json &value, const std::string &path, std::map<std::string, Json> &out) {
  if (!value.is_object() || value.empty()) {
    out[path] = value;
    return;
  }
  for (const auto &[key, child] : value.items())
    collectLeaves(child, join(path, key), out);
}

} // namespace

absl::Status mergeConfig(Json &config, const Json &changes, std::string_view subject) {
  if (!changes.is_object())
    return badInput(subject, "a JSON object", kindOf(changes), "write {\"key\": value, ...}");
  return merge(config, changes, "", std::string(subject));
}

absl::Status applySetting(Json &config, std::string_view setting) {
  size_t equals = setting.find('=');
  if (equals == 0 || equals == std::string_view::npos || !isValidUtf8(setting))
    return badInput("--set", "key=value in UTF-8", absl::StrCat("'", printable(setting), "'"),
                    "for example --set schedule.peak=0.001");
  std::string text(setting.substr(equals + 1));
  absl::StatusOr<Json> parsed = parseJson(text);
  Json value = parsed.ok() ? *parsed : Json(text);
  std::string_view path = setting.substr(0, equals);
  int depth = 0;
  while (!path.empty() && ++depth <= kMaxDepth) {
    size_t dot = path.rfind('.');
    std::string key(dot == std::string_view::npos ? path : path.substr(dot + 1));
    Json parent = Json::object();
    parent[key] = std::move(value);
    value = std::move(parent);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
  return mergeConfig(config, value, "--set");
}

absl::Status mergeConfigFile(Json &config, const std::string &path) {
  HJX_ASSIGN_OR_RETURN(std::string text, readFile(path, 16u << 20));
  absl::StatusOr<Json> parsed = parseJson(text);
  if (!parsed.ok())
    return badInput(path, absl::StrCat("JSON nested at most ", kMaxDepth, " deep"),
                    std::string(parsed.status().message()), "check the file with a JSON linter");
  return mergeConfig(config, *parsed, path);
}

std::string configHash(const Json &config) { return sha256Hex(config.dump()).substr(0, 16); }

std::vector<std::string> configDifferences(const Json &before, const Json &now,
                                           const std::vector<std::string> &ignored) {
  std::map<std::string, Json> a, b;
  collectLeaves(before, "", a);
  collectLeaves(now, "", b);
  std::set<std::string> keys;
  for (const auto *leaves : {&a, &b})
    for (const auto &[key, value] : *leaves)
      keys.insert(key);
  std::vector<std::string> lines;
  for (const std::string &key : keys) {
    bool skip = std::any_of(ignored.begin(), ignored.end(), [&](const std::string &name) {
      return key == name || key.starts_with(name + ".");
    });
    auto show = [&](const std::map<std::string, Json> &leaves) {
      auto it = leaves.find(key);
      return it == leaves.end() ? std::string("nothing") : printable(it->second.dump(), 60);
    };
    if (std::string was = show(a), is = show(b); !skip && was != is)
      lines.push_back(absl::StrCat(printable(key), ": ", was, " before, ", is, " now"));
  }
  return lines;
}

} // namespace hjx
