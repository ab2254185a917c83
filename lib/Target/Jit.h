// SPDX-License-Identifier: Apache-2.0
//
// From the machine stage to code in memory, for the processor that runs this
// process: LLVM IR, a short LLVM pipeline, ORC.
//
// The pipeline is short because the kernels come vectorised, unrolled and with
// their invariants hoisted: LLVM's vectorisers and unroller would find nothing
// and cost most of the time. It runs at 0.91 to 1.03 of the speed of -O3 for
// about 60% of the compile time.
#pragma once

#include "lib/Support/Pch.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace hjx {

struct JitOptions {
  /// Processor and features in LLVM's spelling; empty means the host's.
  std::string cpu, features;
  /// 0 compiles fastest; 1 is meant for use.
  unsigned optLevel = 1;
  /// When set, receives the LLVM IR after optimisation and the assembly.
  llvm::raw_ostream *dump = nullptr;
};

/// Owns the code of one module.
class Jit {
public:
  ~Jit();

  /// Compiles `module`, which must be at the machine stage.
  ///
  /// Errors: the message of whatever failed: translation, code generation or linking.
  static llvm::Expected<std::unique_ptr<Jit>> compile(mlir::ModuleOp module,
                                                      const JitOptions &options = {});

  /// The address of the function `name`.
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  Jit();
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace hjx
