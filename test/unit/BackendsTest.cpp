// SPDX-License-Identifier: Apache-2.0
//
// The backends of a machine without CUDA: several cpu devices, several simulated ones, and why the
// others are missing; what is counted of their memory and copies; limits; the transfer guard.
#include "runtime/Backends.h"
#include "runtime/Bytes.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace hjx;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", "libhjx-none.so", 1) == 0 &&
                          setenv("HJX_NUM_CPU_DEVICES", "2", 1) == 0 && setenv("HJX_MEMORY_LIMIT", "8MiB", 1) == 0;
const absl::Status kSimulated = setNumDevices("sim", 3);

std::string messageOf(const absl::Status &status) { return std::string(status.message()); }

std::vector<std::string> namesOf(const std::vector<DeviceInfo> &devices) {
  std::vector<std::string> names;
  for (const DeviceInfo &info : devices)
    names.push_back(info.name);
  return names;
}

RuntimeDevice &device(const std::string &name) {
  absl::StatusOr<RuntimeDevice *> found = openDevice(name);
  EXPECT_TRUE(found.ok()) << found.status();
  return **found;
}

TransferCount added(const DeviceStatistics &before, const RuntimeDevice &device, TransferDirection direction) {
  TransferCount now = device.statistics().count(direction);
  return {now.copies - before.count(direction).copies, now.bytes - before.count(direction).bytes};
}

constexpr auto kIn = TransferDirection::HostToDevice, kOut = TransferDirection::DeviceToHost,
               kBetween = TransferDirection::DeviceToDevice;

} // namespace

//===----------------------------------------------------------------------===//
// Which there are. The first tests: later ones open devices.
//===----------------------------------------------------------------------===//

TEST(Backends, AreListedWithWhatIsMissing) {
  ASSERT_TRUE(kSimulated.ok()) << kSimulated;
  std::vector<BackendInfo> backends = listBackends();
  ASSERT_EQ(backends.size(), 3u);
  EXPECT_EQ(backends[0].name, "cpu");
  EXPECT_THAT(namesOf(backends[0].devices), ElementsAre("cpu:0", "cpu:1"));
  EXPECT_EQ(backends[0].devices[1].totalBytes, 8 << 20);
  EXPECT_EQ(backends[1].name, "cuda");
  EXPECT_THAT(backends[1].devices, IsEmpty());
  EXPECT_EQ(backends[1].status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(messageOf(backends[1].status), AllOf(HasSubstr("cuda: libhjx-none.so: cannot load the driver: "),
                                                   HasSubstr("\n  help: install NVIDIA's driver")));
  ASSERT_TRUE(backends[2].status.ok()) << backends[2].status;
  EXPECT_THAT(namesOf(backends[2].devices), ElementsAre("sim:0", "sim:1", "sim:2"));
  EXPECT_EQ(backends[2].devices[1].description, "hjx simulated sm_80");
  EXPECT_EQ(backends[2].devices[1].computeCapability, 80);
  EXPECT_EQ(backends[2].devices[1].totalBytes, 8 << 20);
  EXPECT_GE(backends[2].devices[1].numMultiprocessors, 1);
  EXPECT_THAT(namesOf(listDevices()), ElementsAre("cpu:0", "cpu:1", "sim:0", "sim:1", "sim:2"));
}

TEST(Backends, TheArchitectureIsChosenByTheFirstThatIsOpened) {
  RuntimeDevice &first = device("sim:sm_90");
  EXPECT_EQ(first.name(), "sim:0");
  EXPECT_EQ(first.info().computeCapability, 90);
  EXPECT_EQ(listBackends()[2].devices[1].computeCapability, 90);
  EXPECT_EQ(&device("sim"), &first);
  EXPECT_EQ(&device("sim:0"), &first);
  EXPECT_NE(&device("sim:1"), &first);
  absl::Status status = openDevice("sim:sm_80").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(messageOf(status), HasSubstr("sim:sm_80: expected sm_90, which the simulated devices of this process are, "
                                           "got sm_80\n  help: use one simulated architecture a process"));
  EXPECT_EQ(messageOf(setNumDevices("sim", 2)),
            "sim: expected 3 devices, of which one is open, got 2\n  help: set the number before a device is used");
}

TEST(Backends, NamesOfNoDevice) {
  EXPECT_EQ(messageOf(openDevice("tpu").status()),
            "device: expected one of cpu:0, cpu:1, sim:0, sim:1, sim:2, got 'tpu'\n"
            "  help: hjx-run devices lists them, and why others are missing");
  EXPECT_EQ(messageOf(openDevice("cpu:2").status()),
            "device: expected one of cpu:0, cpu:1, got 'cpu:2'\n"
            "  help: number devices from 0; HJX_NUM_CPU_DEVICES sets how many there are");
  EXPECT_EQ(messageOf(openDevice("sim:3").status()),
            "device: expected one of sim:0, sim:1, sim:2, got 'sim:3'\n"
            "  help: number devices from 0; HJX_PTXSIM_DEVICES sets how many there are");
  for (const char *bad : {"sim:sm_x", "sim:sm_70", "sim:sm_"})
    EXPECT_THAT(messageOf(openDevice(bad).status()), HasSubstr("help: an architecture is spelled sim:sm_80, which is the first one")) << bad;
  for (const char *bad : {"", "cpu:", "cpu:-1", "cpu:x", "cpu:0 ", "cpus", "sim:-1"})
    EXPECT_EQ(openDevice(bad).status().code(), absl::StatusCode::kNotFound) << bad;
  EXPECT_EQ(openDevice("cuda").status(), listBackends()[1].status);
  EXPECT_EQ(openDevice("cuda:1").status(), listBackends()[1].status);
}

TEST(Backends, TheNumberOfCpuDevices) {
  EXPECT_EQ(&device("cpu"), &cpuDevice());
  EXPECT_EQ(&device("cpu:0"), &cpuDevice());
  EXPECT_TRUE(setNumDevices("cpu", 4).ok());
  RuntimeDevice &last = device("cpu:3");
  EXPECT_EQ(last.name(), "cpu:3");
  EXPECT_NE(&last, &cpuDevice());
  EXPECT_TRUE(setNumDevices("cpu", 5).ok());
  EXPECT_EQ(&device("cpu:3"), &last);
  absl::Status status = setNumDevices("cpu", 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(messageOf(status), "cpu: expected at least 4 devices, of which the last is open, got 3\n"
                               "  help: set the number before devices are used");
  EXPECT_THAT(messageOf(setNumDevices("cpu", 0)), HasSubstr("cpu: expected 1 to 1024 devices, got 0"));
  EXPECT_THAT(messageOf(setNumDevices("sim", 17)), HasSubstr("sim: expected 1 to 16 devices, got 17"));
  EXPECT_THAT(messageOf(setNumDevices("cuda", 2)), HasSubstr("devices: expected the backend cpu or sim, got 'cuda'"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class EachDevice : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Backends, EachDevice, testing::Values("cpu:1", "sim:1"));

TEST_P(EachDevice, CountsItsMemory) {
  RuntimeDevice &device = ::device(GetParam());
  DeviceStatistics before = device.statistics(), other = cpuDevice().statistics();
  EXPECT_EQ(before.totalBytes, 8 << 20);
  {
    DeviceBuffer a = *device.allocate(1 << 20), b = *device.allocate(2 << 20), empty = *device.allocate(0);
    DeviceStatistics now = device.statistics();
    EXPECT_EQ(now.bytesInUse - before.bytesInUse, 3 << 20);
    EXPECT_EQ(now.numAllocations - before.numAllocations, 2);
    EXPECT_EQ(now.numLive - before.numLive, 2);
    EXPECT_EQ(before.freeBytes - now.freeBytes, 3 << 20);
    EXPECT_EQ(now.largestFreeBytes, now.freeBytes);
  }
  DeviceStatistics after = device.statistics();
  EXPECT_EQ(after.bytesInUse, before.bytesInUse);
  EXPECT_EQ(after.numLive, before.numLive);
  EXPECT_GE(after.peakBytes, before.bytesInUse + (3 << 20));
  EXPECT_EQ(cpuDevice().statistics().numAllocations, other.numAllocations) << "of another device";
}

TEST_P(EachDevice, OutOfMemorySaysWhatThereIs) {
  RuntimeDevice &device = ::device(GetParam());
  DeviceBuffer a = *device.allocate(6 << 20);
  absl::Status status = device.allocate(3 << 20).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(messageOf(status), device.name() + ": out of memory, wanted 3.0 MiB, free 2.0 MiB of 8.0 MiB, largest block 2.0 MiB\n"
                               "  help: free arrays of this device, use smaller batches, or raise HJX_MEMORY_LIMIT");
  // What there was is still there, and the rest can be had.
  absl::StatusOr<DeviceBuffer> rest = device.allocate(2 << 20);
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_TRUE(device.copyToDevice(a.data(), "data", 5).ok());
  char text[5];
  ASSERT_TRUE(device.copyToHost(text, a.data(), 5).ok());
  EXPECT_STREQ(text, "data");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

TEST_P(EachDevice, CountsCopiesFromAndToTheHost) {
  RuntimeDevice &device = ::device(GetParam());
  DeviceBuffer a = *device.allocate(16), b = *device.allocate(16);
  DeviceStatistics before = device.statistics();
  char text[16] = "fifteen letters";
  ASSERT_TRUE(device.copyToDevice(a.data(), text, 16).ok());
  ASSERT_TRUE(device.copyOnDevice(b.data(), a.data(), 16).ok());
  ASSERT_TRUE(device.copyToHost(text, b.data(), 8).ok());
  ASSERT_TRUE(device.copyToHost(text, b.data(), 4).ok());
  EXPECT_EQ(added(before, device, kIn).bytes, 16);
  EXPECT_EQ(added(before, device, kIn).copies, 1);
  EXPECT_EQ(added(before, device, kOut).bytes, 12);
  EXPECT_EQ(added(before, device, kOut).copies, 2);
  EXPECT_EQ(added(before, device, kBetween).bytes, 0) << "a copy on one device is none";
}

TEST_P(EachDevice, CountsCopiesThatOvertake) {
  RuntimeDevice &device = ::device(GetParam());
  DeviceBuffer a = *device.allocate(16);
  std::unique_ptr<StagingBuffer> staging = *device.allocateStaging(16);
  ASSERT_TRUE(staging->acquire().ok());
  std::memcpy(staging->data(), "fifteen letters", 16);
  DeviceStatistics before = device.statistics();
  ASSERT_TRUE(device.copyAhead(a.data(), *staging).ok());
  EXPECT_EQ(added(before, device, kIn).bytes, 16);
  TransferGuard guard(TransferLevel::Disallow);
  absl::Status status = device.copyAhead(a.data(), *staging).status();
  EXPECT_THAT(messageOf(status), HasSubstr("expected no transfer under 'disallow', got 16 bytes from host to " + device.name()));
  EXPECT_EQ(added(before, device, kIn).copies, 1);
}

TEST(Backends, CopiesBetweenDevices) {
  struct Row {
    const char *from, *to;
    TransferDirection direction;
    const char *counter; ///< the device that counts it
  };
  for (const Row &row : {Row{"cpu:0", "cpu:1", kBetween, "cpu:1"}, {"cpu:1", "sim:0", kIn, "sim:0"},
                         {"sim:0", "cpu:0", kOut, "sim:0"}, {"sim:0", "sim:1", kBetween, "sim:1"},
                         {"sim:1", "sim:1", kBetween, nullptr}}) {
    SCOPED_TRACE(std::string(row.from) + " to " + row.to);
    RuntimeDevice &from = device(row.from), &to = device(row.to);
    DeviceBuffer a = *from.allocate(12), b = *to.allocate(12);
    ASSERT_TRUE(from.copyToDevice(a.data(), "eleven more", 12).ok());
    std::vector<DeviceStatistics> before;
    std::vector<const char *> all = {"cpu:0", "cpu:1", "sim:0", "sim:1"};
    for (const char *name : all)
      before.push_back(device(name).statistics());
    absl::Status status = to.copyFrom(b.data(), from, a.data(), 12);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < all.size(); ++i)
      for (TransferDirection direction : {kIn, kOut, kBetween}) {
        bool isCounted = row.counter && std::strcmp(row.counter, all[i]) == 0 && direction == row.direction;
        EXPECT_EQ(added(before[i], device(all[i]), direction).bytes, isCounted ? 12 : 0) << all[i];
      }
    char text[12] = {};
    ASSERT_TRUE(to.copyToHost(text, b.data(), 12).ok());
    EXPECT_STREQ(text, "eleven more");
  }
}

TEST(Backends, AnAddressOfAnotherDeviceIsFound) {
  RuntimeDevice &one = device("sim:0"), &two = device("sim:1");
  DeviceBuffer a = *one.allocate(16);
  EXPECT_THAT(messageOf(two.fill(a.data(), 0, 16)), HasSubstr("is not within an allocation"));
  EXPECT_TRUE(one.fill(a.data(), 0, 16).ok());
}

//===----------------------------------------------------------------------===//
// The transfer guard
//===----------------------------------------------------------------------===//

class TransferGuardTest : public testing::Test {
protected:
  /// The names of those of the three directions that are errors, and what was logged.
  std::string refused() {
    std::string out;
    testing::internal::CaptureStderr();
    for (auto [name, status] : {std::pair{"in ", sim.copyToDevice(buffer.data(), bytes, 8)},
                                {"out ", sim.copyToHost(bytes, buffer.data(), 8)},
                                {"between ", other.copyFrom(second.data(), sim, buffer.data(), 8)}})
      if (!status.ok()) {
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
        out += name;
        last = messageOf(status);
      }
    logged = testing::internal::GetCapturedStderr();
    return out;
  }
  RuntimeDevice &sim = device("sim:0"), &other = device("sim:1");
  DeviceBuffer buffer = *sim.allocate(8), second = *other.allocate(8);
  char bytes[8] = {};
  std::string last, logged;
};

TEST_F(TransferGuardTest, Levels) {
  EXPECT_EQ(refused(), "");
  struct Row {
    TransferLevel level;
    const char *implicitly, *explicitly;
    bool logsImplicit, logsExplicit;
  };
  for (const Row &row : {Row{TransferLevel::Allow, "", "", false, false}, {TransferLevel::Log, "", "", true, false},
                         {TransferLevel::Disallow, "in out between ", "", false, false},
                         {TransferLevel::LogExplicit, "", "", true, true},
                         {TransferLevel::DisallowExplicit, "in out between ", "in out between ", false, false}}) {
    SCOPED_TRACE(std::string(nameOf(row.level)));
    EXPECT_EQ(*parseTransferLevel(nameOf(row.level)), row.level);
    TransferGuard guard(row.level);
    EXPECT_EQ(refused(), row.implicitly);
    EXPECT_EQ(!logged.empty(), row.logsImplicit);
    TransferScope scope(TransferKind::Explicit, {"train.cpp", 42, "device_put"});
    EXPECT_EQ(refused(), row.explicitly);
    EXPECT_EQ(!logged.empty(), row.logsExplicit);
    TransferScope inner(TransferKind::Implicit, {});
    EXPECT_EQ(refused(), row.implicitly) << "the innermost scope counts";
  }
  EXPECT_EQ(refused(), "") << "a guard ends with its scope";
}

TEST_F(TransferGuardTest, EachDirectionAlone) {
  TransferGuard all(TransferLevel::Disallow);
  TransferGuard in(kIn, TransferLevel::Allow);
  EXPECT_EQ(refused(), "out between ");
  TransferGuard between(kBetween, TransferLevel::Allow);
  EXPECT_EQ(refused(), "out ");
  TransferGuard none(TransferLevel::Allow);
  EXPECT_EQ(refused(), "") << "an inner guard replaces the outer one";
}

TEST_F(TransferGuardTest, SaysWhatMoves) {
  TransferScope scope(TransferKind::Implicit, {"train.cpp", 42, "item"});
  {
    TransferGuard guard(TransferLevel::LogExplicit);
    refused();
    EXPECT_EQ(logged, "hjx: train.cpp:42: item: transfer of 8 bytes from host to sim:0\n"
                      "hjx: train.cpp:42: item: transfer of 8 bytes from sim:0 to host\n"
                      "hjx: train.cpp:42: item: transfer of 8 bytes from sim:0 to sim:1\n");
  }
  TransferGuard guard(kOut, TransferLevel::Disallow);
  DeviceStatistics before = sim.statistics();
  EXPECT_EQ(refused(), "out ");
  EXPECT_EQ(last, "train.cpp:42: item: expected no transfer under 'disallow', got 8 bytes from sim:0 to host\n"
                  "  help: ask for it with device_put or device_get, move it out of the guarded scope, or guard with 'log' "
                  "to see all transfers");
  EXPECT_EQ(added(before, sim, kOut).copies, 0) << "what is refused is not counted";
  TransferGuard strict(TransferLevel::DisallowExplicit);
  TransferScope put(TransferKind::Explicit, {});
  refused();
  EXPECT_EQ(last, "transfer guard: expected no transfer under 'disallow_explicit', got 8 bytes from sim:0 to sim:1\n"
                  "  help: 'disallow' would let pass what is asked for, as this was");
  EXPECT_TRUE(sim.copyToDevice(buffer.data(), nullptr, 0).ok()) << "nothing is no transfer";
}

TEST(TransferLevel, RefusesOtherWords) {
  EXPECT_EQ(messageOf(parseTransferLevel("forbid").status()),
            "transfer guard: expected allow, log, disallow, log_explicit or disallow_explicit, got 'forbid'\n"
            "  help: the last two count transfers that were asked for, too");
}

//===----------------------------------------------------------------------===//
// Faults. sim:2 has one from here on.
//===----------------------------------------------------------------------===//

TEST(Backends, TheFaultOfADeviceIsItsOwn) {
  RuntimeDevice &well = device("sim:0"), &ill = device("sim:2");
  DeviceBuffer elsewhere = *well.allocate(16);
  auto module = ill.loadModule(".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry store(.param .u64 to) {\n  .reg .b64 %to;\n  .reg .b32 %x;\n"
                               "  ld.param.u64 %to, [to];\n  mov.b32 %x, 7;\n  st.global.b32 [%to], %x;\n  ret;\n}\n",
                               {"store"});
  ASSERT_TRUE(module.ok()) << module.status();
  void *to = elsewhere.data();
  void *arguments[] = {&to};
  testing::internal::CaptureStderr();
  ASSERT_TRUE(ill.launch((*module)->kernels()[0], {}, arguments).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("kernel 'store'"));
  EXPECT_THAT(messageOf(ill.synchronize()), AllOf(HasSubstr("sim:2: running what was launched"), HasSubstr("kernel 'store', ptx line")));
  EXPECT_TRUE(well.synchronize().ok());
  EXPECT_TRUE(well.fill(to, 0, 16).ok());
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

TEST(Bytes, PrintsAndParses) {
  EXPECT_EQ(printBytes(1), "1 bytes");
  EXPECT_EQ(printBytes(1536), "1.5 KiB");
  EXPECT_EQ(printBytes(int64_t(5) << 40), "5120.0 GiB");
  for (auto [text, bytes] : {std::pair<const char *, int64_t>{"0", 0}, {"4096", 4096}, {"1.5k", 1536}, {"64KiB", 65536},
                             {"64 kb", 65536}, {"512MiB", 512 << 20}, {"8G", int64_t(8) << 30}, {"2T", int64_t(2) << 40}})
    EXPECT_EQ(parseBytes(text), bytes) << text;
  for (const char *bad : {"", "M", "-1", "1X", "1MM", "1e3", "1..2", "99999999999T", "nan"})
    EXPECT_EQ(parseBytes(bad), std::nullopt) << bad;
}
