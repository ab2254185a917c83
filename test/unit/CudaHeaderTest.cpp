// SPDX-License-Identifier: Apache-2.0
//
// What runtime/cuda/Driver.h declares, against NVIDIA's cuda.h where there is one: names,
// parameters and numbers. Nothing else would notice a wrong one without a GPU, as the simulated
// device is ours.
#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include <gtest/gtest.h>

#include <type_traits>

// cuda.h makes macros of many names, so ours are looked at before.
namespace ours {
using namespace hjx::cuda;
#define HJX_TYPE(name, parameters) using name##_type = CUresult(*) parameters;
HJX_CUDA_FUNCTIONS(HJX_TYPE)
#undef HJX_TYPE
} // namespace ours

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace {

/// Whether values of both are passed alike. Handles and what has no type are pointers, and nothing
/// else.
template <typename A, typename B> constexpr bool isAlike() {
  using ToA = std::remove_cv_t<std::remove_pointer_t<A>>;
  using ToB = std::remove_cv_t<std::remove_pointer_t<B>>;
  if constexpr (!std::is_pointer_v<A> || !std::is_pointer_v<B>)
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  else if constexpr (std::is_void_v<ToA> || std::is_void_v<ToB> || std::is_class_v<ToA> ||
                     std::is_class_v<ToB>)
    return true;
  else
    return isAlike<ToA, ToB>();
}

template <typename Ours, typename Theirs> constexpr bool isSameCall = false;
template <typename R, typename... Ours, typename S, typename... Theirs>
constexpr bool isSameCall<R (*)(Ours...), S (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    return false;
  else
    return isAlike<R, S>() && (isAlike<Ours, Theirs>() && ...);
}();

#define HJX_COMPARE(name, parameters)                                                              \
  static_assert(isSameCall<ours::name##_type, decltype(&::name)>,                                  \
                #name " has other parameters in cuda.h");
HJX_CUDA_FUNCTIONS(HJX_COMPARE)
#undef HJX_COMPARE

#define HJX_COMPARE(name)                                                                          \
  static_assert(int64_t(hjx::cuda::name) == int64_t(::name), #name " is another number in cuda.h")
HJX_COMPARE(CUDA_SUCCESS);
HJX_COMPARE(CUDA_ERROR_OUT_OF_MEMORY);
HJX_COMPARE(CUDA_ERROR_NO_DEVICE);
HJX_COMPARE(CUDA_ERROR_NOT_READY);
HJX_COMPARE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
HJX_COMPARE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
HJX_COMPARE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
HJX_COMPARE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
HJX_COMPARE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
HJX_COMPARE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
HJX_COMPARE(CU_JIT_ERROR_LOG_BUFFER);
HJX_COMPARE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
HJX_COMPARE(CU_STREAM_NON_BLOCKING);
HJX_COMPARE(CU_EVENT_DEFAULT);
HJX_COMPARE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
HJX_COMPARE(CU_TENSOR_MAP_INTERLEAVE_NONE);
HJX_COMPARE(CU_TENSOR_MAP_SWIZZLE_128B);
HJX_COMPARE(CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
HJX_COMPARE(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
#undef HJX_COMPARE

using Element = hjx::TensorMap::Element;
static_assert(int(Element::U8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(int(Element::F16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(int(Element::Bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(int(Element::Tf32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
static_assert(sizeof(CUtensorMap) == hjx::TensorMap::kSizeBytes);
// 64 is what the driver asks for; the type has 128 since CUDA 13.
static_assert(alignof(CUtensorMap) % hjx::TensorMap::kAlignment == 0);

TEST(CudaHeader, DeclaresWhatWeCall) {} // By compiling.

} // namespace
#else
TEST(CudaHeader, DeclaresWhatWeCall) { GTEST_SKIP() << "there is no cuda.h"; }
#endif
