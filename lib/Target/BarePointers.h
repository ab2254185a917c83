// SPDX-License-Identifier: Apache-2.0
//
// Buffers as bare pointers. All sizes and strides are static, so what crosses a call is the
// address of the first element: the caller applies the offset, the callee rebuilds the descriptor
// from constants.
//
//   memref<4xf32, strided<[2], offset: ?>>   ->   ptr to element 0, described as offset 0
//
// Upstream's bare-pointer convention refuses dynamic offsets; here they are part of the address.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace hjx {

class BarePointers {
public:
  explicit BarePointers(const mlir::LLVMTypeConverter &types) : types(types) {}

  /// A diagnostic at `function` if an argument is a buffer without static shape and strides.
  static mlir::LogicalResult check(mlir::FunctionOpInterface function);

  /// The pointer type that stands for a buffer of `type`.
  mlir::Type pointerType(mlir::MemRefType type) const;

  /// The buffer of `type` whose first element is at `pointer`.
  mlir::Value bufferAt(mlir::ImplicitLocOpBuilder &b, mlir::MemRefType type,
                       mlir::Value pointer) const;

  /// The address of the first element of `buffer`.
  mlir::Value addressOf(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer) const;

  /// Gives the buffer `argument` the type of a pointer; its uses see the buffer behind it.
  void lowerArgument(mlir::ImplicitLocOpBuilder &b, mlir::BlockArgument argument) const;

private:
  const mlir::LLVMTypeConverter &types;
};

} // namespace hjx
