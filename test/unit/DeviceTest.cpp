// SPDX-License-Identifier: Apache-2.0
//
// Devices: the processor; and a CUDA device over a driver that records its calls.
#include "runtime/Backends.h"
#include "runtime/Abi.h"
#include "runtime/Replay.h"
#include "runtime/TimedCalls.h"
#include "runtime/cuda/CudaDevice.h"
#include "test/unit/FakeCudaDriver.h"

#include <gmock/gmock.h>

#include <dlfcn.h>

using namespace hjx;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// Before the runtime looks: what `openDevice` finds in this process.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_FAKE_CUDA, 1) == 0;

std::string messageOf(const absl::Status &status) { return std::string(status.message()); }

class CudaDeviceTest : public testing::Test {
protected:
  CudaDeviceTest() {
    void *library = dlopen(HJX_FAKE_CUDA, RTLD_NOW);
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"))();
    *fake = FakeCuda();
  }

  std::unique_ptr<RuntimeDevice> open() {
    auto driver = cuda::Driver::open(HJX_FAKE_CUDA);
    EXPECT_TRUE(driver.ok()) << driver.status();
    auto device = makeCudaDevice(*driver, 1);
    EXPECT_TRUE(device.ok()) << device.status();
    fake->calls.clear();
    return *std::move(device);
  }

  FakeCuda *fake;
};

} // namespace

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

TEST(CpuDevice, HoldsMemoryThatTheHostReads) {
  RuntimeDevice &device = cpuDevice();
  EXPECT_EQ(device.name(), "cpu:0");
  EXPECT_GT(device.info().totalBytes, 0);
  EXPECT_GT(*device.freeBytes(), 0);
  DeviceBuffer a = *device.allocate(16), b = *device.allocate(16);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
  ASSERT_TRUE(device.fill(a.data(), 7, 16).ok());
  ASSERT_TRUE(device.copyToDevice(a.data(), "hello", 5).ok());
  ASSERT_TRUE(device.copyOnDevice(b.data(), a.data(), 16).ok());
  char text[16];
  ASSERT_TRUE(device.copyToHost(text, b.data(), 16).ok());
  EXPECT_EQ(std::string(text, 6), "hello\a");
  EXPECT_TRUE(device.synchronize().ok());
}

TEST(CpuDevice, EmptyBuffersHaveAnAddress) {
  DeviceBuffer empty = *cpuDevice().allocate(0);
  EXPECT_NE(empty.data(), nullptr);
  EXPECT_EQ(empty.sizeBytes(), 0);
  EXPECT_EQ(empty.device(), &cpuDevice());
}

TEST(CpuDevice, BuffersMove) {
  DeviceBuffer a = *cpuDevice().allocate(8);
  void *memory = a.data();
  DeviceBuffer b = std::move(a);
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(a.data(), nullptr);
}

TEST(CpuDevice, Refuses) {
  EXPECT_EQ(cpuDevice().allocate(-1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cpuDevice().allocate(int64_t(1) << 60).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(messageOf(cpuDevice().loadModule("", {}).status()),
              HasSubstr("cpu:0: expected a program for the processor"));
  EXPECT_EQ(cpuDevice().launch({}, {}, nullptr).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(cpuDevice().record([](LaunchRecorder &) { return absl::OkStatus(); }).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CpuDevice, CopiesAhead) {
  RuntimeDevice &device = cpuDevice();
  DeviceBuffer a = *device.allocate(6);
  std::unique_ptr<StagingBuffer> staging = *device.allocateStaging(6);
  ASSERT_TRUE(staging->acquire().ok());
  std::memcpy(staging->data(), "ahead", 6);
  absl::StatusOr<DeviceSpan> span = device.copyAhead(a.data(), *staging);
  ASSERT_TRUE(span.ok()) << span.status();
  EXPECT_STREQ(static_cast<const char *>(a.data()), "ahead");
  EXPECT_GE(*device.nanosecondsBetween(*span->begin, *span->end), 0);
  EXPECT_GE(*device.nanosecondsBetween(*span->end, **device.mark()), 0);
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, MissingLibrary) {
  absl::Status status = cuda::Driver::open("libhjx-no-such-driver.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(messageOf(status),
              AllOf(HasSubstr("cuda: libhjx-no-such-driver.so: cannot load the driver: "),
                    HasSubstr("\n  help: install NVIDIA's driver")));
}

TEST_F(CudaDeviceTest, LibraryThatIsNoDriver) {
  EXPECT_THAT(messageOf(cuda::Driver::open("libm.so.6").status()),
              HasSubstr("got a library without cuInit"));
}

TEST_F(CudaDeviceTest, OldDriver) {
  fake->version = 11080;
  EXPECT_THAT(messageOf(cuda::Driver::open(HJX_FAKE_CUDA).status()),
              HasSubstr("expected a CUDA driver of version 12.0 or newer, got 11.8"));
}

TEST_F(CudaDeviceTest, NoDevice) {
  fake->failures["cuInit"] = cuda::CUDA_ERROR_NO_DEVICE;
  EXPECT_THAT(messageOf(cuda::Driver::open(HJX_FAKE_CUDA).status()),
              HasSubstr("the driver sees no device"));
  fake->failures.clear();
  fake->numDevices = 0;
  EXPECT_THAT(messageOf(cuda::Driver::open(HJX_FAKE_CUDA).status()),
              AllOf(HasSubstr("the driver sees no device"), HasSubstr("nvidia-smi")));
}

TEST_F(CudaDeviceTest, DriverThatDoesNotStart) {
  fake->failures["cuInit"] = 802;
  EXPECT_THAT(messageOf(cuda::Driver::open(HJX_FAKE_CUDA).status()),
              HasSubstr("the driver does not start: CUDA_ERROR_FAKE (as the test asked)"));
  fake->failures["cuInit"] = 999;
  EXPECT_THAT(messageOf(cuda::Driver::open(HJX_FAKE_CUDA).status()),
              HasSubstr("the driver does not start: CUDA error 999"));
}

//===----------------------------------------------------------------------===//
// The devices of the process
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, AreListedAndOpened) {
  std::vector<std::string> names;
  BackendInfo backend = listBackends()[1];
  for (const DeviceInfo &info : backend.devices)
    names.push_back(info.name);
  EXPECT_THAT(names, ElementsAre("cuda:0", "cuda:1"));
  EXPECT_EQ(*openDevice("cpu"), &cpuDevice());
  RuntimeDevice *second = *openDevice("cuda:1");
  EXPECT_EQ(second->name(), "cuda:1");
  EXPECT_EQ(second->info().description, "Fake 1");
  EXPECT_EQ(second->info().computeCapability, 90);
  EXPECT_EQ(second->info().numMultiprocessors, 132);
  EXPECT_EQ(*openDevice("cuda:1"), second);
  EXPECT_EQ((*openDevice("cuda"))->name(), "cuda:0");
  absl::Status status = openDevice("cuda:2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(messageOf(status), HasSubstr("expected one of cuda:0, cuda:1, got 'cuda:2'"));
  EXPECT_EQ(openDevice("tpu").status().code(), absl::StatusCode::kNotFound);
}

//===----------------------------------------------------------------------===//
// A CUDA device
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, GivesBackAllThatItTook) {
  {
    std::unique_ptr<RuntimeDevice> device = open();
    DeviceBuffer buffer = *device->allocate(64);
    auto module = device->loadModule("ptx", {"add"});
    EXPECT_EQ(fake->numLive, 5) << "context, two streams, memory, module";
  }
  EXPECT_EQ(fake->numLive, 0);
}

TEST_F(CudaDeviceTest, ContextThatCannotBeMade) {
  auto driver = *cuda::Driver::open(HJX_FAKE_CUDA);
  fake->failures["cuDevicePrimaryCtxRetain"] = 101;
  EXPECT_THAT(messageOf(makeCudaDevice(driver, 0).status()),
              HasSubstr("cuda:0: making its context: CUDA_ERROR_FAKE (as the test asked)\n  help: "
                        "another process"));
  fake->failures = {{"cuStreamCreateWithPriority", 2}};
  EXPECT_FALSE(makeCudaDevice(driver, 0).ok());
  EXPECT_EQ(fake->numLive, 0) << "what was made before the failure is given back";
}

TEST_F(CudaDeviceTest, CopiesToTheHostWait) {
  std::unique_ptr<RuntimeDevice> device = open();
  DeviceBuffer a = *device->allocate(16), b = *device->allocate(16);
  ASSERT_TRUE(device->copyToDevice(a.data(), "hello", 5).ok());
  ASSERT_TRUE(device->copyOnDevice(b.data(), a.data(), 5).ok());
  ASSERT_TRUE(device->fill(a.data(), 3, 16).ok());
  char text[6] = {};
  ASSERT_TRUE(device->copyToHost(text, b.data(), 5).ok());
  EXPECT_STREQ(text, "hello");
  EXPECT_THAT(fake->calls,
              ElementsAre("cuMemAlloc_v2 16", "cuMemAlloc_v2 16", "cuMemcpyHtoDAsync_v2 5",
                          "cuStreamSynchronize", "cuMemcpyDtoDAsync_v2 5", "cuMemsetD8Async 3 16",
                          "cuMemcpyDtoHAsync_v2 5", "cuStreamSynchronize"));
}

TEST_F(CudaDeviceTest, EmptyBuffersDoNotReachTheDriver) {
  std::unique_ptr<RuntimeDevice> device = open();
  DeviceBuffer empty = *device->allocate(0);
  EXPECT_NE(empty.data(), nullptr);
  EXPECT_TRUE(device->copyToDevice(empty.data(), nullptr, 0).ok());
  EXPECT_TRUE(device->copyOnDevice(empty.data(), empty.data(), 0).ok());
  EXPECT_TRUE(device->fill(empty.data(), 0, 0).ok());
  EXPECT_THAT(fake->calls, IsEmpty());
}

TEST_F(CudaDeviceTest, OutOfMemorySaysHowMuch) {
  std::unique_ptr<RuntimeDevice> device = open();
  fake->failures["cuMemAlloc_v2"] = cuda::CUDA_ERROR_OUT_OF_MEMORY;
  absl::Status status = device->allocate(96 << 20).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(messageOf(status),
            "cuda:1: out of memory, wanted 96.0 MiB, free 12.0 MiB of 3.0 GiB\n"
            "  help: use smaller batches, or stop what else uses the device; see nvidia-smi");
}

TEST_F(CudaDeviceTest, CopiesFromAnotherDevice) {
  std::unique_ptr<RuntimeDevice> one = open();
  auto two = *makeCudaDevice(*cuda::Driver::open(HJX_FAKE_CUDA), 0);
  // Of another driver, so through the host; and the devices of one driver know each other's memory.
  DeviceBuffer a = *one->allocate(8), b = *two->allocate(8);
  fake->calls.clear();
  ASSERT_TRUE(two->copyFrom(b.data(), *one, a.data(), 8).ok());
  EXPECT_THAT(fake->calls, ElementsAre("cuMemcpyDtoHAsync_v2 8", "cuStreamSynchronize", "cuMemcpyHtoDAsync_v2 8",
                                       "cuStreamSynchronize", "cuStreamSynchronize"));
  EXPECT_EQ(one->statistics().count(TransferDirection::DeviceToHost).bytes, 8);
  EXPECT_EQ(two->statistics().count(TransferDirection::HostToDevice).bytes, 8);
  EXPECT_EQ(two->statistics().count(TransferDirection::DeviceToDevice).bytes, 0);

  RuntimeDevice *first = *openDevice("cuda:0"), *second = *openDevice("cuda:1");
  DeviceBuffer c = *first->allocate(8), d = *second->allocate(8);
  fake->calls.clear();
  ASSERT_TRUE(second->copyFrom(d.data(), *first, c.data(), 8).ok());
  EXPECT_THAT(fake->calls, ElementsAre("cuStreamSynchronize", "cuMemcpyPeerAsync 2 1 8", "cuStreamSynchronize"));
  EXPECT_EQ(second->statistics().count(TransferDirection::DeviceToDevice).copies, 1);
}

TEST_F(CudaDeviceTest, KernelsMayUseAllSharedMemory) {
  std::unique_ptr<RuntimeDevice> device = open();
  auto module = device->loadModule("ptx", {"scale", "add"});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->kernels()[0].name, "scale");
  EXPECT_THAT(fake->calls, ElementsAre("cuModuleLoadDataEx", "cuFuncSetAttribute 2 8 900",
                                       "cuFuncSetAttribute 1 8 900"));
}

TEST_F(CudaDeviceTest, CodeThatDoesNotLoad) {
  std::unique_ptr<RuntimeDevice> device = open();
  fake->failures["cuModuleLoadDataEx"] = 218;
  fake->jitLog = "ptxas fatal: line 3\n";
  absl::Status status = device->loadModule("ptx", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(messageOf(status),
              HasSubstr("cuda:1: loading device code: CUDA_ERROR_FAKE (as the test asked): "
                        "ptxas fatal: line 3\n  help: compile for an architecture that sm_90 runs"));
  fake->failures.clear();
  EXPECT_THAT(messageOf(device->loadModule("ptx", {"sub"}).status()),
              HasSubstr("device code has no kernel 'sub'"));
  EXPECT_EQ(fake->numLive, 3) << "the module is unloaded";
}

TEST_F(CudaDeviceTest, CompiledCodeLaunches) {
  std::unique_ptr<RuntimeDevice> device = open();
  auto module = *device->loadModule("ptx", {"scale", "add"});
  fake->calls.clear();
  LoadedCode code(*device, std::move(module));
  Launcher launcher(code);
  int value = 42, seen = 0;
  void *arguments[] = {&value};
  hjx_rt_launch(&launcher, 1, 10, 2, 1, 128, 1, 1, 512, arguments);
  hjx_rt_read(&launcher, &value, sizeof value, &seen);
  EXPECT_TRUE(launcher.status().ok());
  EXPECT_EQ(seen, 42);
  EXPECT_THAT(fake->calls, ElementsAre("cuLaunchKernel 1 10 2 1 128 1 1 512 42",
                                       "cuMemcpyDtoHAsync_v2 4", "cuStreamSynchronize"));
}

/// The driver counts axes from the fastest on, and wants no stride of that one.
TEST_F(CudaDeviceTest, CompiledCodeMakesTensorMaps) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add"}));
  Launcher launcher(code);
  alignas(64) uint8_t map[128] = {};
  int64_t shape[] = {300, 200, 512, 2, 128, 64};
  fake->calls.clear();
  hjx_rt_tensor_map(&launcher, map, nullptr, static_cast<int32_t>(TensorMap::Element::Bf16), 2, shape);
  EXPECT_TRUE(launcher.status().ok());
  EXPECT_EQ(map[127], 0xAB);
  EXPECT_THAT(fake->calls, ElementsAre("cuTensorMapEncodeTiled 9 2 200 300 512 64 128 3"));
  fake->failures["cuTensorMapEncodeTiled"] = 1;
  hjx_rt_tensor_map(&launcher, map, nullptr, static_cast<int32_t>(TensorMap::Element::Bf16), 2, shape);
  EXPECT_THAT(std::string(launcher.status().message()),
              HasSubstr("making a tensor map of sizes 300x200, strides of 512, 2 bytes and boxes of 128x64"));
}

TEST_F(CudaDeviceTest, TheFirstErrorOfARunIsKept) {
  std::unique_ptr<RuntimeDevice> device = open();
  auto module = *device->loadModule("ptx", {"add"});
  fake->failures["cuLaunchKernel"] = 701;
  fake->calls.clear();
  LoadedCode code(*device, std::move(module));
  Launcher launcher(code);
  int value = 42, seen = 43;
  void *arguments[] = {&value};
  launcher.launch(0, {3, 1, 1, 64}, arguments);
  fake->failures.clear();
  launcher.launch(0, {3, 1, 1, 64}, arguments);
  launcher.read(&value, sizeof value, &seen);
  EXPECT_EQ(seen, 0) << "conditions read after an error end their loops";
  EXPECT_EQ(fake->calls.size(), 1u) << "nothing is launched after an error";
  EXPECT_THAT(messageOf(launcher.status()),
              HasSubstr("cuda:1: launching 'add' on 3x1x1 blocks of 64x1x1 threads with 0 bytes of "
                        "shared memory: CUDA_ERROR_FAKE"));
}

TEST_F(CudaDeviceTest, ConstantsAreCopiedOnce) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {}));
  int data[] = {1, 2, 3}, seen[3] = {};
  fake->calls.clear();
  fake->failures["cuMemAlloc_v2"] = cuda::CUDA_ERROR_OUT_OF_MEMORY;
  Launcher failing(code);
  EXPECT_EQ(hjx_rt_constant(&failing, data, sizeof data), nullptr);
  EXPECT_EQ(failing.status().code(), absl::StatusCode::kResourceExhausted);
  fake->failures.clear();
  fake->calls.clear();
  Launcher launcher(code), later(code);
  void *copy = hjx_rt_constant(&launcher, data, sizeof data);
  EXPECT_EQ(hjx_rt_constant(&later, data, sizeof data), copy);
  EXPECT_THAT(fake->calls,
              ElementsAre("cuMemAlloc_v2 12", "cuMemcpyHtoDAsync_v2 12", "cuStreamSynchronize"));
  ASSERT_TRUE(device->copyToHost(seen, copy, sizeof seen).ok());
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(CudaDeviceTest, AProgramAsksForItsTransfersByName) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {}));
  TransferGuard guard(TransferLevel::Disallow);
  int value = 1;
  Launcher constants(code), reads(code);
  EXPECT_EQ(hjx_rt_constant(&constants, &value, sizeof value), nullptr);
  EXPECT_THAT(messageOf(constants.status()),
              HasSubstr("a constant of the program: expected no transfer under 'disallow', got 4 bytes from host to cuda:1"));
  hjx_rt_read(&reads, &value, sizeof value, &value);
  EXPECT_EQ(messageOf(reads.status()),
            "a value that decides what runs next: expected no transfer under 'disallow', got 4 bytes from cuda:1 to host\n"
            "  help: compute the condition, or the start of the slice, from what the host knows, or allow transfers");
}

TEST_F(CudaDeviceTest, KernelsThatAreNotThere) {
  std::unique_ptr<RuntimeDevice> device = open();
  auto module = *device->loadModule("ptx", {"add"});
  LoadedCode code(*device, std::move(module));
  Launcher launcher(code);
  launcher.launch(1, {}, nullptr);
  EXPECT_EQ(launcher.status().code(), absl::StatusCode::kInternal);
}

TEST_F(CudaDeviceTest, ErrorsOfWorkShowAtTheNextWait) {
  std::unique_ptr<RuntimeDevice> device = open();
  fake->failures["cuStreamSynchronize"] = 700;
  EXPECT_THAT(messageOf(device->synchronize()),
              HasSubstr("cuda:1: running what was launched: CUDA_ERROR_FAKE (as the test asked)"));
}

TEST_F(CudaDeviceTest, IsIdleOnceItsWorkIsDone) {
  std::unique_ptr<RuntimeDevice> device = open();
  EXPECT_TRUE(device->isIdle());
  fake->failures["cuStreamQuery"] = 600; // CUDA_ERROR_NOT_READY
  EXPECT_FALSE(device->isIdle());
  fake->failures["cuStreamQuery"] = 700; // It failed: waiting says so at once.
  EXPECT_TRUE(device->isIdle());
}

//===----------------------------------------------------------------------===//
// Copies ahead, and time
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, CopiesAheadOfItsWork) {
  {
    std::unique_ptr<RuntimeDevice> device = open();
    DeviceBuffer a = *device->allocate(6);
    std::unique_ptr<StagingBuffer> staging = *device->allocateStaging(6);
    ASSERT_TRUE(staging->acquire().ok());
    std::memcpy(staging->data(), "ahead", 6);
    fake->calls.clear();
    absl::StatusOr<DeviceSpan> span = device->copyAhead(a.data(), *staging);
    ASSERT_TRUE(span.ok()) << span.status();
    EXPECT_THAT(fake->calls, ElementsAre("cuEventRecord", "cuMemcpyHtoDAsync_v2 6", "cuEventRecord",
                                         "cuStreamWaitEvent", "cuEventRecord"))
        << "the host does not wait";
    EXPECT_EQ(*device->nanosecondsBetween(*span->begin, *span->end), 1500000);
    EXPECT_STREQ(static_cast<const char *>(a.data()), "ahead");
    fake->calls.clear();
    ASSERT_TRUE(staging->acquire().ok());
    EXPECT_THAT(fake->calls, ElementsAre("cuEventSynchronize"));
  }
  EXPECT_EQ(fake->numLive, 0);
}

TEST_F(CudaDeviceTest, StagingThatCannotBeLocked) {
  std::unique_ptr<RuntimeDevice> device = open();
  EXPECT_THAT(messageOf(device->allocateStaging(-1).status()),
              HasSubstr("cuda:1: expected a staging buffer of at least 0 bytes, got -1"));
  fake->failures["cuMemHostAlloc"] = 2;
  EXPECT_THAT(messageOf(device->allocateStaging(64).status()),
              AllOf(HasSubstr("cuda:1: locking 64 bytes of the host's memory for copies: "),
                    HasSubstr("help: the limit of locked memory may be too low")));
  fake->failures = {{"cuEventRecord", 1}};
  EXPECT_THAT(messageOf(device->mark().status()), HasSubstr("cuda:1: recording an event: "));
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

namespace {

class ReplayTest : public CudaDeviceTest {
protected:
  /// Host code of two launches, called with `pointers`.
  absl::Status call(ReplayedCalls &calls, std::vector<void *> pointers) {
    fake->calls.clear();
    return calls.run(pointers, [&](Launcher &launcher) {
      ++numRuns;
      if (reads) {
        int condition = 1;
        launcher.read(&value, sizeof value, &condition);
      }
      if (constant)
        launcher.constant(constant, sizeof *constant);
      launcher.launch(0, {3, 1, 1, 64}, arguments);
      launcher.launch(1, {3, 1, 1, 64}, arguments);
    });
  }
  int value = 42, numRuns = 0;
  const int *constant = nullptr;
  bool reads = false;
  void *arguments[1] = {&value};
};

constexpr const char *kFirst = "cuLaunchKernel 1 3 1 1 64 1 1 0 42", *kSecond = "cuLaunchKernel 2 3 1 1 64 1 1 0 42";

} // namespace

TEST_F(ReplayTest, LaunchesThenRecordsThenReplays) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
  ReplayedCalls calls(code);
  int a = 0, b = 0;
  ASSERT_TRUE(call(calls, {&a, &b}).ok());
  EXPECT_THAT(fake->calls, ElementsAre(kFirst, kSecond));
  ASSERT_TRUE(call(calls, {&a, &b}).ok());
  EXPECT_THAT(fake->calls,
              ElementsAre("cuStreamCreateWithPriority 1", "cuStreamBeginCapture_v2 1", kFirst, kSecond,
                          "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuStreamDestroy_v2", "cuGraphLaunch"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(call(calls, {&a, &b}).ok());
    EXPECT_THAT(fake->calls, ElementsAre("cuGraphLaunch"));
  }
  EXPECT_EQ(numRuns, 2) << "the host code does not run for a replay";

  ASSERT_TRUE(call(calls, {&b, &a}).ok());
  EXPECT_THAT(fake->calls, ElementsAre(kFirst, kSecond)) << "other pointers are another call";
  ASSERT_TRUE(call(calls, {&b, &a}).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(call(calls, {&a, &b}).ok());
    EXPECT_THAT(fake->calls, ElementsAre("cuGraphLaunch")) << "two sets of pointers take turns";
    ASSERT_TRUE(call(calls, {&b, &a}).ok());
    EXPECT_THAT(fake->calls, ElementsAre("cuGraphLaunch"));
  }
}

TEST_F(ReplayTest, RemembersTheLastCalls) {
  {
    std::unique_ptr<RuntimeDevice> device = open();
    LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
    ReplayedCalls calls(code);
    std::vector<int> places(100);
    for (int &place : places)
      for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(call(calls, {&place}).ok());
    EXPECT_LE(fake->numLive, 4 + 8) << "graphs of pointers that come no more are given back";
    ASSERT_TRUE(call(calls, {&places[0]}).ok());
    EXPECT_THAT(fake->calls, ElementsAre(kFirst, kSecond));
  }
  EXPECT_EQ(fake->numLive, 0);
}

TEST_F(ReplayTest, ConstantsAreCopiedBeforeTheRecording) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
  ReplayedCalls calls(code);
  int a = 0, number = 7;
  constant = &number;
  ASSERT_TRUE(call(calls, {&a}).ok());
  EXPECT_EQ(fake->calls.front(), "cuMemAlloc_v2 4");
  ASSERT_TRUE(call(calls, {&a}).ok());
  EXPECT_THAT(fake->calls, testing::Not(testing::Contains(HasSubstr("cuMem"))));
  EXPECT_EQ(fake->calls.back(), "cuGraphLaunch");
}

// What cannot be recorded is launched one by one, now and later.
TEST_F(ReplayTest, GivesUpCleanly) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
  int a = 0;
  {
    ReplayedCalls calls(code);
    reads = true;
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(call(calls, {&a}).ok());
      EXPECT_EQ(fake->calls.back(), kSecond);
      EXPECT_EQ(std::count(fake->calls.begin(), fake->calls.end(), "cuStreamBeginCapture_v2 1"), i == 1);
    }
    reads = false;
  }
  for (const char *failing : {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    ReplayedCalls calls(code);
    fake->failures = {{failing, 900}};
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(call(calls, {&a}).ok());
      EXPECT_EQ(fake->calls.back(), kSecond);
    }
    fake->failures.clear();
  }
  int live = fake->numLive;
  Launcher recording(code, reinterpret_cast<LaunchRecorder *>(&a)); // Never asked for a launch.
  reads = true;
  int seen = 1;
  recording.read(&value, sizeof value, &seen);
  EXPECT_EQ(messageOf(recording.status()),
            "cuda:1: recording launches: expected launches alone, got a value for the host to read");
  EXPECT_THAT(messageOf(code.constant(&seen, 4, /*mayCopy=*/false).status()),
              HasSubstr("expected a constant that is on the device already, got one to copy"));
  EXPECT_EQ(fake->numLive, live);
}

TEST_F(ReplayTest, ReportsAReplayThatFails) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
  ReplayedCalls calls(code);
  int a = 0;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(call(calls, {&a}).ok());
  fake->failures["cuGraphLaunch"] = 719;
  EXPECT_THAT(messageOf(call(calls, {&a})), HasSubstr("cuda:1: replaying a graph of launches: CUDA_ERROR_FAKE"));
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

TEST_F(ReplayTest, TimesKernels) {
  std::unique_ptr<RuntimeDevice> device = open();
  LoadedCode code(*device, *device->loadModule("ptx", {"add", "scale"}));
  Trace trace;
  TimedCalls calls(code, &trace);
  for (int i = 0; i < 3; ++i) {
    fake->calls.clear();
    ASSERT_TRUE(calls.run([&](Launcher &launcher) {
                       for (int kernel : {0, 1, 1})
                         launcher.launch(kernel, {3, 1, 1, 64}, arguments);
                     }).ok());
  }
  EXPECT_EQ(fake->calls.back(), "cuEventRecord") << "the host does not wait for what it has launched";
  absl::StatusOr<std::vector<KernelTime>> times = calls.times();
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].name, "scale");
  EXPECT_EQ((*times)[0].numCalls, 6);
  EXPECT_EQ((*times)[0].timeNs, 6 * 1500000) << "1.5 ms between any two events";
  EXPECT_EQ((*times)[1].numCalls, 3);
  EXPECT_THAT(trace.json(), AllOf(HasSubstr(R"("name":"thread_name","args":{"name":"cuda:1 kernels"})"),
                                  HasSubstr(R"("name":"scale","ts":)")));
  fake->failures["cuEventElapsedTime"] = 700;
  ASSERT_TRUE(calls.run([&](Launcher &launcher) { launcher.launch(0, {3, 1, 1, 64}, arguments); }).ok());
  EXPECT_THAT(messageOf(calls.times().status()), HasSubstr("cuda:1: asking for the time between two events: "));
}

TEST(Trace, IsJson) {
  Trace trace;
  EXPECT_EQ(trace.json(), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
  trace.add("host", "a \"b\" \\ \n", 5000, 1500);
  trace.add("device", "c", 4000, 1);
  trace.add("host", "d", 9000, 0);
  EXPECT_EQ(trace.json(), R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"host"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"device"}},
{"ph":"X","pid":1,"tid":1,"name":"a \"b\" \\ \u000a","ts":1.000,"dur":1.500},
{"ph":"X","pid":1,"tid":2,"name":"c","ts":0.000,"dur":0.001},
{"ph":"X","pid":1,"tid":1,"name":"d","ts":5.000,"dur":0.000}
]}
)");
}
