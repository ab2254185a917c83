// SPDX-License-Identifier: Apache-2.0
//
// Random programs: their gradients agree with central differences, and mapped
// over a batch with the rows one by one. A program that does not is shrunk by
// leaving out steps while it still fails, so that what is printed is the fault.
// That the shrinker finds one is shown on a wrong derivative planted in the table.
#include "FrontendTesting.h"

#include <functional>
#include <random>

using namespace hjx;

namespace {

/// A function of two arrays f64[3].
struct Op {
  std::string name;
  std::function<Array(Array, Array)> apply;
};

Array recurrence(Array a, Array b) {
  return scan([](Array c, Array x) { return std::pair(tanh(c + x), c * x); }, mean(a), b).second;
}

const std::vector<Op> ops{
    {"add", [](Array a, Array b) { return a + b; }},
    {"mul", [](Array a, Array b) { return a * b; }},
    {"div", [](Array a, Array b) { return a / (1 + b * b); }},
    {"sin", [](Array a, Array) { return sin(a); }},
    {"exp", [](Array a, Array) { return exp(-a * a); }},
    {"softmax", [](Array a, Array) { return softmax(a); }},
    {"cumsum", [](Array a, Array) { return cumsum(a); }},
    {"flip", [](Array a, Array) { return flip(a); }},
    {"center", [](Array a, Array b) { return a - mean(b); }},
    {"outer", [](Array a, Array b) { return matmul(outer(a, b), a); }},
    {"take", [](Array a, Array b) { return take(a, array({2, 0, 2})) * b; }},
    {"set", [](Array a, Array b) { return a.at(1).set(b[0]); }},
    {"scan", recurrence},
    {"vmap",
     [](Array a, Array b) { return vmap([&](Array x) { return x * sum(sin(x * b)); })(a); }},
    {"cond",
     [](Array a, Array b) {
       return cond(sum(a) > 0.3, [](Array a, Array b) { return a * b; }, recurrence, a, b);
     }},
    {"remat",
     [](Array a, Array b) {
       return checkpoint([](Array a, Array b) { return sin(a * sin(b)); })(a, b);
     }},
};

/// A step computes a value from two earlier ones; values 0 and 1 are there at the start.
struct Step {
  size_t op, a, b;
};
using Program = std::vector<Step>;

Program draw(unsigned seed, size_t length, size_t numOps) {
  std::mt19937 random(seed);
  Program program;
  for (size_t i = 0; i < length; ++i)
    program.push_back({random() % numOps, random() % (i + 2), random() % (i + 2)});
  return program;
}

std::string print(const Program &program, const std::vector<Op> &table) {
  std::string text;
  for (size_t i = 0; i < program.size(); ++i)
    text += "  v" + std::to_string(i + 2) + " = " + table[program[i].op].name + "(v" +
            std::to_string(program[i].a) + ", v" + std::to_string(program[i].b) + ")\n";
  return text;
}

/// A scalar to which every step contributes.
Array evaluate(const Program &program, const std::vector<Op> &table, Array x) {
  std::vector<Array> values{x, 0.5 * flip(x) + 0.2};
  Array total = values[0];
  for (const Step &step : program) {
    values.push_back(table[step.op].apply(values[step.a], values[step.b]));
    total = total + values.back();
  }
  return sum(sin(total));
}

/// What is wrong with the program; empty if nothing is.
std::string failureOf(const Program &program, const std::vector<Op> &table) {
  auto f = [&](Array x) { return evaluate(program, table, x); };
  auto value = jit(f);
  auto gradient = jit(grad(f));
  Array rows = array({{0.31, -0.72, 1.13}, {0.94, 0.25, -0.46}}, float64);
  Array mapped = jit(vmap(grad(f)))(rows);
  for (int row = 0; row < 2; ++row) {
    Array got = gradient(rows[row]);
    if (auto same = hjx::testing::isClose(mapped[row], got, 1e-9); !same)
      return std::string("vmap: ") + same.message();
    std::vector<double> slopes;
    for (int i = 0; i < 3; ++i) {
      auto at = [&](double shift) { return value(rows[row].at(i).add(shift)).item<double>(); };
      slopes.push_back((at(1e-5) - at(-1e-5)) / 2e-5);
    }
    if (auto same = hjx::testing::isClose(got, array(slopes), 1e-5); !same)
      return std::string("grad: ") + same.message();
  }
  return "";
}

/// The program without one step: users of its value take its first operand.
Program without(const Program &program, size_t removed) {
  Program rest;
  auto renamed = [&](size_t value) {
    if (value == removed + 2)
      value = program[removed].a;
    return value > removed + 2 ? value - 1 : value;
  };
  for (size_t i = 0; i < program.size(); ++i)
    if (i != removed)
      rest.push_back({program[i].op, renamed(program[i].a), renamed(program[i].b)});
  return rest;
}

/// A failing program of which no single step can be left out.
template <typename Fails> Program shrink(Program program, const Fails &fails) {
  for (size_t i = program.size(); i-- > 0;)
    if (Program smaller = without(program, i); fails(smaller)) {
      program = smaller;
      i = program.size(); // What could not go before may go now.
    }
  return program;
}

} // namespace

class FrontendPrograms : public ::testing::TestWithParam<unsigned> {};

TEST_P(FrontendPrograms, HaveRightGradients) {
  auto fails = [](const Program &program) { return !failureOf(program, ops).empty(); };
  Program program = draw(GetParam(), 5, ops.size());
  if (!fails(program))
    return;
  program = shrink(program, fails);
  ADD_FAILURE() << failureOf(program, ops) << "\n" << print(program, ops);
}
INSTANTIATE_TEST_SUITE_P(Seeds, FrontendPrograms, ::testing::Range(0u, 16u));

TEST(FrontendShrinker, FindsThePlantedFault) {
  std::vector<Op> table = ops;
  table.push_back({"wrong", [](Array a, Array) {
                     using Tuple = std::tuple<Array>;
                     auto rule = [](Tuple x, Tuple dot) {
                       return std::pair(sin(std::get<0>(x)),
                                        1.1 * cos(std::get<0>(x)) * std::get<0>(dot));
                     };
                     return custom_jvp([](Array x) { return sin(x); }, rule)(a);
                   }});
  Program program = draw(7, 5, ops.size());
  program[3].op = ops.size(); // In the middle of steps that are right.
  auto fails = [&](const Program &program) { return !failureOf(program, table).empty(); };
  ASSERT_TRUE(fails(program));
  EXPECT_THAT(print(shrink(program, fails), table),
              ::testing::MatchesRegex("  v2 = wrong.v[01], v[01].\n"));
}
