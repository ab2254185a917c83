// SPDX-License-Identifier: Apache-2.0
//
// The functions that compiled code calls. Plain C: the names and signatures here
// are a contract with lib/Target, which declares them in every module it makes.
//
// The entry of an executable is
//
//   void hjx_entry(void *const *buffers, void *arena)
//
// where `buffers` holds the arguments and then the results that are not the
// storage of an argument, and `arena` is the block of MemoryPlan::sizeBytes. Of a
// program for another device all of these lie on that device, and a third parameter,
// `void *launcher`, is the way to it.
#pragma once

#include "absl/types/span.h"

#include <cstdint>

#define HJX_ABI extern "C" __attribute__((visibility("default")))

/// Runs `body(env, begin, end)` over chunks of [0, n) on the pool of the process.
HJX_ABI void hjx_rt_parallel_for(void (*body)(void *env, int64_t begin, int64_t end), void *env,
                                 int64_t n, int64_t grain);

/// Runs `body(context, part)` for each part in [0, parts) on the pool of the process.
HJX_ABI void hjx_rt_parallel_parts(int64_t parts, void (*body)(void *context, int64_t part),
                                   void *context);

/// Launches kernel number `kernel` of the program; `launcher` is the entry's. `arguments` points to
/// the value of each argument, as cuLaunchKernel takes them, and is read before the call returns.
HJX_ABI void hjx_rt_launch(void *launcher, int32_t kernel, int32_t gridX, int32_t gridY,
                           int32_t gridZ, int32_t blockX, int32_t blockY, int32_t blockZ,
                           int32_t sharedBytes, void **arguments);

/// Writes to `map` the tensor map (runtime/Device.h) of `data` on the device: 128 bytes that a kernel
/// takes by value. `shape` holds the sizes of the `rank` axes, their strides in bytes, and the sizes of a
/// box; `element` is a TensorMap::Element.
HJX_ABI void hjx_rt_tensor_map(void *launcher, void *map, const void *data, int32_t element,
                               int32_t rank, const int64_t *shape);

/// Waits for what was launched, and copies from the device to the host: for values that decide what
/// is launched next, as the condition of a loop does. Zeros after an error.
HJX_ABI void hjx_rt_read(void *launcher, const void *from, int64_t sizeBytes, void *to);

/// The device's copy of a constant of the host's code. The first call for `data` makes it, with the
/// one transfer that a constant ever costs; later runs find it.
HJX_ABI void *hjx_rt_constant(void *launcher, const void *data, int64_t sizeBytes);

/// A steady clock, for profiles.
HJX_ABI int64_t hjx_rt_now_ns();

namespace hjx {

/// A name that compiled code may refer to, and where it is.
struct AbiSymbol {
  const char *name;
  void *address;
};

/// All of them. Compiled code is linked against these and nothing else of hjx.
absl::Span<const AbiSymbol> abiSymbols();

} // namespace hjx
