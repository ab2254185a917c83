// SPDX-License-Identifier: Apache-2.0
//
// A loop is published as a ticket: the high half numbers the loop (its epoch),
// the low half is the next chunk to take. Taking a chunk is one compare and swap
// of the ticket, which can only succeed while that very loop is open; so a late
// worker can never run a chunk of a loop that has ended, and the fields it read
// before are those of the loop it joined. Nothing is allocated per loop.
#include "runtime/ThreadPool.h"

#include "runtime/Environment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace hjx;

static void relaxCpu() {
#ifdef __x86_64__
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// Spins until `done()`, for some tens of microseconds at most; returns whether it became true.
/// The bound is about the cost of the futex sleep and wake that it may save.
template <typename Done> static bool spinUntil(Done done) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline = Clock::now() + std::chrono::microseconds(40);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      relaxCpu();
    }
  } while (Clock::now() < deadline);
  return done();
}

static void runChunk(ThreadPool::Body body, void *env, int64_t n, int64_t grain, int64_t chunk) {
  body(env, chunk * grain, std::min(n, (chunk + 1) * grain));
}

// Whether this thread is inside a body: a nested loop then stays on it.
static thread_local bool insideBody = false;

struct ThreadPool::Impl {
  // The open loop. Written by its caller while `ticket` shows no chunk to take.
  std::atomic<Body> body{nullptr};
  std::atomic<void *> env{nullptr};
  std::atomic<int64_t> n{0}, grain{1};
  std::atomic<uint32_t> numChunks{0};
  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> epoch{0};   // Workers sleep on it.
  alignas(64) std::atomic<uint32_t> pending{0}; // Chunks not finished; the caller sleeps on it.

  std::mutex oneLoop; // Held by the caller whose loop has the workers.
  std::vector<std::thread> workers;
  std::atomic<bool> stopping{false};
  std::atomic<int> width{1};

  void start(int numThreads);
  void stop();
  void workerMain(uint32_t seenEpoch);
  void takeChunks(uint32_t loopEpoch);
};

void ThreadPool::Impl::takeChunks(uint32_t loopEpoch) {
  uint64_t current = ticket.load(std::memory_order_acquire);
  while (true) {
    Body loopBody = body.load(std::memory_order_relaxed);
    void *loopEnv = env.load(std::memory_order_relaxed);
    int64_t loopN = n.load(std::memory_order_relaxed);
    int64_t loopGrain = grain.load(std::memory_order_relaxed);
    uint32_t loopChunks = numChunks.load(std::memory_order_relaxed);
    auto chunk = static_cast<uint32_t>(current);
    if (static_cast<uint32_t>(current >> 32) != loopEpoch || chunk >= loopChunks)
      return;
    // If a field above is of a later loop, the exchange below sees that loop's ticket and fails.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!ticket.compare_exchange_weak(current, current + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
      continue;
    runChunk(loopBody, loopEnv, loopN, loopGrain, chunk);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
      pending.notify_one();
    current = ticket.load(std::memory_order_acquire);
  }
}

void ThreadPool::Impl::workerMain(uint32_t seenEpoch) {
  insideBody = true;
  while (true) {
    if (!spinUntil([&] { return epoch.load(std::memory_order_acquire) != seenEpoch; }))
      epoch.wait(seenEpoch, std::memory_order_acquire);
    seenEpoch = epoch.load(std::memory_order_acquire);
    if (stopping.load(std::memory_order_acquire))
      return;
    takeChunks(seenEpoch);
  }
}

void ThreadPool::Impl::start(int numThreads) {
  width.store(numThreads);
  stopping.store(false);
  uint32_t seenEpoch = epoch.load();
  for (int i = 1; i < numThreads; ++i)
    workers.emplace_back([this, seenEpoch] { workerMain(seenEpoch); });
}

void ThreadPool::Impl::stop() {
  stopping.store(true);
  epoch.fetch_add(1);
  epoch.notify_all();
  for (std::thread &worker : workers)
    worker.join();
  workers.clear();
}

ThreadPool::ThreadPool(int numThreads) : impl(std::make_unique<Impl>()) {
  impl->start(numThreads > 0 ? numThreads : defaultNumThreads());
}

ThreadPool::~ThreadPool() { impl->stop(); }

ThreadPool &ThreadPool::global() {
  // Leaked on purpose: compiled code may still run while statics are destroyed.
  static auto *pool = new ThreadPool(defaultNumThreads());
  return *pool;
}

int ThreadPool::numThreads() const { return impl->width.load(); }

void ThreadPool::resize(int numThreads) {
  if (numThreads < 1)
    numThreads = defaultNumThreads();
  std::lock_guard<std::mutex> lock(impl->oneLoop);
  if (numThreads == impl->width.load())
    return;
  impl->stop();
  impl->start(numThreads);
}

void ThreadPool::parallelFor(Body body, void *env, int64_t n, int64_t grain) {
  if (n <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  int64_t numChunks = (n + grain - 1) / grain;
  std::unique_lock<std::mutex> lock(impl->oneLoop, std::defer_lock);
  bool alone = numChunks == 1 || numChunks > UINT32_MAX || insideBody ||
               impl->width.load(std::memory_order_relaxed) == 1 || !lock.try_lock();
  if (alone) {
    for (int64_t chunk = 0; chunk < numChunks; ++chunk)
      runChunk(body, env, n, grain, chunk);
    return;
  }

  // Close the old ticket for the new epoch before the fields change.
  uint32_t loopEpoch = impl->epoch.load(std::memory_order_relaxed) + 1;
  impl->ticket.store(uint64_t(loopEpoch) << 32 | UINT32_MAX, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  impl->body.store(body, std::memory_order_relaxed);
  impl->env.store(env, std::memory_order_relaxed);
  impl->n.store(n, std::memory_order_relaxed);
  impl->grain.store(grain, std::memory_order_relaxed);
  impl->numChunks.store(static_cast<uint32_t>(numChunks), std::memory_order_relaxed);
  impl->pending.store(static_cast<uint32_t>(numChunks), std::memory_order_relaxed);
  impl->ticket.store(uint64_t(loopEpoch) << 32, std::memory_order_release);
  impl->epoch.store(loopEpoch, std::memory_order_release);
  impl->epoch.notify_all();

  insideBody = true;
  impl->takeChunks(loopEpoch);
  insideBody = false;
  uint32_t left = 0;
  auto finished = [&] { return (left = impl->pending.load(std::memory_order_acquire)) == 0; };
  while (!spinUntil(finished))
    impl->pending.wait(left, std::memory_order_acquire);
}
