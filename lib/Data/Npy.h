// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy container, versions 1.0 to 3.0: how arrays travel between hjx-run and Python.
//
//   "\x93NUMPY" | major, minor | u16 (v1) or u32 (v2, v3) header length | dict literal | data
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// Only plain little-endian arrays: big-endian, structured, string and pickled (object) arrays
// are errors. NumPy has no bfloat16; BF16 travels by safetensors.
// Source: numpy/lib/format.py (NEP 1).
#pragma once

#include "lib/Data/File.h"
#include "lib/Data/HostTensor.h"

namespace hjx {

/// Where the elements of a file lie, for who reads or maps a part of them.
struct NpyLayout {
  StoredType type;
  std::vector<int64_t> shape;
  bool fortranOrder;
  uint64_t dataStart, sizeBytes; ///< from the start of the file
};
/// Reads the header, and checks that the file has what it says.
absl::StatusOr<NpyLayout> readNpyLayout(const InputFile &file);

/// Reads an array; Fortran order is converted to row-major.
absl::StatusOr<HostTensor> readNpy(const std::string &path);

/// Writes an array with a header of version `major`.0 (1, 2 or 3).
absl::Status writeNpy(const std::string &path, const TensorView &tensor, int major = 1);

} // namespace hjx
