// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/Target.h"

#include "lib/Data/Status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

#include <algorithm>

namespace hjx {

absl::StatusOr<Target> Target::parse(std::string_view text) {
  for (auto [backend, kind] : {std::pair{"cpu", Kind::Cpu}, {"cuda", Kind::Cuda}, {"sim", Kind::Cuda}}) {
    absl::string_view number(text.data(), text.size());
    int ordinal = 0;
    if (absl::ConsumePrefix(&number, backend) &&
        (number.empty() || (absl::ConsumePrefix(&number, ":") && absl::SimpleAtoi(number, &ordinal) && ordinal >= 0)))
      return Target{kind, absl::StrCat(backend, ":", ordinal), ""};
  }
  absl::string_view rest(text.data(), text.size());
  bool simulates = absl::ConsumePrefix(&rest, "sim:");
  if ((simulates || absl::ConsumePrefix(&rest, "ptx:")) &&
      std::find(std::begin(kChips), std::end(kChips), rest) != std::end(kChips))
    return simulates ? Target{Kind::Cuda, std::string(text), ""} : Target{Kind::Ptx, "", std::string(rest)};
  return badInput("target",
                  absl::StrCat("cpu, cuda, sim, one of these with :<number>, sim:", absl::StrJoin(kChips, " or sim:"), ", ptx:",
                               absl::StrJoin(kChips, " or ptx:")),
                  absl::StrCat("'", printable(text), "'"),
                  "cuda runs on this machine's device, sim on a simulated one; ptx compiles for another machine's");
}

absl::StatusOr<RuntimeDevice *> Target::open() const {
  if (kind != Kind::Ptx)
    return openDevice(device);
  return badInput(absl::StrCat("target ptx:", chip), "a device to run on", "text for another machine",
                  "name cpu or cuda, or add --compile-only");
}

absl::StatusOr<std::string> chipFor(const DeviceInfo &device) {
  std::string found;
  for (absl::string_view chip : kChips) {
    absl::string_view digits = chip.substr(3);
    bool isAlone = absl::ConsumeSuffix(&digits, "a");
    int capability = 0;
    (void)absl::SimpleAtoi(digits, &capability);
    if (isAlone ? capability == device.computeCapability : capability <= device.computeCapability)
      found = std::string(chip);
  }
  if (found.empty())
    return badInput(absl::StrCat(device.name, " (", device.description, ")"),
                    absl::StrCat("a CUDA device of architecture ", kChips[0], " or later"),
                    absl::StrCat("sm_", device.computeCapability), "use a device of the year 2020 or later, or cpu");
  return found;
}

} // namespace hjx
