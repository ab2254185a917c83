// SPDX-License-Identifier: Apache-2.0
//
// The least that turns a module of kernels into callable code: the standard
// conversions to LLVM, -O2, ORC. For the bench and the tests of kernel generators,
// which must not depend on the compiler that uses them.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <string>

namespace hjx::bench {

struct JitTarget {
  std::string cpu;      ///< LLVM's name; empty: the host's
  std::string features; ///< "+avx2,-avx512f"; added to those of `cpu`
};

/// Functions of the process that the module may call.
using JitSymbols = std::vector<std::pair<std::string, void *>>;

/// Lowers `module` to the LLVM dialect in place.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);

class Jit {
public:
  /// Takes a module in the LLVM dialect. Ends the process with a message on errors.
  static Jit compile(mlir::ModuleOp module, const JitTarget &target, const JitSymbols &symbols);
  template <typename Function> Function *lookup(const std::string &name) const {
    return reinterpret_cast<Function *>(address(name));
  }
  double compileMs = 0;

private:
  void *address(const std::string &name) const;
  std::unique_ptr<llvm::orc::LLJIT> lljit;
};

/// The assembly of `module` (LLVM dialect), for reading inner loops.
std::string emitAssembly(mlir::ModuleOp module, const JitTarget &target);

} // namespace hjx::bench
