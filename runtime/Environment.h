// SPDX-License-Identifier: Apache-2.0
//
// Every environment variable that hjx reads, and nowhere else.
//
// | variable             | meaning                                        | default              |
// |----------------------|------------------------------------------------|----------------------|
// | HJX_BACKEND          | what runs programs: cpu or interpreter         | cpu                  |
// | HJX_CUDA_DRIVER      | the library with CUDA's driver API             | libcuda.so.1         |
// | HJX_EXPLAIN_RETRACES | 1: jit says why it compiles a function again   | 0                    |
// | HJX_NUM_THREADS      | threads of the pool, the caller counted as one | processors available |
// | HJX_PTXAS            | NVIDIA's assembler, or none                    | ptxas, where found   |
#pragma once

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

/// HJX_EXPLAIN_RETRACES: set, and not to 0.
bool explainRetraces();

/// HJX_CUDA_DRIVER: a path, or a name that the system's loader finds.
std::string cudaDriverPath();

/// HJX_PTXAS, or nothing.
std::string ptxasPath();

} // namespace hjx
