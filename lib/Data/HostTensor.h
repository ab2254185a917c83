// SPDX-License-Identifier: Apache-2.0
//
// An array in host memory, owned or borrowed: what the file formats read and write.
// It has no arithmetic; device buffers and hjx::Array copy from and to it.
#pragma once

#include "lib/Data/StoredType.h"

#include <cstring>
#include <string>
#include <vector>

namespace hjx {

/// Row-major, little-endian contents of an array.
struct HostTensor {
  StoredType type = StoredType::F32;
  std::vector<int64_t> shape;
  std::string bytes;

  /// Returns the contents as a vector; the caller has checked that T is the stored type.
  template <typename T> std::vector<T> as() const {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }
};

/// A named array that somebody else owns; `bytes` must outlive it.
struct TensorView {
  std::string name;
  StoredType type = StoredType::F32;
  std::vector<int64_t> shape;
  std::string_view bytes;
};

/// An array and its name, owned.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// Views tensors that live on in `tensors`.
inline std::vector<TensorView> viewsOf(const std::vector<NamedTensor> &tensors) {
  std::vector<TensorView> views;
  for (const NamedTensor &named : tensors)
    views.push_back({named.name, named.tensor.type, named.tensor.shape, named.tensor.bytes});
  return views;
}

/// Views the elements of `values` as the bytes of a tensor.
template <typename Range> std::string_view bytesOf(const Range &values) {
  return {reinterpret_cast<const char *>(std::data(values)),
          std::size(values) * sizeof(*std::data(values))};
}

} // namespace hjx
