// SPDX-License-Identifier: Apache-2.0
//
// The device module of a program that is being lowered, and how functions and calls of the host
// become kernels and launches.
#pragma once

#include "lib/Codegen/Gpu/BufferFacts.h"
#include "lib/Codegen/Gpu/Threads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace hjx {

/// A kernel and the shape in which it is launched.
struct Launch {
  mlir::gpu::GPUFuncOp kernel;
  int64_t numBlocks = 1, blockSize = 1;
};

/// Functions with `hjx.kernel` that are not kernels yet, and their calls.
using KernelCalls = llvm::MapVector<mlir::func::FuncOp, llvm::SmallVector<mlir::func::CallOp>>;
KernelCalls kernelCalls(mlir::ModuleOp module);

/// Whether a chip has TMA and wgmma: the instructions of sm_90 that no other has.
inline bool hasWarpGroups(llvm::StringRef chip) { return chip == "sm_90a"; }

class KernelModule {
public:
  /// `gpu.module @device` of `host` for `chip`, made at the end of it if it is not there.
  explicit KernelModule(mlir::ModuleOp host, llvm::StringRef chip = "sm_80");

  llvm::StringRef chipName() const { return chip; }

  /// A kernel with the body of `function`, which is left without one; the facts become attributes
  /// of its arguments.
  mlir::gpu::GPUFuncOp takeKernel(mlir::func::FuncOp function,
                                  llvm::ArrayRef<BufferFacts> facts);

  /// An empty kernel.
  mlir::gpu::GPUFuncOp createKernel(mlir::Location loc, const llvm::Twine &name,
                                    mlir::TypeRange arguments);

  /// The kernel that `make` makes: once for all that has the same `key`.
  mlir::gpu::GPUFuncOp share(llvm::StringRef key, llvm::function_ref<mlir::gpu::GPUFuncOp()> make);

  /// The kernel of that name; null if there is none.
  mlir::gpu::GPUFuncOp lookup(llvm::StringRef name) {
    return symbols.lookup<mlir::gpu::GPUFuncOp>(name);
  }

  /// An array of the module for split products (ProductKernel.h): i32, 0 whenever no kernel runs.
  static constexpr llvm::StringLiteral kCounters = "hjx_split_counters";
  /// The first of `count` more of its elements.
  int64_t addCounters(int64_t count);

  static void launch(mlir::ImplicitLocOpBuilder &b, const Launch &launch,
                     mlir::ValueRange arguments);

private:
  mlir::gpu::GPUModuleOp device;
  std::string chip;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::gpu::GPUFuncOp> shared;
};

} // namespace hjx
