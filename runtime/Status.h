// SPDX-License-Identifier: Apache-2.0
//
// How the runtime reports failure: absl::Status with a message that names its
// subject first ("cpu: out of memory, wanted 64 MiB"). No exceptions here: the
// C++ API turns a status into hjx::Error, the compiler into a diagnostic.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <utility>

/// Leaves the calling function with the status of `expr` when it is an error.
#define HJX_RETURN_IF_ERROR(expr)                                                                  \
  do {                                                                                             \
    if (absl::Status hjxStatus = (expr); !hjxStatus.ok())                                          \
      return hjxStatus;                                                                            \
  } while (false)

/// Declares `lhs` from the value of the StatusOr `expr`, or leaves with its error.
#define HJX_ASSIGN_OR_RETURN(lhs, expr)                                                            \
  HJX_ASSIGN_OR_RETURN_IMPL(HJX_STATUS_CONCAT(hjxStatusOr, __LINE__), lhs, expr)
#define HJX_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr)                                                  \
  auto tmp = (expr);                                                                               \
  if (!tmp.ok())                                                                                   \
    return std::move(tmp).status();                                                                \
  lhs = *std::move(tmp)
#define HJX_STATUS_CONCAT(a, b) HJX_STATUS_CONCAT_IMPL(a, b)
#define HJX_STATUS_CONCAT_IMPL(a, b) a##b
