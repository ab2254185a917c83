// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM as a request: the first sets a flag, so that the run ends its step, saves
// and leaves with success; the second ends the process at once.
#pragma once

namespace hjx {

/// While one lives, the two signals are caught; one at a time. The previous handlers return when
/// it dies.
class StopSignal {
public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal &) = delete;
  StopSignal &operator=(const StopSignal &) = delete;

  bool requested() const;
  /// Raises the flag as a signal would, for callers that stop a run themselves.
  void request();
};

} // namespace hjx
