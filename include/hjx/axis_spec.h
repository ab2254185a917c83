// SPDX-License-Identifier: Apache-2.0
//
// How a value is mapped by vmap: an axis of an array, or, for a hi-type, what its
// author understands: a number, a string, or a list of specs.
#pragma once

#include <hjx/error.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace hjx {

/// A subtree without a mapped axis.
struct NotMapped {};
inline constexpr NotMapped none{};
/// In out_axes: a result that depends on no mapped argument is not mapped, any other at its leading axis.
struct Inferred {};
inline constexpr Inferred infer{};

class HJX_API AxisSpec {
public:
  AxisSpec() = default;
  AxisSpec(NotMapped) {}
  AxisSpec(Inferred) : kind(Kind::Infer) {}
  AxisSpec(int axis) : kind(Kind::Axis), number(axis) {}
  AxisSpec(int64_t axis) : kind(Kind::Axis), number(axis) {}
  AxisSpec(const char *text) : kind(Kind::Text), string(text) {}
  AxisSpec(std::string text) : kind(Kind::Text), string(std::move(text)) {}
  AxisSpec(std::vector<AxisSpec> list) : kind(Kind::List), entries(std::move(list)) {}
  AxisSpec(std::initializer_list<AxisSpec> list) : kind(Kind::List), entries(list) {}

  bool is_none() const { return kind == Kind::None; }
  bool is_axis() const { return kind == Kind::Axis; }
  bool is_text() const { return kind == Kind::Text; }
  bool is_list() const { return kind == Kind::List; }
  bool is_infer() const { return kind == Kind::Infer; }
  /// Errors: hjx::Error if it is something else.
  int axis(Where where = Where::current()) const;
  const std::string &text(Where where = Where::current()) const;
  const std::vector<AxisSpec> &list(Where where = Where::current()) const;

  bool operator==(const AxisSpec &other) const;

private:
  enum class Kind { None, Axis, Text, List, Infer } kind = Kind::None;
  int64_t number = 0;
  std::string string;
  std::vector<AxisSpec> entries;
};

/// none, 0, "rows", (0, none) or infer
HJX_API std::string to_string(const AxisSpec &spec);

} // namespace hjx
