// SPDX-License-Identifier: Apache-2.0
//
// jax.random's distributions over the dialect's keys, operation by operation, so
// that the bits are the same.
#include "hjx/random.h"

#include "lib/Frontend/Operands.h"

#include <cmath>

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

static Operand useKey(OpScope &op, const Array &key) {
  Operand operand = op.use(key);
  if (operand.dtype() != DType::key)
    op.fail("expected a random key, got " + describe(operand), "make one with hjx::random::key(seed)");
  return operand;
}

static void checkFloat(OpScope &op, DType type) {
  if (!is_floating(type))
    op.fail(std::string("expected a floating type, got ") + name(type), "draw integers with hjx::random::randint");
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Array hjx::random::key(ArrayLike seed) {
  OpScope op("random::key", seed.where);
  const std::optional<Literal> &number = Access::checked(seed.array, op.name(), op.where()).literal;
  // A number beyond 32 bits is a seed, too.
  bool isWide = number && (std::holds_alternative<int64_t>(*number) || std::holds_alternative<uint64_t>(*number));
  if (isWide) {
    uint64_t value = std::visit([](auto v) { return static_cast<uint64_t>(v); }, *number);
    // As in JAX, a seed within 32 bits has a high word of 0, also a negative one.
    auto isSmall = std::holds_alternative<int64_t>(*number) && std::in_range<int32_t>(std::get<int64_t>(*number));
    Array words = array(std::vector<uint32_t>{isSmall ? 0 : uint32_t(value >> 32), uint32_t(value)});
    return op.finish(op.emit<ir::RandomWrapOp>({op.use(words)}));
  }
  Operand operand = op.use(seed.array);
  if (!is_integer(operand.dtype()))
    op.fail("expected an integer seed, got " + describe(operand), "pass a whole number");
  Operand result = op.emit<ir::RandomSeedOp>({operand});
  result.isWeak = false;
  return op.finish(result);
}

Array hjx::random::split(ArrayLike key, const Shape &shape) {
  OpScope op("random::split", key.where);
  return op.finish(op.emit<ir::RandomSplitOp>({useKey(op, key.array)}, {.shape = dims(op, shape.vec())}));
}

Array hjx::random::fold_in(ArrayLike key, ArrayLike data) {
  OpScope op("random::fold_in", key.where);
  Operand keys = useKey(op, key.array);
  Operand number = op.use(data.array);
  if (!is_integer(number.dtype()))
    op.fail("expected an integer to fold in, got " + describe(number), "pass a step or an index");
  return op.finish(op.emit<ir::RandomFoldInOp>({keys, broadcastTo(op, convert(op, number, DType::uint32), keys.shape())}));
}

Array hjx::random::key_data(ArrayLike key) {
  OpScope op("random::key_data", key.where);
  return op.finish(op.emit<ir::RandomUnwrapOp>({useKey(op, key.array)}));
}

Array hjx::random::wrap_key_data(ArrayLike words) {
  OpScope op("random::wrap_key_data", words.where);
  Operand operand = op.use(words.array);
  if (operand.dtype() != DType::uint32 || operand.rank() == 0 || operand.shape().back() != 2)
    op.fail("expected uint32 words with a last axis of 2, got " + describe(operand), "pass what key_data returned");
  return op.finish(op.emit<ir::RandomWrapOp>({operand}));
}

//===----------------------------------------------------------------------===//
// Bits and uniform numbers
//===----------------------------------------------------------------------===//

static Operand randomBits(OpScope &op, Operand key, int width, const Shape &shape) {
  return op.emit<ir::RandomBitsOp>({key}, {.shape = dims(op, shape.vec()), .width = op.builder().getI64IntegerAttr(width)});
}

Array hjx::random::bits(ArrayLike key, const Shape &shape, DType type) {
  OpScope op("random::bits", key.where);
  if (!is_unsigned(type))
    op.fail(std::string("expected an unsigned type, got ") + name(type), "convert the bits afterwards");
  return op.finish(randomBits(op, useKey(op, key.array), item_size(type) * 8, shape));
}

static DType unsignedOfSize(int bytes) {
  return bytes == 1 ? DType::uint8 : bytes == 2 ? DType::uint16 : bytes == 4 ? DType::uint32 : DType::uint64;
}

static int mantissaBits(DType type) {
  return type == DType::float16 ? 10 : type == DType::bfloat16 ? 7 : type == DType::float32 ? 23 : 52;
}

Array hjx::random::uniform(ArrayLike key, const Shape &shape, DType type, ArrayLike low, ArrayLike high) {
  OpScope op("random::uniform", key.where);
  checkFloat(op, type);
  // The mantissa of a number in [1, 2) is filled with random bits, then 1 is taken away.
  int numBits = item_size(type) * 8, numMantissa = mantissaBits(type), drawn = numMantissa < 8 ? 8 : numBits;
  Operand raw = convert(op, randomBits(op, useKey(op, key.array), drawn, shape), unsignedOfSize(item_size(type)));
  Array one = array(1.0, type), words = op.wrap(raw);
  Array mantissa = (words >> (drawn - numMantissa)) | bitcast(one, words.dtype());
  Array unit = bitcast(mantissa, type) - one;
  Array least = astype(low, type), greatest = astype(high, type);
  return op.finish(maximum(least, unit * (greatest - least) + least));
}

Array hjx::random::bernoulli(ArrayLike key, ArrayLike p, std::optional<Shape> shape) {
  OpScope op("random::bernoulli", key.where);
  Array probability = op.wrap(toFloat(op, p.array));
  return op.finish(uniform(key, shape ? *shape : probability.shape(), probability.dtype()) < probability);
}

Array hjx::random::randint(ArrayLike key, const Shape &shape, ArrayLike low, ArrayLike high, DType type) {
  OpScope op("random::randint", key.where);
  if (!is_integer(type))
    op.fail(std::string("expected an integer type, got ") + name(type), "draw floats with hjx::random::uniform");
  int numBits = item_size(type) * 8;
  if (numBits < 32) { // As in JAX, which draws at least 32 bits against the bias.
    int64_t end = int64_t(1) << (is_unsigned(type) ? numBits : numBits - 1), first = is_unsigned(type) ? 0 : -end;
    return op.finish(astype(randint(key, shape, clip(low, first, end - 1), clip(high, first, end), int32), type));
  }
  DType word = unsignedOfSize(item_size(type));
  // Numbers with twice as many bits as the type, modulo the span: the bias stays small.
  Array keys = split(key), higher = bits(keys[0], shape, word), lower = bits(keys[1], shape, word);
  // The end of the range may be one more than the type holds.
  int64_t last = is_unsigned(type) ? (numBits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << numBits) - 1)
                                   : static_cast<int64_t>(~uint64_t(0) >> (65 - numBits));
  auto wide = [](const ArrayLike &bound) { return bound.array.astype(int64); };
  Array isBeyond = wide(high) > last;
  Array least = astype(low, type), end = astype(clip(wide(high), is_unsigned(type) ? 0 : -last - 1, last), type);
  Array span = hjx::where(end <= least, ones({}, word), astype(end - least, word));
  span = hjx::where(isBeyond & (end > least), span + 1, span);
  // A span of all numbers wraps to 0, and the op's remainder by 0 is the number itself.
  auto rest = [&](const Array &x) { return op.wrap(op.emit<ir::RemOp>(promoteAndBroadcast(op, {x, span}))); };
  Array multiplier = rest(array(uint64_t(1) << (numBits / 2), word));
  multiplier = rest(multiplier * multiplier);
  Array offset = rest(rest(higher) * multiplier + rest(lower));
  return op.finish(least + astype(offset, type));
}

//===----------------------------------------------------------------------===//
// Other distributions
//===----------------------------------------------------------------------===//

/// The numbers next to a float, towards plus or minus infinity, by counting its bits.
static Array nextAfter(const Array &x, bool isUp) {
  DType word = unsignedOfSize(item_size(x.dtype()));
  Array bits = bitcast(x, word), tiny = isUp ? ones_like(bits) : (ones_like(bits) | (ones_like(bits) << (item_size(x.dtype()) * 8 - 1)));
  Array moved = hjx::where((x > 0) == isUp, bits + 1, bits - 1);
  return hjx::where(isinf(x) & ((x > 0) == isUp), x, bitcast(hjx::where(x == 0, tiny, moved), x.dtype()));
}

Array hjx::random::normal(ArrayLike key, const Shape &shape, DType type) {
  OpScope op("random::normal", key.where);
  checkFloat(op, type);
  // Of the open interval (-1, 1): erf_inv(-1) would be infinite.
  double least = type == DType::float64 ? std::nextafter(-1.0, 0.0) : -1.0 + std::ldexp(0.5, -mantissaBits(type));
  Array u = uniform(key, shape, type, array(least, type), array(1.0, type));
  return op.finish(array(std::sqrt(2.0), type) * erf_inv(u));
}

Array hjx::random::truncated_normal(ArrayLike key, ArrayLike low, ArrayLike high, const Shape &shape, DType type) {
  OpScope op("random::truncated_normal", key.where);
  checkFloat(op, type);
  Array root = array(std::sqrt(2.0), type), least = astype(low, type), greatest = astype(high, type);
  Array u = uniform(key, shape, type, erf(least / root), erf(greatest / root));
  return op.finish(clip(root * erf_inv(u), nextAfter(stop_gradient(least), true), nextAfter(stop_gradient(greatest), false)));
}

Array hjx::random::gumbel(ArrayLike key, const Shape &shape, DType type) {
  OpScope op("random::gumbel", key.where);
  checkFloat(op, type);
  double tiny = type == DType::float64   ? std::numeric_limits<double>::min()
                : type == DType::float16 ? std::ldexp(1.0, -14)
                                         : double(std::numeric_limits<float>::min());
  return op.finish(-log(-log(uniform(key, shape, type, array(tiny, type), array(1.0, type)))));
}

Array hjx::random::categorical(ArrayLike key, ArrayLike logits, int axis, std::optional<Shape> shape) {
  OpScope op("random::categorical", key.where);
  Array values = op.wrap(toFloat(op, logits.array));
  int64_t along = normalizeAxis(op, axis, values.ndim(), describe(values));
  std::vector<int64_t> batch = values.shape().vec();
  batch.erase(batch.begin() + along);
  std::vector<int64_t> all = shape ? shape->vec() : batch;
  if (all.size() < batch.size() || !std::equal(batch.rbegin(), batch.rend(), all.rbegin()))
    op.fail("expected a shape that ends in " + to_string(Shape(batch)) + ", got " + to_string(Shape(all)),
            "extra samples are leading axes");
  int64_t numExtra = all.size() - batch.size();
  all.insert(all.begin() + numExtra + along, values.shape()[along]);
  return op.finish(argmax(gumbel(key, all, values.dtype()) + values, numExtra + along));
}
