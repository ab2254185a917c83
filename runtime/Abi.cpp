// SPDX-License-Identifier: Apache-2.0
//
// Thin C faces of the runtime, and the table by which the JIT finds them: no
// dlsym, so it works in a static program and with hidden symbols.
#include "runtime/Abi.h"

#include "runtime/ThreadPool.h"

void hjx_rt_parallel_for(void (*body)(void *, int64_t, int64_t), void *env, int64_t n,
                         int64_t grain) {
  hjx::ThreadPool::global().parallelFor(body, env, n, grain);
}

absl::Span<const hjx::AbiSymbol> hjx::abiSymbols() {
  static const AbiSymbol symbols[] = {
      {"hjx_rt_parallel_for", reinterpret_cast<void *>(&hjx_rt_parallel_for)},
  };
  return symbols;
}
