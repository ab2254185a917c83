// SPDX-License-Identifier: Apache-2.0
//
// What is made of a program's text, made once for all requests with equal text.
#pragma once

#include "runtime/Status.h"

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

#include <memory>
#include <optional>
#include <string>

namespace hjx {

/// Entries are never dropped: a process has as many as it has different operations and shapes.
template <typename T>
class TextCache {
public:
  using Result = absl::StatusOr<std::shared_ptr<const T>>;

  /// Threads: may be called from several threads at once; those that want one entry wait for the
  /// first of them, others do not.
  template <typename Make>
  Result find(const std::string &text, const Make &make) {
    std::shared_ptr<Entry> entry;
    {
      absl::MutexLock lock(&mutex);
      std::shared_ptr<Entry> &slot = entries[text];
      if (!slot)
        slot = std::make_shared<Entry>();
      entry = slot;
    }
    absl::MutexLock lock(&entry->mutex);
    if (!entry->result)
      entry->result = make();
    return *entry->result;
  }

private:
  struct Entry {
    absl::Mutex mutex;
    std::optional<Result> result ABSL_GUARDED_BY(mutex);
  };
  absl::Mutex mutex;
  absl::flat_hash_map<std::string, std::shared_ptr<Entry>> entries ABSL_GUARDED_BY(mutex);
};

} // namespace hjx
