// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches that belong to the program: compiled once, whatever their
// length, and differentiable.
#include <hjx/hjx.h>

#include <iostream>
#include <map>

int main() {
  // A damped spring, its state in a map.
  using State = std::map<std::string, hjx::Array>;
  auto simulate = [](hjx::Array damping) {
    auto step = [&](State s, hjx::Nothing) {
      hjx::Array force = -s["position"] - damping * s["velocity"];
      State next{{"position", s["position"] + 0.1 * s["velocity"]}, {"velocity", s["velocity"] + 0.1 * force}};
      return std::pair(next, next["position"]);
    };
    return hjx::scan(step, State{{"position", 1.0}, {"velocity", 0.0}}, hjx::Nothing(), {.length = 50}).second;
  };
  std::cout << round(1000 * simulate(0.5)[hjx::Slice(0, 50, 10)]) / 1000 << "\n";

  // How far does the last position move with the damping?
  hjx::Array slope = hjx::grad([&](hjx::Array damping) { return simulate(damping)[-1]; })(0.5);
  std::cout << round(1000 * slope) / 1000 << "\n";

  // While and cond: steps until Collatz's sequence ends.
  using Pair = std::pair<hjx::Array, hjx::Array>;
  auto collatz = [](hjx::Array n) {
    auto next = [](Pair s) {
      hjx::Array n = hjx::cond(
          s.first % 2 == 0, [](hjx::Array n) { return floor_divide(n, 2); }, [](hjx::Array n) { return 3 * n + 1; },
          s.first);
      return Pair(n, s.second + 1);
    };
    return hjx::while_loop([](Pair s) { return s.first > 1; }, next, Pair(n, 0)).second;
  };
  std::cout << hjx::vmap(collatz)(hjx::array({1, 7, 27})) << "\n";
}
