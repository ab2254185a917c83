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
  // Each micro-batch adds to the sums where they are: no gradient of one exists by itself.
  hjx::Ref total = hjx::new_ref(hjx::zeros({}));
  std::vector<hjx::Ref> sums = hjx::new_refs(hjx::tree_map([](const Array &p) { return hjx::zeros_like(p); }, params));
  auto accumulate = [&](Array x, Array y, Array i) {
    Array dropoutKey = hjx::random::fold_in(key, i);
    auto [value, pullBack] = hjx::vjp([&](const Params &p) { return lossOf(p, x, y, dropoutKey); }, params);
    pullBack.with_refs(sums)(hjx::ones({}));
    total.add(value);
  };
  hjx::foreach(accumulate, inputs, targets, hjx::arange(config.accumulation_steps));
  double count = static_cast<double>(config.accumulation_steps);
  return {hjx::freeze(total) / count, hjx::tree_map([&](const Array &g) { return g / count; }, hjx::freeze_tree(params, sums))};
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
