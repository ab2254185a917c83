// SPDX-License-Identifier: Apache-2.0
//
// A program outside of hjx's tree: one header, one library, any compiler of C++20.
#include <hjx/hjx.h>

#include <hjx/nn.h>
#include <hjx/optim.h>

#include <iostream>
#include <thread>
#include <vector>

int main() {
  // Several threads record, compile and run at the same time.
  auto f = hjx::jit([](hjx::Array x) { return hjx::grad([](hjx::Array x) { return sum(sin(x) * x); })(x); });
  std::vector<double> results(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { results[i] = f(hjx::full({i + 1}, 1.0))[-1].item<double>(); });
  for (std::thread &thread : threads)
    thread.join();
  for (double result : results)
    std::cout << result << "\n"; // cos(1) + sin(1)

  hjx::nn::Linear layer = hjx::nn::linear_init(hjx::random::key(0), 3, 2);
  std::cout << hjx::nn::linear(layer, hjx::ones({4, 3})).shape() << "\n";
}
