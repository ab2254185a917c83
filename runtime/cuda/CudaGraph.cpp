// SPDX-License-Identifier: Apache-2.0
//
// Launch graphs by stream capture: the driver makes one node of each launch, with a copy of its
// arguments, in a chain.
#include "runtime/cuda/CudaContext.h"

using namespace hjx::cuda;

namespace hjx {
namespace {

class CudaGraph : public LaunchGraph {
public:
  CudaGraph(const CudaContext &cuda, CUgraphExec exec, int64_t launches)
      : LaunchGraph(launches), cuda(cuda), exec(exec) {}
  ~CudaGraph() override {
    if (cuda.enter().ok()) // A replay in flight is not stopped by this.
      cuda.driver->cuGraphExecDestroy(exec);
  }

  const CudaContext &cuda;
  const CUgraphExec exec;
};

class Recorder : public LaunchRecorder {
public:
  Recorder(const CudaContext &cuda, CUstream stream) : cuda(cuda), stream(stream) {}
  absl::Status launch(const Kernel &kernel, const LaunchShape &shape, void **arguments) override {
    ++numLaunches;
    return cuda.launch(stream, kernel, shape, arguments);
  }
  const CudaContext &cuda;
  CUstream stream;
  int64_t numLaunches = 0;
};

absl::StatusOr<std::unique_ptr<LaunchGraph>>
recordInto(const CudaContext &cuda, CUstream stream, absl::FunctionRef<absl::Status(LaunchRecorder &)> work) {
  const Driver &driver = *cuda.driver;
  // Of this thread only: others may allocate and copy while it records.
  HJX_RETURN_IF_ERROR(cuda.check(driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                                 "beginning to record a graph"));
  Recorder recorder(cuda, stream);
  absl::Status recorded = work(recorder);
  CUgraph graph = nullptr;
  CUresult ended = driver.cuStreamEndCapture(stream, &graph);
  CUgraphExec exec = nullptr;
  absl::Status status = recorded;
  if (status.ok())
    status = cuda.check(ended, "recording a graph");
  if (status.ok())
    status = cuda.check(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), "making a graph executable");
  if (graph)
    driver.cuGraphDestroy(graph);
  HJX_RETURN_IF_ERROR(status);
  return std::make_unique<CudaGraph>(cuda, exec, recorder.numLaunches);
}

} // namespace

absl::StatusOr<std::unique_ptr<LaunchGraph>>
recordCudaGraph(const CudaContext &cuda, absl::FunctionRef<absl::Status(LaunchRecorder &)> work) {
  HJX_RETURN_IF_ERROR(cuda.enter());
  HJX_ASSIGN_OR_RETURN(CUstream stream, cuda.makeStream());
  absl::StatusOr<std::unique_ptr<LaunchGraph>> graph = recordInto(cuda, stream, work);
  cuda.driver->cuStreamDestroy_v2(stream);
  return graph;
}

absl::Status replayCudaGraph(const CudaContext &cuda, CUstream stream, const LaunchGraph &graph) {
  HJX_RETURN_IF_ERROR(cuda.enter());
  return cuda.check(cuda.driver->cuGraphLaunch(static_cast<const CudaGraph &>(graph).exec, stream),
                    "replaying a graph of launches", kFindTheKernel);
}

} // namespace hjx
