// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/CacheFile.h"

#include "lib/Data/Digest.h"
#include "lib/Data/File.h"

#include "absl/strings/str_cat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace hjx {

static std::string headerOf(std::string_view format, std::string_view contents) {
  return absl::StrCat(std::string(format), " ", sha256Hex(contents), "\n");
}

absl::StatusOr<std::string> readCacheFile(const std::string &path, std::string_view format) {
  HJX_ASSIGN_OR_RETURN(std::string text, readFile(path));
  size_t end = text.find('\n');
  std::string contents = end == std::string::npos ? "" : text.substr(end + 1);
  if (!llvm::StringRef(text).starts_with(headerOf(format, contents)))
    return absl::DataLossError(absl::StrCat(path, ": the file is damaged"));
  return contents;
}

absl::Status writeCacheFile(const std::string &path, std::string_view format, std::string_view contents) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return systemError(folder.str(), "cannot create", error.value());
  return writeFileAtomically(path, absl::StrCat(headerOf(format, contents), std::string(contents)));
}

} // namespace hjx
