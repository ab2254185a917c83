// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from keys that are never used twice: the same key gives the same
// numbers, anywhere. Bit for bit those of jax.random (threefry2x32, partitionable).
//
//   Array key = random::key(0);
//   auto keys = random::split(key);                     // a key array; keys[0], keys[1]
//   Array w = random::normal(keys[0], {8, 4});
//   for (int step = 0; ...) Array k = random::fold_in(keys[1], step);
#pragma once

#include <hjx/array.h>

#include <optional>

namespace hjx::random {

/// Returns a key from a seed.
HJX_API Array key(ArrayLike seed);
/// Returns new keys, along new trailing axes.
HJX_API Array split(ArrayLike key, const Shape &shape = {2});
/// Returns a new key from a key and a number, such as a step or a layer.
HJX_API Array fold_in(ArrayLike key, ArrayLike data);

/// The two 32-bit words of keys on a new last axis, and back.
HJX_API Array key_data(ArrayLike key);
HJX_API Array wrap_key_data(ArrayLike words);

/// Returns uniform bits, of an unsigned type. Here and below an array of keys puts its axes
/// before `shape`.
HJX_API Array bits(ArrayLike key, const Shape &shape = {}, DType type = uint32);
/// Returns numbers in [low, high).
HJX_API Array uniform(ArrayLike key, const Shape &shape = {}, DType type = float32, ArrayLike low = 0.0,
                      ArrayLike high = 1.0);
/// Returns normally distributed numbers with mean 0 and variance 1.
HJX_API Array normal(ArrayLike key, const Shape &shape = {}, DType type = float32);
/// The same, conditioned on lying in (low, high).
HJX_API Array truncated_normal(ArrayLike key, ArrayLike low, ArrayLike high, const Shape &shape = {},
                               DType type = float32);
/// Returns true with probability p.
HJX_API Array bernoulli(ArrayLike key, ArrayLike p = 0.5, std::optional<Shape> shape = {});
/// Returns integers in [low, high).
HJX_API Array randint(ArrayLike key, const Shape &shape, ArrayLike low, ArrayLike high, DType type = int32);
/// Returns numbers of the Gumbel distribution, and class numbers drawn by their logits.
HJX_API Array gumbel(ArrayLike key, const Shape &shape = {}, DType type = float32);
HJX_API Array categorical(ArrayLike key, ArrayLike logits, int axis = -1, std::optional<Shape> shape = {});

} // namespace hjx::random
