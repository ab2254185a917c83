// SPDX-License-Identifier: Apache-2.0
//
// Lines out, lines in.
#include "lib/Train/Metrics.h"

#include "lib/Data/File.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace hjx {
namespace {

constexpr const char *kRemedy = "restore the file, or move it away to start a new one";

std::string lineOf(const MetricsRecord &record) {
  nlohmann::ordered_json json = {{"step", record.step}, {"kind", record.kind}};
  for (const auto &[name, value] : record.values) {
    if (std::isfinite(value))
      json[name] = value;
    else
      json[name] = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<double> number(const nlohmann::ordered_json &value) {
  if (value.is_number())
    return value.get<double>();
  if (value == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity")
    return std::numeric_limits<double>::infinity();
  if (value == "-Infinity")
    return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<MetricsRecord> parseLine(std::string_view line) {
  auto json = nlohmann::ordered_json::parse(line.begin(), line.end(), nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer() ||
      !json.contains("kind") || !json["kind"].is_string())
    return std::nullopt;
  MetricsRecord record{json["step"].get<int64_t>(), json["kind"].get<std::string>(), {}};
  for (const auto &[name, value] : json.items()) {
    if (name == "step" || name == "kind")
      continue;
    std::optional<double> parsed = number(value);
    if (!parsed)
      return std::nullopt;
    record.values.emplace_back(name, *parsed);
  }
  return record;
}

struct Line {
  std::string_view text; ///< with its newline
  MetricsRecord record;
};

absl::StatusOr<std::vector<Line>> parseLines(const std::string &path, std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos)
      break; // torn by a crash
    std::optional<MetricsRecord> record = parseLine(text.substr(0, end));
    if (!record)
      return badInput(absl::StrCat(path, ": line ", lines.size() + 1),
                      "an object with step, kind and numbers",
                      absl::StrCat("'", printable(text.substr(0, end), 60), "'"), kRemedy);
    lines.push_back({text.substr(0, end + 1), *std::move(record)});
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string csvField(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

} // namespace

std::optional<double> MetricsRecord::value(std::string_view name) const {
  for (const auto &[key, number] : values)
    if (key == name)
      return number;
  return std::nullopt;
}

absl::StatusOr<MetricsLog> MetricsLog::open(const std::string &path, int64_t lastStep) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    HJX_ASSIGN_OR_RETURN(std::string text, readFile(path));
    HJX_ASSIGN_OR_RETURN(std::vector<Line> lines, parseLines(path, text));
    std::string kept;
    for (const Line &line : lines)
      if (line.record.step <= lastStep)
        kept.append(line.text);
    if (kept.size() != text.size())
      HJX_RETURN_IF_ERROR(writeFileAtomically(path, kept));
  }
  HJX_ASSIGN_OR_RETURN(AppendFile file, AppendFile::open(path));
  return MetricsLog(std::move(file));
}

absl::Status MetricsLog::append(const MetricsRecord &record) {
  return file_.append(lineOf(record));
}

absl::StatusOr<std::vector<MetricsRecord>> readMetrics(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(std::string text, readFile(path));
  HJX_ASSIGN_OR_RETURN(std::vector<Line> lines, parseLines(path, text));
  std::vector<MetricsRecord> records;
  for (Line &line : lines)
    records.push_back(std::move(line.record));
  return records;
}

std::string metricsToCsv(const std::vector<MetricsRecord> &records) {
  std::vector<std::string> names;
  for (const MetricsRecord &record : records)
    for (const auto &[name, value] : record.values)
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  std::string out = "step,kind";
  for (const std::string &name : names)
    absl::StrAppend(&out, ",", csvField(name));
  out += "\n";
  for (const MetricsRecord &record : records) {
    absl::StrAppend(&out, record.step, ",", csvField(record.kind));
    for (const std::string &name : names) {
      std::optional<double> value = record.value(name);
      // JSON's shortest form that reads back to the same bits; NaN and infinities as C spells them.
      absl::StrAppend(&out, ",",
                      !value                  ? std::string()
                      : std::isfinite(*value) ? nlohmann::json(*value).dump()
                                              : absl::StrCat(*value));
    }
    out += "\n";
  }
  return out;
}

} // namespace hjx
