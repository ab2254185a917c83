// SPDX-License-Identifier: Apache-2.0
//
// Where the buffers lie that the threads of a block share.
//
// Up to 48 KiB they are variables of the device module. A kernel that has more must have them in
// dynamic shared memory, whose size its launches say: all of them, one after the other, in the one
// array that CUDA has for that. A buffer may ask for its alignment, with llvm.align.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hjx {

struct SharedMemory {
  // Vector loads and asynchronous copies take up to 16 bytes at once.
  static constexpr int64_t kAlignment = 16;
  /// Of the array for dynamic shared memory. Nothing needs more: it is that of swizzled tiles.
  static constexpr int64_t kMostAlignment = 1024;
  static constexpr int64_t kMostStaticBytes = 48 << 10;

  llvm::SmallVector<int64_t> offsets, alignments; ///< Of the kernel's workgroup attributions.
  int64_t sizeBytes = 0;

  bool isDynamic() const { return sizeBytes > kMostStaticBytes; }
  int64_t dynamicBytes() const { return isDynamic() ? sizeBytes : 0; }

  static SharedMemory of(mlir::gpu::GPUFuncOp kernel) {
    SharedMemory memory;
    for (auto [index, buffer] : llvm::enumerate(kernel.getWorkgroupAttributions())) {
      auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
      int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8u);
      auto alignment = mlir::dyn_cast_if_present<mlir::IntegerAttr>(kernel.getWorkgroupAttributionAttr(
          index, mlir::LLVM::LLVMDialect::getAlignAttrName()));
      memory.alignments.push_back(alignment ? alignment.getInt() : kAlignment);
      memory.sizeBytes = llvm::alignTo(memory.sizeBytes, memory.alignments.back());
      memory.offsets.push_back(memory.sizeBytes);
      memory.sizeBytes += llvm::alignTo(bytes, kAlignment);
    }
    return memory;
  }
};

} // namespace hjx
