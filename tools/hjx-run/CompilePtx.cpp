// SPDX-License-Identifier: Apache-2.0
//
// --compile-only for a GPU of another machine: PTX files, and what their kernels cost.
#include "tools/hjx-run/Commands.h"

#include "lib/Data/File.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Target/Ptx/Ptxas.h"

#include "absl/strings/str_format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdio>

namespace hjx {

absl::Status compilePtx(std::vector<PtxJob> jobs, const std::string &chip) {
  HJX_ASSIGN_OR_RETURN(std::optional<std::string> ptxas, findPtxas());
  std::string table = "function    kernels  launches  registers     shared     spills        arena\n";
  for (PtxJob &job : jobs) {
    GpuOptions options;
    options.chip = chip;
    options.startFrom = job.stage;
    options.dumpDir = job.dumpDir;
    absl::StatusOr<std::unique_ptr<GpuProgram>> program = GpuProgram::compile(*job.program, options);
    if (!program.ok())
      return absl::Status(program.status().code(), absl::StrCat(job.name, ": ", std::string(program.status().message())));
    llvm::StringRef folder = llvm::sys::path::parent_path(job.ptxPath);
    if (std::error_code error = folder.empty() ? std::error_code() : llvm::sys::fs::create_directories(folder))
      return absl::InvalidArgumentError(absl::StrCat(folder.str(), ": cannot create: ", error.message()));
    HJX_RETURN_IF_ERROR(writeFileAtomically(job.ptxPath, (*program)->ptx()));
    std::printf("%s\n", job.ptxPath.c_str());

    const std::optional<ProgramCost> &cost = (*program)->cost();
    absl::StrAppendFormat(&table, "%-10s %8d %9s ", job.name, (*program)->kernelNames().size(),
                          cost ? absl::StrCat(cost->launches) : "?");
    if (ptxas) {
      llvm::SmallString<128> cubin(job.ptxPath);
      llvm::sys::path::replace_extension(cubin, ".cubin");
      HJX_ASSIGN_OR_RETURN(std::vector<KernelResources> kernels, assemble(*ptxas, chip, job.ptxPath, cubin.str().str()));
      KernelResources most;
      for (const KernelResources &kernel : kernels) {
        most.registers = std::max(most.registers, kernel.registers);
        most.sharedBytes = std::max(most.sharedBytes, kernel.sharedBytes);
        most.spillBytes += kernel.spillBytes;
      }
      absl::StrAppendFormat(&table, "%10d %8d B %8d B ", most.registers, most.sharedBytes, most.spillBytes);
      std::printf("%s\n", cubin.c_str());
    } else {
      absl::StrAppendFormat(&table, "%10s %10s %10s ", "-", "-", "-");
    }
    absl::StrAppendFormat(&table, "%8.2f MiB\n", static_cast<double>((*program)->interface().plan.sizeBytes) / 0x1p20);
  }
  std::printf("%s", table.c_str());
  if (ptxas)
    std::printf("assembled by %s; registers and static shared memory are those of the kernel with most\n", ptxas->c_str());
  else
    std::printf("note: not assembled, because there is no ptxas\n"
                "  help: install the CUDA toolkit or set HJX_PTXAS to see registers; the driver needs none of this\n");
  return absl::OkStatus();
}

} // namespace hjx
