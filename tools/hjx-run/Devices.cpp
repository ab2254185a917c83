// SPDX-License-Identifier: Apache-2.0
//
// hjx-run devices [--json]
//
// What programs can run on here, and why not on the rest: the same as hjx::backends() tells a program.
#include "tools/hjx-run/Commands.h"

#include "lib/Train/Config.h"
#include "runtime/Backends.h"
#include "runtime/Bytes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

/// A message of one line, and its remedy.
std::pair<std::string, std::string> splitHelp(const absl::Status &status) {
  std::string message(status.message());
  constexpr std::string_view kHelp = "\n  help: ";
  size_t at = message.find(kHelp);
  return at == message.npos ? std::pair{message, std::string()}
                            : std::pair{message.substr(0, at), message.substr(at + kHelp.size())};
}

std::string printTable(const std::vector<BackendInfo> &backends) {
  std::string out = absl::StrFormat("%-8s %-32s %-12s %4s %10s\n", "device", "description", "architecture", "SMs", "memory");
  for (const BackendInfo &backend : backends) {
    for (const DeviceInfo &info : backend.devices) {
      bool isCpu = info.kind == DeviceKind::Cpu;
      absl::StrAppendFormat(&out, "%-8s %-32s %-12s %4s %10s\n", info.name, info.description,
                            isCpu ? "-" : absl::StrCat("sm_", info.computeCapability),
                            isCpu ? "-" : absl::StrCat(info.numMultiprocessors), printBytes(info.totalBytes));
    }
    auto [reason, help] = splitHelp(backend.status);
    if (!backend.status.ok())
      absl::StrAppendFormat(&out, "%-8s not available: %s\n         help: %s\n", backend.name, reason, help);
  }
  return out;
}

Json toJson(const std::vector<BackendInfo> &backends) {
  Json out = Json::array();
  for (const BackendInfo &backend : backends) {
    Json devices = Json::array();
    for (const DeviceInfo &info : backend.devices) {
      Json device = {{"name", info.name}, {"description", info.description}, {"memory_bytes", info.totalBytes}};
      if (info.kind != DeviceKind::Cpu) {
        device["compute_capability"] = info.computeCapability;
        device["multiprocessors"] = info.numMultiprocessors;
      }
      devices.push_back(std::move(device));
    }
    Json row = {{"name", backend.name}, {"available", backend.status.ok()}, {"devices", std::move(devices)}};
    if (!backend.status.ok())
      std::tie(row["reason"], row["help"]) = splitHelp(backend.status);
    out.push_back(std::move(row));
  }
  return {{"backends", std::move(out)}};
}

class DevicesCommand : public Command {
public:
  DevicesCommand() : Command("devices", "List backends and devices, and why others are missing") {}

  absl::Status run() override {
    std::vector<BackendInfo> backends = listBackends();
    std::string text = json_ ? toJson(backends).dump(2) + "\n" : printTable(backends);
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }

private:
  cl::opt<bool> json_{"json", cl::desc("for programs"), cl::sub(flags)};
};

} // namespace

std::unique_ptr<Command> makeDevicesCommand() { return std::make_unique<DevicesCommand>(); }

} // namespace hjx
