// SPDX-License-Identifier: Apache-2.0
//
// A sample as a program: its function, functions of requests on it, and their
// values on the interpreter; and the arithmetic on arrays that properties need.
#pragma once

#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/HostArray.h"
#include "test/unit/PropertySamples.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace hjx::test {

using Arrays = llvm::SmallVector<HostArray>;
using Types = llvm::SmallVector<mlir::Type>;
using Values = llvm::SmallVector<mlir::Value>;

class Program {
public:
  /// Parses the sample; `isValid()` is false, with messages(), when it is wrong.
  Program(mlir::MLIRContext &context, const Sample &sample);
  bool isValid() const { return bool(module); }
  const std::string &messages() const { return text; }

  Types argumentTypes() { return Types(function("f").getArgumentTypes()); }
  Types resultTypes() { return Types(function("f").getResultTypes()); }

  /// Adds a public function; `build` gets its arguments and gives its results.
  mlir::func::FuncOp
  add(llvm::StringRef name, mlir::TypeRange arguments,
      llvm::function_ref<Values(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)> build);
  mlir::func::FuncOp function(llvm::StringRef name);

  /// Runs hjx-expand-transforms and verifies.
  mlir::LogicalResult expand();
  mlir::FailureOr<Arrays> run(llvm::StringRef name, llvm::ArrayRef<HostArray> arguments);
  /// The same for @main by the compiler and this machine. Consumes nothing.
  mlir::FailureOr<Arrays> runCompiled(llvm::ArrayRef<HostArray> arguments);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string text;
};

/// An array of `type` with elements from `domain`.
HostArray draw(mlir::Type type, Domain domain, std::mt19937_64 &random);

/// x + scale * y, rounded to x's type.
HostArray axpy(const HostArray &x, double scale, const HostArray &y);
/// The sum of products of all elements.
double inner(llvm::ArrayRef<HostArray> x, llvm::ArrayRef<HostArray> y);
HostArray zerosLike(const HostArray &x);
/// Slice `i` of `x` along `axis`, and its inverse for equal slices.
HostArray slice(const HostArray &x, int64_t axis, int64_t i);
HostArray stack(llvm::ArrayRef<HostArray> slices, int64_t axis);

} // namespace hjx::test
