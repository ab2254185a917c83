// SPDX-License-Identifier: Apache-2.0
//
// A fresh folder for one test, removed with everything in it at the end, and the matchers that
// tests of status-returning code share.
#pragma once

#include "absl/status/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hjx::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hjx-test-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(root_); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path(const std::string &name) const { return (root_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream in(root_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Number of entries, hidden ones included.
  size_t size() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(root_), {}));
  }

private:
  std::filesystem::path root_;
};

inline absl::Status statusOf(const absl::Status &status) { return status; }
template <typename T> absl::Status statusOf(const T &result) { return result.status(); }

MATCHER(IsOk, "") {
  *result_listener << statusOf(arg).ToString();
  return arg.ok();
}

/// One clean error: it says `text`, what was expected, what came, and one remedy.
MATCHER_P(FailsWith, text, "") {
  std::string message(statusOf(arg).message());
  *result_listener << "message: " << message;
  auto count = [&](const char *word) {
    size_t n = 0;
    for (size_t at = 0; (at = message.find(word, at)) != std::string::npos; ++at)
      ++n;
    return n;
  };
  return !arg.ok() && message.find(text) != std::string::npos && count(": expected ") == 1 &&
         count(", got ") == 1 && count("\n  help: ") == 1;
}

} // namespace hjx::test
