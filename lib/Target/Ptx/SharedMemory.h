// SPDX-License-Identifier: Apache-2.0
//
// Where the buffers lie that the threads of a block share.
//
// Up to 48 KiB they are variables of the device module. A kernel that has more must have them in
// dynamic shared memory, whose size its launches say: all of them, one after the other, in the one
// array that CUDA has for that. A buffer may ask for its alignment, with llvm.align; and in kernels of
// which a block does one of several things, buffers of different ones lie in the same place, with
// hjx.turn.
#pragma once

#include "lib/Support/Pch.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hjx {

/// Number of a workgroup attribution: no block uses buffers of two numbers.
constexpr llvm::StringLiteral kTurnAttr = "hjx.turn";

struct SharedMemory {
  // Vector loads and asynchronous copies take up to 16 bytes at once.
  static constexpr int64_t kAlignment = 16;
  /// Of the array for dynamic shared memory. Nothing needs more: it is that of swizzled tiles.
  static constexpr int64_t kMostAlignment = 1024;
  static constexpr int64_t kMostStaticBytes = 48 << 10;

  llvm::SmallVector<int64_t> offsets, alignments; ///< Of the kernel's workgroup attributions.
  int64_t sizeBytes = 0;
  bool takesTurns = false; ///< Some lie where others do.

  bool isDynamic() const { return sizeBytes > kMostStaticBytes; }
  int64_t dynamicBytes() const { return isDynamic() ? sizeBytes : 0; }

  static SharedMemory of(mlir::gpu::GPUFuncOp kernel) {
    SharedMemory memory;
    llvm::SmallDenseMap<int64_t, int64_t> ends; // Of each turn's buffers.
    auto attributeOf = [&](unsigned index, llvm::StringRef name) {
      return mlir::dyn_cast_if_present<mlir::IntegerAttr>(kernel.getWorkgroupAttributionAttr(index, name));
    };
    for (auto [index, buffer] : llvm::enumerate(kernel.getWorkgroupAttributions())) {
      auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
      int64_t bytes = hjx::sizeBytes(type);
      auto alignment = attributeOf(index, mlir::LLVM::LLVMDialect::getAlignAttrName());
      auto turn = attributeOf(index, kTurnAttr);
      int64_t &end = ends[turn ? turn.getInt() : 0];
      memory.alignments.push_back(alignment ? alignment.getInt() : kAlignment);
      memory.offsets.push_back(llvm::alignTo(end, memory.alignments.back()));
      end = memory.offsets.back() + llvm::alignTo(bytes, kAlignment);
      memory.sizeBytes = std::max(memory.sizeBytes, end);
    }
    memory.takesTurns = ends.size() > 1;
    return memory;
  }
};

} // namespace hjx
