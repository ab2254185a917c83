// SPDX-License-Identifier: Apache-2.0
//
// Running a recorded program on concrete arrays.
#pragma once

#include "lib/Execution/Executable.h"
#include "lib/Frontend/Placement.h"

namespace hjx::detail {

/// What a value of a type is made of in memory: one array, or the components of a hi value, or what
/// a ref holds.
struct Layout {
  Aval aval;
  std::vector<Layout> parts;
};
Layout layoutOf(const Aval &aval, const Call &call);
/// A concrete leaf; `makeStorage` is called for each of its arrays in order.
Array assemble(const Layout &layout, llvm::function_ref<Storage(const Aval &)> makeStorage, Where where,
               bool isCommitted = false);

/// What a program on a device reads: arrays where they lie, and copies of those that are elsewhere.
struct Inputs {
  llvm::SmallVector<const void *> pointers;
  llvm::SmallVector<std::pair<size_t, Storage>> copies; ///< by the number of their pointer

  /// Appends the arrays of a leaf in order.
  void append(const Array &leaf, RuntimeDevice &device, const Call &call);
  /// The copy that a pointer is to, or null.
  Storage takeCopy(size_t number);
};

/// A module's text. Without locations, equal programs have equal text wherever they are written.
std::string programText(mlir::ModuleOp module, bool hasLocations = false);

/// Throws what the compiler said, in the user's words.
[[noreturn]] void failToCompile(const Call &call, const absl::Status &status);

/// The values of a program's results; the inputs are those of @main, lifted arrays last.
std::vector<Array> run(const Executable &executable, const Place &place, llvm::ArrayRef<Array> inputs,
                       llvm::ArrayRef<Aval> results, const Call &call);

/// Compiles the session's @main, unless an equal program is known, and runs it.
std::vector<Array> compileAndRun(Session &session, llvm::ArrayRef<Array> arguments, llvm::ArrayRef<Aval> results,
                                 const Call &call);

} // namespace hjx::detail
