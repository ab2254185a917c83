// SPDX-License-Identifier: Apache-2.0
//
// Optimizers: functions of gradients, a state and parameters, all of them trees.
// Names and formulas are optax's; hyper-parameters that change from step to step
// (the learning rate) are arrays, so that changing them compiles nothing.
//
//   auto state = optim::adamw_init(params);
//   auto [grads, norm, factor] = optim::clip_by_global_norm(raw, 1.0);
//   auto [updates, next] = optim::adamw(grads, state, params, learning_rate);
//   params = optim::apply_updates(params, updates);
#pragma once

#include <hjx/hjx.h>

namespace hjx::optim {

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// Returns sqrt of the sum of squares of all elements of all leaves, in float32 at least.
///
/// Errors: hjx::Error if a leaf is not of a floating type.
template <typename Tree>
Array global_norm(const Tree &tree, Where where = Where::current());

template <typename Tree>
struct Clipped {
  Tree tree;
  Array norm;   ///< before clipping
  Array factor; ///< 1 when nothing was clipped
};

/// Scales the tree so that its global norm is at most `max_norm`; unchanged when it is less.
/// A norm that is not finite makes everything not finite. (optax `clip_by_global_norm`.)
template <typename Tree>
Clipped<Tree> clip_by_global_norm(const Tree &tree, ArrayLike max_norm);

//===----------------------------------------------------------------------===//
// AdamW
//===----------------------------------------------------------------------===//

struct AdamWOptions {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8, weight_decay = 1e-4;
  /// Which leaves decay; GPT-2 decays matrices only: `[](const Array &p) { return p.ndim() >= 2; }`.
  bool (*mask)(const Array &parameter) = nullptr;
};

template <typename Params>
struct AdamWState {
  Array count; ///< int32, updates so far
  Params mu, nu;
};
template <typename Params>
const char *hjxTreeName(const AdamWState<Params> *) {
  return "AdamWState";
}
template <typename Params, typename Visit>
void hjxVisitFields(AdamWState<Params> &state, Visit &&visit) {
  visit("count", state.count);
  visit("mu", state.mu);
  visit("nu", state.nu);
}

template <typename Params>
AdamWState<Params> adamw_init(const Params &params) {
  auto zero = [](const Array &p) { return zeros_like(p); };
  return {zeros({}, int32), tree_map(zero, params), tree_map(zero, params)};
}

namespace detail {
/// The update of one parameter; writes the next moments.
HJX_API Array adamwLeaf(const Array &grad, Array &mu, Array &nu, const Array &parameter, const Array &count,
                const ArrayLike &learningRate, const AdamWOptions &options);
HJX_API Array sumOfSquares(const std::vector<Array> &leaves, Where where);
/// Returns (factor, norm).
HJX_API std::pair<Array, Array> clipFactor(const std::vector<Array> &leaves, const ArrayLike &maxNorm);
} // namespace detail

/// Returns the updates to add to the parameters, and the next state.
///
///   m = b1 m + (1 - b1) g                      v = b2 v + (1 - b2) g^2
///   update = -lr (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + decay * p)
///
/// Errors: hjx::Error naming the first place where the trees differ.
/// Source: Loshchilov & Hutter 2019; optax `adamw` (eps outside the root, decay of the old
///         parameter, scaled by the learning rate).
template <typename Params>
std::pair<Params, AdamWState<Params>> adamw(const Params &grads, const AdamWState<Params> &state, const Params &params,
                                            ArrayLike learning_rate, const AdamWOptions &options = {}) {
  TreeDef expected = tree_structure(params);
  auto check = [&](const Params &tree, const char *what) {
    hjx::detail::checkSameStructure(expected, tree_structure(tree), "optim::adamw", what, learning_rate.where);
  };
  check(grads, "parameters and gradients");
  check(state.mu, "parameters and state");
  check(state.nu, "parameters and state");
  AdamWState<Params> next = state;
  next.count = state.count + 1;
  std::vector<Array> mu, nu;
  Params updates = tree_map(
      [&](const Array &grad, const Array &parameter, Array m, Array v) {
        Array update = detail::adamwLeaf(grad, m, v, parameter, next.count, learning_rate, options);
        mu.push_back(m);
        nu.push_back(v);
        return update;
      },
      grads, params, state.mu, state.nu);
  next.mu = tree_unflatten(state.mu, mu);
  next.nu = tree_unflatten(state.nu, nu);
  return {updates, next};
}

/// Returns params + updates, leaf by leaf.
template <typename Params>
Params apply_updates(const Params &params, const Params &updates) {
  return tree_map([](const Array &p, const Array &u) { return p + u; }, params, updates);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Returns the learning rate of a step: linear from `init` to `peak` over `warmup_steps`, then a
/// half cosine down to `end` at `decay_steps`, which counts the warm-up; constant afterwards.
/// (optax `warmup_cosine_decay_schedule`.)
HJX_API Array warmup_cosine_decay_schedule(ArrayLike step, double init, double peak, int64_t warmup_steps,
                                   int64_t decay_steps, double end = 0.0);

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

template <typename Tree>
Array global_norm(const Tree &tree, Where where) {
  return sqrt(detail::sumOfSquares(tree_leaves(tree), where));
}

template <typename Tree>
Clipped<Tree> clip_by_global_norm(const Tree &tree, ArrayLike max_norm) {
  auto [factor, norm] = detail::clipFactor(tree_leaves(tree), max_norm);
  return {tree_map([&factor = factor](const Array &leaf) { return leaf * factor.astype(leaf.dtype()); }, tree), norm, factor};
}

} // namespace hjx::optim
