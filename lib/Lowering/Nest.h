// SPDX-License-Identifier: Apache-2.0
//
// Emits one linalg.generic: the elementwise ops that a nest computes, and how it
// reads what they need.
//
// Concept. A nest reads arrays through indexing maps. Before an operand is read,
// its producers are looked through as long as they only repeat or rename elements:
//
//   broadcast_in_dim %r shape = [2, 3] dims = [0]     read %r at (i, j) -> (i)
//   broadcast_in_dim of [2, 1]                        read it at (i, j) -> (i, 0)
//   reshape [2] -> [2, 1]                             read its operand
//   constant dense<1.0>                               a scalar constant in the body
//   iota dim = 1                                      linalg.index 1 in the body
//
// Example: `x * broadcast(1.0 / norm)` reads %x and %norm-sized arrays; no array of
// the broadcast's size is ever written.
#pragma once

#include "lib/Lowering/Lowering.h"

namespace hjx {

/// A value of the hjx program, and how the loops index it.
struct Read {
  mlir::Value value;
  mlir::AffineMap map;
};

/// Whether a nest looks through `op` (through a transpose only if it wants to).
bool isLookedThrough(mlir::Operation *op);

struct Nest {
  llvm::SmallVector<int64_t> sizes; ///< of the loops
  /// Elementwise ops computed in the body, whose elements the loops walk one by one.
  llvm::ArrayRef<mlir::Operation *> members;
  /// What `finish` sees, from members or from arrays.
  llvm::SmallVector<Read> reads;
  bool lookThroughTransposes = false;

  llvm::SmallVector<mlir::Value> inits; ///< tensors, of the tensor stage
  llvm::SmallVector<mlir::AffineMap> initMaps;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  /// Yields the outputs' elements, given the reads' elements and the outputs' old ones.
  std::function<llvm::SmallVector<mlir::Value>(LocBuilder &b, mlir::ValueRange elements,
                                               mlir::ValueRange accumulators)>
      finish;
};

/// Emits `nest`; returns one tensor per init.
llvm::SmallVector<mlir::Value> emitNest(Lowering &lowering, const Nest &nest);

/// Emits the parallel nest that fills a new array of `type` (of the tensor stage) with the
/// elements of `read`, each passed through `finish` if given.
mlir::Value
emitCopy(Lowering &lowering, Read read, mlir::RankedTensorType type,
         llvm::function_ref<mlir::Value(LocBuilder &b, mlir::Value element)> finish = nullptr);

/// A parallel nest over `type`'s elements that reads nothing by map: `element` gets the indices.
mlir::Value
emitGenerate(LocBuilder &b, mlir::RankedTensorType type,
             llvm::function_ref<mlir::Value(LocBuilder &b, mlir::ValueRange indices)> element);

/// A parallel nest on values of the tensor stage, all of `type`'s shape.
mlir::Value
emitMap(LocBuilder &b, mlir::RankedTensorType type, mlir::ValueRange inputs,
        llvm::function_ref<mlir::Value(LocBuilder &b, mlir::ValueRange elements)> element);

mlir::Value emitEmpty(LocBuilder &b, mlir::RankedTensorType type);
/// An array of `type` (of the tensor stage), every element `value`.
mlir::Value emitFilled(LocBuilder &b, mlir::RankedTensorType type, mlir::Value value);
mlir::Value emitFilled(LocBuilder &b, mlir::RankedTensorType type, mlir::TypedAttr value);

} // namespace hjx
