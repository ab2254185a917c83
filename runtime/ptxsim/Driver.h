// SPDX-License-Identifier: Apache-2.0
//
// What the files of the driver API share: CUDA's types and codes as they cross the boundary, the
// one state behind the functions, and its lock. Streams exist, but what is put into one is executed
// at once, in the order of the calls.
#pragma once

#include "runtime/ptxsim/Device.h"

#include <chrono>
#include <mutex>
#include <set>

/// A function that programs call.
#define HJX_CUDA_API extern "C" __attribute__((visibility("default"))) hjx::ptxsim::driver::CUresult

namespace hjx::ptxsim::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void *;
using CUmodule = LoadedModule *;
using CUfunction = LoadedFunction *;
struct Stream {};
struct Event {
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
};
using CUstream = Stream *;
using CUevent = Event *;

struct CUlaunchAttribute {
  int id;
  int padding;
  unsigned value[16];
};
struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned numAttributes;
};

enum : CUresult {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  NotSupported = 801,
};

/// All that the library holds. Never destroyed: a program may call the driver while it exits.
struct State {
  std::recursive_mutex mutex;
  std::unique_ptr<Device> device; ///< null before cuInit
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::map<void *, std::unique_ptr<char[]>> hostMemory;
  std::map<CUresult, std::string> details; ///< whole strings, for cuGetErrorString
  bool hasDetail = false;                  ///< the call in progress left one
  unsigned retained = 0;
};

State &state();

/// `code`, with words for cuGetErrorString.
CUresult fail(CUresult code, absl::string_view detail);

/// Success, or why nothing can be done: not initialised, or the device's fault.
CUresult health();

/// Runs `body` under the lock when the library is initialised and the device well.
template <typename Body> CUresult guarded(Body body) {
  std::lock_guard lock(state().mutex);
  if (CUresult result = health())
    return result;
  state().hasDetail = false;
  CUresult result = body(*state().device);
  if (!state().hasDetail)
    state().details.erase(result);
  return result;
}

/// The same, but for calls that a broken device still answers.
template <typename Body> CUresult initialized(Body body) {
  std::lock_guard lock(state().mutex);
  return state().device ? body(*state().device) : CUresult(NotInitialized);
}

/// 0, the handles of the legacy and the per-thread default stream, or one that was made.
bool isStream(CUstream stream);

} // namespace hjx::ptxsim::driver
