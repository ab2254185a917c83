// SPDX-License-Identifier: Apache-2.0
//
// Derivatives and batching of C++ functions, nested in every order. The rules
// themselves are tested on IR; here it is the way from a lambda to them.
#include "FrontendTesting.h"

using namespace hjx;

namespace {
struct Params {
  Array w, b;
};
HJX_TREE(Params, w, b)

Array model(Params p, Array x) { return tanh(matmul(x, p.w) + p.b); }
Array loss(Params p, Array x, Array y) { return mean(square(model(p, x) - y)); }

const Params params{array({{0.5, -0.25}, {1.0, 0.75}}), array({0.1, -0.2})};
const Array xs = array({{1.0, 2.0}, {-1.0, 0.5}, {0.25, -0.75}}), ys = array({{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}});

/// Central differences along each element of x.
template <typename F>
Array numericalGradient(F f, Array x) {
  std::vector<double> values = x.to_vector<double>(), slopes;
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = [&](double step) {
      std::vector<double> moved = values;
      moved[i] += step;
      return f(array(moved, x.shape())).template item<double>();
    };
    slopes.push_back((at(1e-6) - at(-1e-6)) / 2e-6);
  }
  return array(slopes, x.shape());
}
} // namespace

TEST(FrontendTransforms, GradientsAreTrees) {
  auto [value, gradient] = value_and_grad(loss)(params, xs, ys);
  EXPECT_CLOSE(value, loss(params, xs, ys));
  auto lossOfW = [](Array w) { return loss({w, params.b.astype(float64)}, xs.astype(float64), ys.astype(float64)); };
  EXPECT_CLOSE(gradient.w.astype(float64), numericalGradient(lossOfW, params.w.astype(float64)), 1e-5);
  Params again = grad(loss)(params, xs, ys);
  EXPECT_CLOSE(again.b, gradient.b);
}

TEST(FrontendTransforms, ArgumentsAreChosen) {
  auto f = [](Array x, Array y) { return sum(x * y * y); };
  Array x = array({1.0, 2.0}), y = array({3.0, 4.0});
  EXPECT_CLOSE(grad(f, argnums<1>)(x, y), array({6.0, 16.0}));
  auto [x_bar, y_bar] = grad(f, argnums<0, 1>)(x, y);
  EXPECT_CLOSE(x_bar, array({9.0, 16.0}));
  EXPECT_CLOSE(y_bar, array({6.0, 16.0}));
  EXPECT_CLOSE(grad([](Array x) { return x * x; })(3.0), array(6.0f)) << "a number is an array";
}

TEST(FrontendTransforms, AuxiliaryResultsPassBy) {
  auto f = [](Array x) { return std::pair(sum(x * x), std::pair(sin(x), argmax(x))); };
  auto [gradient, aux] = grad(f, has_aux)(array({1.0, 2.0}));
  EXPECT_CLOSE(gradient, array({2.0, 4.0}));
  EXPECT_CLOSE(aux.first, sin(array({1.0, 2.0})));
  EXPECT_EQ(aux.second.item<int>(), 1);
  auto [both, gradient2] = value_and_grad(f, has_aux)(array({1.0, 2.0}));
  EXPECT_CLOSE(both.first, array(5.0f));
  EXPECT_CLOSE(gradient2, gradient);
}

TEST(FrontendTransforms, AuxiliaryResultsHaveOuterDerivatives) {
  // They have no derivative of the gradient that they come with, but of others around it.
  auto aux = [](Array x) {
    auto f = [&](Array y) { return std::pair(y * y, sin(x) * y); };
    return value_and_grad(f, has_aux)(x).first.second;
  };
  Array x = array(0.7, float64);
  EXPECT_CLOSE(grad(aux)(x), cos(x) * x + sin(x), 1e-12);
  EXPECT_CLOSE(jvp(aux, x, array(2.0, float64)).second, 2 * (cos(x) * x + sin(x)), 1e-12);
  // What serves them alone need not have a derivative.
  auto counted = [](Array x) {
    Array n = while_loop([](Array y) { return y < 10; }, [](Array y) { return y * 2; }, x);
    return std::pair(x * x, n);
  };
  auto [value, gradient] = value_and_grad(counted, has_aux)(array(3.0, float64));
  EXPECT_CLOSE(value.second, array(12.0, float64));
  EXPECT_CLOSE(gradient, array(6.0, float64));
}

TEST(FrontendTransforms, ForwardAndBackwardAgree) {
  auto f = [](Array x, Array y) { return std::pair(sin(x) * y, x + 1); };
  Array x = array({0.5, 1.0}), y = array({2.0, 3.0}), x_dot = array({1.0, -1.0}), y_dot = array({0.5, 2.0});
  auto [value, dot] = jvp(f, std::tuple(x, y), std::tuple(x_dot, y_dot));
  EXPECT_CLOSE(value.first, sin(x) * y);
  EXPECT_CLOSE(dot.first, cos(x) * x_dot * y + sin(x) * y_dot);
  EXPECT_CLOSE(dot.second, x_dot);
  auto [same, pull] = vjp(f, x, y);
  Array bar = array({1.0, 2.0});
  auto [x_bar, y_bar] = pull(std::pair(bar, zeros_like(bar)));
  EXPECT_CLOSE(sum(x_bar * x_dot) + sum(y_bar * y_dot), sum(bar * dot.first));
  auto [same2, push] = linearize(f, x, y);
  EXPECT_CLOSE(push(x_dot, y_dot).first, dot.first);
}

TEST(FrontendTransforms, OneArgumentThatIsAPair) {
  using P = std::pair<Array, Array>;
  auto f = [](P p) { return p.first * p.second; };
  P p(array(2.0), array(3.0)), dot(array(1.0), array(0.5));
  EXPECT_CLOSE(jvp(f, p, dot).second, array(4.0));
  EXPECT_CLOSE(jvp(f, std::tuple<P>(p), std::tuple<P>(dot)).second, array(4.0));
  EXPECT_CLOSE(jvp([](auto p) { return p.first * p.second; }, p, dot).second, array(4.0));
  std::tuple<P> bars = vjp(f, p).second(array(1.0));
  EXPECT_CLOSE(std::get<0>(bars).first, array(3.0));
  auto fwd = [](P p) { return std::pair(p.first * p.second, p); };
  auto itself = custom_vjp(f, fwd, [](P p, Array bar) { return P(p.second * bar, p.first * bar); });
  auto inTuple = custom_vjp(f, fwd, [](P p, Array bar) { return std::tuple<P>(P(p.second * bar, p.first * bar)); });
  auto rule = custom_jvp(f, [](std::tuple<P> x, std::tuple<P> dot) {
    auto [p] = x;
    auto [d] = dot;
    return std::pair(p.first * p.second, p.first * d.second + p.second * d.first);
  });
  EXPECT_CLOSE(grad([&](Array x) { return itself(P(x, x)); })(3.0), Array(6.0));
  EXPECT_CLOSE(grad([&](Array x) { return inTuple(P(x, x)); })(3.0), Array(6.0));
  EXPECT_CLOSE(grad([&](Array x) { return rule(P(x, x)); })(3.0), Array(6.0));
}

TEST(FrontendTransforms, NumbersAreTangentsAndCotangents) {
  auto f = [](Array x, Array y) { return std::pair(x * y, x); };
  EXPECT_CLOSE(jvp([](Array x) { return x * x; }, 2.0, 1.0).second, Array(4.0));
  EXPECT_CLOSE(jvp(f, std::pair(2.0, 3.0), std::pair(1.0, 0)).second.first, Array(3.0));
  Array half = array(2.0, bfloat16), y = array(3.0f);
  auto [value, pull] = vjp(f, half, y);
  auto [halfBar, yBar] = pull(std::pair(1.0, 2));
  EXPECT_CLOSE(halfBar, array(5.0, bfloat16));
  EXPECT_CLOSE(yBar, array(2.0f));
  Ref sum = new_ref(array(10.0f));
  pull.with_refs(dont_want, sum)(std::pair(1.0, Array()));
  EXPECT_CLOSE(sum.get(), array(12.0f));
  auto identity = custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair(x, x); }, [](Array, Array) { return 7.0; });
  EXPECT_CLOSE(grad(identity)(array(1.0f)), array(7.0f));
}

TEST(FrontendTransforms, AnyNumberOfArguments) {
  auto product = [](Array a, Array b, Array c, Array d, Array e) { return a * b * c * d * e; };
  EXPECT_CLOSE(std::get<4>(vjp(product, 1.0, 2.0, 3.0, 4.0, 5.0).second(1.0)), Array(24.0));
  EXPECT_CLOSE(linearize(product, 1.0, 2.0, 3.0, 4.0, 5.0).second(0, 0, 1, 0, 1.0), Array(64.0));
  EXPECT_CLOSE(linearize([](Array a, Array b, Array c) { return a * b * c; }, 1.0, 2.0, 3.0).second(1, 0, 0), Array(6.0));
  EXPECT_HJX_ERROR(vjp(product, 1.0, 2.0, 3.0, 4.0, 5.0).second(ones({2}, float32)),
                   "vjp: expected a cotangent of type f32 for result, got f32[2]\n"
                   "  help: give it the shape and element type of the value it belongs to");
  EXPECT_HJX_ERROR(linearize(product, 1.0, 2.0, 3.0, 4.0, 5.0).second(0, 0, 1, 0, ones({2}, float32)),
                   "linearize: expected a tangent of type f32, got f32[2]\n"
                   "  help: give it the shape and element type of the value it belongs to");
}

TEST(FrontendTransforms, IntegersHaveNoTangent) {
  auto f = [](Array x, Array n) { return std::pair(x * n, n + 1); };
  auto [value, dot] = jvp(f, std::tuple(array(2.0f), array(3)), std::tuple(array(1.0f), Array()));
  EXPECT_CLOSE(dot.first, array(3.0f));
  EXPECT_FALSE(dot.second.has_value());
  auto [y, pull] = vjp(f, array(2.0f), array(3));
  auto [x_bar, n_bar] = pull(std::pair(array(1.0f), Array()));
  EXPECT_CLOSE(x_bar, array(3.0f));
  EXPECT_FALSE(n_bar.has_value());
}

TEST(FrontendTransforms, VmapMapsAxes) {
  auto dotted = [](Array a, Array b) { return matmul(a, b); };
  Array a = arange(6, float32).reshape({2, 3}), b = arange(12, float32).reshape({3, 4}), v = array({1.0, 2.0, 3.0});
  EXPECT_CLOSE(vmap(dotted, {0, none})(a, v), matmul(a, v));
  EXPECT_CLOSE(vmap(dotted, {none, 1})(v, b), matmul(v, b));
  EXPECT_CLOSE(vmap([](Array x) { return 2 * x; }, -1, 1)(a), 2 * a);
  EXPECT_CLOSE(vmap([](Params p, Array x) { return model(p, x); }, {none, 0})(params, xs), model(params, xs));
  auto stacked = Params{stack({params.w, 2 * params.w}), params.b};
  EXPECT_CLOSE(vmap([](Params p) { return model(p, xs); }, {{0, none}})(stacked)[1], model({2 * params.w, params.b}, xs));
}

TEST(FrontendTransforms, ConstantsOutliveTheirBroadcast) {
  auto f = [](Array x) {
    Array zero = zeros({}), shifted = x + zero; // the scalar became a constant of x's shape
    return shifted * (zero + 2);
  };
  EXPECT_CLOSE(jit(f)(array({1.0, 2.0})), array({2.0, 4.0}));
}

TEST(FrontendTransforms, NestInAnyOrder) {
  auto f = [](Array x) { return sum(sin(x) * x); };
  Array x = array({0.5, 1.0, 2.0}), batch = stack({x, 2 * x});
  Array expected = cos(batch) * batch + sin(batch);
  EXPECT_CLOSE(vmap(grad(f))(batch), expected);
  EXPECT_CLOSE(jit(vmap(grad(f)))(batch), expected);
  EXPECT_CLOSE(vmap(jit(grad(f)))(batch), expected);
  EXPECT_CLOSE(grad([&](Array xs) { return sum(vmap(f)(xs)); })(batch), expected);
  EXPECT_CLOSE(grad([&](Array xs) { return sum(jit(vmap(f))(xs)); })(batch), expected);
  auto second = [&](Array t) { return grad(grad([](Array t) { return sin(t) * t; }))(t); };
  EXPECT_CLOSE(vmap(second)(x), 2 * cos(x) - x * sin(x));
  // Hessian as forward over reverse, a row for each direction.
  auto hessian = [&](Array x) {
    return vmap([&](Array direction) { return jvp(grad(f), x, direction).second; })(eye(3));
  };
  EXPECT_CLOSE(hessian(x), eye(3) * (2 * cos(x) - x * sin(x)), 1e-5);
}

TEST(FrontendTransforms, ClosuresCarryOuterDerivatives) {
  // d/dx of x * (d/dy of x + y at 1) is 1: the inner derivative must not see x's tangent.
  auto f = [](Array x) { return x * grad([&](Array y) { return x + y; })(1.0); };
  EXPECT_CLOSE(grad(f)(2.0), array(1.0f));
  // A product of both: d/dx x * d/dy(x * y * y) at y = x is d/dx 2 x^3.
  auto g = [](Array x) { return x * grad([&](Array y) { return x * y * y; })(x); };
  EXPECT_CLOSE(grad(g)(2.0), array(24.0f));
}

TEST(FrontendTransforms, PullBacksGoWhereTheyAreNeeded) {
  // A jacobian: the pull-back under a vmap inside a jit.
  auto f = [](Array x) { return sin(x) * x[0]; };
  Array x = array({0.5, 1.0});
  auto jacobian = [&](Array x) {
    auto [y, pull] = vjp(f, x);
    return vmap([&](Array bar) { return std::get<0>(pull(bar)); })(eye(2));
  };
  Array expected = array({{std::cos(0.5) * 0.5 + std::sin(0.5), 0.0}, {std::sin(1.0), std::cos(1.0) * 0.5}});
  EXPECT_CLOSE(jacobian(x), expected);
  EXPECT_CLOSE(jit(jacobian)(x), expected);
}

TEST(FrontendTransforms, LoopsHaveDerivatives) {
  auto power = [](Array x) { return fori_loop(0, 4, [&](Array i, Array c) { return c * x; }, ones_like(x)); };
  EXPECT_CLOSE(grad(power)(2.0), array(32.0f));
  EXPECT_CLOSE(grad(grad(power))(2.0), array(48.0f));
  auto branch = [](Array x) { return cond(x > 1, [](Array x) { return x * x; }, [](Array x) { return 3 * x; }, x); };
  EXPECT_CLOSE(vmap(grad(branch))(array({0.5, 2.0})), array({3.0, 4.0}));
  auto bounded = [](Array x) { return while_loop([](Array c) { return c < 10; }, [](Array c) { return c * c; }, x, 5); };
  EXPECT_CLOSE(grad(bounded)(2.0), array(32.0f)) << "2 -> 4 -> 16";
}

TEST(FrontendTransforms, CheckpointChangesNothing) {
  auto block = [](Array x) { return sin(sin(x) * x); };
  auto f = [&](auto inner) { return [=](Array x) { return sum(inner(inner(x))); }; };
  Array x = array({0.5, 1.0});
  for (Policy policy : {Policy::nothing_saveable, Policy::dots_saveable, Policy::everything_saveable})
    EXPECT_CLOSE(grad(f(checkpoint(block, policy)))(x), grad(f(block))(x));
}

TEST(FrontendTransforms, RulesOfTheUser) {
  // A pull-back that lies, so that it shows.
  auto lying = custom_vjp([](Array x, Array y) { return x * y; }, [](Array x, Array y) { return std::pair(x * y, y); },
                          [](Array y, Array bar) { return std::pair(100 * bar * y, Array()); });
  EXPECT_CLOSE(lying(2.0, 3.0), array(6.0f));
  auto [x_bar, y_bar] = grad([&](Array x, Array y) { return lying(x, y); }, argnums<0, 1>)(2.0, 3.0);
  EXPECT_CLOSE(x_bar, array(300.0f));
  EXPECT_CLOSE(y_bar, array(0.0f));
  auto forward = custom_jvp([](Array x) { return sin(x); },
                            [](std::tuple<Array> x, std::tuple<Array> x_dot) {
                              return std::pair(sin(std::get<0>(x)), 10 * std::get<0>(x_dot));
                            });
  EXPECT_CLOSE(grad([&](Array x) { return forward(x) * 2; })(1.0), array(20.0f));
  EXPECT_CLOSE(jvp(forward, array(1.0f), array(2.0f)).second, array(20.0f));
  EXPECT_CLOSE(vmap(grad(forward))(array({1.0, 2.0})), array({10.0, 10.0}));
  // Concrete arrays may be used by all of the functions.
  Array scale = array({3.0, 4.0});
  auto scaled = custom_vjp([=](Array x) { return x * scale; }, [=](Array x) { return std::pair(x * scale, x); },
                           [=](Array x, Array bar) { return bar * scale * 10; });
  EXPECT_CLOSE(grad([&](Array x) { return sum(scaled(x)); })(array({1.0, 1.0})), array({30.0, 40.0}));
}

TEST(FrontendTransforms, StopGradientStops) {
  EXPECT_CLOSE(grad([](Array x) { return x * stop_gradient(x); })(3.0), array(3.0f));
}
