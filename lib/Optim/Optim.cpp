// SPDX-License-Identifier: Apache-2.0
//
// The parts of the optimizers that do not depend on the tree.
#include <hjx/optim.h>

#include <numbers>

namespace hjx::optim {

/// 1 / (1 - b^count), in float64 for float64 moments, else in float32: a factor, because one
/// division in all is cheaper than one for each element.
static Array biasCorrection(double b, const Array &count, const Array &moment) {
  return reciprocal(1.0 - power(b, count.astype(moment.dtype() == float64 ? float64 : float32)));
}

static std::string describe(const Array &x) { return short_name(x.dtype()) + to_string(x.shape()); }

Array detail::adamwLeaf(const Array &grad, Array &mu, Array &nu, const Array &parameter, const Array &count,
                        const ArrayLike &learningRate, const AdamWOptions &options) {
  for (const Array *x : {&grad, static_cast<const Array *>(&mu), static_cast<const Array *>(&nu)})
    if (x->shape(learningRate.where) != parameter.shape(learningRate.where))
      throw Error("optim::adamw: expected gradients and moments of the parameter's shape " + describe(parameter) + ", got " +
                      describe(*x),
                  "take the state from adamw_init and gradients from grad, of the same parameters", learningRate.where);
  mu = options.b1 * mu + (1 - options.b1) * grad;
  nu = options.b2 * nu + (1 - options.b2) * square(grad);
  Array direction = mu * biasCorrection(options.b1, count, mu) /
                    (sqrt(nu * biasCorrection(options.b2, count, nu)) + options.eps);
  if (options.weight_decay != 0 && (!options.mask || options.mask(parameter)))
    direction = direction + options.weight_decay * parameter;
  return -(learningRate.array * direction);
}

Array detail::sumOfSquares(const std::vector<Array> &leaves, Where where) {
  Array total = zeros({});
  for (const Array &leaf : leaves) {
    if (!is_floating(leaf.dtype()))
      throw Error("optim::global_norm: expected floating leaves, got " + describe(leaf), "leave integers out of the tree", where);
    Array wide = leaf.dtype() == float64 ? leaf : leaf.astype(float32);
    total = total + sum(square(wide));
  }
  return total;
}

std::pair<Array, Array> detail::clipFactor(const std::vector<Array> &leaves, const ArrayLike &maxNorm) {
  Array norm = sqrt(sumOfSquares(leaves, maxNorm.where));
  return {hjx::where(norm < maxNorm, 1.0, maxNorm / norm), norm};
}

Array warmup_cosine_decay_schedule(ArrayLike step, double init, double peak, int64_t warmup_steps, int64_t decay_steps,
                                   double end) {
  if (warmup_steps < 0 || decay_steps <= warmup_steps)
    throw Error("warmup_cosine_decay_schedule: expected 0 <= warmup_steps < decay_steps, got " +
                    std::to_string(warmup_steps) + " and " + std::to_string(decay_steps),
                "decay_steps counts the warm-up: give the length of the whole run", step.where);
  Array t = astype(step, float32);
  double slope = warmup_steps > 0 ? (peak - init) / static_cast<double>(warmup_steps) : 0.0;
  Array progress = minimum(t - warmup_steps, decay_steps - warmup_steps) / (decay_steps - warmup_steps);
  Array cosine = 0.5 * (1.0 + cos(std::numbers::pi * progress));
  return where(t < warmup_steps, init + slope * t, end + (peak - end) * cosine);
}

} // namespace hjx::optim
