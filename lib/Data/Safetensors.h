// SPDX-License-Identifier: Apache-2.0
//
// The safetensors container, read as if every byte of it were hostile.
//
//   u64 N, little-endian | N bytes of JSON | tensor data
//   {"__metadata__": {"k": "v"}, "wte": {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//
// The reader enforces every rule of the reference implementation (sizes, no holes, no
// overlaps, no trailing bytes) and three of its own: duplicate names and unknown fields are
// errors, and the numbers of tensors and metadata entries are bounded, so that the memory
// used stays within a small multiple of the header. It never maps the file; see File.h.
// Source: huggingface/safetensors, tensor.rs.
#pragma once

#include "lib/Data/File.h"
#include "lib/Data/HostTensor.h"

#include <map>

namespace hjx {

struct TensorInfo {
  std::string name;
  StoredType type;
  std::vector<int64_t> shape;
  uint64_t begin; ///< bytes, from the start of the data section
  uint64_t end;

  uint64_t sizeBytes() const { return end - begin; }
};

class SafetensorsFile {
public:
  /// Opens `path` and checks its whole header.
  static absl::StatusOr<SafetensorsFile> open(const std::string &path);

  const std::string &path() const { return file_.path(); }
  /// All tensors, in the order of their data.
  const std::vector<TensorInfo> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }

  /// Returns the named tensor, or null.
  const TensorInfo *find(std::string_view name) const;
  /// Like find, but a missing tensor is an error that offers the nearest name.
  absl::StatusOr<const TensorInfo *> get(std::string_view name) const;

  /// Where the bytes of a tensor begin in the file, for who maps them.
  uint64_t offsetOf(const TensorInfo &tensor) const { return dataStart_ + tensor.begin; }
  /// Copies part of a tensor, from `offsetBytes` of it.
  absl::Status read(const TensorInfo &tensor, uint64_t offsetBytes, std::span<char> out) const;
  /// Copies a whole tensor; its type must be one that hjx has.
  absl::StatusOr<HostTensor> load(std::string_view name) const;

private:
  explicit SafetensorsFile(InputFile file) : file_(std::move(file)) {}

  InputFile file_;
  uint64_t dataStart_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> byName_; ///< indices into tensors_, sorted by name
  std::map<std::string, std::string> metadata_;
};

/// Writes a safetensors file: tensors by descending element size, then name; data aligned to
/// 8 bytes; complete or absent under its name.
/// Errors: duplicate or non-UTF-8 names, a type without a safetensors name, sizes that disagree.
absl::Status writeSafetensors(const std::string &path, std::vector<TensorView> tensors,
                              const std::map<std::string, std::string> &metadata = {});

} // namespace hjx
