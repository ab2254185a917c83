// SPDX-License-Identifier: Apache-2.0
//
// The simulated device behind the driver's functions: memory, loaded modules, launches,
// and the fault that put it out of use, if any. Everything is executed at the call; what
// a kernel did wrong is kept until somebody waits for it, as a real device would.
#pragma once

#include "runtime/Status.h"
#include "runtime/ThreadPool.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Warp.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hjx::ptxsim {

/// What the HJX_PTXSIM_* variables of runtime/Environment.h say.
struct Settings {
  unsigned computeCapability = 80;
  bool checks = true;
  int numThreads = 1;
  int numDevices = 1, ordinal = 0;          ///< how many there are, and which of them it is
  std::optional<int64_t> memoryLimit = {}; ///< bytes

  static Settings fromEnvironment();
};

struct LoadedFunction {
  const Function *source;
  Kernel kernel;
  uint32_t largestDynamicShared = 0; ///< what cuFuncSetAttribute allowed; 0: the default
};

struct LoadedModule {
  Module source;
  SymbolTable symbols;
  std::map<std::string, uint64_t, std::less<>> sizes; ///< of the symbols
  std::map<std::string, std::unique_ptr<LoadedFunction>, std::less<>> functions;
};

class Device {
public:
  explicit Device(Settings settings);

  const Settings settings;
  Memory memory;

  std::string name() const;
  uint32_t maxSharedPerBlock() const { return settings.computeCapability == 90 ? 232448 : 166912; }

  /// Parses and decodes all kernels: a module with an instruction that is not understood does not
  /// load. Errors: InvalidArgument "ptx line N: ..."; Unimplemented for another architecture.
  absl::StatusOr<LoadedModule *> load(absl::string_view text);
  bool unload(LoadedModule *module);
  bool isLoaded(const LoadedModule *module) const;
  bool isLoaded(const LoadedFunction *function) const;

  /// `cluster`: blocks; zeros: what the kernel demands, or one.
  /// Errors: InvalidArgument, when the shape or the arguments cannot be launched. A fault in the
  /// kernel is no error here: see `fault`.
  absl::Status launch(LoadedFunction &function, std::array<uint32_t, 3> grid,
                      std::array<uint32_t, 3> block, uint32_t sharedBytes, void **arguments,
                      std::array<uint32_t, 3> cluster = {0, 0, 0});

  /// The first finding; after it the device executes nothing until `reset`.
  const std::optional<Finding> &fault() const { return finding; }
  void reset();

private:
  void run(const Launch &launch);

  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::optional<Finding> finding;
  AccessPages accessPages; ///< of GlobalRaces
  ThreadPool pool;
  std::vector<std::vector<Block>> workers; ///< each a cluster
};

} // namespace hjx::ptxsim
