// SPDX-License-Identifier: Apache-2.0
//
//   ptxas info    : Compiling entry function 'k' for 'sm_80'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 8 registers, used 1 barriers, 64 bytes smem, 368 bytes cmem[0]
#include "lib/Target/Ptx/Ptxas.h"

#include "runtime/Environment.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace hjx {

absl::StatusOr<std::optional<std::string>> findPtxas() {
  if (std::string path = ptxasPath(); !path.empty()) {
    if (path == "none")
      return std::nullopt;
    if (!sys::fs::can_execute(path))
      return absl::InvalidArgumentError(
          absl::StrCat("HJX_PTXAS: expected a program, or none, got '", path, "'\n  help: unset it to search PATH"));
    return path;
  }
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return std::nullopt;
}

absl::StatusOr<std::vector<KernelResources>> assemble(const std::string &ptxas,
                                                      const std::string &chip,
                                                      const std::string &ptxPath,
                                                      const std::string &cubinPath) {
  SmallString<128> logPath;
  if (std::error_code error = sys::fs::createTemporaryFile("hjx-ptxas", "log", logPath))
    return absl::InternalError(absl::StrCat("ptxas: cannot make a file for its output: ", error.message()));
  FileRemover remover(logPath);
  std::string arch = "-arch=" + chip, message;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(logPath), StringRef(logPath)};
  int status = sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, ptxPath, "-o", cubinPath}, std::nullopt,
                                   redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  ErrorOr<std::unique_ptr<MemoryBuffer>> log = MemoryBuffer::getFile(logPath);
  std::string text = log ? (*log)->getBuffer().str() : "";
  if (status != 0)
    return absl::InternalError(absl::StrCat(ptxas, ": ", ptxPath, ": ", message, absl::StripAsciiWhitespace(text)));
  return parseResources(text);
}

std::vector<KernelResources> parseResources(const std::string &log) {
  std::vector<KernelResources> kernels;
  // The number before `unit`, as in "8 registers".
  auto numberBefore = [](StringRef line, StringRef unit) {
    int64_t number = 0;
    line.take_front(line.find(unit)).rtrim().rsplit(' ').second.getAsInteger(10, number);
    return number;
  };
  for (StringRef line : split(log, '\n')) {
    if (line.contains("Compiling entry function '"))
      kernels.push_back({line.split('\'').second.split('\'').first.str()});
    else if (kernels.empty())
      continue;
    else if (line.contains("bytes spill stores"))
      kernels.back().spillBytes = numberBefore(line, " bytes spill stores") + numberBefore(line, " bytes spill loads");
    else if (line.contains(" registers")) {
      kernels.back().registers = numberBefore(line, " registers");
      if (line.contains(" bytes smem"))
        kernels.back().sharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

} // namespace hjx
