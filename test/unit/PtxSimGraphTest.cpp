// SPDX-License-Identifier: Apache-2.0
//
// Graphs and memory pools of the simulated device's driver.
#include "test/unit/PtxSimTest.h"

namespace hjx::ptxsim::test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr const char *kAdd = R"(
.visible .entry add(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  ld.global.b32 %r3, [%rd2];
  add.u32 %r3, %r3, %r1;
  st.global.b32 [%rd2], %r3;
  ret;
})";

struct KernelNodeParams {
  CUfunction function;
  unsigned grid[3], block[3], sharedBytes;
  void **arguments, **extra;
  void *kernel, *context;
};

class PtxSimGraph : public PtxSim {
protected:
  template <typename... Args> CUresult call(const char *name, Args... args) {
    return reinterpret_cast<CUresult (*)(Args...)>(find(name))(args...);
  }
  void SetUp() override {
    PtxSim::SetUp();
    load(kAdd);
    ASSERT_EQ(driver->cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
    to = upload(std::vector<uint32_t>(32));
  }
  CUresult add(CUstream on, unsigned value) {
    void *arguments[] = {&to.pointer, &value};
    return driver->cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, on, arguments, nullptr);
  }
  void *capture(unsigned value) {
    void *graph = nullptr;
    EXPECT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(add(stream, value), CUDA_SUCCESS);
    EXPECT_EQ(add(stream, value), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
    return graph;
  }
  CUfunction function = nullptr;
  Buffer<uint32_t> to;
};

TEST_F(PtxSimGraph, RecordsAndReplays) {
  void *graph = capture(5), *exec = nullptr;
  EXPECT_THAT(download(to), Each(0u)) << "recording executes nothing";
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  for (int step = 0; step < 3; ++step)
    ASSERT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_THAT(download(to), Each(30u));

  // One node's argument is changed, then the whole by another graph.
  void *nodes[2] = {};
  size_t count = 2;
  ASSERT_EQ(call("cuGraphGetNodes", graph, static_cast<void **>(nodes), &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 2u);
  KernelNodeParams params = {};
  ASSERT_EQ(call("cuGraphKernelNodeGetParams_v2", nodes[1], &params), CUDA_SUCCESS);
  unsigned hundred = 100;
  params.arguments[1] = &hundred;
  ASSERT_EQ(call("cuGraphExecKernelNodeSetParams_v2", exec, nodes[1], &params), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_THAT(download(to), Each(135u));
  void *other = capture(1);
  int result[6] = {};
  ASSERT_EQ(call("cuGraphExecUpdate_v2", exec, other, static_cast<int *>(result)), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_THAT(download(to), Each(137u));
  for (void *one : {graph, other})
    EXPECT_EQ(call("cuGraphDestroy", one), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), CUDA_SUCCESS);
}

TEST_F(PtxSimGraph, RecordsCopiesAndOtherStreams) {
  CUstream second = nullptr;
  void *fork = nullptr, *join = nullptr, *graph = nullptr, *exec = nullptr;
  std::vector<uint32_t> source(32, 7), sink(32);
  ASSERT_EQ(driver->cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &fork, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &join, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver->cuMemcpyHtoDAsync_v2(to.pointer, source.data(), 128, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventRecord", fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamWaitEvent", second, fork, 0u), CUDA_SUCCESS);
  ASSERT_EQ(add(second, 1), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventRecord", join, second), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamWaitEvent", stream, join, 0u), CUDA_SUCCESS);
  ASSERT_EQ(driver->cuMemcpyDtoHAsync_v2(sink.data(), to.pointer, 128, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  source.assign(32, 8); // read at each launch
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_THAT(sink, Each(9u));

  // Without the way back.
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventRecord", fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamWaitEvent", second, fork, 0u), CUDA_SUCCESS);
  ASSERT_EQ(add(second, 1), CUDA_SUCCESS);
  CUresult unjoined = call("cuStreamEndCapture", stream, &graph);
  EXPECT_THAT(driver->describe(unjoined), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"));
  EXPECT_EQ(driver->cuStreamDestroy_v2(second), CUDA_SUCCESS);
}

TEST_F(PtxSimGraph, RefusesToWaitWhileRecording) {
  void *graph = nullptr;
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  EXPECT_THAT(describe(), HasSubstr("a stream that records a graph cannot be waited for"));
  EXPECT_THAT(driver->describe(call("cuStreamEndCapture", stream, &graph)),
              HasSubstr("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
  EXPECT_EQ(add(stream, 3), CUDA_SUCCESS);
  EXPECT_THAT(download(to), Each(3u));
}

TEST_F(PtxSimGraph, RefusesAnUpdateOfAnotherShape) {
  void *graph = capture(5), *exec = nullptr, *one = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(add(stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &one), CUDA_SUCCESS);
  int result[6] = {};
  EXPECT_THAT(driver->describe(call("cuGraphExecUpdate_v2", exec, one, static_cast<int *>(result))),
              HasSubstr("expected 2 nodes, got 1"));
  EXPECT_EQ(result[0], 2);
}

TEST_F(PtxSimGraph, FaultsInAGraphAreFound) {
  void *exec = nullptr;
  to.pointer += 4;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, capture(5), 0ull), CUDA_SUCCESS);
  call("cuGraphLaunch", exec, stream);
  EXPECT_THAT(describe(), HasSubstr("kernel 'add', ptx line 12 `ld.global.b32 %r3, [%rd2]`: block (0,0,0), thread (31,0,0)"));
}

TEST_F(PtxSimGraph, Pools) {
  void *pool = nullptr, *own = nullptr;
  ASSERT_EQ(call("cuDeviceGetDefaultMemPool", &pool, 0), CUDA_SUCCESS);
  uint64_t threshold = 1 << 20, got = 0, used = 0;
  ASSERT_EQ(call("cuMemPoolSetAttribute", pool, 4, static_cast<void *>(&threshold)), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemPoolGetAttribute", pool, 4, static_cast<void *>(&got)), CUDA_SUCCESS);
  EXPECT_EQ(got, threshold);
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(call("cuMemAllocAsync", &first, size_t(4096), stream), CUDA_SUCCESS);
  char properties[88] = {};
  ASSERT_EQ(call("cuMemPoolCreate", &own, static_cast<const void *>(properties)), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemAllocFromPoolAsync", &second, size_t(4096), own, stream), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemPoolGetAttribute", own, 7, static_cast<void *>(&used)), CUDA_SUCCESS);
  EXPECT_GE(used, 8192u);
  EXPECT_EQ(call("cuMemFreeAsync", first, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFreeAsync", second, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemPoolDestroy", own), CUDA_SUCCESS);
  EXPECT_NE(call("cuMemPoolDestroy", pool), CUDA_SUCCESS) << "the default pool stays";
  EXPECT_NE(call("cuMemFreeAsync", first, stream), CUDA_SUCCESS);
}

} // namespace
} // namespace hjx::ptxsim::test
