// SPDX-License-Identifier: Apache-2.0
//
// Checks of arrays and of the exact text of errors.
#pragma once

#include <hjx/hjx.h>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// The statement throws an hjx::Error that names its own file and line, then `text`.
#define EXPECT_HJX_ERROR(statement, text)                                                                     \
  do {                                                                                                        \
    const int hjxLine = __LINE__;                                                                             \
    try {                                                                                                     \
      (void)(statement);                                                                                      \
      ADD_FAILURE() << "expected an error: " << text;                                                         \
    } catch (const hjx::Error &error) {                                                                       \
      EXPECT_EQ(std::string(error.what()), hjx::testing::fileName(__FILE__) + ":" + std::to_string(hjxLine) + ": " + text); \
    }                                                                                                         \
  } while (false)

/// The same for errors whose line is elsewhere: `text` is all after "file:line: ".
#define EXPECT_HJX_ERROR_ANYWHERE(statement, text)                                                            \
  do {                                                                                                        \
    try {                                                                                                     \
      (void)(statement);                                                                                      \
      ADD_FAILURE() << "expected an error: " << text;                                                         \
    } catch (const hjx::Error &error) {                                                                       \
      std::string what = error.what();                                                                        \
      EXPECT_EQ(what.substr(what.find(": ") + 2), text);                                                      \
    }                                                                                                         \
  } while (false)

namespace hjx::testing {

inline std::string fileName(std::string path) { return path.substr(path.rfind('/') + 1); }

/// Equal types, and elements within a relative and absolute distance.
inline ::testing::AssertionResult isClose(const Array &got, const Array &expected, double tolerance = 1e-6) {
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype())
    return ::testing::AssertionFailure() << "expected " << short_name(expected.dtype()) << expected.shape() << ", got "
                                         << short_name(got.dtype()) << got.shape();
  std::vector<double> a = got.astype(float64).to_vector<double>(), b = expected.astype(float64).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]))) && a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i])))
      return ::testing::AssertionFailure() << "element " << i << ": expected " << b[i] << ", got " << a[i] << "\n" << got;
  return ::testing::AssertionSuccess();
}

#define EXPECT_CLOSE(got, ...) EXPECT_TRUE(hjx::testing::isClose(got, __VA_ARGS__))

} // namespace hjx::testing
