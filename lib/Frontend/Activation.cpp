// SPDX-License-Identifier: Apache-2.0
//
// The nonlinear functions of neural networks, with jax.nn's formulas.
#include "lib/Frontend/Operands.h"

using namespace hjx;
using namespace hjx::detail;

Array hjx::relu(ArrayLike x) {
  OpScope op("relu", x.where);
  // A choice rather than a maximum: the derivative at 0 is 0, as in jax.nn.relu, and NaN stays NaN.
  return op.finish(hjx::where(x.array <= 0, zeros_like(x), x));
}

Array hjx::silu(ArrayLike x) {
  OpScope op("silu", x.where);
  return op.finish(x.array * sigmoid(x));
}

Array hjx::softplus(ArrayLike x) {
  OpScope op("softplus", x.where);
  return op.finish(logaddexp(x, 0));
}

Array hjx::gelu(ArrayLike x, bool approximate) {
  OpScope op("gelu", x.where);
  Array value = op.wrap(toFloat(op, x.array));
  if (!approximate)
    return op.finish(0.5 * value * (1 + erf(value / 1.41421356237309504880)));
  Array inner = 0.79788456080286535588 * (value + 0.044715 * power(value, 3)); // sqrt(2 / pi)
  return op.finish(value * (0.5 * (1.0 + tanh(inner))));
}
