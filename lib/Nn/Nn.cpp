// SPDX-License-Identifier: Apache-2.0
//
// Layers and losses, written with the public API alone.
#include <hjx/nn.h>

namespace hjx::nn {

using detail::composite;

/// Sums and exponentials of 16-bit numbers are taken in float32.
static bool is16Bit(const Array &x) { return x.dtype() == float16 || x.dtype() == bfloat16; }
static Array widened(const Array &x) { return is16Bit(x) ? x.astype(float32) : x; }

Linear linear_init(const Array &key, int64_t in, int64_t out, double stddev, Where place) {
  return {composite("nn::linear_init", place, [&] { return random::normal(key, {in, out}) * stddev; }), zeros({out}, float32, place)};
}

Array linear(const Linear &layer, ArrayLike x) {
  return composite("nn::linear", x.where, [&] { return matmul(x, layer.kernel) + layer.bias; });
}

LayerNorm layer_norm_init(int64_t features, Where place) {
  return {ones({features}, float32, place), zeros({features}, float32, place)};
}

Array layer_norm(const LayerNorm &layer, ArrayLike x, double epsilon) {
  return composite("nn::layer_norm", x.where, [&] {
    Array values = widened(x.array);
    Array centred = values - mean(values, -1, keepdims);
    Array variance = mean(square(centred), -1, keepdims);
    Array y = centred * rsqrt(variance + epsilon) * layer.scale + layer.bias;
    return is16Bit(x.array) ? y.astype(x.array.dtype()) : y;
  });
}

/// Throws unless the array has at least `count` axes.
static void checkAxes(const char *op, const ArrayLike &x, int count, const char *shape) {
  if (x.array.ndim(x.where) < count)
    throw Error(std::string(op) + ": expected " + shape + ", got " + short_name(x.array.dtype()) + to_string(x.array.shape()),
                "add axes with hjx::expand_dims, or map over one with hjx::vmap", x.where);
}

Array causal_attention(ArrayLike q, ArrayLike k, ArrayLike v) {
  for (const ArrayLike &x : {q, k, v})
    checkAxes("nn::causal_attention", x, 2, "[..., T, d]");
  return composite("nn::causal_attention", q.where, [&] {
    auto oneHead = [](const ArrayLike &x) { return expand_dims(x, -2); };
    return squeeze(dot_product_attention(oneHead(q), oneHead(k), oneHead(v), {.causal = true}), -2);
  });
}

Array causal_self_attention(ArrayLike qkv, int64_t heads) {
  checkAxes("nn::causal_self_attention", qkv, 2, "[..., T, 3C]");
  const Array &packed = qkv.array;
  int64_t width = packed.shape(-1);
  if (heads <= 0 || width % (3 * heads) != 0)
    throw Error("nn::causal_self_attention: expected a last dimension that is a multiple of 3 * " + std::to_string(heads) +
                    " heads, got " + to_string(packed.shape()),
                "choose heads that divide the width", qkv.where);
  return composite("nn::causal_self_attention", qkv.where, [&] {
    int64_t features = width / 3;
    // [..., T, 3C] -> three of [..., T, heads, C / heads]
    std::vector<int64_t> split_shape(packed.shape().begin(), packed.shape().end() - 1);
    split_shape.insert(split_shape.end(), {heads, features / heads});
    std::vector<Array> parts = split(packed, 3, -1);
    for (Array &part : parts)
      part = part.reshape(split_shape);
    Array mixed = dot_product_attention(parts[0], parts[1], parts[2], {.causal = true});
    std::vector<int64_t> joined(packed.shape().begin(), packed.shape().end());
    joined.back() = features;
    return mixed.reshape(joined);
  });
}

Array dropout(ArrayLike x, double rate, const Array &key) {
  const Array &values = x.array;
  if (!(rate >= 0 && rate < 1))
    throw Error("nn::dropout: expected 0 <= rate < 1, got " + std::to_string(rate), "rate 0 keeps everything", x.where);
  if (rate == 0)
    return values;
  return composite("nn::dropout", x.where, [&] {
    Array kept = random::bernoulli(key, 1 - rate, values.shape());
    return where(kept, values / (1 - rate), 0.0);
  });
}

Array softmax_cross_entropy(ArrayLike logits, ArrayLike labels) {
  Array scores = logits.array;
  std::vector<int64_t> rows = scores.shape(logits.where).vec();
  if (!rows.empty())
    rows.pop_back();
  DType type = labels.array.dtype(logits.where);
  if (scores.ndim() == 0 || !is_integer(type) || labels.array.shape() != Shape(rows))
    throw Error(std::string("nn::softmax_cross_entropy: expected logits [..., classes] and integer labels [...], got ") +
                    short_name(scores.dtype()) + to_string(scores.shape()) + " and " + short_name(type) +
                    to_string(labels.array.shape()),
                "give one class number for each row of logits", logits.where);
  return composite("nn::softmax_cross_entropy", logits.where, [&] {
    scores = widened(scores);
    Array chosen = squeeze(take_along_axis(scores, expand_dims(labels, -1), -1), -1);
    return logsumexp(scores, -1) - chosen;
  });
}

} // namespace hjx::nn
