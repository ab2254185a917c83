// SPDX-License-Identifier: Apache-2.0
//
// What a lane holds of the matrices of attention: fragments of tiles in shared memory, of 16 rows by 32 bytes for
// an mma's left factor and of 32 bytes by 8 columns for its right one, as the PTX manual's "matrix fragments for mma"
// has them. Without tensor cores a fragment is, for each of a lane's two rows or columns, four numbers along what is
// summed. A score is where an mma's result would be, so it becomes a left factor without leaving its row's four lanes.
#pragma once

#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/KernelFrame.h"

namespace hjx {

class AttentionFragments : protected KernelFrame {
protected:
  AttentionFragments(mlir::gpu::GPUFuncOp kernel, const AttentionKernelConfig &config);

  bool isTensor() const { return config.onTensorCores; }
  bool isTf32() const { return isTensor() && bytes == 4; }
  /// What a product of fragments sums over: 32 bytes in an mma, else a vector.
  int64_t depth() const { return (isTensor() ? 32 : 16) / bytes; }

  /// Of this warp's rows of a tile.
  Values rowFragment(Value rows, int64_t step);
  /// Of 16 columns, as the right factor of scores; of 16 features, as that of sums.
  Values columnFragment(Value stage, int64_t step, int64_t pair);
  Values featureFragment(Value stage, int64_t step, int64_t pair);
  /// The left factor at `step`, from scores; without tensor cores those of one of a row's lanes.
  Values scoreFragment(llvm::ArrayRef<Value> scores, int64_t step, Value owner);
  /// sums += lhs * rhs: an mma.
  void multiply(llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs, llvm::MutableArrayRef<Value> sums);

  /// Two numbers of the operands' 16-bit type in a register.
  Value packed(Value low, Value high);
  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, x, y, z); }
  Value intrinsic(llvm::StringRef name, mlir::Type type, mlir::ValueRange arguments) {
    return mlir::LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), arguments).getResult(0);
  }
  Value load(mlir::Type type, Value address) { return mlir::LLVM::LoadOp::create(b, type, address); }

  static constexpr int64_t kVectorBytes = 16; ///< Of a copy, and of a row that ldmatrix reads.
  const AttentionKernelConfig &config;
  const int64_t bytes, pitch; ///< Of an element; of a row of a tile.
  Value lane;
  Value firstLaneRow; ///< lane / 4 of its warp's 16 rows.
  Value laneColumn;   ///< Of the two neighbours that a lane has of 8 columns.

private:
  /// Four numbers that lie together.
  Values loadVector(Value address);
  Values loadMatrices(Value address, bool transposed);
  Value toTf32(Value value);

  Value rowPart, columnPart, featurePart; // This lane's part of fragments, in bytes.
};

} // namespace hjx
