// SPDX-License-Identifier: Apache-2.0
//
// Programs that run, whatever runs them: code for the processor or for a GPU, or the
// reference interpreter (HJX_BACKEND=interpreter, for finding out which of the two is
// wrong, in place of code for the processor).
//
//   PlacedProgram program(text);                       // recorded once
//   program.on(**openDevice("cpu:0"));                 // compiled
//   program.on(**openDevice("cpu:1"));                 // the same code
//   program.on(**openDevice("sim:0"));                 // compiled for its architecture
#pragma once

#include "runtime/Backends.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include <memory>
#include <string>

namespace hjx {

class Executable {
public:
  virtual ~Executable() = default;

  /// Runs the program once: one pointer for each argument and each result of @main, to row-major
  /// memory of the device that it was made for, in the layout of runtime/ElementType.h (keys are two
  /// 32-bit words). A result that is stored in a donated argument has that argument's pointer. An
  /// argument that is a ref is what the ref holds, and is updated in place.
  ///
  /// On a GPU the run is asked for, and happens later; see RuntimeDevice.
  /// Threads: may be called from several threads at once.
  virtual absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const = 0;
};

/// A module at the traced stage with the context that it lives in.
struct Program {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class DeviceCompilation;

/// A traced program with what it was compiled to: once for all processors, once for each
/// architecture of GPUs. What was recorded is kept, so that another device records nothing again.
class PlacedProgram {
public:
  /// `text` is a module's.
  explicit PlacedProgram(std::string text);
  /// Saves the first compilation the reading.
  explicit PlacedProgram(Program program);
  ~PlacedProgram();

  /// What runs the program on `device`, as long as this object lives. `wasCompiled` is set to whether
  /// there was nothing for that kind of device yet.
  ///
  /// Errors: INVALID_ARGUMENT with the diagnostics and their locations; those of loading the code.
  /// Threads: may be called from several threads at once.
  absl::StatusOr<const Executable *> on(RuntimeDevice &device, bool *wasCompiled = nullptr) const;

private:
  std::string text;
  mutable absl::Mutex mutex;
  mutable Program fresh ABSL_GUARDED_BY(mutex);
  mutable std::vector<std::unique_ptr<DeviceCompilation>> compilations ABSL_GUARDED_BY(mutex);
  mutable std::vector<std::pair<RuntimeDevice *, std::unique_ptr<Executable>>> executables ABSL_GUARDED_BY(mutex);
};

/// The program of a module's text, the same for all calls with equal text.
/// Threads: may be called from several threads at once.
std::shared_ptr<const PlacedProgram> findProgram(const std::string &text);

} // namespace hjx
