// SPDX-License-Identifier: Apache-2.0
//
// What the files of the driver API share: CUDA's types and codes as they cross the boundary, the
// one state behind the functions, and its lock. Streams exist, but what is put into one is executed
// at once, in the order of the calls.
#pragma once

#include "runtime/ptxsim/Device.h"

#include <chrono>
#include <functional>
#include <memory>
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
struct Stream;
/// What a stream records instead of executing it, with the streams that take part: those that were
/// forked from the first one by an event, and must have come back to it at the end.
struct Graph;
struct Capture {
  std::unique_ptr<Graph> graph;
  Stream *origin;
  std::set<Stream *> unjoined;
  bool isBroken = false;
};
struct Stream {
  std::shared_ptr<Capture> capture; ///< null: what is put into the stream is executed
  std::set<Stream *> joined;        ///< whose work up to now comes before what the stream does next
};
struct Event {
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;
  std::set<Stream *> covers; ///< in a capture: whose work comes before the event
};
struct MemoryPool {
  std::map<int, uint64_t> attributes;
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
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureUnmatched = 903,
  CaptureUnjoined = 904,
  GraphUpdateFailure = 910,
};

/// A piece of recorded work. Of a kernel, everything may be changed later.
struct KernelNode {
  CUfunction function = nullptr;
  std::array<uint32_t, 3> grid, block, cluster;
  unsigned sharedBytes;
  std::vector<std::vector<uint8_t>> arguments;
};
struct GraphNode {
  int type; ///< CUgraphNodeType: 0 kernel, 1 copy, 2 fill
  std::function<CUresult()> work;
  KernelNode kernel;
  uint64_t id; ///< the same in a graph and in what is instantiated from it
  std::vector<void *> argumentPointers = {}; ///< what cuGraphKernelNodeGetParams handed out
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};
struct GraphExec {
  std::vector<GraphNode> nodes;
};

/// All that the library holds. Never destroyed: a program may call the driver while it exits.
struct State {
  std::recursive_mutex mutex;
  Settings settings;
  std::vector<std::unique_ptr<Device>> devices; ///< none before cuInit
  std::vector<unsigned> retained;               ///< the contexts of each
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::set<Graph *> graphs;
  std::set<GraphExec *> graphExecs;
  std::set<MemoryPool *> pools;
  MemoryPool defaultPool, *currentPool = &defaultPool;
  std::map<void *, std::unique_ptr<char[]>> hostMemory;
  std::map<CUresult, std::string> details; ///< whole strings, for cuGetErrorString
  bool hasDetail = false;                  ///< the call in progress left one
};

State &state();

/// The device whose context is current on this thread: at first the first. Null before cuInit.
Device *current();
/// The device of a handle, or null.
Device *deviceAt(CUdevice ordinal);
Device *deviceOf(CUcontext context);

/// `code`, with words for cuGetErrorString.
CUresult fail(CUresult code, absl::string_view detail);

/// Success, or why nothing can be done: not initialised, or the device's fault.
CUresult health();

/// Runs `body` on the current device, under the lock, when that is well.
template <typename Body> CUresult guarded(Body body) {
  std::lock_guard lock(state().mutex);
  if (CUresult result = health())
    return result;
  state().hasDetail = false;
  CUresult result = body(*current());
  if (!state().hasDetail)
    state().details.erase(result);
  return result;
}

/// The same, but for calls that a broken device still answers.
template <typename Body> CUresult initialized(Body body) {
  std::lock_guard lock(state().mutex);
  return current() ? body(*current()) : CUresult(NotInitialized);
}

/// The same for the device of a handle.
template <typename Body> CUresult onDevice(CUdevice ordinal, Body body) {
  return initialized([&](Device &) {
    Device *device = deviceAt(ordinal);
    return device ? body(*device) : CUresult(InvalidDevice);
  });
}

/// 0, the handles of the legacy and the per-thread default stream, or one that was made.
bool isStream(CUstream stream);

/// The capture that a stream takes part in, or null.
inline Capture *captureOf(CUstream stream) {
  return isStream(stream) && reinterpret_cast<uintptr_t>(stream) > 2 ? stream->capture.get() : nullptr;
}
/// Adds work to the graph that a stream records.
CUresult record(CUstream stream, int type, std::function<CUresult()> work, KernelNode kernel = {});

/// Does the work now, or records it.
template <typename Work> CUresult enqueue(CUstream stream, int type, Work work) {
  std::lock_guard lock(state().mutex);
  return captureOf(stream) ? record(stream, type, work) : work();
}

CUresult runKernel(const KernelNode &kernel);

} // namespace hjx::ptxsim::driver
