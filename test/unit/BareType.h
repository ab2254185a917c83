// SPDX-License-Identifier: Apache-2.0
//
// A hi-type that says nothing but what it is made of: for messages about what is missing.
#pragma once

#include <hjx/hi_type.h>

namespace hjx::testing {

struct Bare {
  Shape shape;
  static constexpr const char *name = "bare";
  HJX_PARAMS(shape)
  std::vector<Type> lo_types() const { return {Type(float32, shape)}; }
};
HJX_REGISTER_TYPE(Bare)
using BareArray = HiValue<Bare>;

} // namespace hjx::testing
