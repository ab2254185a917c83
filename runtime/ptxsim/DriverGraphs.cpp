// SPDX-License-Identifier: Apache-2.0
//
// The driver API's graphs: recorded from streams, executed in the order of the recording, which
// is one of the orders that its events allow.
#include "runtime/ptxsim/Driver.h"

#include "absl/strings/str_cat.h"

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

namespace {

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParams {
  CUfunction function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **arguments;
  void **extra;
  void *kernel;
  void *context;
};

/// CUgraphExecUpdateResultInfo.
struct UpdateResult {
  int result; ///< 0 success, 2 topology, 3 type of a node, 4 function
  GraphNode *errorNode, *errorFromNode;
};

GraphNode *findNode(GraphExec &exec, const GraphNode *node) {
  for (GraphNode &one : exec.nodes)
    if (one.id == node->id)
      return &one;
  return nullptr;
}

} // namespace

CUresult driver::record(CUstream stream, int type, std::function<CUresult()> work, KernelNode kernel) {
  static uint64_t nextId = 1;
  Capture &capture = *stream->capture;
  if (capture.isBroken)
    return CaptureInvalidated;
  capture.graph->nodes.push_back(
      std::make_unique<GraphNode>(GraphNode{type, std::move(work), std::move(kernel), nextId++}));
  if (stream != capture.origin)
    capture.unjoined.insert(stream);
  return Success;
}

HJX_CUDA_API cuStreamBeginCapture_v2(CUstream stream, int /*mode*/) {
  return guarded([&](Device &) -> CUresult {
    if (!isStream(stream))
      return InvalidHandle;
    if (reinterpret_cast<uintptr_t>(stream) <= 2)
      return fail(CaptureUnsupported, "the default stream records no graphs");
    if (stream->capture)
      return fail(IllegalState, "the stream records a graph already");
    stream->capture = std::make_shared<Capture>(Capture{std::make_unique<Graph>(), stream, {}, false});
    stream->joined.clear();
    return Success;
  });
}

HJX_CUDA_API cuStreamEndCapture(CUstream stream, Graph **graph) {
  return guarded([&](Device &) -> CUresult {
    if (!isStream(stream) || !graph)
      return InvalidHandle;
    *graph = nullptr;
    if (!captureOf(stream))
      return fail(IllegalState, "the stream records no graph");
    std::shared_ptr<Capture> capture = stream->capture;
    if (capture->origin != stream)
      return fail(CaptureUnmatched, "the recording began in another stream");
    for (Stream *one : state().streams)
      if (one->capture == capture)
        one->capture = nullptr;
    if (capture->isBroken)
      return fail(CaptureInvalidated, "an earlier call was not permitted while the graph was recorded");
    if (!capture->unjoined.empty())
      return fail(CaptureUnjoined, absl::StrCat(capture->unjoined.size(),
                                                " streams were forked and not joined: record an event "
                                                "there and have the first stream wait for it"));
    *graph = capture->graph.release();
    state().graphs.insert(*graph);
    return Success;
  });
}

HJX_CUDA_API cuStreamIsCapturing(CUstream stream, int *status) {
  return guarded([&](Device &) -> CUresult {
    if (!isStream(stream))
      return InvalidHandle;
    const Capture *capture = captureOf(stream);
    *status = !capture ? 0 : capture->isBroken ? 2 : 1;
    return Success;
  });
}

HJX_CUDA_API cuGraphDestroy(Graph *graph) {
  return initialized([&](Device &) -> CUresult {
    if (!state().graphs.erase(graph))
      return InvalidHandle;
    delete graph;
    return Success;
  });
}

HJX_CUDA_API cuGraphGetNodes(Graph *graph, GraphNode **nodes, size_t *count) {
  return guarded([&](Device &) -> CUresult {
    if (!state().graphs.count(graph))
      return InvalidHandle;
    size_t has = graph->nodes.size();
    for (size_t index = 0; nodes && index < *count; ++index)
      nodes[index] = index < has ? graph->nodes[index].get() : nullptr;
    *count = nodes ? std::min(*count, has) : has;
    return Success;
  });
}

HJX_CUDA_API cuGraphNodeGetType(GraphNode *node, int *type) {
  return guarded([&](Device &) {
    *type = node->type;
    return Success;
  });
}

HJX_CUDA_API cuGraphKernelNodeGetParams_v2(GraphNode *node, KernelNodeParams *params) {
  return guarded([&](Device &) -> CUresult {
    if (node->type != 0)
      return fail(InvalidValue, "expected a node that is a kernel");
    // The pointers are the node's, and live as long.
    std::vector<void *> &list = node->argumentPointers;
    list.clear();
    KernelNode &kernel = node->kernel;
    for (std::vector<uint8_t> &argument : kernel.arguments)
      list.push_back(argument.data());
    *params = {kernel.function, kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
               kernel.block[1], kernel.block[2], kernel.sharedBytes, list.data(), nullptr, nullptr, nullptr};
    return Success;
  });
}

HJX_CUDA_API cuGraphInstantiateWithFlags(GraphExec **exec, Graph *graph, unsigned long long) {
  return guarded([&](Device &) -> CUresult {
    if (!state().graphs.count(graph))
      return InvalidHandle;
    *exec = new GraphExec;
    for (const auto &node : graph->nodes)
      (*exec)->nodes.push_back(*node);
    state().graphExecs.insert(*exec);
    return Success;
  });
}

HJX_CUDA_API cuGraphExecDestroy(GraphExec *exec) {
  return initialized([&](Device &) -> CUresult {
    if (!state().graphExecs.erase(exec))
      return InvalidHandle;
    delete exec;
    return Success;
  });
}

HJX_CUDA_API cuGraphUpload(GraphExec *exec, CUstream stream) {
  return guarded([&](Device &) -> CUresult {
    return state().graphExecs.count(exec) && isStream(stream) ? Success : InvalidHandle;
  });
}

HJX_CUDA_API cuGraphLaunch(GraphExec *exec, CUstream stream) {
  return guarded([&](Device &) -> CUresult {
    if (!state().graphExecs.count(exec) || !isStream(stream))
      return InvalidHandle;
    if (captureOf(stream))
      return fail(NotSupported, "the simulated device records no graphs in graphs");
    for (GraphNode &node : exec->nodes)
      if (CUresult result = node.type == 0 ? runKernel(node.kernel) : node.work())
        return result;
    return Success;
  });
}

HJX_CUDA_API cuGraphExecKernelNodeSetParams_v2(GraphExec *exec, GraphNode *node, const KernelNodeParams *params) {
  return guarded([&](Device &device) -> CUresult {
    GraphNode *found = state().graphExecs.count(exec) ? findNode(*exec, node) : nullptr;
    if (!found || found->type != 0)
      return fail(InvalidValue, "expected a node of the graph that is a kernel");
    if (!device.isLoaded(params->function) || !params->arguments)
      return InvalidValue;
    KernelNode kernel{params->function, {params->gridX, params->gridY, params->gridZ},
                      {params->blockX, params->blockY, params->blockZ}, found->kernel.cluster,
                      params->sharedBytes, {}};
    for (size_t index = 0; index < params->function->kernel.params.size(); ++index) {
      const auto *bytes = static_cast<const uint8_t *>(params->arguments[index]);
      if (!bytes)
        return InvalidValue;
      kernel.arguments.emplace_back(bytes, bytes + params->function->kernel.params[index].sizeBytes);
    }
    found->kernel = std::move(kernel);
    return Success;
  });
}

// The nodes must be of the same kinds, in the same order; all else may differ.
HJX_CUDA_API cuGraphExecUpdate_v2(GraphExec *exec, Graph *graph, UpdateResult *result) {
  return guarded([&](Device &) -> CUresult {
    if (!state().graphExecs.count(exec) || !state().graphs.count(graph))
      return InvalidHandle;
    *result = {};
    auto refuse = [&](int why, GraphNode *node, absl::string_view words) {
      *result = {why, node, nullptr};
      return fail(GraphUpdateFailure, words);
    };
    if (exec->nodes.size() != graph->nodes.size())
      return refuse(2, nullptr, absl::StrCat("expected ", exec->nodes.size(), " nodes, got ", graph->nodes.size()));
    for (size_t index = 0; index < exec->nodes.size(); ++index)
      if (exec->nodes[index].type != graph->nodes[index]->type)
        return refuse(3, graph->nodes[index].get(), absl::StrCat("node ", index, " is of another type"));
    for (size_t index = 0; index < exec->nodes.size(); ++index) {
      uint64_t id = exec->nodes[index].id;
      exec->nodes[index] = *graph->nodes[index];
      exec->nodes[index].id = id; // handles of the first graph stay good
    }
    return Success;
  });
}
