// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CubinCache.h"

#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Execution/CacheFile.h"
#include "lib/Target/Ptx/Ptxas.h"
#include "runtime/Environment.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace llvm;

namespace hjx {

constexpr const char *kFormat = "hjx-cubin 1";

std::optional<CubinCache> CubinCache::ofProcess() {
  absl::StatusOr<std::optional<std::string>> ptxas = findPtxas();
  if (!ptxas.ok() || !*ptxas)
    return std::nullopt;
  return CubinCache(cacheFolder(), **ptxas);
}

/// The architecture to assemble for: the device's own, unless the text is for one alone ("sm_90a").
static std::string chipOf(const std::string &ptx, int computeCapability) {
  StringRef target = StringRef(ptx).split(".target ").second.take_while([](char c) { return isAlnum(c) || c == '_'; });
  return target.ends_with("a") ? target.str() : absl::StrCat("sm_", computeCapability);
}

/// Another assembler, another result: its place, size and time stand for its contents.
static std::string identityOf(const std::string &program) {
  sys::fs::file_status status;
  if (sys::fs::status(program, status))
    return program;
  return absl::StrCat(program, " ", status.getSize(), " ", status.getLastModificationTime().time_since_epoch().count());
}

std::optional<std::string> CubinCache::find(const std::string &ptx, int computeCapability) const {
  std::string chip = chipOf(ptx, computeCapability);
  if (folder.empty())
    return assembled(ptx, chip);
  std::string key = sha256Hex(absl::StrCat(chip, "\n", identityOf(ptxas), "\n", ptx));
  std::string path = absl::StrCat(folder, "/", key, ".cubin");
  if (absl::StatusOr<std::string> found = readCacheFile(path, kFormat); found.ok())
    return *std::move(found);
  std::optional<std::string> made = assembled(ptx, chip);
  if (made)
    writeCacheFile(path, kFormat, *made).IgnoreError();
  return made;
}

std::optional<std::string> CubinCache::assembled(const std::string &ptx, const std::string &chip) const {
  SmallString<128> text, cubin;
  if (sys::fs::createTemporaryFile("hjx", "ptx", text))
    return std::nullopt;
  FileRemover removeText(text);
  if (sys::fs::createTemporaryFile("hjx", "cubin", cubin))
    return std::nullopt;
  FileRemover removeCubin(cubin);
  if (!writeFileAtomically(text.str().str(), ptx).ok() || !assemble(ptxas, chip, text.str().str(), cubin.str().str()).ok())
    return std::nullopt;
  absl::StatusOr<std::string> code = readFile(cubin.str().str());
  return code.ok() && !code->empty() ? std::optional(*std::move(code)) : std::nullopt;
}

} // namespace hjx
