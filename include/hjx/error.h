// SPDX-License-Identifier: Apache-2.0
//
// The one exception of hjx. Its text is written for the person who made the
// mistake: the place in their program, the function, expected and got, a remedy.
//
//   train.cpp:42: matmul: contracting dimensions differ: lhs f32[8,16] has 16, rhs f32[8,4] has 8
//     help: transpose an operand, or name the dimensions with dot_general
#pragma once

#include <hjx/api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace hjx {

/// Where the caller of a function stands. Every public function takes one, by
/// default the line of the call itself.
using Where = std::source_location;

class HJX_API Error : public std::runtime_error {
public:
  Error(const std::string &message, const std::string &help, Where where);
  ~Error() override;

  /// The user's line that the message names.
  const Where &where() const { return place; }
  /// The message without place and remedy, and the remedy.
  const std::string &message() const { return text; }
  const std::string &help() const { return remedy; }

private:
  Where place;
  std::string text, remedy;
};

} // namespace hjx
