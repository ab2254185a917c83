// SPDX-License-Identifier: Apache-2.0
//
// The exact text of what happens when functions are transformed in ways that
// cannot work. HERE stands for the line of the mistake inside a message.
#include "FrontendTesting.h"

using namespace hjx;

namespace {

struct Pair {
  Array w, b;
};
HJX_TREE(Pair, w, b)
using List = std::vector<Array>;

const Array v3 = zeros({3}), i3 = array({1, 2, 3});
Array twice(Array x) { return 2 * x; }
Array sumOfSquares(Array x) { return sum(x * x); }
Array product(Array x, Array y) { return sum(x * y); }
std::pair<Array, Array> saveFirst(Array x, Array y) { return {product(x, y), x}; }
std::pair<Array, Array> keepCarry(Array c, Array x) { return {c, x}; }

} // namespace

TEST(FrontendErrors, TracedValues) {
  EXPECT_HJX_ERROR(
      jit([](Array x) { return sum(x) > 0 ? x : -x; })(v3),
      "bool: the value of the traced bool made here is not known while the program is recorded; a "
      "C++ condition cannot depend on it\n"
      "  help: use hjx::where to choose between values, hjx::cond to choose between computations");
  EXPECT_HJX_ERROR(
      jit([](Array x) {
        while (sum(x) > 0)
          x = x - 1;
        return x;
      })(v3),
      "bool: the value of the traced bool made here is not known while the program is recorded; a "
      "C++ condition cannot depend on it\n"
      "  help: use hjx::where to choose between values, hjx::cond to choose between computations");
  EXPECT_HJX_ERROR(
      jit([](Array x) { return Array(x.item<float>()); })(v3),
      "item: the value of the traced f32[3] is not known while the program is recorded\n"
      "  help: return it from the traced function and read it there; to branch on it use hjx::cond "
      "or hjx::where");
  EXPECT_HJX_ERROR(
      jit([](Array x) { return Array(x.to_vector<float>()[0]); })(v3),
      "to_vector: the value of the traced f32[3] is not known while the program is recorded\n"
      "  help: return it from the traced function and read it there; to branch on it use hjx::cond "
      "or hjx::where");
  EXPECT_HJX_ERROR(jit([](Array x) { return Array(double(x.bytes().size())); })(v3),
                   "bytes: expected a concrete array, got the traced f32[3], whose value is not "
                   "known while the program is recorded\n"
                   "  help: return it from the traced function and read it there");
  EXPECT_HJX_ERROR(
      vmap([](Array x) { return x > 0 ? x : -x; })(v3),
      "bool: the value of the traced bool made here is not known while the program is recorded; a "
      "C++ condition cannot depend on it\n"
      "  help: use hjx::where to choose between values, hjx::cond to choose between computations");
  EXPECT_HJX_ERROR(
      scan([](Array c, Array x) { return std::pair(x > 0 ? c : x, x); }, Array(0.0), v3),
      "bool: the value of the traced bool made here is not known while the program is recorded; a "
      "C++ condition cannot depend on it\n"
      "  help: use hjx::where to choose between values, hjx::cond to choose between computations");
  EXPECT_HJX_ERROR(jit([](Array x) { return x[1.0 > 0 ? 5 : 0]; })(v3),
                   "index: index 5 is out of range for axis 0 of f32[3]\n"
                   "  help: use an index in [-3, 3)");
}

TEST(FrontendErrors, Leaks) {
  Array leak, w = ones({3});
  EXPECT_HJX_ERROR((jit([&](Array x) { return leak = x * 2; })(v3), leak + 1),
                   "add: the traced f32[3], made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR((jit([&](Array x) { return leak = x * 2; })(v3), leak.item<float>()),
                   "item: the traced f32[3], made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR((jit([&](Array x) { return leak = x; })(v3), jit(twice)(leak)),
                   "jit: the traced f32[3], made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR((vmap([&](Array x) { return leak = x * 2; })(v3), grad(sumOfSquares)(leak)),
                   "grad: the traced f32, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR((vmap([&](Array x) { return leak = x * 2; })(v3), leak.to_vector<float>()),
                   "to_vector: the traced f32, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR((vmap([&](Array x) { return leak = x > 0; })(v3), bool(leak)),
                   "bool: the traced bool, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR(jit([&](Array x) {
                     vmap([&](Array y) { return leak = y; })(x);
                     return leak;
                   })(v3),
                   "jit: the traced f32, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR(jit([&](Array x) {
                     grad([&](Array y) { return leak = sum(y * y); })(x);
                     return x + leak;
                   })(v3),
                   "add: the traced f32, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR(jit([&](Array x) {
                     scan(
                         [&](Array c, Array y) {
                           leak = y;
                           return std::pair(c, y);
                         },
                         Array(0.0), x);
                     return x + leak;
                   })(v3),
                   "add: the traced f32, made at " HERE
                   ", has leaked out of the function that was traced\n"
                   "  help: return it from that function instead of storing it elsewhere");
  EXPECT_HJX_ERROR(
      jit([&](Array x) { return x * w; })(v3),
      "multiply: the concrete f32[3] is not an argument of the function that jit compiles; its "
      "value of now would be compiled in and later changes would go unseen\n"
      "  help: pass it as an argument, or freeze it: hjx::constant(x)");
}

TEST(FrontendErrors, Derivatives) {
  EXPECT_HJX_ERROR(
      grad(sumOfSquares)(i3),
      "grad: expected floating arguments to differentiate, got i32[3] in argument 0\n"
      "  help: convert it with astype(hjx::float32), or choose other arguments with hjx::argnums");
  EXPECT_HJX_ERROR(grad(twice)(v3),
                   "grad: expected a function that returns a floating scalar, got f32[3]\n"
                   "  help: reduce the result, for example with hjx::sum or hjx::mean; or use vjp");
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(x) > 0; })(v3),
                   "grad: expected a function that returns a floating scalar, got bool\n"
                   "  help: convert the result with astype(hjx::float32)");
  EXPECT_HJX_ERROR(
      grad([](Pair p) { return sum(p.w); })(Pair{v3, i3}),
      "grad: expected floating arguments to differentiate, got i32[3] in argument 0.b\n"
      "  help: convert it with astype(hjx::float32), or choose other arguments with hjx::argnums");
  EXPECT_HJX_ERROR(
      grad([](Pair p, Array n) { return sum(p.w * n); }, argnums<0, 1>)(Pair{v3, v3}, i3),
      "grad: expected floating arguments to differentiate, got i32[3] in argument 1\n"
      "  help: convert it with astype(hjx::float32), or choose other arguments with hjx::argnums");
  EXPECT_HJX_ERROR(grad([](Array x) { return Array(); })(v3),
                   "grad: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(jvp(twice, v3, zeros({4})),
                   "jvp: expected a tangent of type f32[3] for argument 0, got f32[4]\n"
                   "  help: give it the shape and element type of the value it belongs to");
  EXPECT_HJX_ERROR(jvp(twice, v3, i3),
                   "jvp: expected a tangent of type f32[3] for argument 0, got i32[3]\n"
                   "  help: convert it: x.astype(hjx::float32)");
  EXPECT_HJX_ERROR(jvp(twice, i3, i3),
                   "jvp: expected no tangent for argument 0, which is i32[3], got i32[3]\n"
                   "  help: integers have no derivative: pass hjx::Array()");
  EXPECT_HJX_ERROR(jvp([](Pair p) { return p.w; }, Pair{v3, v3}, Pair{v3, zeros({2})}),
                   "jvp: expected a tangent of type f32[3] for argument 0.b, got f32[2]\n"
                   "  help: give it the shape and element type of the value it belongs to");
  EXPECT_HJX_ERROR(vjp(twice, v3).second(zeros({2})),
                   "vjp: expected a cotangent of type f32[3] for result, got f32[2]\n"
                   "  help: give it the shape and element type of the value it belongs to");
  EXPECT_HJX_ERROR(vjp(twice, v3).second(i3),
                   "vjp: expected a cotangent of type f32[3] for result, got i32[3]\n"
                   "  help: convert it: x.astype(hjx::float32)");
  EXPECT_HJX_ERROR(vjp([](Array x) { return std::pair(x, x); }, v3).second(v3),
                   "vjp: expected one structure of the result and its cotangent, they differ at "
                   "result: a tuple of 2 against an array\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(linearize(twice, v3).second(zeros({2})),
                   "linearize: expected a tangent of type f32[3], got f32[2]\n"
                   "  help: give it the shape and element type of the value it belongs to");
  EXPECT_HJX_ERROR(linearize(twice, v3).second(v3, v3),
                   "linearize: expected 1 tangents, got 2\n"
                   "  help: pass a tree of the same structure");
  EXPECT_HJX_ERROR(
      grad([](Array x) {
        return while_loop([](Array c) { return c < 10; }, [](Array c) { return c * c; }, x);
      })(2.0),
      "grad: the while at " HERE " cannot be differentiated in reverse: the number of iterations "
                                 "is not known, so neither is the size of what they must keep\n"
      "  help: use hjx.scan, or state a bound with max_trip");
  EXPECT_HJX_ERROR(jvp(custom_vjp(
                           twice, [](Array x) { return std::pair(2 * x, x); },
                           [](Array x, Array bar) { return 2 * bar; }),
                       v3, v3),
                   "jvp: the custom_vjp at " HERE
                   " has no forward-mode derivative: @fn defines its pull-back only\n"
                   "  help: differentiate it in reverse, or give it a custom_jvp rule");
}

TEST(FrontendErrors, CustomRules) {
  EXPECT_HJX_ERROR(grad(custom_vjp(
                       product, [](Array x, Array y) { return std::pair(x * y, x); },
                       [](Array r, Array bar) { return std::tuple(r, r); }))(v3, v3),
                   "custom_vjp: expected the result of fwd of types (f32), got (f32[3])\n"
                   "  help: convert or reshape what the rule returns");
  EXPECT_HJX_ERROR(
      grad(custom_vjp(product, saveFirst,
                      [](Array r, Array bar) { return std::tuple(r, zeros({2})); }))(v3, v3),
      "custom_vjp: expected bwd to return a cotangent of type f32[3] for argument 1, got f32[2]\n"
      "  help: give it the shape and element type of the argument");
  EXPECT_HJX_ERROR(
      grad(custom_vjp(product, saveFirst, [](Array r, Array bar) { return r; }))(v3, v3),
      "custom_vjp: expected bwd to return 2 cotangents, one for each argument, got 1\n"
      "  help: return a tuple of 2; hjx::Array() stands for none");
  EXPECT_HJX_ERROR(grad(custom_vjp(product, saveFirst,
                                   [](Array r, Array bar) { return std::tuple(r, r, r); }))(v3, v3),
                   "custom_vjp: expected bwd to return 2 cotangents, one for each argument, got 3\n"
                   "  help: return a tuple of 2; hjx::Array() stands for none");
  EXPECT_HJX_ERROR(custom_vjp(
                       twice, [](Array x) { return std::pair(2 * x, Array()); },
                       [](Array r, Array bar) { return bar; })(v3),
                   "custom_vjp: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(jit([&](Array z) {
                     return custom_vjp([&](Array x) { return x * z; },
                                       [&](Array x) { return std::pair(x * z, x); },
                                       [](Array r, Array bar) { return r; })(v3);
                   })(v3),
                   "custom_vjp: the function uses a traced f32[3] that is not its argument, so "
                   "that its rule could give no derivative for it\n"
                   "  help: pass it as an argument");
  EXPECT_HJX_ERROR(custom_jvp(twice, [](std::tuple<Array> x,
                                        std::tuple<Array> dot) { return std::get<0>(x); })(v3),
                   "custom_jvp: expected the rule to return a pair (result, tangent) of one "
                   "structure, got 1 arrays for 1 results\n"
                   "  help: return std::pair(f(x), tangent)");
  EXPECT_HJX_ERROR(
      custom_jvp(twice,
                 [](std::tuple<Array> x, std::tuple<Array> dot) {
                   return std::pair(std::get<0>(x), sum(std::get<0>(dot)));
                 })(v3),
      "custom_jvp: expected the rule's results of types (f32[3], f32[3]), got (f32[3], f32)\n"
      "  help: convert or reshape what the rule returns");
  EXPECT_HJX_ERROR(grad(custom_jvp(product,
                                   [](std::tuple<Array, Array> x, std::tuple<Array, Array> dot) {
                                     return std::pair(product(std::get<0>(x), std::get<1>(x)),
                                                      sum(abs(std::get<0>(dot))));
                                   }))(v3, v3),
                   "grad: the custom_jvp at " HERE " has a rule that is not linear in its tangents at hjx.abs\n"
                   "  help: multiply tangents by values of the primals, and add them to tangents");
}

TEST(FrontendErrors, Vmap) {
  EXPECT_HJX_ERROR(vmap([](Array x, Array y) { return x + y; })(v3, zeros({4})),
                   "vmap: expected mapped axes of one size, got 3 in args[0] (f32[3], axis 0) and "
                   "4 in args[1] (f32[4], axis 0)\n"
                   "  help: map another axis, or share an argument with hjx::none");
  EXPECT_HJX_ERROR(vmap([](Array x, Array y) { return x + y; }, {0, 1})(v3, v3),
                   "vmap: axis 1 is out of range for args[1], f32[3]\n"
                   "  help: use an axis in [-1, 1)");
  EXPECT_HJX_ERROR(vmap([](Array x, Array y) { return x + y; }, {0})(v3, v3),
                   "vmap: expected 2 entries in in_axes for a tuple, got 1\n"
                   "  help: give one entry for each, or one axis for all");
  EXPECT_HJX_ERROR(vmap(twice, none)(v3), "vmap: expected at least one mapped argument, got none\n"
                                          "  help: give one of them an axis in in_axes");
  EXPECT_HJX_ERROR(vmap(twice)(1.0), "vmap: axis 0 is out of range for args[0], f32\n"
                                     "  help: a scalar has no axes");
  EXPECT_HJX_ERROR(vmap(twice, 0, 3)(v3), "vmap: axis 3 is out of range for a result of 1 axis\n"
                                          "  help: use an axis in [-1, 1)");
  EXPECT_HJX_ERROR(vmap(twice, 0, none)(v3),
                   "vmap: the function at " HERE
                   ": result 0 depends on a mapped operand, but out_axes says it is not mapped\n"
                   "  help: give it a place there");
  EXPECT_HJX_ERROR(vmap(twice, 0, {0, 0})(v3),
                   "vmap: expected one axis in out_axes for an array, got a list of 2\n"
                   "  help: write one number or hjx::none for each array");
  EXPECT_HJX_ERROR(vmap([](Pair p) { return p.w; }, {{0}})(Pair{v3, v3}),
                   "vmap: expected an entry in in_axes for each field of a struct, got 1\n"
                   "  help: give one entry for each field, or one axis for all");
  EXPECT_HJX_ERROR(vmap([](Pair p) { return p.w; }, {{0, 0, 0}})(Pair{v3, v3}),
                   "vmap: expected 2 entries in in_axes for a struct, got 3\n"
                   "  help: give one entry for each field, or one axis for all");
  EXPECT_HJX_ERROR(vmap([](Pair p) { return p.w; }, {{{0}, 0}})(Pair{v3, v3}),
                   "vmap: expected one axis in in_axes for an array, got a list of 1\n"
                   "  help: write one number or hjx::none for each array");
}

TEST(FrontendErrors, Loops) {
  EXPECT_HJX_ERROR(
      scan([](Array c, Array x) { return std::pair(c + zeros({3}), x); }, Array(0.0), zeros({2})),
      "scan: the body changes carry: expected f32 as it came in, got f32[3]\n"
      "  help: give the carry one shape and element type, for example with astype on the initial "
      "value");
  EXPECT_HJX_ERROR(
      scan([](Array c, Array x) { return std::pair(c > 0, x); }, array(0.0f), zeros({2})),
      "scan: the body changes carry: expected f32 as it came in, got bool\n"
      "  help: give the carry one shape and element type, for example with astype on the initial "
      "value");
  EXPECT_HJX_ERROR(scan(
                       [](List c, Array x) {
                         c.push_back(x);
                         return std::pair(c, x);
                       },
                       List{}, zeros({2})),
                   "scan: expected one structure of the carry before and after the body, they "
                   "differ at carry: a list of 0 against a list of 1\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(scan(keepCarry, Array(0.0), Array(1.0)),
                   "scan: expected xs with a leading axis, got the scalar f32 in xs\n"
                   "  help: use the value inside the function without passing it");
  EXPECT_HJX_ERROR(scan(keepCarry, Array(0.0), zeros({2}), {.length = 3}),
                   "scan: expected xs of the given length 3, got 2\n"
                   "  help: leave the length out: it follows from xs");
  EXPECT_HJX_ERROR(scan(keepCarry, Array(), zeros({2})),
                   "scan: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(scan([](Array c, Nothing x) { return std::pair(c, x); }, Array(0.0), Nothing()),
                   "scan: expected xs to scan over, or a length\n"
                   "  help: pass {.length = n} when there are no xs");
  EXPECT_HJX_ERROR(scan([](Array c, Nothing x) { return std::pair(c, x); }, Array(0.0), Nothing(),
                        {.length = -2}),
                   "scan: expected a length that is not negative, got -2\n"
                   "  help: count iterations from 0");
  EXPECT_HJX_ERROR(map(twice, Array(1.0)),
                   "map: expected xs with a leading axis, got the scalar f32 in xs\n"
                   "  help: use the value inside the function without passing it");
  EXPECT_HJX_ERROR(while_loop(twice, twice, Array(1.0)),
                   "while_loop: expected a condition that returns a bool scalar, got f32\n"
                   "  help: compare it with a number");
  EXPECT_HJX_ERROR(
      while_loop([](Array x) { return x < 1; }, [](Array x) { return zeros({3}); }, Array(1.0)),
      "while_loop: the body changes carry: expected f32 as it came in, got f32[3]\n"
      "  help: give the carry one shape and element type, for example with astype on the initial "
      "value");
  EXPECT_HJX_ERROR(
      while_loop([](List x) { return x[0] < 1; }, [](List x) { return List{}; }, List{1.0}),
      "while_loop: expected one structure of the carry before and after the body, they differ at "
      "carry: a list of 1 against a list of 0\n"
      "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(while_loop([](Array x) { return x < 1; }, twice, Array(1.0), -3),
                   "while_loop: expected a max_trip that is not negative, got -3\n"
                   "  help: leave it out for a loop without a bound");
  EXPECT_HJX_ERROR(fori_loop(
                       0, 3, [](Array i, Array x) { return zeros({3}); }, Array(1.0)),
                   "fori_loop: the body changes carry[1]: expected f32 as it came in, got f32[3]\n"
                   "  help: give the carry one shape and element type, for example with astype on "
                   "the initial value");
  EXPECT_HJX_ERROR(fori_loop(
                       v3, v3, [](Array i, Array x) { return x; }, Array(1.0)),
                   "fori_loop: expected integer scalars as bounds, got f32[3]\n"
                   "  help: convert or index them first");
}

TEST(FrontendErrors, Branches) {
  EXPECT_HJX_ERROR(
      cond(v3, twice, twice, v3),
      "cond: expected a bool scalar as predicate, got f32[3]\n"
      "  help: reduce it with hjx::all or hjx::any; to choose element by element use hjx::where");
  EXPECT_HJX_ERROR(cond(1, twice, twice, v3), "cond: expected a bool scalar as predicate, got i32\n"
                                              "  help: compare it with a number");
  EXPECT_HJX_ERROR(cond(
                       true, twice, [](Array x) { return sum(x); }, v3),
                   "cond: expected branches with results of one type, got f32[3] from on_true and "
                   "f32 from on_false in result\n"
                   "  help: convert or reshape the result of one branch");
  EXPECT_HJX_ERROR(
      cond(
          true, [](Array x) { return List{x}; }, [](Array x) { return List{x, x}; }, v3),
      "cond: expected one structure of the branches' results, they differ at result: a list of 2 "
      "against a list of 1\n"
      "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(cond(
                       true, twice, [](Array x) { return x > 0; }, v3),
                   "cond: expected branches with results of one type, got f32[3] from on_true and "
                   "bool[3] from on_false in result\n"
                   "  help: convert or reshape the result of one branch");
  EXPECT_HJX_ERROR(cond(
                       true, twice, [](Array x) { return Array(); }, v3),
                   "cond: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(switch_(1.5, std::tuple{&twice}, v3),
                   "switch_: expected an integer scalar as index, got f32\n"
                   "  help: number the branches from 0");
  EXPECT_HJX_ERROR(switch_(0, std::tuple{&twice, &twice, [](Array x) { return sum(x); }}, v3),
                   "switch_: expected branches with results of one type, got f32 from branch 2 and "
                   "f32[3] from branch 0 in result\n"
                   "  help: convert or reshape the result of one branch");
}

TEST(FrontendErrors, Jit) {
  auto inPlace = jit(twice, {.donate = {0}});
  Array w;
  w = ones({3});
  EXPECT_HJX_ERROR((inPlace(w), w + 1),
                   "add: the array f32[3] was donated at " HERE " and has no value any more\n"
                   "  help: use the result of that call instead, or do not donate the argument");
  w = ones({3});
  EXPECT_HJX_ERROR((inPlace(w), inPlace(w)),
                   "jit: the array f32[3] was donated at " HERE " and has no value any more\n"
                   "  help: use the result of that call instead, or do not donate the argument");
  w = ones({3});
  EXPECT_HJX_ERROR((inPlace(w), w.to_vector<float>()),
                   "to_vector: the array f32[3] was donated at " HERE " and has no value any more\n"
                   "  help: use the result of that call instead, or do not donate the argument");
  w = ones({3});
  EXPECT_HJX_ERROR(jit([](Array x, Array y) { return x * y; }, {.donate = {0, 1}})(w, w),
                   "jit: the array f32[3] is donated twice in one call\n"
                   "  help: pass a copy for one of the arguments");
  w = ones({3});
  EXPECT_HJX_ERROR(jit(twice, {.donate = {3}})(v3), "jit: cannot donate argument 3 of 1\n"
                                                    "  help: count arguments from 0");
  w = ones({3});
  EXPECT_HJX_ERROR(jit([](Array x) { return Array(); })(v3),
                   "jit: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
}

TEST(FrontendErrors, Trees) {
  EXPECT_HJX_ERROR(
      tree_map([](Array a, Array b) { return a; }, List{1}, List{1, 2}),
      "tree_map: expected one structure of trees, they differ at a list of 1 against a list of 2\n"
      "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(tree_map([](Array a, Array b, Array c, Array d, Array e) { return a; }, List{1}, List{1},
                            List{1}, List{1}, List{1, 2}),
                   "tree_map: expected one structure of trees, they differ at a list of 1 against a "
                   "list of 2\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(tree_unflatten(Pair{v3, v3}, {v3}),
                   "tree_unflatten: expected 2 arrays, got 1\n"
                   "  help: take the arrays from tree_leaves of an equal tree");
}

TEST(FrontendErrors, Programs) {
  Module module;
  EXPECT_HJX_ERROR(
      make_ir([](Array x) { return x + zeros({5}); })(v3),
      "add: shapes do not broadcast: f32[3] and f32[5] differ in axis -1 (3 against 5)\n"
      "  help: axes match from the last; give one operand size 1 there, for example with "
      "hjx::expand_dims");
  EXPECT_HJX_ERROR(eval_shape([](Array x) { return Array(); })(v3),
                   "eval_shape: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(make_expanded_ir(vmap(twice, 0, none))(v3),
                   "make_ir: the function at " HERE
                   ": result 0 depends on a mapped operand, but out_axes says it is not mapped\n"
                   "  help: give it a place there");
  EXPECT_HJX_ERROR((module.add("f", twice, {}, v3), module.add("f", twice, {}, v3)),
                   "Module::add: the module has a function named f already\n"
                   "  help: give every function its own name");
  EXPECT_HJX_ERROR(module.add("", twice, {}, v3),
                   "Module::add: expected a name for the function, got none\n"
                   "  help: tools call the function by its name");
  EXPECT_HJX_ERROR(module.add("g", twice, {.donate = {4}}, v3),
                   "Module::add: cannot donate argument 4 of 1\n"
                   "  help: count arguments from 0");
  EXPECT_HJX_ERROR(module.write("/nonexistent/x.mlir"),
                   "Module::write: cannot write /nonexistent/x.mlir: No such file or directory\n"
                   "  help: check the folder and its permissions");
}
