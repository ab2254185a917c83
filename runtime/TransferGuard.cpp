// SPDX-License-Identifier: Apache-2.0
#include "runtime/TransferGuard.h"

#include "absl/strings/str_cat.h"

#include <cstdio>
#include <string>

namespace hjx {

static thread_local std::array<TransferLevel, kNumTransferDirections> levels = {};
static thread_local const TransferScope *innermost = nullptr;

constexpr std::pair<absl::string_view, TransferLevel> kLevels[] = {
    {"allow", TransferLevel::Allow},
    {"log", TransferLevel::Log},
    {"disallow", TransferLevel::Disallow},
    {"log_explicit", TransferLevel::LogExplicit},
    {"disallow_explicit", TransferLevel::DisallowExplicit},
};

absl::StatusOr<TransferLevel> parseTransferLevel(absl::string_view text) {
  for (const auto &[name, level] : kLevels)
    if (name == text)
      return level;
  return absl::InvalidArgumentError(
      absl::StrCat("transfer guard: expected allow, log, disallow, log_explicit or disallow_explicit, got '", text,
                   "'\n  help: the last two count transfers that were asked for, too"));
}

absl::string_view nameOf(TransferLevel level) {
  for (const auto &[name, known] : kLevels)
    if (known == level)
      return name;
  return "?";
}

TransferGuard::TransferGuard(TransferLevel level) : saved(levels) { levels.fill(level); }

TransferGuard::TransferGuard(TransferDirection direction, TransferLevel level) : saved(levels) {
  levels[static_cast<size_t>(direction)] = level;
}

TransferGuard::~TransferGuard() { levels = saved; }

TransferLevel TransferGuard::level(TransferDirection direction) { return levels[static_cast<size_t>(direction)]; }

TransferScope::TransferScope(TransferKind kind, TransferOrigin origin) : kind(kind), origin(origin), outer(innermost) {
  innermost = this;
}

TransferScope::~TransferScope() { innermost = outer; }

/// "train.cpp:42: device_put: ", as far as it is known.
static std::string lead(const TransferOrigin &origin) {
  std::string text;
  if (!origin.file.empty())
    absl::StrAppend(&text, origin.file, ":", origin.line, ": ");
  if (!origin.what.empty())
    absl::StrAppend(&text, origin.what, ": ");
  return text;
}

absl::Status checkTransfer(TransferDirection direction, int64_t sizeBytes, absl::string_view from,
                           absl::string_view to) {
  TransferLevel level = TransferGuard::level(direction);
  if (level == TransferLevel::Allow || sizeBytes == 0)
    return absl::OkStatus();
  bool isExplicit = innermost && innermost->kind == TransferKind::Explicit;
  if (isExplicit && (level == TransferLevel::Log || level == TransferLevel::Disallow))
    return absl::OkStatus();
  TransferOrigin origin = innermost ? innermost->origin : TransferOrigin();
  std::string subject = lead(origin);
  std::string transfer = absl::StrCat(sizeBytes, sizeBytes == 1 ? " byte" : " bytes", " from ", from, " to ", to);
  if (level == TransferLevel::Log || level == TransferLevel::LogExplicit) {
    std::fprintf(stderr, "hjx: %stransfer of %s\n", subject.c_str(), transfer.c_str());
    return absl::OkStatus();
  }
  if (subject.empty())
    subject = "transfer guard: ";
  return absl::FailedPreconditionError(
      absl::StrCat(subject, "expected no transfer under '", nameOf(level), "', got ", transfer, "\n  help: ",
                   !origin.help.empty() ? origin.help
                   : isExplicit         ? "'disallow' would let pass what is asked for, as this was"
                                        : "ask for it with device_put or device_get, move it out of the guarded scope, or guard "
                                          "with 'log' to see all transfers"));
}

} // namespace hjx
