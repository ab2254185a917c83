// SPDX-License-Identifier: Apache-2.0
//
// Machine code of GPU programs, kept on disk. The driver assembles PTX at every start, which takes
// it seconds for a large model; where ptxas is found, that is done once.
//
//   <folder>/<SHA-256 of text, architecture and assembler>.cubin      (CacheFile.h)
//
// What is damaged is made again; a folder that cannot be written is no error, nor is an assembler
// that fails: the driver has its own, and the last word.
#pragma once

#include "runtime/Status.h"

#include <optional>
#include <string>

namespace hjx {

class CubinCache {
public:
  /// `folder`: made when there is something to keep; "" keeps nothing.
  CubinCache(std::string folder, std::string ptxas) : folder(std::move(folder)), ptxas(std::move(ptxas)) {}

  /// The one of the process: HJX_CACHE_DIR, else hjx in the user's cache folder; none where no ptxas
  /// is found.
  static std::optional<CubinCache> ofProcess();

  /// `ptx` for devices of `computeCapability`, from the folder or the assembler; nothing if neither
  /// has it.
  std::optional<std::string> find(const std::string &ptx, int computeCapability) const;

private:
  std::optional<std::string> assembled(const std::string &ptx, const std::string &chip) const;

  std::string folder, ptxas;
};

} // namespace hjx
