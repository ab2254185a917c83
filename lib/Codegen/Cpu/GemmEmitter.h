// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary in which the matrix-product generator is written: 64-bit integer
// arithmetic with operators, raw pointers, loops with C++ lambdas as bodies.
// Pointers instead of memrefs: a memref argument is five scalars after lowering,
// and a micro-kernel that runs for 300 ns notices.
#pragma once

#include "lib/Codegen/Structured/ProductTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx::gemm {

class Emitter;

/// An i64 value with arithmetic. Folds constants as it goes.
struct Int {
  Emitter *emitter = nullptr;
  mlir::Value value;
  operator mlir::Value() const { return value; }
};
Int operator+(Int lhs, Int rhs);
Int operator-(Int lhs, Int rhs);
Int operator*(Int lhs, Int rhs);
Int operator/(Int lhs, Int rhs); ///< operands must not be negative
Int operator%(Int lhs, Int rhs); ///< operands must not be negative
Int operator+(Int lhs, int64_t rhs);
Int operator-(Int lhs, int64_t rhs);
Int operator*(Int lhs, int64_t rhs);
Int operator/(Int lhs, int64_t rhs);
Int min(Int lhs, Int rhs);
Int max(Int lhs, Int rhs);
Int ceilDiv(Int lhs, Int rhs);
Int ceilDiv(Int lhs, int64_t rhs);
Int roundUp(Int lhs, int64_t multiple);

class Emitter : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  mlir::Type i64() { return getI64Type(); }
  mlir::Type ptr() { return mlir::LLVM::LLVMPointerType::get(getContext()); }

  Int constant(int64_t value);
  Int wrap(mlir::Value value) { return {this, value}; }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, Int lhs, Int rhs);
  mlir::Value equal(Int lhs, int64_t rhs);
  mlir::Value atMost(Int lhs, int64_t rhs);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value either(mlir::Value lhs, mlir::Value rhs);
  Int select(mlir::Value condition, Int ifTrue, Int ifFalse);

  /// Address of element `index` of type `element` after `base`.
  mlir::Value at(mlir::Value base, mlir::Type element, Int index);
  mlir::Value at(mlir::Value base, mlir::Type element, int64_t index);
  /// Memory access at the natural alignment of a scalar of `type`, or at `alignment` bytes.
  mlir::Value load(mlir::Type type, mlir::Value address, unsigned alignment = 0);
  void store(mlir::Value value, mlir::Value address, unsigned alignment = 0);
  Int loadInt(mlir::Value base, int64_t slot);
  void prefetch(mlir::Value address, bool forWriting);
  /// The lanes before `count`, as a mask for the two functions below.
  mlir::Value maskOf(Int count, int64_t lanes);
  mlir::Value loadMasked(mlir::VectorType type, mlir::Value address, mlir::Value mask);
  void storeMasked(mlir::Value value, mlir::Value address, mlir::Value mask);

  mlir::Value zero(mlir::Type scalarOrVector);
  /// Converts floats or integers (or vectors of them) to the element type of `type`.
  mlir::Value convert(mlir::Value value, mlir::Type elementType, bool isUnsigned = false);
  /// The floats that bytes hold: see Packing.
  mlir::Value unpack(mlir::Value bytes, Packing packing, mlir::Type elementType);
  mlir::Value addElements(mlir::Value lhs, mlir::Value rhs);
  /// lhs * rhs + sum, in one rounding if `fma`.
  mlir::Value multiplyAdd(mlir::Value lhs, mlir::Value rhs, mlir::Value sum, bool fma);

  void loop(Int begin, Int end, int64_t step, llvm::function_ref<void(Int)> body);
  void loop(Int begin, Int end, Int step, llvm::function_ref<void(Int)> body);
  using Carried = llvm::SmallVector<mlir::Value>;
  Carried loop(Int begin, Int end, int64_t step, mlir::ValueRange carried,
               llvm::function_ref<Carried(Int, mlir::ValueRange)> body);
  void branch(mlir::Value condition, llvm::function_ref<void()> ifTrue,
              llvm::function_ref<void()> ifFalse = nullptr);

  /// The values of the branch that is taken.
  Carried choose(mlir::Value condition, llvm::function_ref<Carried()> ifTrue,
                 llvm::function_ref<Carried()> ifFalse);

  /// Starts an internal function at the end of `module`; the body is emitted by `body`, which
  /// gets the arguments. Kernels are kept out of line: their registers are allocated alone.
  mlir::LLVM::LLVMFuncOp function(mlir::ModuleOp module, llvm::StringRef name,
                                  mlir::TypeRange arguments,
                                  llvm::function_ref<void(mlir::ValueRange)> body);
  void call(mlir::LLVM::LLVMFuncOp callee, mlir::ValueRange arguments);
};

} // namespace hjx::gemm
