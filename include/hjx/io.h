// SPDX-License-Identifier: Apache-2.0
//
// Arrays from files, of any size: they are mapped, not read.
//
//   Array tokens = hjx::from_file("tokens.bin", hjx::uint16, {-1});   // 19 GiB, at once
//   Array window = tokens[{hjx::slice(at, at + 1024)}];               // reads a page or two
//   auto weights = hjx::load_safetensors("gpt2.safetensors");         // by name
//
// Concept. Such an array lies on the host and is committed to it: indexing it happens there
// and touches the pages of the part alone, and it never follows another argument to a GPU.
// What shall be there is moved by name, hjx::device_put(window, gpu). The numbers are those
// of the file for as long as it keeps its length; who writes to it while it is used changes
// them, and who shortens it stops the process. Who replaces it by renaming does no harm.
//
// Files are looked at before anything is made of them: damaged and foreign ones are errors
// that name the file, what was expected and what it has.
#pragma once

#include <hjx/array.h>

#include <map>
#include <string>

namespace hjx {

/// Returns the array of a file of NumPy's format .npy.
///
/// Errors: hjx::Error if it is not one, is cut short, in Fortran order (of more than one dimension),
///         big-endian, or of a type that hjx has not.
/// Cost:   none; a page is read when it is first used.
HJX_API Array load_npy(const std::string &path, Where where = Where::current());

/// Returns the arrays of a safetensors file, by name.
///
/// Errors: hjx::Error if any byte of its header is not as it must be, or for a type that hjx has not.
HJX_API std::map<std::string, Array> load_safetensors(const std::string &path, Where where = Where::current());

/// Returns one of them; the others may be of any type.
///
/// Errors: also if there is none of that name: offers the nearest.
HJX_API Array load_safetensors(const std::string &path, const std::string &name, Where where = Where::current());

/// Returns the elements of a file of mere little-endian numbers, from byte `offset` on. One size of
/// the shape may be -1: it follows from the length of the file.
///
/// Errors: hjx::Error if the file is too short, or its rest is no multiple of what -1 stands for.
HJX_API Array from_file(const std::string &path, DType type, const Shape &shape, int64_t offset = 0,
                        Where where = Where::current());

} // namespace hjx
