// SPDX-License-Identifier: Apache-2.0
//
// What an Array, a hi value and a ref point to: a leaf of a tree. One struct for the
// kinds: a number written in the program (literal), numbers in memory, the parts
// of a hi value, a value of a trace, or a mere type.
#pragma once

#include "lib/Frontend/Memory.h"

#include <hjx/type.h>

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

struct ArrayImpl {
  DType dtype = DType::float32;
  bool isWeak = false;
  Shape shape;
  std::shared_ptr<const HiTypeData> hi; // Not an array but a hi value: dtype and shape say nothing.
  bool isRef = false;                   // A cell that holds such a value.
  Where where;                          // Of the operation that made it.

  std::optional<Literal> literal;
  Storage storage; // Of a concrete array.
  bool isCommitted = false; // To the device of its storage.
  /// Of an array on a GPU whose bytes() were asked for.
  std::atomic<Storage> hostCopy;
  /// Of a concrete hi value: its components. Of a concrete ref: the one value that it holds.
  std::optional<std::vector<Array>> parts;
  uint64_t serial = 0; // Creation order of concrete leaves in the process.
  bool isFrozen = false; // constant(x): a compiled function may capture it.

  std::shared_ptr<FrameTag> trace;
  void *value = nullptr; // mlir::Value of a traced array.

  /// Set when a jit consumed the array: its place, for the error of later uses.
  std::atomic<bool> isDonated = false;
  Where donatedAt;
  /// Set when a traced ref was frozen, the same way.
  std::optional<Where> frozenAt;

  bool isArray() const { return !hi && !isRef; }
  bool isConcrete() const { return literal || storage || parts; }
};

/// The private door of Array and Type.
struct Access {
  static Array make(std::shared_ptr<ArrayImpl> impl) { return Array(std::move(impl)); }
  static const std::shared_ptr<ArrayImpl> &get(const Array &array) { return array.impl; }
  /// Any leaf; throws for one without value, or one that was donated.
  static ArrayImpl &leaf(const Array &leaf, const char *op, Where where);
  /// Also throws for a traced leaf whose trace has ended.
  static ArrayImpl &alive(const Array &leaf, const char *op, Where where);
  /// Also throws for a leaf that is not an array. For functions of arrays.
  static ArrayImpl &checked(const Array &array, const char *op, Where where);

  static const std::shared_ptr<const HiTypeData> &data(const Type &type) { return type.data; }
  static Type type(std::shared_ptr<const HiTypeData> data) {
    Type type;
    type.data = std::move(data);
    return type;
  }
};

/// What a leaf is: an array of a type, a hi value, or a ref of either.
struct Aval {
  DType dtype = DType::float32;
  Shape shape;
  bool isWeak = false;
  std::shared_ptr<const HiTypeData> hi; ///< of a hi-type; dtype and shape say nothing then
  bool isRef = false;                   ///< a cell that holds a value of this type

  Aval() = default;
  Aval(DType dtype, Shape shape, bool isWeak = false) : dtype(dtype), shape(std::move(shape)), isWeak(isWeak) {}
  Aval(const Type &type) : hi(Access::data(type)) {
    if (type.is_array()) {
      dtype = type.dtype();
      shape = type.shape();
    }
  }

  bool isArray() const { return !hi && !isRef; }
  bool isFloatArray() const { return isArray() && is_floating(dtype); }
  /// The type of the value, or of the value in the cell.
  Type type() const { return hi ? Access::type(hi) : Type(dtype, shape); }
  bool sameType(const Aval &other) const {
    if (hi || other.hi)
      return isRef == other.isRef && type() == other.type();
    return isRef == other.isRef && dtype == other.dtype && shape == other.shape;
  }
};

/// Of any leaf.
Aval avalOf(const Array &leaf, const char *op, Where where);
/// As avalOf; throws for a leaf that is not an array.
Aval arrayAvalOf(const Array &array, const char *op, Where where);

/// "f32[2,3]", "f32" for a scalar, "q8[2,3]", "ref{f32[3]}".
std::string describe(const Aval &aval);
std::string describe(const Array &array);
inline std::string describe(DType dtype, const Shape &shape) { return describe({dtype, shape}); }

/// A concrete array over `storage`.
Array makeConcrete(const Aval &aval, Storage storage, Where where, bool isCommitted = false);
/// A concrete hi value of the components `parts`, or a ref that holds the one of them.
Array makeConcrete(const Aval &aval, std::vector<Array> parts, Where where);
/// A leaf that has a type but no numbers.
Array makeAbstract(const Aval &aval, Where where);

/// The serial of the latest concrete leaf.
uint64_t latestSerial();

/// Uninitialised memory for an array; throws when there is none.
Storage allocate(const Aval &aval, RuntimeDevice &device, Where where);
/// The same in memory of the host, to write numbers into: where the thread computes, if that is a
/// processor.
Storage allocateOnHost(const Aval &aval, Where where);

/// Throws unless sizes are not negative and their product can be counted.
void checkShape(const Shape &shape, const char *op, Where where);

/// The storage of a concrete array, on whatever device; throws for others.
const Storage &storageOf(const Array &array, const char *op, Where where);
/// The same in memory of the host: a copy if it lies on a GPU.
Storage hostStorageOf(const Array &array, const char *op, Where where);

/// Reads and writes one element of an array's storage. Integers and bools are
/// int64_t or uint64_t, floats double; writes round to nearest even, and refuse
/// (false) numbers that the type cannot hold.
Literal readElement(const std::byte *data, DType type, int64_t index);
bool writeElement(std::byte *data, DType type, int64_t index, Literal value);

/// "train.cpp:42"; empty for no place.
std::string placeOf(const Where &where);
const char *remedyForLeak(const ArrayImpl &impl);

/// A number as one writes it: "2.5", "300".
std::string print(const Literal &value);

/// Throws hjx::Error "where: op: message" with a remedy.
[[noreturn]] void fail(Where where, const std::string &op, const std::string &message,
                       const std::string &help);

} // namespace hjx::detail
