// SPDX-License-Identifier: Apache-2.0
//
// What lies on the host stays there: parts of arrays are read where those are, and only
// the part moves. Transfer guards; what is asked of devices; every message.
#include "test/unit/PlacementTesting.h"
#include "test/unit/ResidentMemory.h"

#include <chrono>
#include <sstream>
#include <thread>

#include <sys/mman.h>

using namespace hjx;
using hjx::testing::Moved;
using hjx::testing::Placement;
using ::testing::HasSubstr;

class PlacementHost : public Placement {};
INSTANTIATE_TEST_SUITE_P(On, PlacementHost, ::testing::Values("cpu", "sim"), [](const auto &info) { return info.param; });

namespace {

/// Zeros that take no memory until they are touched, as a file is mapped.
Array mapped(int64_t rows, int64_t columns) {
  size_t bytes = static_cast<size_t>(rows * columns) * 4;
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::shared_ptr<const void> owner(memory, [bytes](const void *memory) { ::munmap(const_cast<void *>(memory), bytes); });
  return from_memory({static_cast<const std::byte *>(memory), bytes}, owner, {rows, columns}, int32);
}

/// The same without commitment: memory that a program could ask for as a whole.
Array waiting(int64_t rows, int64_t columns) { return device_get(mapped(rows, columns)); }

} // namespace

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

TEST(PlacementIndexing, ReadsPartsAsProgramsDo) {
  Array x = reshape(arange(2 * 3 * 4 * 5), {2, 3, 4, 5});
  auto twice = [&](auto part) { // On the host, and recorded.
    EXPECT_CLOSE(part(x), jit(part)(x));
    EXPECT_EQ(part(x).shape(), eval_shape(part)(x).shape());
  };
  twice([](Array x) { return x[1]; });
  twice([](Array x) { return x[-1]; });
  twice([](Array x) { return x[{0, 1, 2, 3}]; });
  twice([](Array x) { return x[{every, Slice(1, 3)}]; });
  twice([](Array x) { return x[{ellipsis, Slice(1, 5, 2)}]; });
  twice([](Array x) { return x[{ellipsis, Slice(Slice::none, Slice::none, -1)}]; });
  twice([](Array x) { return x[{every, Slice(Slice::none, Slice::none, -2), 1, newaxis}]; });
  twice([](Array x) { return x[{Slice(0, 1), every, every, 4}]; });
  twice([](Array x) { return x[{every, Slice(2, 2)}]; });
  twice([](Array x) { return x[{newaxis, ellipsis, newaxis}]; });
  twice([](Array x) { return slice(x, {0, 1, 0, 1}, {2, 3, 4, 5}, {1, 1, 2, 3}); });
  twice([](Array x) { return slice(x, {0, 1, 0, 0}, {2, 2, 4, 5}); });
  EXPECT_THROW((x[{0, 3}]), Error);
  EXPECT_THROW((slice(x, {0, 1, 0, 1}, {2, 3, 4, 6})), Error);
  EXPECT_TRUE((x.astype(bool_)[{0, 0, 0}].to_vector<bool>() == std::vector<bool>{false, true, true, true, true}));
}

TEST(PlacementIndexing, CostsWhatThePartIs) {
  auto timePerIndex = [](const Array &x) {
    double best = 1e30;
    for (int round = 0; round < 20; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int64_t i = 0; i < 50; ++i)
        (void)x[i];
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  Array small = zeros({1024, 256}, int32), large = mapped(1 << 20, 256);
  for (int64_t i = 0; i < 50; ++i) // Pages of first touch.
    (void)large[i];
  double ofSmall = timePerIndex(small), ofLarge = timePerIndex(large);
  EXPECT_LT(ofLarge, 2 * ofSmall);
}

TEST(PlacementIndexing, TouchesThePagesOfThePart) {
  Array x = mapped(int64_t(5) << 20, 1024); // 20 GiB
  int64_t before = test::residentBytes();
  Array row = x[int64_t(4) << 20];
  EXPECT_TRUE(row.committed()); // As its file is.
  EXPECT_EQ(row.shape(), (Shape{1024}));
  Array part = x[{Slice(1 << 20, (1 << 20) + 64), Slice(0, 8)}];
  EXPECT_EQ(sum(part).item<int>(), 0);
  EXPECT_LT(test::residentBytes() - before, 64 << 20);
}

TEST_P(PlacementHost, IndexingMovesThePart) {
  Array x = waiting(1 << 18, 1024); // 1 GiB
  default_device on(a);
  Moved moved(a);
  Array row = x[7];
  EXPECT_EQ(row.device(), host);
  EXPECT_EQ(moved.in(), 0);
  Array y = row + row;
  EXPECT_EQ(y.device(), a);
  EXPECT_EQ(moved.in(), 4096);
  // Index arrays, too: the program that picks rows runs where the array is.
  Array rows = take(x, array({3, 5}), 0), picked = x[array({3, 5})], window = dynamic_slice(x, {2, 4}, {1, 8});
  EXPECT_EQ(rows.device(), host);
  EXPECT_EQ(picked.device(), host);
  EXPECT_EQ(window.device(), host);
  EXPECT_FALSE(rows.committed());
  EXPECT_EQ(moved.in(), 4096);
  // An index that is committed has its say about the result.
  Array there = take(x, device_put(array({3, 5}), a), 0);
  EXPECT_EQ(there.device(), a);
  EXPECT_TRUE(there.committed());
  EXPECT_LT(moved.in(), 4096 + 8 + 8192 + 64);
}

TEST_P(PlacementHost, ATransformReadsPartsOnTheHost) {
  Array x = waiting(1 << 18, 1024);
  default_device on(a);
  Moved moved(a);
  Array slope = grad([&](Array w) { return sum(w * x[{0, Slice(0, 2)}].astype(float32)); })(ones({2}));
  EXPECT_EQ(slope.device(), a);
  EXPECT_CLOSE(slope, zeros({2}));
  EXPECT_LT(moved.in(), 128);
}

TEST(PlacementMemory, IsReadWhereItLies) {
  auto numbers = std::make_shared<std::vector<float>>(16, 2.f);
  std::weak_ptr<std::vector<float>> life = numbers;
  auto *bytes = reinterpret_cast<const std::byte *>(numbers->data());
  Array x = from_memory({bytes + 4, 12}, numbers, {3}, float32); // Not aligned as programs want it.
  numbers.reset();
  EXPECT_TRUE(x.committed());
  EXPECT_EQ(x.device(), device("cpu:0"));
  EXPECT_EQ(x.bytes().data(), bytes + 4);
  EXPECT_CLOSE(x + 1, array({3.0, 3.0, 3.0}));
  EXPECT_CLOSE(jit([](Array x) { return x * 2; }, {.donate = {0}})(x), array({4.0, 4.0, 4.0}));
  EXPECT_TRUE(life.expired()); // It was donated.

  std::vector<float> other(2);
  std::span<const std::byte> span = std::as_bytes(std::span(other));
  EXPECT_HJX_ERROR(from_memory(span, nullptr, {2}, float32), "from_memory: expected an owner of the memory, got null\n"
                                                             "  help: pass what keeps it alive, or copy it: hjx::from_bytes");
  EXPECT_HJX_ERROR(from_memory(span, std::make_shared<int>(0), {3}, float32),
                   "from_memory: expected 12 bytes for f32[3], got 8\n  help: pass the storage of every element, row-major");
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

TEST_P(PlacementHost, AGuardForbidsWhatNobodyAskedFor) {
  Array x = array({1.0, 2.0}), there = device_put(array({1.0, 1.0}), a);
  transfer_guard guard("disallow");
  std::string from = "cpu:0";
  EXPECT_HJX_ERROR(there + x, "add: expected no transfer under 'disallow', got 8 bytes from " + from + " to " + a.name() +
                                  "\n  help: ask for it with device_put or device_get, move it out of the guarded scope, or guard "
                                  "with 'log' to see all transfers");
  EXPECT_HJX_ERROR(jit([](Array x, Array y) { return x + y; })(there, x),
                   "jit: expected no transfer under 'disallow', got 8 bytes from " + from + " to " + a.name() +
                       "\n  help: ask for it with device_put or device_get, move it out of the guarded scope, or guard "
                       "with 'log' to see all transfers");
  Array sum = there + device_put(x, a); // Asked for.
  EXPECT_EQ(device_get(sum).to_vector<float>(), (std::vector<float>{2, 3}));
  if (isSim()) {
    EXPECT_HJX_ERROR(sum.item<float>(), "item: expected an array of one element, got f32[2]\n"
                                        "  help: use to_vector, or index the array first");
    EXPECT_HJX_ERROR(sum.to_vector<float>(),
                     "to_vector: expected no transfer under 'disallow', got 8 bytes from sim:0 to cpu:0\n  help: ask for it with "
                     "device_put or device_get, move it out of the guarded scope, or guard with 'log' to see all transfers");
  }
  transfer_guard all("disallow_explicit");
  EXPECT_HJX_ERROR(device_put(x, a), "device_put: expected no transfer under 'disallow_explicit', got 8 bytes from " + from + " to " +
                                         a.name() + "\n  help: 'disallow' would let pass what is asked for, as this was");
}

TEST_P(PlacementHost, AGuardNamesTransfers) {
  Array x = array({1.0, 2.0}), there = device_put(array({1.0, 1.0}), a);
  transfer_guard guard("log");
  ::testing::internal::CaptureStderr();
  const int line = __LINE__ + 1;
  Array sum = there + x;
  (void)device_put(x, b);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "hjx: PlacementHostTest.cpp:" + std::to_string(line) +
                                                          ": add: transfer of 8 bytes from cpu:0 to " + a.name() + "\n");
  transfer_guard all("log_explicit");
  ::testing::internal::CaptureStderr();
  (void)device_put(x, b);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(": device_put: transfer of 8 bytes from cpu:0 to " + b.name() + "\n"));
}

TEST_P(PlacementHost, EveryTransferHasItsLine) {
  Array w = device_put(array({1.0, 2.0}), a), x = array({3.0, 4.0}), flag = device_put(array({true}), a);
  Ref cell = new_ref(w);
  auto f = jit([](Array w, Array x) { return w * x; });
  auto g = jit([](Array x) { return x + 1; }, {.device = b});
  std::vector<float> numbers;
  std::ostringstream os;
  struct Row {
    int line;
    int64_t bytes; ///< to or from a GPU
    int64_t bytesOfCpu; ///< between devices of the processor
    std::function<void()> body;
  };
  const int made = __LINE__ - 12;
  for (const Row &row : {
           Row{__LINE__, 8, 8, [&] { w + x; }},                       // an eager operation
           Row{__LINE__, 4, 0, [&] { w * 2.5; }},                     // a number, which a processor reads where it is
           Row{__LINE__, 8, 8, [&] { f(w, x); }},                     // an argument of a program
           Row{__LINE__, 8, 8, [&] { g(w); }},                        // what a program's own device takes along
           Row{__LINE__, 12, 4, [&] { w[array({1})]; }},              // an index, and the two numbers that wrap it
           Row{__LINE__, 0, 0, [&] { w[1]; }},                        // read where it is
           Row{__LINE__, 4, 0, [&] { (void)w[1].item<float>(); }},    // the host reads a GPU, and its own devices for nothing
           Row{__LINE__, 8, 0, [&] { numbers = w.to_vector<float>(); }},
           Row{__LINE__, 8, 0, [&] { (void)w.bytes(); }},
           Row{__LINE__, 8, 8, [&] { cell.set(x); }},                 // a value for a ref
           Row{__LINE__, 8, 0, [&] { (void)cell.get().to_vector<float>(); }},
           Row{made, 8, 0, [&] { os << w; }},                         // has no line: that of the array
           Row{made, 1, 0, [&] { (void)bool(flag); }},
       }) {
    transfer_guard guard("log");
    Moved first(a), second(b);
    ::testing::internal::CaptureStderr();
    row.body();
    std::string text = ::testing::internal::GetCapturedStderr();
    SCOPED_TRACE("line " + std::to_string(row.line) + ": " + text);
    int64_t bytes = isSim() ? row.bytes : row.bytesOfCpu;
    EXPECT_EQ(first.in() + first.toHost() + second.in() + second.toHost(), bytes);
    if (bytes > 0)
      EXPECT_THAT(text, ::testing::MatchesRegex("(hjx: PlacementHostTest.cpp:" + std::to_string(row.line) +
                                                ": [a-z_ ]+: transfer of [0-9]+ bytes? from [a-z]+:[0-9] to [a-z]+:[0-9]\n)+"));
    else
      EXPECT_EQ(text, "");
  }
}

TEST_P(PlacementHost, GuardsNest) {
  Array x = array({1.0, 2.0}), there = device_put(array({1.0, 1.0}), a);
  transfer_guard guard("disallow");
  {
    transfer_guard inner("allow");
    EXPECT_NO_THROW((void)(there + x));
    try {
      transfer_guard innermost("disallow");
      there + x;
      ADD_FAILURE() << "expected an error";
    } catch (const Error &) {
      EXPECT_NO_THROW((void)(there + x)); // That scope has ended.
    }
  }
  EXPECT_THROW((void)(there + x), Error);
  std::thread([&] { EXPECT_NO_THROW((void)(there + x)); }).join(); // Of this thread alone.
}

TEST_P(PlacementHost, NothingIsNoTransfer) {
  transfer_guard guard("disallow_explicit");
  Moved moved(a);
  Array none = device_put(zeros({0, 3}), a), more = jit([](Array x, Array y) { return x + y; })(none, zeros({0, 3}));
  EXPECT_EQ(more.device(), a);
  EXPECT_EQ(more.shape(), (Shape{0, 3}));
  EXPECT_TRUE(more.to_vector<float>().empty());
  EXPECT_EQ(device_get(more).device(), host);
  EXPECT_EQ(moved.in() + moved.toHost(), 0);
}

TEST_P(PlacementHost, AGuardMayBeOfOneDirection) {
  Array x = array({1.0, 2.0}), there = device_put(array({1.0, 1.0}), a);
  using enum Direction;
  {
    transfer_guard other(isSim() ? DeviceToDevice : HostToDevice, "disallow");
    transfer_guard out(DeviceToHost, "disallow");
    EXPECT_NO_THROW((void)(there + x));
    transfer_guard all("allow"); // The innermost counts.
    EXPECT_NO_THROW((void)(there + x).to_vector<float>());
  }
  transfer_guard guard(isSim() ? HostToDevice : DeviceToDevice, "disallow");
  EXPECT_THROW((void)(there + x), Error);
  EXPECT_NO_THROW((void)(there + there).to_vector<float>());
}

TEST(PlacementGuard, KnowsItsLevels) {
  EXPECT_HJX_ERROR(transfer_guard("never"),
                   "transfer_guard: expected allow, log, disallow, log_explicit or disallow_explicit, got 'never'\n"
                   "  help: the last two count transfers that were asked for, too");
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST(PlacementDevices, AreListed) {
  set_num_devices("cpu", 3);
  set_num_devices("sim", 2);
  std::vector<BackendStatus> list = backends();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].name, "cpu");
  EXPECT_EQ(list[0].devices.size(), 3u);
  EXPECT_EQ(list[1].name, "cuda");
  if (!list[1].is_available())
    EXPECT_THAT(list[1].reason, HasSubstr("cuda: "));
  EXPECT_EQ(list[2].devices.size(), 2u);
  EXPECT_GE(devices().size(), 5u);
  Device cpu = devices("cpu")[2], sim = devices("sim")[1];
  EXPECT_EQ(cpu.name(), "cpu:2");
  EXPECT_EQ(cpu.backend(), "cpu");
  EXPECT_EQ(cpu.id(), 2);
  EXPECT_EQ(cpu.compute_capability(), 0);
  EXPECT_EQ(sim.backend(), "sim");
  EXPECT_GE(sim.compute_capability(), 80);
  EXPECT_GT(cpu.memory().total, 0);
  EXPECT_EQ(device("cpu"), devices("cpu")[0]);
  EXPECT_EQ(device("cpu:2"), cpu);
  EXPECT_NE(cpu, sim);
  EXPECT_EQ(default_backend(), "cpu");
  EXPECT_EQ(to_string(cpu) + to_string(Device()), "cpu:2no device");
  int64_t before = cpu.memory().in_use;
  Array x = device_put(zeros({256}), cpu);
  EXPECT_EQ(cpu.memory().in_use - before, 1024);
}

TEST(PlacementDevices, NameWhatIsWrong) {
  set_num_devices("cpu", 3);
  EXPECT_HJX_ERROR(devices("tpu"), "devices: expected a backend, one of cpu, cuda, sim, got 'tpu'\n"
                                   "  help: name a backend, not a device; hjx::device takes both");
  EXPECT_HJX_ERROR(Device().name(), "name: expected a device, got none (default-constructed)\n"
                                    "  help: take one of hjx::devices(), or name it: hjx::device(\"cpu:0\")");
  EXPECT_HJX_ERROR(device_put(zeros({2}), Device()), "device_put: expected a device, got none (default-constructed)\n"
                                                     "  help: take one of hjx::devices(), or name it: hjx::device(\"cpu:0\")");
  EXPECT_THROW(device("cpu:3"), Error);
  EXPECT_THROW(default_device("tpu"), Error);
  EXPECT_THROW(set_num_devices("cuda", 2), Error);
  if (!backends()[1].is_available()) { // Nothing stands in for it.
    EXPECT_THROW(devices("cuda"), Error);
    EXPECT_THROW(device("cuda:0"), Error);
    EXPECT_THROW(default_device("cuda"), Error);
  }
  EXPECT_HJX_ERROR(abstract({2}).device(), "device: expected an array with numbers, got the abstract f32[2]\n"
                                           "  help: pass an array made from numbers");
}
