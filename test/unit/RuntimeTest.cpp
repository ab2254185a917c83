// SPDX-License-Identifier: Apache-2.0
//
// Buffers, environment variables and the thread pool: every iteration runs exactly once, in the
// same chunks, whatever the number of threads.
#include "runtime/Buffer.h"
#include "runtime/Environment.h"
#include "runtime/ThreadPool.h"
#include "test/unit/ResidentMemory.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace hjx;
using testing::HasSubstr;

TEST(Buffer, IsAlignedAndOwned) {
  for (int64_t size : {1, 63, 64, 4097, 5 << 20}) {
    absl::StatusOr<Buffer> buffer = Buffer::allocate(size);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % Buffer::kAlignment, 0u);
    EXPECT_EQ(buffer->sizeBytes(), size);
    EXPECT_TRUE(buffer->isOwner());
    buffer->as<char>()[size - 1] = 7;
    Buffer moved = std::move(*buffer);
    EXPECT_FALSE(*buffer);
    EXPECT_EQ(moved.as<char>()[size - 1], 7);
  }
}

TEST(Buffer, EmptyHasAnAddress) {
  EXPECT_NE(Buffer::allocate(0)->data(), nullptr);
  EXPECT_NE(Buffer::borrow(nullptr, 0).data(), nullptr);
}

TEST(Buffer, BorrowedMemoryStaysWithItsOwner) {
  int value = 3;
  {
    Buffer view = Buffer::borrow(&value, sizeof(value));
    EXPECT_FALSE(view.isOwner());
    *view.as<int>() = 4;
  }
  EXPECT_EQ(value, 4);
}

namespace {

/// A file that is removed with the object.
struct TemporaryFile {
  std::string path = testing::TempDir() + "/hjx-buffer-" + std::to_string(getpid());
  TemporaryFile(int64_t sizeBytes, std::string_view text, int64_t at) {
    int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT_EQ(::ftruncate(fd, sizeBytes), 0);
    EXPECT_EQ(::pwrite(fd, text.data(), text.size(), at), static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path.c_str()); }
};

} // namespace

TEST(Buffer, MapsAPartOfAFile) {
  TemporaryFile file(10000, "some words", 5000);
  Buffer buffer = *Buffer::map(file.path, 5000, 5000);
  EXPECT_EQ(std::string(buffer.as<char>(), 10), "some words");
  EXPECT_EQ(buffer.sizeBytes(), 5000);
  EXPECT_TRUE(buffer.isOwner() && buffer.isMapped());
  EXPECT_FALSE(buffer.isAligned());
  EXPECT_TRUE(Buffer::map(file.path, 64, 1)->isAligned());
  Buffer moved = std::move(buffer);
  EXPECT_FALSE(buffer);
  moved.as<char>()[0] = 'h'; // In memory alone.
  EXPECT_EQ(*Buffer::map(file.path, 5000, 1)->as<char>(), 's');
  ::unlink(file.path.c_str());
  EXPECT_EQ(std::string(moved.as<char>(), 10), "home words") << "the mapping outlives the name";
  EXPECT_EQ(moved.as<char>()[4999], 0);
}

TEST(Buffer, AMappedFileCostsOnlyWhatIsRead) {
  constexpr int64_t kSize = int64_t(20) << 30;
  TemporaryFile file(kSize, "here", kSize / 2);
  int64_t before = test::residentBytes();
  Buffer buffer = *Buffer::map(file.path, 0, kSize);
  EXPECT_EQ(std::string(buffer.as<char>() + kSize / 2, 4), "here");
  EXPECT_EQ(buffer.as<char>()[kSize - 1], 0);
  EXPECT_LT(test::residentBytes() - before, 1 << 20);
}

TEST(Buffer, FilesThatCannotBeMapped) {
  auto messageOf = [](const std::string &path, int64_t offset, int64_t size) {
    return std::string(Buffer::map(path, offset, size).status().message());
  };
  TemporaryFile file(100, "", 0);
  EXPECT_EQ(Buffer::map("/no/such/file", 0, 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(messageOf("/no/such/file", 0, 1), "/no/such/file: cannot open: No such file or directory");
  EXPECT_EQ(messageOf("/tmp", 0, 1), "/tmp: expected a regular file, got a directory\n"
                                     "  help: name a file; to read a stream, save it to a file first");
  EXPECT_THAT(messageOf("/dev/zero", 0, 1), HasSubstr("expected a regular file, got a device or pipe"));
  EXPECT_EQ(messageOf(file.path, 90, 20), file.path + ": expected 20 bytes from byte 90, got a file of 100\n"
                                                      "  help: the file is incomplete, or is not of this type and shape");
  EXPECT_EQ(Buffer::map(file.path, 101, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Buffer::map(file.path, 50, INT64_MAX).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(messageOf(file.path, -1, 1), HasSubstr("expected an offset and a size of at least 0, got -1 and 1"));
  EXPECT_EQ(Buffer::map(file.path, 100, 0)->sizeBytes(), 0);
}

TEST(Buffer, RefusesImpossibleSizes) {
  EXPECT_EQ(Buffer::allocate(-1).status().code(), absl::StatusCode::kInvalidArgument);
  absl::Status tooBig = Buffer::allocate(int64_t(1) << 60).status();
  EXPECT_EQ(tooBig.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(tooBig.message()), HasSubstr("cpu: out of memory, wanted"));
}

namespace {

using Chunks = std::set<std::pair<int64_t, int64_t>>;

/// The chunks that a loop ran, and whether one of them ran twice.
struct Recorder {
  std::mutex mutex;
  Chunks chunks;
  bool repeated = false;

  static void body(void *env, int64_t begin, int64_t end) {
    auto *self = static_cast<Recorder *>(env);
    std::lock_guard<std::mutex> lock(self->mutex);
    self->repeated |= !self->chunks.insert({begin, end}).second;
  }
};

} // namespace

TEST(ThreadPool, ChunksDependOnSizeAndGrainAlone) {
  for (int64_t n : {0, 1, 7, 64, 1000}) {
    for (int64_t grain : {1, 3, 64, 5000}) {
      Chunks expected;
      for (int64_t begin = 0; begin < n; begin += grain)
        expected.insert({begin, std::min(n, begin + grain)});
      for (int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        Recorder recorder;
        pool.parallelFor(&Recorder::body, &recorder, n, grain);
        EXPECT_EQ(recorder.chunks, expected) << n << " by " << grain << " on " << threads;
        EXPECT_FALSE(recorder.repeated);
      }
    }
  }
}

TEST(ThreadPool, ManyShortLoopsFromManyCallers) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int loop = 0; loop < 2000; ++loop)
        pool.parallelFor(
            [](void *env, int64_t begin, int64_t end) {
              static_cast<std::atomic<int64_t> *>(env)->fetch_add(end - begin);
            },
            &total, 10, 3);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total.load(), 4 * 2000 * 10);
}

TEST(ThreadPool, NestedLoopRunsOnItsCaller) {
  ThreadPool pool(4);
  struct Env {
    ThreadPool *pool;
    std::atomic<int64_t> total{0};
  } env{&pool};
  pool.parallelFor(
      [](void *raw, int64_t begin, int64_t end) {
        auto *env = static_cast<Env *>(raw);
        for (int64_t i = begin; i < end; ++i) {
          std::thread::id outer = std::this_thread::get_id();
          struct Inner {
            Env *env;
            std::thread::id thread;
          } inner{env, outer};
          env->pool->parallelFor(
              [](void *raw, int64_t begin, int64_t end) {
                auto *inner = static_cast<Inner *>(raw);
                EXPECT_EQ(std::this_thread::get_id(), inner->thread);
                inner->env->total += end - begin;
              },
              &inner, 5, 1);
        }
      },
      &env, 8, 1);
  EXPECT_EQ(env.total.load(), 40);
}

TEST(ThreadPool, UsesSeveralThreadsAndCanBeResized) {
  ThreadPool pool(1);
  EXPECT_EQ(pool.numThreads(), 1);
  pool.resize(4);
  EXPECT_EQ(pool.numThreads(), 4);
  struct Env {
    std::mutex mutex;
    std::set<std::thread::id> ids;
  } env;
  // Workers need a moment to wake; chunks that last some milliseconds give it to them.
  pool.parallelFor(
      [](void *raw, int64_t, int64_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        auto *env = static_cast<Env *>(raw);
        std::lock_guard<std::mutex> lock(env->mutex);
        env->ids.insert(std::this_thread::get_id());
      },
      &env, 16, 1);
  EXPECT_GT(env.ids.size(), 1u);
}

TEST(ThreadPool, WorkersSleepBetweenLoops) {
  ThreadPool pool(3);
  Recorder recorder;
  pool.parallelFor(&Recorder::body, &recorder, 8, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // past the spin
  clock_t before = clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  double cpuSeconds = double(clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(cpuSeconds, 0.05) << "idle workers burn processor time";
}

//===-- Environment variables ---------------------------------------------===//

TEST(Environment, IsRead) {
  setenv("HJX_PTXSIM_ARCH", "sm_90", 1);
  setenv("HJX_PTXSIM_CHECKS", "0", 1);
  setenv("HJX_PTXSIM_THREADS", "3", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(simulatedCapability(), 90u);
  EXPECT_FALSE(simulatorChecks());
  EXPECT_EQ(simulatorThreads(), 3);
  for (const char *name : {"HJX_PTXSIM_ARCH", "HJX_PTXSIM_CHECKS", "HJX_PTXSIM_THREADS"})
    setenv(name, "", 1);
  EXPECT_EQ(simulatedCapability(), 80u);
  EXPECT_TRUE(simulatorChecks());
  EXPECT_EQ(simulatorThreads(), defaultNumThreads());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Environment, NamesValuesThatItDoesNotUnderstand) {
  setenv("HJX_PTXSIM_ARCH", "sm_70", 1);
  setenv("HJX_PTXSIM_CHECKS", "yes", 1);
  setenv("HJX_PTXSIM_THREADS", "0", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(simulatedCapability(), 80u);
  EXPECT_TRUE(simulatorChecks());
  EXPECT_EQ(simulatorThreads(), defaultNumThreads());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hjx: HJX_PTXSIM_ARCH: expected sm_80 or sm_90, got 'sm_70'; using sm_80\n"
            "hjx: HJX_PTXSIM_CHECKS: expected 1 or 0, got 'yes'; using 1\n"
            "hjx: HJX_PTXSIM_THREADS: expected a number of at least 1, got '0'; using " +
                std::to_string(defaultNumThreads()) + "\n");
}
