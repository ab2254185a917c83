// SPDX-License-Identifier: Apache-2.0
//
// Discharge: from refs to values. Refs are never aliased and everything that
// touches one names it, so the value of each ref is known at every point of a
// block: a get reads it, a swap or an add makes the next one.
//
//   func @f(%r: !hjx.ref<tensor<3xf32>>, %x)      func @f(%v: tensor<3xf32>, %x)
//     hjx.ref_add %r, %x                            %w = hjx.add %v, %x
//     %y = hjx.ref_get %r                           return %w, %w
//     return %y
//
// A ref argument becomes a value argument; if the function writes it, its last
// value is one more result, after the others. A loop carries the refs that its
// body writes. A scan that takes a ref's slices takes and yields slices: each
// iteration sees its own, so direction does not matter. A cond returns the refs
// that some branch writes.
//
// Discharge may be partial: refs that are not chosen stay refs. Transforms use
// that before they differentiate or map a function (lib/Transforms).
#pragma once

#include "dialects/hjx/Hjx.h"

#include "llvm/ADT/StringMap.h"

namespace hjx {

/// `function` takes values in place of the chosen refs. Its results are those of the original,
/// then the last values of the refs in `written`, in order.
struct DischargedFunction {
  mlir::func::FuncOp function;
  llvm::SmallVector<bool> written; ///< per argument
};

class Discharger {
public:
  explicit Discharger(mlir::ModuleOp module) : module(module) {}

  /// A new private function for `f` with the refs in `chosen` (one entry per argument) and all that
  /// it makes itself discharged; `f` itself when there is nothing to do. Made once for each mask.
  /// Refs in `returned` count as written.
  ///
  /// A checkpoint stays one, and so does a custom_vjp, as far as its rule goes.
  /// Errors: a diagnostic for other requests that take a chosen ref, a while loop whose condition
  ///         writes one, and a function that passes one ref twice or returns one.
  mlir::FailureOr<DischargedFunction> discharge(mlir::func::FuncOp f, llvm::ArrayRef<bool> chosen,
                                                llvm::ArrayRef<bool> returned = {});

  /// Discharges the refs that `f` and what it calls make themselves, in place: each takes and returns
  /// what it did.
  mlir::LogicalResult dischargeOwn(mlir::func::FuncOp f);
  /// The same of the functions that `op` names.
  mlir::LogicalResult dischargeOwnOfCallees(mlir::Operation *op);

  /// Discharges all refs of `f` in place. A written argument is donated to its last value, by the
  /// attribute `hjx.alias`.
  mlir::LogicalResult dischargeInPlace(mlir::func::FuncOp f);

  /// Which arguments of `f` it may write, itself or through what it calls.
  llvm::SmallVector<bool> writtenArguments(mlir::func::FuncOp f);
  /// The first op found that writes an argument of a block, here or in what it calls; null if none does.
  mlir::Operation *findWrite(mlir::BlockArgument ref);
  bool isWritten(mlir::BlockArgument ref) { return findWrite(ref) != nullptr; }

private:
  friend class BlockDischarger;
  mlir::FailureOr<llvm::SmallVector<bool>> run(mlir::func::FuncOp f, llvm::ArrayRef<bool> chosen, llvm::ArrayRef<bool> returned);
  mlir::func::FuncOp copyOf(mlir::func::FuncOp f, llvm::StringRef name);
  /// A copy of `f` whose last `numMoved` results stand at `position`.
  mlir::func::FuncOp returnBefore(mlir::func::FuncOp f, unsigned position, unsigned numMoved);
  /// A copy of the custom_vjp's bwd without the chosen ones of its refs.
  mlir::FailureOr<mlir::func::FuncOp> dropRefs(ir::CustomVjpOp call, llvm::ArrayRef<bool> chosen);

  mlir::ModuleOp module;
  llvm::StringMap<DischargedFunction> made;
  llvm::DenseSet<mlir::Value> asked;                 // by isWritten, at the moment
  llvm::SmallPtrSet<mlir::Operation *, 4> open;      // being discharged
  llvm::SmallPtrSet<mlir::Operation *, 8> ownIsDone; // by dischargeOwn
};

/// Replaces primitives that take refs by their expansions, which show what each does with its refs:
/// discharge, and the rules of transforms, understand those.
mlir::LogicalResult expandPrimitivesOnRefs(mlir::func::FuncOp f);

/// True for a function that takes or makes a ref.
bool hasRefs(mlir::func::FuncOp f);

} // namespace hjx
