// SPDX-License-Identifier: Apache-2.0
//
// What the callers of a program pass and get, for as long as the program is IR.
//
// The type of @main forgets: keys become words, integers lose their signs, results become
// buffers, and at the machine stage all that is left is one table of pointers. So the module
// keeps what @main said at first, in the attribute `hjx.signature`, and code can be made from a
// dump of any stage:
//
//   module attributes {hjx.signature = {
//     type = (tensor<!hjx.key<threefry2x32>>) -> tensor<2xf32>,
//     arguments = [{hjx.name = "key"}], results = [{hjx.name = "x"}]}}
//
// While @main is on tensors, its own attributes count, and of the recorded signature the type.
// hjx-run records it before the first pass; hjx-bufferize records what holds until then.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace hjx {

constexpr llvm::StringLiteral kSignatureAttr = "hjx.signature";

struct Signature {
  mlir::FunctionType type;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs; ///< hjx.alias, hjx.name, ...

  static Signature of(mlir::func::FuncOp function);

  /// That of the @main of `module`, completed by what the module has recorded.
  ///
  /// Errors: a diagnostic for a recorded attribute of another form, a module without @main on
  ///         tensors that has recorded none, and a @main that stores its arguments or results in
  ///         another way than was recorded (it was edited).
  static mlir::FailureOr<Signature> of(mlir::ModuleOp module);

  /// Writes it into `module`.
  void record(mlir::ModuleOp module) const;
};

/// How values of `type` are stored: keys are two words, integers have no sign. Bools stay i1.
mlir::RankedTensorType storageType(mlir::RankedTensorType type);

} // namespace hjx
