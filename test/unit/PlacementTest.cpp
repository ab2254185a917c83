// SPDX-License-Identifier: Apache-2.0
//
// Where arrays lie and where computations run: the table of hjx/device.h, row by row, on
// several devices of the processor and on simulated GPUs. After JAX's multi_device_test.py
// and api_test.py.
#include <hjx/attention.h>

#include "test/unit/PlacementTesting.h"

#include <thread>

using namespace hjx;
using hjx::testing::Moved;
using hjx::testing::Placement;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(On, Placement, ::testing::Values("cpu", "sim"), [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

TEST_P(Placement, CreationIsOnTheDefaultDeviceWithoutCommitment) {
  Array x = array({1.0, 2.0}), z = zeros({2});
  EXPECT_EQ(x.device(), host);
  EXPECT_EQ(z.device(), host);
  EXPECT_FALSE(x.committed() || z.committed());
  default_device on(a);
  z = ones({2});
  EXPECT_EQ(z.device(), a);
  EXPECT_FALSE(z.committed());
  EXPECT_CLOSE(z, array({1.0, 1.0}));
  // Numbers wait where the host can write them.
  x = array({1.0, 2.0});
  EXPECT_EQ(x.device(), isSim() ? host : a);
  EXPECT_FALSE(x.committed());
}

TEST_P(Placement, PutWithoutADeviceCommitsNothing) {
  Array x = array({1.0, 2.0}), there = device_put(x, a);
  EXPECT_EQ(device_put(x).device(), host);
  default_device on(b);
  Array y = device_put(x);
  EXPECT_EQ(y.device(), isSim() ? b : host);
  EXPECT_FALSE(y.committed());
  y = device_put(there); // Arrays of devices stay.
  EXPECT_EQ(y.device(), a);
  EXPECT_TRUE(y.committed());
}

TEST_P(Placement, PutWithADeviceCommitsEvenWhatIsThere) {
  Moved moved(a);
  Array x = device_put(array({1.0, 2.0}), a);
  EXPECT_EQ(x.device(), a);
  EXPECT_TRUE(x.committed());
  EXPECT_EQ(moved.in(), 8);
  Array y;
  {
    default_device on(a);
    y = zeros({2});
  }
  EXPECT_FALSE(y.committed());
  EXPECT_TRUE(device_put(y, a).committed());
  EXPECT_FALSE(y.committed());
  EXPECT_EQ(moved.in(), 8); // Nothing more.
}

TEST_P(Placement, TreesMoveAndComeBack) {
  std::map<std::string, Array> tree{{"w", array({1.0, 2.0})}, {"n", array(3)}};
  Moved moved(a);
  tree = device_put(tree, a);
  EXPECT_EQ(tree["n"].device(), a);
  EXPECT_EQ(moved.in(), 12);
  tree = device_get(tree);
  EXPECT_EQ(tree["w"].device(), host);
  EXPECT_FALSE(tree["w"].committed());
  EXPECT_EQ(tree["n"].item<int>(), 3);
  EXPECT_EQ(moved.toHost(), isSim() ? 12 : 0); // The processor's other devices are the host's memory.
}

TEST_P(Placement, ShapesKeepTheirPlace) {
  Array x = device_put(reshape(arange(6), {2, 3}), a);
  for (const Array &y : {reshape(x, {3, 2}), x.T(), broadcast_to(x, {2, 2, 3}), x[{ellipsis}], x[0], expand_dims(x, 0), constant(x)}) {
    EXPECT_EQ(y.device(), a);
    EXPECT_TRUE(y.committed());
  }
}

TEST_P(Placement, LikeFunctionsKeepThePlace) {
  Array x = device_put(array({1.0, 2.0}), a);
  for (const Array &y : {zeros_like(x), ones_like(x), full_like(x, 3)}) {
    EXPECT_EQ(y.device(), a);
    EXPECT_TRUE(y.committed());
  }
  EXPECT_EQ(zeros_like(array({1.0})).device(), host);
}

TEST_P(Placement, ArraysCanBeWaitedFor) {
  Array x = device_put(array({1.0, 2.0}), a) + 1;
  EXPECT_EQ(&x.block_until_ready(), &x);
  EXPECT_TRUE(x.is_ready());
  std::vector<Array> list{x, x};
  EXPECT_EQ(&block_until_ready(list), &list);
}

TEST_P(Placement, ReadingAnArrayBringsItsValuesToTheHost) {
  Array x = device_put(array({1.5, 2.5}), a);
  Moved moved(a);
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(to_string(x), "[1.5 2.5]");
  EXPECT_EQ(moved.toHost(), isSim() ? 16 : 0);
  const std::byte *bytes = x.bytes().data();
  EXPECT_EQ(x.bytes().data(), bytes); // One copy, which lives as long as the array.
  EXPECT_EQ(moved.toHost(), isSim() ? 24 : 0);
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

TEST_P(Placement, AComputationFollowsItsCommittedArgument) {
  Array x = device_put(array({1.0, 2.0}), a), y = array({10.0, 20.0});
  auto both = jit([](Array x, Array y) { return std::pair(x + y, y); });
  Moved moved(a);
  auto [sum, same] = both(x, y);
  EXPECT_EQ(sum.device(), a);
  EXPECT_TRUE(sum.committed() && same.committed()); // All results.
  EXPECT_EQ(same.device(), a);
  EXPECT_CLOSE(sum, array({11.0, 22.0}));
  EXPECT_EQ(moved.in(), 8); // y, which moved silently.
  Array eager = y + x;
  EXPECT_EQ(eager.device(), a);
  EXPECT_TRUE(eager.committed());
  EXPECT_FALSE(y.committed());
}

TEST_P(Placement, WithoutCommitmentItRunsOnTheDefaultDevice) {
  Array x;
  {
    default_device on(a);
    x = ones({2});
  }
  Array y = x + 1; // x comes back.
  EXPECT_EQ(y.device(), host);
  EXPECT_FALSE(y.committed());
  EXPECT_CLOSE(y, array({2.0, 2.0}));
}

TEST_P(Placement, DifferentCommitmentsAreAnError) {
  Array x = device_put(zeros({2, 3}), a), y = device_put(zeros({3}), b);
  std::string at = __FILE__;
  at = at.substr(at.rfind('/') + 1) + ":" + std::to_string(__LINE__ - 2);
  EXPECT_HJX_ERROR(jit([](Array x, std::vector<Array> y) { return x + y[0]; })(x, std::vector<Array>{y}),
                   "jit: expected arguments that are committed to one device: args[0], f32[2,3] (24 bytes), is committed to " +
                       a.name() + ", args[1][0], f32[3] (12 bytes), to " + b.name() +
                       "\n  help: move one: hjx::device_put(args[1][0], hjx::device(\"" + a.name() + "\"))");
  EXPECT_HJX_ERROR(x + y, "add: expected arguments that are committed to one device: f32[2,3] (24 bytes), made at " + at +
                              ", is committed to " + a.name() + ", f32[3] (12 bytes), made at " + at + ", to " + b.name() +
                              "\n  help: move one: hjx::device_put(x, hjx::device(\"" + a.name() + "\")) for the x that was made at " + at);
}

TEST_P(Placement, TheRemedyMovesDataAndNotTheModel) {
  auto f = jit([](Array model, Array data) { return model + data; });
  Array model = device_put(zeros({2}), a), data = device_put(zeros({8, 2}), host);
  std::string help;
  try {
    f(model, data);
  } catch (const Error &error) {
    help = error.help();
  }
  EXPECT_EQ(help, isSim() ? "move one: hjx::device_put(args[1], hjx::device(\"sim:0\"))" // although it is larger
                          : "move one: hjx::device_put(args[0], hjx::device(\"cpu:0\"))");
}

TEST_P(Placement, ADeviceOfJitOverridesCommitment) {
  Array x = device_put(array({1.0, 2.0}), a);
  Array y = jit([](Array x) { return x + 1; }, {.device = b})(x);
  EXPECT_EQ(y.device(), b);
  EXPECT_TRUE(y.committed());
  EXPECT_CLOSE(y, array({2.0, 3.0}));
}

TEST_P(Placement, ACapturedConstantCounts) {
  Array c = constant(device_put(array({1.0, 2.0}), a));
  auto f = jit([c](Array x) { return x + c; });
  EXPECT_EQ(f(array({1.0, 1.0})).device(), a);
  Array elsewhere = device_put(array({1.0, 1.0}), b);
  EXPECT_HJX_ERROR(f(elsewhere), "jit: expected arguments that are committed to one device: args[0], f32[2] (8 bytes), is committed to " +
                                     b.name() + ", the captured constant, f32[2] (8 bytes), to " + a.name() +
                                     "\n  help: move one: hjx::device_put(the captured constant, hjx::device(\"" + b.name() + "\"))");
}

TEST_P(Placement, ACaptureOfATransformCounts) {
  Array c = device_put(array({1.0, 2.0}), a);
  Array slope = grad([&](Array x) { return sum(x * c); })(array({1.0, 1.0}));
  EXPECT_EQ(slope.device(), a);
  EXPECT_CLOSE(slope, array({1.0, 2.0}));
}

TEST_P(Placement, RandomNumbersFollowTheirKey) {
  Array key = random::key(7), expected = random::uniform(key, {4}), drawn = random::uniform(device_put(key, a), {4});
  EXPECT_EQ(drawn.device(), a);
  EXPECT_CLOSE(drawn, expected, 0);
}

TEST_P(Placement, AnUnusedArgumentHasItsSay) {
  Array x = device_put(array({1.0, 2.0}), a);
  Array zero = jit([](Array x) { return zeros_like(x); })(x);
  EXPECT_EQ(zero.device(), a);
  EXPECT_TRUE(zero.committed());
}

TEST_P(Placement, ARefIsCommitted) {
  Ref cell;
  {
    default_device on(a);
    cell = new_ref(array({1.0, 2.0}));
  }
  Array value = cell.get();
  EXPECT_EQ(value.device(), a);
  EXPECT_TRUE(value.committed());
  auto step = jit([](Ref cell, Array x) {
    cell.add(x);
    return sum(x);
  });
  EXPECT_EQ(step(cell, array({1.0, 1.0})).device(), a);
  cell[0] = 5;
  EXPECT_CLOSE(cell.get(), array({5.0, 3.0}));
  EXPECT_EQ(new_ref(device_put(array({1.0}), b)).get().device(), b);
  Array elsewhere = device_put(array({1.0, 1.0}), b);
  EXPECT_THROW(step(cell, elsewhere), Error);
  auto placed = jit([](Ref cell) { cell.add(1); }, {.device = b});
  EXPECT_HJX_ERROR(placed(cell), "jit: expected refs of " + b.name() + ", where the program runs, got the ref ref{f32[2]} of " + a.name() +
                                     "\n  help: make the ref there, or leave out the device of jit: a program runs where its refs are");
  EXPECT_HJX_ERROR(device_put(cell, b), "device_put: expected values, got the ref ref{f32[2]}, which stays where it was made\n"
                                        "  help: make one there: hjx::new_ref of a value that was put there");
}

TEST_P(Placement, AChainOnOneDeviceCompilesOnce) {
  auto f = jit([](Array x) { return x * 2; });
  Array x = f(f(f(device_put(array({1.0, 2.0}), a))));
  EXPECT_CLOSE(x, array({8.0, 16.0}));
  EXPECT_EQ(f.stats().compilations.size(), 1u);
}

//===----------------------------------------------------------------------===//
// default_device
//===----------------------------------------------------------------------===//

TEST_P(Placement, DefaultDeviceIsAScopeOfTheThread) {
  EXPECT_EQ(default_device::current(), host);
  {
    default_device on(a);
    {
      default_device inner(b);
      EXPECT_EQ(zeros({2}).device(), b);
    }
    EXPECT_EQ(default_device::current(), a);
    std::thread([&] { EXPECT_EQ(default_device::current(), host); }).join();
    EXPECT_EQ(zeros({2}).device(), a);
    // What is committed does not ask.
    EXPECT_EQ((device_put(zeros({2}), b) + zeros({2})).device(), b);
    default_device named("cpu");
    EXPECT_EQ(default_device::current(), host);
  }
  EXPECT_EQ(default_device::current(), host);
}

TEST_P(Placement, DefaultDeviceIsNoPartOfWhatIsTraced) {
  int traces = 0;
  auto f = jit([&](Array x) {
    ++traces;
    return x + 1;
  });
  Array x = array({1.0, 2.0});
  EXPECT_EQ(f(x).device(), host);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const Device &device : {a, b}) {
      default_device on(device);
      Array y = f(x);
      EXPECT_EQ(y.device(), device);
      EXPECT_FALSE(y.committed());
      EXPECT_CLOSE(y, array({2.0, 3.0}));
    }
  EXPECT_EQ(f(x).device(), host);
  EXPECT_EQ(traces, 1);
  // Code is made for each kind of device.
  ASSERT_EQ(f.stats().compilations.size(), isSim() ? 2u : 1u);
  if (isSim())
    EXPECT_EQ(f.stats().compilations[1].reason, "another kind of device: sim:0");
}

/// What GPUs have kernels for is not written out: a matrix of scores would be twice all the arguments.
TEST_P(Placement, JitTakesTheKernelsOfAttention) {
  const int64_t T = 256, heads = 2, d = 16, scoresBytes = heads * T * T * 4;
  Array x = device_put(random::normal(random::key(1), {1, T, heads, d}, float16), a);
  int64_t before = a.memory().peak;
  auto loss = [](Array x) { return sum(dot_product_attention(x, x, x, {.causal = true}).astype(float32)); };
  auto [value, slope] = jit(value_and_grad(loss))(x);
  if (isSim())
    EXPECT_LT(a.memory().peak - before, scoresBytes);
  auto [expected, expectedSlope] = value_and_grad(loss)(device_put(x, host));
  EXPECT_CLOSE(value, expected, 1e-2);
  EXPECT_CLOSE(slope, expectedSlope, 1e-2);
}

TEST_P(Placement, ACompilationForAnotherKindOfDeviceIsExplained) {
  setenv("HJX_EXPLAIN_RETRACES", "1", 1);
  const int line = __LINE__ + 1;
  auto f = jit([](Array x) { return x - 3; }, {.name = "step"});
  ::testing::internal::CaptureStderr();
  Array x = array({1.0, 2.0});
  f(x);
  f(device_put(x, a));
  f(device_put(x, b));
  std::string text = ::testing::internal::GetCapturedStderr();
  unsetenv("HJX_EXPLAIN_RETRACES");
  EXPECT_EQ(text, isSim() ? "PlacementTest.cpp:" + std::to_string(line + 4) + ": jit: step of PlacementTest.cpp:" + std::to_string(line) +
                                " compiles again: another kind of device: sim:0\n"
                          : "");
}

TEST_P(Placement, ThreadsHaveDefaultDevicesOfTheirOwn) {
  auto f = jit([](Array x) { return x * 2 + 1; });
  Array x = array({1.0, 2.0});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (const Device &device : {host, a, b, host, a, b})
    threads.emplace_back([&, device] {
      default_device on(device);
      for (int i = 0; i < 8; ++i) {
        Array y = f(x);
        wrong += y.device() != device || y.to_vector<float>() != std::vector<float>{3, 5};
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Placement, ScopesEndWithExceptions) {
  try {
    default_device on(a);
    transfer_guard guard("disallow");
    default_device inner("tpu");
  } catch (const Error &) {
  }
  EXPECT_EQ(default_device::current(), host);
  EXPECT_NO_THROW((void)(device_put(ones({2}), a) + ones({2})));
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// "PlacementTest.cpp:12" for a line of this file.
static std::string at(int line) { return "PlacementTest.cpp:" + std::to_string(line); }

TEST_P(Placement, AMoveInsideSaysWhereTheProgramRuns) {
  Array x = array({1.0, 2.0}), there = device_put(x, b);
  auto f = [&](Array x) { return sum(device_put(x, b) * 2); };
  for (const Array &from : {x, there}) {
    for (const Array &y : {jit(f)(from), vmap([&](Array x) { return device_put(x, b) * 2; })(from), grad(f)(from), jit(grad(f))(from),
                           grad(jit(f))(from), std::get<0>(vjp(f, from)), std::get<0>(std::get<1>(vjp(f, from))(ones({})))}) {
      EXPECT_EQ(y.device(), b);
      EXPECT_TRUE(y.committed());
    }
  }
  EXPECT_CLOSE(grad(f)(x), array({2.0, 2.0}));
  // Of a number made inside, too, and whether its result is used or not.
  EXPECT_EQ(jit([&](Array x) { return x + device_put(array(1.0), b); })(x).device(), b);
  EXPECT_EQ(jit([&](Array x) { return device_put(x, b), x + 1; })(x).device(), b);
  EXPECT_EQ(eval_shape(f)(x).shape(), Shape());
  // A move to nowhere says nothing.
  EXPECT_EQ(jit([](Array x) { return device_put(x); })(there).device(), b);
}

TEST_P(Placement, AProgramHasOneDevice) {
  Array x = device_put(array({1.0, 2.0}), a);
  const int put = __LINE__ + 1;
  auto f = [&](Array x) { return sum(device_put(x, b) * 2); };
  EXPECT_HJX_ERROR(jit(f)(x), "jit: expected a program of one device: args[0], f32[2] (8 bytes), is committed to " + a.name() +
                                  ", device_put at " + at(put) + " asks for " + b.name() +
                                  "\n  help: put it there before the call: hjx::device_put(args[0], hjx::device(\"" + b.name() + "\"))");
  EXPECT_HJX_ERROR(grad(f)(x), "grad: expected a program of one device: f32[2] (8 bytes), made at " + at(put - 2) + ", is committed to " +
                                   a.name() + ", device_put at " + at(put) + " asks for " + b.name() +
                                   "\n  help: put it there before the call: hjx::device_put(x, hjx::device(\"" + b.name() +
                                   "\")) for the x that was made at " + at(put - 2));
  EXPECT_THROW(vjp(f, x), Error);
  EXPECT_THROW(vmap([&](Array x) { return device_put(x, b); })(x), Error);

  auto messageOf = [](auto body) {
    try {
      body();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string("no error");
  };
  Array free = array({1.0, 2.0});
  const int both = __LINE__ + 1;
  std::string ofBoth = messageOf([&] { jit([&](Array x) { return device_put(device_put(x, b), a); })(free); }),
              ofOption = messageOf([&] { jit(f, {.device = a})(free); }), moves = "device_put: expected a program of one device, got a move to ";
  EXPECT_EQ(ofBoth, moves + a.name() + " where device_put at " + at(both) + " asks for " + b.name());
  EXPECT_EQ(ofOption, moves + b.name() + " where jit at " + at(both + 1) + " asks for " + a.name());
  // The option of a jit within another function counts, too.
  auto inner = jit([](Array x) { return x + 1; }, {.device = b});
  EXPECT_EQ(jit([&](Array x) { return inner(x); })(free).device(), b);
  EXPECT_THAT(messageOf([&] { vmap(inner)(x); }), HasSubstr("expected a program of one device: f32[2] (8 bytes), made at "));
  EXPECT_THAT(messageOf([&] { make_ir(f)(free); }), HasSubstr("make_ir: expected a program for any device: device_put at " + at(put)));
  EXPECT_EQ(messageOf([&] { jit([&](Array x) { return device_put(x, b, {.donate = true}); })(free); }),
            "device_put: expected a concrete array to donate, got the traced f32[2]");
  EXPECT_EQ(messageOf([&] {
              jit([&](Array x) {
                default_device on(b);
                return x + 1;
              })(free);
            }),
            "default_device: expected a scope around the call of a recorded function, got one inside of it, where it would change nothing");
  EXPECT_THAT(messageOf([] { jit([](Array x) { return x.device().has_value() ? x : x + 1; })(zeros({2})); }),
              HasSubstr("device: expected a concrete array, got the traced f32[2]"));
  EXPECT_EQ(grad([](Array x) { return sum(x); })(free).device(), host) << "errors leave nothing behind";
}

TEST_P(Placement, WhatAnArrayInsideIsLikeHasItsSay) {
  Array c = constant(device_put(zeros({2}), a));
  EXPECT_EQ(jit([&](Array x) { return x + zeros_like(c); })(ones({2})).device(), a);
  EXPECT_EQ(grad([&](Array x) { return sum(x + zeros_like(c)); })(ones({2})).device(), a);
}

//===----------------------------------------------------------------------===//
// Donation
//===----------------------------------------------------------------------===//

TEST_P(Placement, ADonatedArgumentMayComeFromAnotherDevice) {
  auto f = jit([](Array x, Array y) { return x + y; }, {.donate = {0}});
  Array x = array({1.0, 2.0}), y = device_put(array({1.0, 1.0}), a);
  const int line = __LINE__ + 1;
  Array z = f(x, y);
  EXPECT_EQ(z.device(), a);
  EXPECT_CLOSE(z, array({2.0, 3.0}));
  EXPECT_HJX_ERROR(x + 1, "add: the array f32[2] was donated at PlacementTest.cpp:" + std::to_string(line) +
                              " and has no value any more\n"
                              "  help: use the result of that call instead, or do not donate the argument");
  Array there = device_put(array({1.0, 2.0}), a);
  EXPECT_CLOSE(f(there, y), array({2.0, 3.0}));
  EXPECT_THROW(there + 1, Error);
}

TEST_P(Placement, PutMayDonate) {
  Array x = array({1.0, 2.0});
  int64_t before = a.memory().in_use;
  const int line = __LINE__ + 1;
  Array y = device_put(x, a, {.donate = true});
  EXPECT_CLOSE(y, array({1.0, 2.0}));
  EXPECT_HJX_ERROR(x.item<float>(), "item: the array f32[2] was donated at PlacementTest.cpp:" + std::to_string(line) +
                                        " and has no value any more\n"
                                        "  help: use the result of that call instead, or do not donate the argument");
  // What is there already is handed over, not copied; from elsewhere, the memory is given back.
  Moved moved(a);
  Array z = device_put(y, a, {.donate = true});
  EXPECT_EQ(moved.in(), 0);
  EXPECT_EQ(a.memory().in_use - before, 8);
  EXPECT_THROW(y + 1, Error);
  Array there = device_put(z, b, {.donate = true});
  EXPECT_EQ(a.memory().in_use, before);
  EXPECT_CLOSE(there, array({1.0, 2.0}));
  EXPECT_THROW(z + 1, Error);
}

TEST_P(Placement, AHandleOfTheSameMemoryKeepsItsValue) {
  Array x = device_put(array({1.0, 2.0}), a), same = device_put(x, a), reshaped = reshape(x, {1, 2});
  auto f = jit([](Array x) { return x + 1; }, {.donate = {0}});
  Array y = f(x); // Does not write into what others hold.
  EXPECT_CLOSE(same, array({1.0, 2.0}));
  EXPECT_CLOSE(reshaped, array({{1.0, 2.0}}));
  EXPECT_THROW(x + 1, Error);
  EXPECT_CLOSE(f(f(y)), array({4.0, 5.0}));
  auto twice = jit([](Array x, Array y) { return std::pair(x + 1, y + 2); }, {.donate = {0, 1}});
  EXPECT_THROW(twice(same, same), Error);
}
