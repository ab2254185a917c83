// SPDX-License-Identifier: Apache-2.0
//
// The hjx dialect: types, ops and the few questions about types that every verb
// asks. The semantics of each op stand in the .td file of its family.
#pragma once

#include "dialects/hjx/HiTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/hjx/Dialect.h.inc"

namespace hjx::ir {
/// Compares an op's result types with those that follow from its operands.
llvm::LogicalResult checkResultTypes(llvm::StringRef op, std::optional<mlir::Location> location,
                                     mlir::TypeRange expected, mlir::TypeRange got);
/// Every operand of `op` that is a ref is read and written.
void addRefEffects(mlir::Operation *op, llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// The part of a ref that an op accesses (Refs.td). One entry for each dimension of the array, none
/// for the whole value. `starts[d]` is kDynamic where the next of `indices` says it; `sizes[d]` is
/// kDropped where the entry is an integer or an integer array, kAll for the whole dimension.
struct RefIndex {
  static constexpr int64_t kDynamic = mlir::ShapedType::kDynamic, kDropped = -1, kAll = -2;

  mlir::ValueRange indices;
  llvm::ArrayRef<int64_t> starts, sizes, strides;

  bool isWhole() const { return starts.empty(); }
  /// The type of the part of a value of `type`.
  mlir::FailureOr<mlir::Type> partOf(mlir::Type type, EmitError emitError) const;
};
} // namespace hjx::ir

#include "dialects/hjx/ElementwiseEnums.h.inc"
#include "dialects/hjx/MovementEnums.h.inc"
#include "dialects/hjx/RequestsEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/hjx/Types.h.inc"

#define GET_OP_CLASSES
#include "dialects/hjx/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Contraction.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Reduction.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Movement.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Random.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/HigherOrder.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Requests.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Refs.h.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/HiTypes.h.inc"

namespace hjx::ir {

/// `type` with a dimension of `size` inserted at `axis`, or without dimension
/// `axis`.
mlir::RankedTensorType insertAxis(mlir::RankedTensorType type, int64_t axis, int64_t size);
mlir::RankedTensorType dropAxis(mlir::RankedTensorType type, int64_t axis);

/// A splat constant of `type` (number or bool elements), `value` converted.
mlir::Value makeSplat(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

/// The element of a splat constant that produces `value`, if it is one.
std::optional<double> getSplat(mlir::Value value);

} // namespace hjx::ir
