// SPDX-License-Identifier: Apache-2.0
//
// Array: construction from numbers, questions, and the way back to numbers.
#include "lib/Frontend/Placement.h"

#include "hjx/indexing.h"

#include <cstring>

using namespace hjx;
using namespace hjx::detail;

//===----------------------------------------------------------------------===//
// Shapes and types
//===----------------------------------------------------------------------===//

std::string hjx::to_string(const Shape &shape) {
  std::string text = "[";
  for (int axis = 0; axis < shape.ndim(); ++axis)
    text += (axis ? "," : "") + std::to_string(shape[axis]);
  return text + "]";
}

static Aval avalOf(const ArrayImpl &impl) {
  Aval aval(impl.dtype, impl.shape, impl.isWeak);
  aval.hi = impl.hi;
  aval.isRef = impl.isRef;
  return aval;
}

std::string detail::describe(const Aval &aval) {
  return aval.isRef ? "ref{" + to_string(aval.type()) + "}" : to_string(aval.type());
}

std::string detail::describe(const Array &array) {
  const std::shared_ptr<ArrayImpl> &impl = Access::get(array);
  return impl ? describe(::avalOf(*impl)) : "an array without value";
}

ArrayImpl &Access::leaf(const Array &array, const char *op, Where where) {
  ArrayImpl *impl = array.impl.get();
  if (!impl)
    fail(where, op, "expected an array, got one without value (default-constructed)",
         "assign it first, for example from hjx::zeros");
  if (impl->frozenAt)
    fail(where, op, "the ref " + describe(array) + " was frozen at " + placeOf(*impl->frozenAt) + " and holds nothing any more",
         "read it before, or freeze it later");
  if (impl->isDonated)
    fail(where, op,
         (impl->isArray() ? "the array " : "the value ") + describe(array) + " was donated at " + placeOf(impl->donatedAt) + " and has no value any more",
         "use the result of that call instead, or do not donate the argument");
  return *impl;
}

const char *detail::remedyForLeak(const ArrayImpl &impl) {
  return impl.isRef ? "return what it holds, ref.get(), from that function; a ref itself cannot leave the function that makes it"
                    : "return it from that function instead of storing it elsewhere";
}

ArrayImpl &Access::alive(const Array &array, const char *op, Where where) {
  ArrayImpl &impl = leaf(array, op, where);
  if (impl.trace && !impl.trace->frame)
    fail(where, op, "the traced " + describe(array) + ", made at " + placeOf(impl.where) + ", has leaked out of the function that was traced",
         remedyForLeak(impl));
  return impl;
}

ArrayImpl &Access::checked(const Array &array, const char *op, Where where) {
  ArrayImpl &impl = leaf(array, op, where);
  if (impl.isRef)
    fail(where, op, "expected an array, got the ref " + describe(array), "read what it holds: ref.get()");
  if (impl.hi)
    fail(where, op, "expected an array, got a value of the hi-type " + describe(array),
         "call one of the type's primitives that gives an array");
  return impl;
}

Aval detail::avalOf(const Array &array, const char *op, Where where) { return ::avalOf(Access::alive(array, op, where)); }

Aval detail::arrayAvalOf(const Array &array, const char *op, Where where) {
  Access::checked(array, op, where);
  return avalOf(array, op, where);
}

const Shape &Array::shape(Where where) const { return Access::checked(*this, "shape", where).shape; }
DType Array::dtype(Where where) const { return Access::checked(*this, "dtype", where).dtype; }
int Array::ndim(Where where) const { return shape(where).ndim(); }
int64_t Array::size(Where where) const { return shape(where).size(); }
bool Array::weak_type(Where where) const { return Access::checked(*this, "weak_type", where).isWeak; }
bool Array::is_traced() const { return impl && impl->value; }

static std::string axisRange(int ndim) {
  return ndim == 0 ? "a scalar has no axes" : "use an axis in [-" + std::to_string(ndim) + ", " + std::to_string(ndim) + ")";
}

void Shape::failAxis(int axis) const {
  fail(Where(), "Shape", "axis " + std::to_string(axis) + " is out of range for shape " + to_string(*this), axisRange(ndim()));
}

int64_t Array::shape(int axis, Where where) const {
  const Shape &sizes = shape(where);
  if (axis < -sizes.ndim() || axis >= sizes.ndim())
    fail(where, "shape", "axis " + std::to_string(axis) + " is out of range for " + describe(*this), axisRange(sizes.ndim()));
  return sizes[axis];
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static std::atomic<uint64_t> serialCounter = 0;
static uint64_t nextSerial() { return ++serialCounter; }
uint64_t detail::latestSerial() { return serialCounter; }

Array detail::makeConcrete(const Aval &aval, Storage storage, Where where, bool isCommitted) {
  auto impl = std::make_shared<ArrayImpl>();
  impl->dtype = aval.dtype;
  impl->shape = aval.shape;
  impl->isWeak = aval.isWeak;
  impl->where = where;
  impl->storage = std::move(storage);
  impl->isCommitted = isCommitted;
  impl->serial = nextSerial();
  return Access::make(std::move(impl));
}

Array detail::makeConcrete(const Aval &aval, std::vector<Array> parts, Where where) {
  Array leaf = makeAbstract(aval, where);
  Access::get(leaf)->parts = std::move(parts);
  Access::get(leaf)->serial = nextSerial();
  return leaf;
}

Array detail::makeAbstract(const Aval &aval, Where where) {
  auto impl = std::make_shared<ArrayImpl>();
  impl->dtype = aval.dtype;
  impl->shape = aval.shape;
  impl->isWeak = aval.isWeak;
  impl->hi = aval.hi;
  impl->isRef = aval.isRef;
  impl->where = where;
  return Access::make(std::move(impl));
}

void detail::checkShape(const Shape &shape, const char *op, Where where) {
  int64_t count = 1;
  bool isCounted = true;
  for (int64_t size : shape) {
    if (size < 0)
      fail(where, op, "expected sizes that are not negative, got shape " + to_string(shape), "compute the shape from x.shape()");
    isCounted &= !__builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count) && count < (int64_t(1) << 56);
  }
  if (!isCounted)
    fail(where, op, "expected a shape that fits into memory, got " + to_string(shape), "check the order of the sizes");
}

Storage detail::allocate(const Aval &aval, RuntimeDevice &device, Where where) {
  absl::StatusOr<DeviceBuffer> buffer = device.allocate(aval.shape.size() * item_size(aval.dtype));
  if (!buffer.ok())
    failWith(buffer.status(), {"array", where});
  return std::make_shared<Memory>(*std::move(buffer));
}

Storage detail::allocateOnHost(const Aval &aval, Where where) {
  RuntimeDevice &device = defaultDevice({"array", where});
  return allocate(aval, device.kind() == DeviceKind::Cpu ? device : cpuDevice(), where);
}

static Array makeLiteral(Literal value, DType dtype, Where where) {
  auto impl = std::make_shared<ArrayImpl>();
  impl->dtype = dtype;
  impl->isWeak = dtype != DType::bool_;
  impl->where = where;
  impl->literal = value;
  impl->serial = nextSerial();
  // A number too large for int32 stays without storage: it may yet meet an int64 array.
  Storage storage = allocate({dtype, {}}, cpuDevice(), where);
  if (writeElement(storage->as<std::byte>(), dtype, 0, value))
    impl->storage = std::move(storage);
  return Access::make(std::move(impl));
}

Array Array::literal(bool value, Where where) { return makeLiteral(value, DType::bool_, where); }
Array Array::literal(int64_t value, Where where) { return makeLiteral(value, DType::int32, where); }
Array Array::literal(uint64_t value, Where where) { return makeLiteral(value, DType::int32, where); }
Array Array::literal(double value, Where where) { return makeLiteral(value, DType::float32, where); }

std::string detail::print(const Literal &value) {
  auto text = [](auto number) {
    if constexpr (!std::is_same_v<decltype(number), double>)
      return std::to_string(number);
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.9g", static_cast<double>(number));
    return std::string(digits);
  };
  return std::visit(text, value);
}

[[noreturn]] static void failToFit(const Literal &value, DType type, const char *op, Where where) {
  fail(where, op, "expected a number that " + std::string(name(type)) + " can hold, got " + print(value),
       type == DType::key                      ? "make keys with hjx::random::key(seed)"
       : std::holds_alternative<double>(value) ? "choose a floating type: hjx::array(value, hjx::float32)"
                                               : "choose a wider type: hjx::array(value, hjx::int64)");
}

const Storage &detail::storageOf(const Array &array, const char *op, Where where) {
  Access::checked(array, op, where);
  ArrayImpl &impl = Access::alive(array, op, where);
  if (!impl.storage && impl.literal)
    failToFit(*impl.literal, impl.dtype, op, where);
  if (!impl.storage)
    fail(where, op,
         impl.value ? "expected a concrete array, got the traced " + describe(array) +
                          ", whose value is not known while the program is recorded"
                    : "expected an array with numbers, got the abstract " + describe(array),
         impl.value ? "return it from the traced function and read it there" : "pass an array made from numbers");
  return impl.storage;
}

Storage detail::hostStorageOf(const Array &array, const char *op, Where where) {
  const Storage &storage = storageOf(array, op, where);
  return storage->isOnHost() ? storage : moveTo(storage, cpuDevice(), {op, where});
}

Array detail::fromMemory(const void *data, size_t count, DType from, const Shape *shape, const DType *type, Where where) {
  Aval aval{type ? *type : from, shape ? *shape : Shape{static_cast<int64_t>(count)}};
  checkShape(aval.shape, "array", where);
  if (aval.shape.size() != static_cast<int64_t>(count))
    fail(where, "array", "expected " + std::to_string(aval.shape.size()) + " numbers for shape " + to_string(aval.shape) +
                             ", got " + std::to_string(count),
         "give a shape of as many elements");
  Storage storage = allocateOnHost(aval, where);
  if (aval.dtype == from) {
    std::memcpy(storage->data(), data, count * item_size(from));
    return makeConcrete(aval, std::move(storage), where);
  }
  for (size_t i = 0; i < count; ++i) {
    Literal value = readElement(static_cast<const std::byte *>(data), from, i);
    if (!writeElement(storage->as<std::byte>(), aval.dtype, i, value))
      failToFit(value, aval.dtype, "array", where);
  }
  return makeConcrete(aval, std::move(storage), where);
}

namespace {

/// Reads nested lists depth first: their common shape, then their numbers.
struct NestedReader {
  Where where;
  std::vector<int64_t> shape;
  std::vector<const Nested *> numbers;
  DType type = DType::bool_;

  void measure(const Nested &list) {
    for (const Nested *level = &list; level->isList; level = &level->items.front()) {
      shape.push_back(level->items.size());
      if (level->items.empty())
        return;
    }
  }

  void collect(const Nested &item, size_t depth) {
    if (item.isList != (depth < shape.size()))
      fail(where, "array", "expected lists of one depth, got a number beside a list", "give every row the same nesting");
    if (!item.isList) {
      numbers.push_back(&item);
      type = type == DType::bool_ || item.type == DType::float32 ? item.type : type;
      return;
    }
    if (static_cast<int64_t>(item.items.size()) != shape[depth])
      fail(where, "array", "expected " + std::to_string(shape[depth]) + " entries in every list at depth " +
                               std::to_string(depth) + ", got " + std::to_string(item.items.size()),
           "give every row the same length");
    for (const Nested &inner : item.items)
      collect(inner, depth + 1);
  }
};

} // namespace

Array detail::fromNested(const Nested &values, const DType *type, Where where) {
  NestedReader reader{.where = where};
  reader.measure(values);
  reader.collect(values, 0);
  if (reader.numbers.empty())
    reader.type = DType::float32; // As NumPy: an empty list is an array of floats.
  Aval aval{type ? *type : reader.type, Shape(reader.shape)};
  Storage storage = allocateOnHost(aval, where);
  for (size_t i = 0; i < reader.numbers.size(); ++i) {
    const Nested &number = *reader.numbers[i];
    Literal value = number.number != 0;
    if (number.type != DType::bool_)
      value = is_integer(number.type) ? Literal(number.integer) : Literal(number.number);
    if (!writeElement(storage->as<std::byte>(), aval.dtype, i, value))
      failToFit(value, aval.dtype, "array", where);
  }
  return makeConcrete(aval, std::move(storage), where);
}

Array hjx::from_bytes(std::span<const std::byte> bytes, const Shape &shape, DType type, Where where) {
  Aval aval{type, shape};
  checkShape(shape, "from_bytes", where);
  int64_t expected = shape.size() * item_size(type);
  if (static_cast<int64_t>(bytes.size()) != expected)
    fail(where, "from_bytes", "expected " + std::to_string(expected) + " bytes for " + describe(aval) + ", got " +
                                  std::to_string(bytes.size()),
         "pass the storage of every element, row-major");
  Storage storage = allocateOnHost(aval, where);
  std::memcpy(storage->data(), bytes.data(), bytes.size());
  return makeConcrete(aval, std::move(storage), where);
}

Array hjx::abstract(const Shape &shape, DType type, Where where) {
  checkShape(shape, "abstract", where);
  return makeAbstract({type, shape}, where);
}

//===----------------------------------------------------------------------===//
// Back to numbers
//===----------------------------------------------------------------------===//

std::span<const std::byte> Array::bytes(Where where) const {
  Storage storage = storageOf(*this, "bytes", where);
  if (!storage->isOnHost()) {
    Storage known = impl->hostCopy;
    storage = known ? known : hostStorageOf(*this, "bytes", where);
    if (!known && !impl->hostCopy.compare_exchange_strong(known, storage))
      storage = known; // Another thread was first.
  }
  return {storage->as<std::byte>(), static_cast<size_t>(storage->sizeBytes())};
}

int64_t Array::countToRead(const char *op, Where where) const {
  Access::checked(*this, op, where);
  ArrayImpl &impl = Access::alive(*this, op, where);
  if (impl.value)
    fail(where, op,
         "the value of the traced " + describe(*this) + " is not known while the program is recorded",
         "return it from the traced function and read it there; to branch on it use hjx::cond or hjx::where");
  return impl.shape.size();
}

void Array::read(const char *op, void *to, DType type, Where where) const {
  int64_t count = countToRead(op, where);
  ArrayImpl &impl = *Access::get(*this);
  if (count != 1 && std::string_view(op) == "item")
    fail(where, op, "expected an array of one element, got " + describe(*this), "use to_vector, or index the array first");
  if (impl.dtype == DType::key)
    fail(where, op, "expected numbers, got random keys", "hjx::random::key_data gives their words");
  auto *data = static_cast<std::byte *>(to);
  auto failToRead = [&](const Literal &value) {
    fail(where, op, "expected " + std::string(name(type)) + " elements, got " + describe(*this) + " with the value " + print(value),
         type == DType::bool_      ? "compare with 0, or say astype(hjx::bool_)"
         : is_floating(impl.dtype) ? "ask for floats, or convert first: x.astype(hjx::" + std::string(name(type)) + ")"
                                   : "ask for a wider type");
  };
  if (impl.literal) { // Not through int32 or float32: the number is kept exactly.
    if (!writeElement(data, type, 0, *impl.literal))
      failToRead(*impl.literal);
    return;
  }
  Storage storage = hostStorageOf(*this, op, where);
  if (count == 0) // No elements, and maybe no memory.
    return;
  if (impl.dtype == type && type != DType::bool_) { // Bools of files may be any byte.
    std::memcpy(data, storage->data(), storage->sizeBytes());
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Literal value = readElement(storage->as<std::byte>(), impl.dtype, i);
    if ((type == DType::bool_ && impl.dtype != type) || !writeElement(data, type, i, value))
      failToRead(value);
  }
}

// The condition of an `if` cannot know its line: messages name the array's own.
Array::operator bool() const {
  Where where = impl ? impl->where : Where();
  Access::checked(*this, "bool", where);
  ArrayImpl &array = Access::alive(*this, "bool", where);
  if (array.value)
    fail(where, "bool",
         "the value of the traced " + describe(*this) +
             " made here is not known while the program is recorded; a C++ condition cannot depend on it",
         "use hjx::where to choose between values, hjx::cond to choose between computations");
  if (array.shape.size() != 1 || array.dtype != DType::bool_)
    fail(where, "bool", "expected a bool scalar as a condition, got the " + describe(*this) + " made here",
         array.shape.size() == 1 ? "compare it: x != 0" : "reduce it with hjx::all or hjx::any");
  bool value = false;
  read("bool of the array made here", &value, DType::bool_, where);
  return value;
}
