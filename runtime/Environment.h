// SPDX-License-Identifier: Apache-2.0
//
// Every environment variable that hjx reads, and nowhere else.
//
// | variable             | meaning                                        | default               |
// |----------------------|------------------------------------------------|-----------------------|
// | CUDA_LAUNCH_BLOCKING | 1: each launch is waited for, errors name it   | 0                     |
// | HJX_AUTOTUNE         | 1: matrix products are timed, the best kept    | 0                     |
// | HJX_BACKEND          | what runs programs: cpu or interpreter         | cpu                   |
// | HJX_CACHE_DIR        | machine code and tiles for GPUs, or none       | hjx in XDG_CACHE_HOME |
// | HJX_CUDA_DRIVER      | the library with CUDA's driver API             | libcuda.so.1          |
// | HJX_CUDA_GRAPHS      | 0: kernels are launched one by one             | 1                     |
// | HJX_DEVICE           | where programs run if nothing else is said     | cpu                   |
// | HJX_EXPLAIN_RETRACES | 1: jit says why it compiles a function again   | 0                     |
// | HJX_MEMORY_LIMIT     | bytes of a cpu or simulated device: 512MiB, 8G | what there is         |
// | HJX_NUM_CPU_DEVICES  | devices that the processor is: cpu:0, cpu:1 .. | 1                     |
// | HJX_NUM_THREADS      | threads of the pool, the caller counted as one | processors available  |
// | HJX_PTXAS            | NVIDIA's assembler, or none                    | ptxas, where found    |
// | HJX_PTXSIM_ARCH      | what the simulated device is: sm_80 or sm_90   | sm_80                 |
// | HJX_PTXSIM_CHECKS    | 0: it checks bounds only, twice as fast        | 1                     |
// | HJX_PTXSIM_DEVICES   | how many there are: sim:0, sim:1 ..            | 1                     |
// | HJX_PTXSIM_THREADS   | its host threads                               | HJX_NUM_THREADS       |
//
// The same table is in docs/embedding.md; a test compares them with what is read.
// A value that is not understood is named on standard error, and the default taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hjx {

/// The width of the global pool: HJX_NUM_THREADS when it is a number of at least 1,
/// else the number of processors that the process may run on. Says so on standard
/// error, once, when the variable is set to something else.
int defaultNumThreads();

enum class Backend {
  Cpu,         ///< compiled code
  Interpreter, ///< the reference interpreter, slow, to find out which of the two is wrong
};

/// HJX_BACKEND. Says so on standard error, once, when it is set to something else.
Backend defaultBackend();

/// HJX_DEVICE: a name for openDevice, which knows whether there is such a device.
std::string defaultDeviceName();

/// HJX_EXPLAIN_RETRACES: set, and not to 0.
bool explainRetraces();

/// HJX_AUTOTUNE: whether to measure products of a program that is compiled for a device.
bool autotune();

/// HJX_CACHE_DIR; else hjx in XDG_CACHE_HOME or in ~/.cache. "" for none, or where there is no home.
std::string cacheFolder();
/// HJX_MEMORY_LIMIT in bytes, or nothing. The processor's devices keep to it, and the simulated ones.
std::optional<int64_t> memoryLimit();

/// HJX_NUM_CPU_DEVICES: at least 1, at most kMostCpuDevices.
int numCpuDevices();

/// HJX_PTXSIM_DEVICES: at least 1, at most kMostSimulatedDevices.
int numSimulatedDevices();

constexpr int kMostCpuDevices = 1024, kMostSimulatedDevices = 16;

/// HJX_CUDA_DRIVER: a path, or a name that the system's loader finds.
std::string cudaDriverPath();

/// HJX_CUDA_GRAPHS: whether launches that repeat are replayed as a graph. Never if CUDA_LAUNCH_BLOCKING is set.
bool cudaGraphs();

/// CUDA_LAUNCH_BLOCKING, which other libraries know, too.
bool cudaLaunchBlocking();

/// HJX_PTXAS, or nothing.
std::string ptxasPath();

/// HJX_PTXSIM_ARCH as a compute capability: 80 or 90.
unsigned simulatedCapability();

/// HJX_PTXSIM_CHECKS.
bool simulatorChecks();

/// HJX_PTXSIM_THREADS.
int simulatorThreads();

} // namespace hjx
