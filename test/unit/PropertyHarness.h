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

#include <cmath>
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

//===----------------------------------------------------------------------===//
// Points and requests
//===----------------------------------------------------------------------===//

/// A sample with its types, and values at one point.
struct Point {
  Point(mlir::MLIRContext &context, const Sample &sample, std::mt19937_64 &random);

  Program program;
  Types argumentTypes, resultTypes;
  Arrays x;
};
Domain domainOf(const Sample &sample, size_t argument);

Types floatsOf(mlir::TypeRange types);
Arrays floatsOf(llvm::ArrayRef<HostArray> arrays);
Types concat(mlir::TypeRange a, mlir::TypeRange b);
Arrays concat(llvm::ArrayRef<HostArray> a, llvm::ArrayRef<HostArray> b);

/// The values where `mask` is true.
template <typename Range> auto pick(Range &&values, llvm::ArrayRef<bool> mask) {
  llvm::SmallVector<std::decay_t<decltype(values[0])>> kept;
  for (auto [value, isKept] : llvm::zip_equal(values, mask))
    if (isKept)
      kept.push_back(value);
  return kept;
}

/// Fewest significant bits among the float types, and the distance from 1 to the
/// next number there: what tolerances follow.
unsigned precisionOf(mlir::TypeRange types);
double epsilonOf(mlir::TypeRange types);

/// Adds @name: (x, v) -> (f, J v), for the float arguments in `mask`.
void addJvp(Point &p, llvm::ArrayRef<bool> mask, llvm::StringRef name);
/// Adds @name: (x, c) -> (f, J^T c).
void addVjp(Point &p, llvm::ArrayRef<bool> mask, llvm::StringRef name);

/// The size of mapped axes: one that no sample has where it matters.
constexpr int64_t kBatch = 5;
/// The types with an axis of kBatch inserted where `axes` is not -1.
Types mapTypes(mlir::TypeRange types, llvm::ArrayRef<int64_t> axes);
void addVmap(Program &program, llvm::StringRef name, llvm::StringRef callee,
             mlir::TypeRange arguments, mlir::TypeRange results, llvm::ArrayRef<int64_t> inAxes,
             llvm::ArrayRef<int64_t> outAxes);

} // namespace hjx::test
