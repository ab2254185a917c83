// SPDX-License-Identifier: Apache-2.0
//
// A tuple as one value: nested, with a quantised array inside, mapped element by element.
#include "q8.h"
#include "tup.h"

#include <iostream>

using namespace tuples;

int main() {
  hjx::Array x = hjx::arange(3, hjx::float32);
  Tup pair = make_tup({x, 5.0});
  std::cout << pair.type() << ": " << get_element(pair, 1) << "\n";

  auto nest = hjx::jit([](Tup pair, hjx::Array x) {
    Tup outer = make_tup({pair, quantized::quantize(x)});
    return std::pair(outer, get_element(get_element(outer, 0).as<Tup>(), 0).as<hjx::Array>());
  });
  auto [outer, element] = nest(pair, x);
  std::cout << outer.type() << ": " << element << "\n";

  // Element 0 is mapped, element 1 is shared; the other way around in the result.
  auto swap = [](Tup t) { return make_tup({get_element(t, 1), get_element(t, 0)}); };
  Tup swapped = hjx::vmap(swap, hjx::AxisTree({{0, hjx::none}}), {hjx::none, 0}, hjx::AxisSize{3})(pair);
  std::cout << swapped.type() << "\n";

  // A tuple is its own tangent.
  auto f = [](Tup t) { return sum(get_element(t, 0).as<hjx::Array>() * get_element(t, 1).as<hjx::Array>()); };
  Tup bar = hjx::grad(f)(pair);
  std::cout << bar << "\n";
}
