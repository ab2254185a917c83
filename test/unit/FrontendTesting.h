// SPDX-License-Identifier: Apache-2.0
//
// Checks of arrays and of the exact text of errors.
#pragma once

#include <hjx/hjx.h>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// In the text of a message: the file and line of the mistake.
#define HERE "@HERE"

/// The statement throws an hjx::Error that names its own file and line, then `text`.
#define EXPECT_HJX_ERROR(statement, text)                                                                     \
  do {                                                                                                        \
    const int hjxLine = __LINE__;                                                                             \
    try {                                                                                                     \
      (void)(statement);                                                                                      \
      ADD_FAILURE() << "expected an error: " << text;                                                         \
    } catch (const hjx::Error &error) {                                                                       \
      EXPECT_EQ(std::string(error.what()), hjx::testing::at(__FILE__, hjxLine, HERE ": ", text));               \
    }                                                                                                         \
  } while (false)

namespace hjx::testing {

/// Of the error that `body` throws, for checks of parts of it.
template <typename F> std::string messageOf(F body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

/// `text` with the place in place of HERE.
inline std::string at(std::string path, int line, std::string prefix, const std::string &message) {
  std::string text = prefix + message;
  std::string place = path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
  for (size_t found; (found = text.find(HERE)) != std::string::npos;)
    text.replace(found, std::string_view(HERE).size(), place);
  return text;
}

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
