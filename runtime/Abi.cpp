// SPDX-License-Identifier: Apache-2.0
//
// Thin C faces of the runtime, and the table by which the JIT finds them: no
// dlsym, so it works in a static program and with hidden symbols.
#include "runtime/Abi.h"

#include "runtime/Launcher.h"
#include "runtime/ThreadPool.h"

#include <chrono>

void hjx_rt_parallel_for(void (*body)(void *, int64_t, int64_t), void *env, int64_t n,
                         int64_t grain) {
  hjx::ThreadPool::global().parallelFor(body, env, n, grain);
}

void hjx_rt_parallel_parts(int64_t parts, void (*body)(void *, int64_t), void *context) {
  struct Parts {
    void (*body)(void *, int64_t);
    void *context;
  } env{body, context};
  hjx::ThreadPool::global().parallelFor(
      [](void *raw, int64_t begin, int64_t end) {
        auto *env = static_cast<Parts *>(raw);
        for (int64_t part = begin; part < end; ++part)
          env->body(env->context, part);
      },
      &env, parts, /*grain=*/1);
}

void hjx_rt_launch(void *launcher, int32_t kernel, int32_t gridX, int32_t gridY, int32_t gridZ,
                   int32_t blockX, int32_t blockY, int32_t blockZ, int32_t sharedBytes,
                   void **arguments) {
  auto dim = [](int32_t size) { return static_cast<uint32_t>(size); };
  static_cast<hjx::Launcher *>(launcher)->launch(
      kernel,
      {dim(gridX), dim(gridY), dim(gridZ), dim(blockX), dim(blockY), dim(blockZ), dim(sharedBytes)},
      arguments);
}

void hjx_rt_tensor_map(void *launcher, void *map, const void *data, int32_t element, int32_t rank,
                       const int64_t *shape) {
  auto axes = static_cast<size_t>(rank);
  static_cast<hjx::Launcher *>(launcher)->encode({data,
                                                  static_cast<hjx::TensorMap::Element>(element),
                                                  {shape, axes},
                                                  {shape + axes, axes},
                                                  {shape + 2 * axes, axes}},
                                                 map);
}

void hjx_rt_read(void *launcher, const void *from, int64_t sizeBytes, void *to) {
  static_cast<hjx::Launcher *>(launcher)->read(from, sizeBytes, to);
}

void *hjx_rt_constant(void *launcher, const void *data, int64_t sizeBytes) {
  return static_cast<hjx::Launcher *>(launcher)->constant(data, sizeBytes);
}

int64_t hjx_rt_now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

absl::Span<const hjx::AbiSymbol> hjx::abiSymbols() {
  static const AbiSymbol symbols[] = {
      {"hjx_rt_constant", reinterpret_cast<void *>(&hjx_rt_constant)},
      {"hjx_rt_launch", reinterpret_cast<void *>(&hjx_rt_launch)},
      {"hjx_rt_now_ns", reinterpret_cast<void *>(&hjx_rt_now_ns)},
      {"hjx_rt_parallel_for", reinterpret_cast<void *>(&hjx_rt_parallel_for)},
      {"hjx_rt_parallel_parts", reinterpret_cast<void *>(&hjx_rt_parallel_parts)},
      {"hjx_rt_read", reinterpret_cast<void *>(&hjx_rt_read)},
      {"hjx_rt_tensor_map", reinterpret_cast<void *>(&hjx_rt_tensor_map)},
  };
  return symbols;
}
