// SPDX-License-Identifier: Apache-2.0
//
// Who may move data between host and devices, thread by thread: a guard makes the
// transfers of a scope visible, or errors.
//
//   hjx::TransferGuard guard(hjx::TransferLevel::Disallow);
//   device.copyToHost(...);                                    // FAILED_PRECONDITION
//   hjx::TransferScope put(hjx::TransferKind::Explicit, {"train.cpp", 42, "device_put"});
//   device.copyToDevice(...);                                  // allowed: it was asked for
//
// A transfer is implicit unless a TransferScope around it says that the user asked for
// it. The three directions have levels of their own; a guard holds until its scope ends
// and replaces, not tightens, the one around it. Devices (runtime/Device.h) ask here
// before they copy, so nothing that moves is missed: memory of a cpu device counts as
// the host's only in copies between devices of different kinds.
//
// Source: JAX's jax.transfer_guard, with the same five levels and the same precedence.
#pragma once

#include "runtime/Status.h"

#include "absl/strings/string_view.h"

#include <array>
#include <cstdint>

namespace hjx {

enum class TransferDirection { HostToDevice, DeviceToHost, DeviceToDevice };
constexpr size_t kNumTransferDirections = 3;

enum class TransferLevel {
  Allow,
  Log,              ///< implicit transfers are named on standard error
  Disallow,         ///< implicit transfers are errors
  LogExplicit,      ///< all transfers are named
  DisallowExplicit, ///< all transfers are errors
};

/// "allow", "log", "disallow", "log_explicit" or "disallow_explicit".
/// Errors: INVALID_ARGUMENT that lists them.
absl::StatusOr<TransferLevel> parseTransferLevel(absl::string_view text);
absl::string_view nameOf(TransferLevel level);

/// Sets the levels of this thread, until the object dies.
class TransferGuard {
public:
  /// Of all directions.
  explicit TransferGuard(TransferLevel level);
  TransferGuard(TransferDirection direction, TransferLevel level);
  ~TransferGuard();
  TransferGuard(const TransferGuard &) = delete;
  TransferGuard &operator=(const TransferGuard &) = delete;

  /// What holds now on this thread.
  static TransferLevel level(TransferDirection direction);

private:
  std::array<TransferLevel, kNumTransferDirections> saved;
};

enum class TransferKind { Implicit, Explicit };

/// Who asked for a transfer. The texts must outlive the scope that they are given to.
struct TransferOrigin {
  absl::string_view file; ///< may be empty
  int line = 0;
  absl::string_view what; ///< "device_put", "batch 'inputs'"
  absl::string_view help; ///< instead of the usual remedy of an error
};

/// Says of the transfers of this thread whether they were asked for, and by whom. The innermost
/// scope counts.
class TransferScope {
public:
  TransferScope(TransferKind kind, TransferOrigin origin);
  ~TransferScope();
  TransferScope(const TransferScope &) = delete;
  TransferScope &operator=(const TransferScope &) = delete;

private:
  friend absl::Status checkTransfer(TransferDirection, int64_t, absl::string_view, absl::string_view);
  TransferKind kind;
  TransferOrigin origin;
  const TransferScope *outer;
};

/// What this thread's levels say to a copy of `sizeBytes` from `from` ("host", "cpu:0") to `to`.
/// Logs it if they say so. Zero bytes are no transfer.
///
/// Errors: FAILED_PRECONDITION with bytes, places and origin.
/// Cost:   reads one thread-local when everything is allowed.
absl::Status checkTransfer(TransferDirection direction, int64_t sizeBytes, absl::string_view from,
                           absl::string_view to);

} // namespace hjx
