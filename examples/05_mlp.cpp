// SPDX-License-Identifier: Apache-2.0
//
// A small network learns exclusive or: parameters in a struct, a compiled step
// that updates them in place.
#include <hjx/hjx.h>

#include <iostream>

struct Layer {
  hjx::Array weight, bias;
};
HJX_TREE(Layer, weight, bias)

struct Network {
  std::vector<Layer> layers;
};
HJX_TREE(Network, layers)

static Network init(hjx::Array key, std::vector<int64_t> sizes) {
  Network network;
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    network.layers.push_back({hjx::random::normal(hjx::random::fold_in(key, i), {sizes[i], sizes[i + 1]}),
                              hjx::zeros({sizes[i + 1]})});
  return network;
}

static hjx::Array logits(const Network &network, hjx::Array x) {
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer &layer = network.layers[i];
    x = matmul(x, layer.weight) + layer.bias;
    if (i + 1 < network.layers.size())
      x = tanh(x);
  }
  return x[{hjx::every, 0}];
}

int main() {
  hjx::Array x = hjx::array({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}), y = hjx::array({0.0, 1.0, 1.0, 0.0});

  auto loss = [](Network network, hjx::Array x, hjx::Array y) {
    hjx::Array z = logits(network, x);
    return mean(maximum(z, 0) - z * y + log1p(exp(-abs(z)))); // Cross-entropy of a sigmoid.
  };
  auto step = hjx::jit(
      [&](Network network, hjx::Array x, hjx::Array y) {
        auto [value, gradient] = hjx::value_and_grad(loss)(network, x, y);
        auto update = [](hjx::Array p, hjx::Array g) { return p - 0.5 * g; };
        return std::pair(hjx::tree_map(update, network, gradient), value);
      },
      {.donate = {0}});

  Network network = init(hjx::random::key(0), {2, 8, 1});
  hjx::Array value;
  for (int i = 0; i < 1000; ++i)
    std::tie(network, value) = step(network, x, y);

  std::cout << "loss below 0.01: " << std::boolalpha << bool(value < 0.01) << "\n";
  std::cout << "predictions: " << (logits(network, x) > 0) << "\n";
  hjx::JitStats stats = step.stats();
  std::cout << stats.calls << " calls, " << stats.compilations.size() << " program\n";
}
