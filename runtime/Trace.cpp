// SPDX-License-Identifier: Apache-2.0
#include "runtime/Trace.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx {

void Trace::add(const std::string &track, const std::string &name, int64_t beginNs, int64_t durationNs) {
  absl::MutexLock lock(&mutex);
  events.push_back({track, name, beginNs, durationNs});
}

static std::string jsonString(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      absl::StrAppend(&out, "\\", std::string(1, c));
    else if (static_cast<unsigned char>(c) < 0x20)
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<int>(c));
    else
      out += c;
  return out + "\"";
}

std::string Trace::json() const {
  absl::MutexLock lock(&mutex);
  std::vector<std::string> tracks;
  int64_t first = events.empty() ? 0 : events.front().beginNs;
  for (const Event &event : events) {
    first = std::min(first, event.beginNs);
    if (std::find(tracks.begin(), tracks.end(), event.track) == tracks.end())
      tracks.push_back(event.track);
  }
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char *separator = "\n";
  auto add = [&](const std::string &event) {
    absl::StrAppend(&out, separator, event);
    separator = ",\n";
  };
  for (size_t track = 0; track < tracks.size(); ++track)
    add(absl::StrFormat("{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":%s}}", track + 1,
                        jsonString(tracks[track])));
  for (const Event &event : events) {
    auto track = std::find(tracks.begin(), tracks.end(), event.track) - tracks.begin();
    add(absl::StrFormat("{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":%s,\"ts\":%.3f,\"dur\":%.3f}", track + 1,
                        jsonString(event.name), static_cast<double>(event.beginNs - first) * 1e-3,
                        static_cast<double>(event.durationNs) * 1e-3));
  }
  return out + "\n]}\n";
}

} // namespace hjx
