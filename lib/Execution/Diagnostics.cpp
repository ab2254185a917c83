// SPDX-License-Identifier: Apache-2.0
//
// What compilers say besides errors: see the header.
#include "lib/Execution/Diagnostics.h"

#include "lib/Support/Places.h"

#include "absl/synchronization/mutex.h"
#include "llvm/ADT/StringSet.h"

#include <cstdio>

using namespace mlir;

namespace hjx {

void tellOnce(const Diagnostic &remark) {
  static absl::Mutex mutex;
  static llvm::StringSet<> told;
  std::string place = placeOf(remark.getLocation());
  std::string line = (place.empty() ? "the program" : place) + ": remark: " + remark.str();
  absl::MutexLock lock(&mutex);
  if (told.insert(line).second)
    std::fprintf(stderr, "%s\n", line.c_str());
}

} // namespace hjx
