// SPDX-License-Identifier: Apache-2.0
//
// The handler does nothing but what POSIX lets a handler do.
#include "lib/Train/StopSignal.h"

#include <atomic>
#include <cassert>
#include <csignal>
#include <unistd.h>

namespace hjx {
namespace {

std::atomic<bool> stopRequested{false};
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<bool> installed{false};
struct sigaction previousInt, previousTerm;

void handle(int signal) {
  if (stopRequested.exchange(true)) {
    constexpr char message[] = "\nstopped at once; the last checkpoint is whole\n";
    // Nothing could be done about a failed write here.
    [[maybe_unused]] ssize_t ignored = ::write(STDERR_FILENO, message, sizeof(message) - 1);
    ::_exit(128 + signal);
  }
}

} // namespace

StopSignal::StopSignal() {
  [[maybe_unused]] bool another = installed.exchange(true);
  assert(!another && "one StopSignal at a time");
  stopRequested = false;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART; // a save in progress must not see interrupted calls
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previousInt);
  sigaction(SIGTERM, &action, &previousTerm);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &previousInt, nullptr);
  sigaction(SIGTERM, &previousTerm, nullptr);
  installed = false;
}

bool StopSignal::requested() const { return stopRequested; }
void StopSignal::request() { stopRequested = true; }

} // namespace hjx
