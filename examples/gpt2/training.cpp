// SPDX-License-Identifier: Apache-2.0
#include "training.h"

using hjx::Array;

namespace gpt2 {

State initialState(const Array &key, const Config &config) {
  Params params = init(key, config);
  return {params, hjx::optim::adamw_init(params), hjx::random::key_data(hjx::random::fold_in(key, 1))};
}

/// Loss and gradients of a batch: of one piece, or the mean over its micro-batches.
static std::pair<Array, Params> lossAndGradient(const Params &params, const Array &inputs, const Array &targets,
                                               const Config &config, const Array &key) {
  auto lossOf = [&](const Params &p, const Array &x, const Array &y, const Array &k) {
    return gpt2::loss(p, x, y, config, k);
  };
  if (config.accumulation_steps == 1)
    return hjx::value_and_grad(lossOf)(params, inputs, targets, key);
  Array micro = hjx::arange(config.accumulation_steps);
  auto accumulate = [&](std::pair<Array, Params> sums, std::tuple<Array, Array, Array> batch) {
    auto [x, y, i] = batch;
    auto [value, grads] = hjx::value_and_grad(lossOf)(params, x, y, hjx::random::fold_in(key, i));
    return std::pair(std::pair(sums.first + value, hjx::tree_map([](Array a, Array b) { return a + b; }, sums.second, grads)),
                     hjx::Nothing());
  };
  auto zero = hjx::tree_map([](const Array &p) { return hjx::zeros_like(p); }, params);
  auto [sums, nothing] = hjx::scan(accumulate, std::pair(hjx::zeros({}), zero), std::tuple(inputs, targets, micro));
  double count = static_cast<double>(config.accumulation_steps);
  return {sums.first / count, hjx::tree_map([&](const Array &g) { return g / count; }, sums.second)};
}

StepResult trainStep(const State &state, const Array &inputs, const Array &targets, const Array &learning_rate,
                     const Array &step, const Config &config) {
  hjx::optim::AdamWOptions adamw{.b1 = config.beta1, .b2 = config.beta2, .weight_decay = config.weight_decay,
                                 .mask = [](const Array &p) { return p.ndim() >= 2; }};
  Array key = hjx::random::fold_in(hjx::random::wrap_key_data(state.dropout_key), step);
  auto [loss, raw] = lossAndGradient(state.params, inputs, targets, config, key);
  auto [grads, norm, factor] = hjx::optim::clip_by_global_norm(raw, config.clip_norm);
  auto [updates, opt] = hjx::optim::adamw(grads, state.opt, state.params, learning_rate, adamw);
  State next{hjx::optim::apply_updates(state.params, updates), opt, state.dropout_key};
  Array isGood = hjx::isfinite(loss) & hjx::isfinite(norm);
  next = hjx::tree_map([&isGood](const Array &a, const Array &b) { return hjx::where(isGood, a, b); }, next, state);
  return {next, loss, norm, factor};
}

} // namespace gpt2
