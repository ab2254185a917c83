// SPDX-License-Identifier: Apache-2.0
//
// Private functions made from pieces of @main, one for all pieces that read the
// same: a network of twelve equal layers compiles each kernel once.
#pragma once

#include "lib/Support/Pch.h"

#include "llvm/ADT/StringMap.h"

namespace hjx {

class SharedFunctions {
public:
  explicit SharedFunctions(mlir::ModuleOp module) : symbols(module) {}

  /// A detached function that takes `arguments`. Where in a larger buffer an argument lies is left
  /// open, so that slices at different places share a function.
  static mlir::OwningOpRef<mlir::func::FuncOp> create(mlir::Location loc,
                                                      mlir::ValueRange arguments);

  /// `function` under a name that begins with `name`, or the one given before that reads the same.
  mlir::func::FuncOp share(mlir::OwningOpRef<mlir::func::FuncOp> function, llvm::StringRef name);

  /// Calls `callee` with `arguments`, cast to its types.
  static void call(mlir::ImplicitLocOpBuilder &b, mlir::func::FuncOp callee,
                   mlir::ValueRange arguments);

  /// What a body of scalars computes, in a few words: "mul_add_exp".
  static std::string summary(mlir::Block &body);

private:
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace hjx
