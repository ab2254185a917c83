// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of the kernels that are written out by hand, products and attention: arithmetic on
// indices, and addresses in bytes. What the kernels themselves share is in ProductFrame.h and AttentionFrame.h.
#pragma once

#include "lib/Codegen/Gpu/Threads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hjx {

class KernelFrame {
protected:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Emits at the start of `kernel`, whose launches choose the number of blocks.
  KernelFrame(mlir::gpu::GPUFuncOp kernel, int64_t blockSize)
      : kernel(kernel), k(kernel, /*numBlocks=*/0, blockSize), b(k.b) {}

  // Indices, none of them negative.
  Value index(int64_t value) { return k.index(value); }
  Value add(Value x, Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulIOp::create(b, x, y); }
  Value quotient(Value x, int64_t y) { return mlir::arith::DivUIOp::create(b, x, index(y)); }
  Value remainder(Value x, int64_t y) { return mlir::arith::RemUIOp::create(b, x, index(y)); }
  Value lessThan(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ult, x, y);
  }
  Value toI64(Value x) { return mlir::arith::IndexCastOp::create(b, b.getI64Type(), x); }
  Value toI32(Value x) { return mlir::arith::IndexCastOp::create(b, b.getI32Type(), x); }
  /// number % radix and number / radix in 32 bits: 64 would take a hundred instructions.
  Value takeDigit(Value &number, Value radix);

  /// The conjunction of conditions, which are absent where they always hold.
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : mlir::arith::AndIOp::create(b, x, y).getResult();
  }
  Value constant(int64_t value, unsigned width = 32) {
    return mlir::LLVM::ConstantOp::create(b, b.getIntegerType(width), value);
  }

  static constexpr unsigned kGlobal = 1, kShared = 3;
  /// Where the first element of `buffer` is, in the address space of that number.
  Value addressOf(Value buffer, unsigned space);
  /// The address so many bytes further on: an i64, or an index.
  Value offset(Value address, Value bytes);
  Value offset(Value address, int64_t bytes);

  mlir::gpu::GPUFuncOp kernel;
  KernelBuilder k;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace hjx
