// SPDX-License-Identifier: Apache-2.0
//
// What an Array points to. One struct for the kinds of array: a number written in
// the program (literal), numbers in memory, a value of a trace, or a mere type.
#pragma once

#include "runtime/Buffer.h"

#include <hjx/array.h>

#include <atomic>
#include <memory>
#include <optional>
#include <variant>

namespace hjx::detail {

class Frame;

/// Outlives the frame of a trace, so that an array can tell that its trace has ended.
struct FrameTag {
  Frame *frame = nullptr; // Null once the trace has ended.
};

/// A number as written: kept exactly until the type it takes is known, so that
/// `x * 0.1` with a float64 x has all of its digits.
using Literal = std::variant<bool, int64_t, uint64_t, double>;

/// Memory of arrays; reshapes share it.
using Storage = std::shared_ptr<Buffer>;

struct ArrayImpl {
  DType dtype = DType::float32;
  bool isWeak = false;
  Shape shape;
  Where where; // Of the operation that made it.

  std::optional<Literal> literal;
  Storage storage; // Of a concrete array.
  uint64_t serial = 0; // Creation order of concrete arrays in the process.
  bool isFrozen = false; // constant(x): a compiled function may capture it.

  std::shared_ptr<FrameTag> trace;
  void *value = nullptr; // mlir::Value of a traced array.

  /// Set when a jit consumed the array: its place, for the error of later uses.
  std::atomic<bool> isDonated = false;
  Where donatedAt;

  bool isConcrete() const { return literal || storage; }
};

/// The private door of Array.
struct Access {
  static Array make(std::shared_ptr<ArrayImpl> impl) { return Array(std::move(impl)); }
  static const std::shared_ptr<ArrayImpl> &get(const Array &array) { return array.impl; }
  /// Throws for an array without value, or one that was donated.
  static ArrayImpl &checked(const Array &array, const char *op, Where where);
  /// Also throws for a traced array whose trace has ended.
  static ArrayImpl &alive(const Array &array, const char *op, Where where);
};

/// The element type, shape and weakness of an array.
struct Aval {
  DType dtype = DType::float32;
  Shape shape;
  bool isWeak = false;

  bool sameType(const Aval &other) const { return dtype == other.dtype && shape == other.shape; }
};

Aval avalOf(const Array &array, const char *op, Where where);

/// "f32[2,3]"; "f32" for a scalar.
std::string describe(const Aval &aval);
std::string describe(const Array &array);
inline std::string describe(DType dtype, const Shape &shape) { return describe({dtype, shape}); }

/// A concrete array over `storage`.
Array makeConcrete(const Aval &aval, Storage storage, Where where);

/// The serial of the latest concrete array.
uint64_t latestSerial();

/// Uninitialised storage for an array; throws when there is no memory.
Storage allocate(const Aval &aval, Where where);

/// Throws unless sizes are not negative and their product can be counted.
void checkShape(const Shape &shape, const char *op, Where where);

/// The storage of a concrete array; throws for others.
const Storage &storageOf(const Array &array, const char *op, Where where);

/// Reads and writes one element of an array's storage. Integers and bools are
/// int64_t or uint64_t, floats double; writes round to nearest even, and refuse
/// (false) numbers that the type cannot hold.
Literal readElement(const std::byte *data, DType type, int64_t index);
bool writeElement(std::byte *data, DType type, int64_t index, Literal value);

/// "train.cpp:42"; empty for no place.
std::string placeOf(const Where &where);

/// A number as one writes it: "2.5", "300".
std::string print(const Literal &value);

/// Throws hjx::Error "where: op: message" with a remedy.
[[noreturn]] void fail(Where where, const std::string &op, const std::string &message,
                       const std::string &help);

} // namespace hjx::detail
