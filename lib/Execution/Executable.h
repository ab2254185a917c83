// SPDX-License-Identifier: Apache-2.0
//
// A program that runs, whatever runs it: compiled for the processor, or the
// reference interpreter (HJX_BACKEND=interpreter, for finding out which of the
// two is wrong).
#pragma once

#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "absl/types/span.h"

#include <memory>
#include <string>

namespace hjx {

class Executable {
public:
  virtual ~Executable() = default;

  /// Runs the program once: one pointer for each argument and each result of @main, to
  /// row-major memory in the layout of runtime/ElementType.h (keys are two 32-bit words).
  /// A result that is stored in a donated argument has that argument's pointer. An argument that
  /// is a ref is what the ref holds, and is updated in place.
  ///
  /// Threads: may be called from several threads at once.
  virtual absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const = 0;
};

/// A module at the traced stage with the context that it lives in.
struct Program {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Compiles @main of a traced module for the chosen backend.
///
/// Errors: INVALID_ARGUMENT with the diagnostics and their locations.
absl::StatusOr<std::unique_ptr<Executable>> compile(Program program);

/// The program of a module's text, compiled once for all calls with equal text.
/// Threads: may be called from several threads at once.
absl::StatusOr<std::shared_ptr<const Executable>> findOrCompile(const std::string &text);

} // namespace hjx
