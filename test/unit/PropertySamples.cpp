// SPDX-License-Identifier: Apache-2.0
//
// The table of samples. Shapes are the smallest that tell axes apart. f64
// samples are differentiated and compared with differences; samples of other
// types are there for batching, evaluation and lowering.
#include "test/unit/PropertySamples.h"

using namespace hjx::test;
using enum Domain;

Sample Sample::from(std::vector<Domain> where) const {
  Sample sample = *this;
  sample.domains = std::move(where);
  return sample;
}

Sample Sample::with(std::string functions) const {
  Sample sample = *this;
  sample.callees = std::move(functions);
  return sample;
}

Sample Sample::forwardOnly(std::string refusal) const {
  Sample sample = *this;
  sample.noReverse = std::move(refusal);
  return sample;
}

Sample Sample::reverseOnly(std::string refusal) const {
  Sample sample = *this;
  sample.noForward = std::move(refusal);
  return sample;
}

std::string Sample::text() const {
  return callees + "\nfunc.func private @f(" + arguments + ") {\n" + body + "\nreturn\n}\n";
}

namespace {

using Samples = std::vector<Sample>;

/// "hjx.sin %a : tensor<2x3xf64>", on each type.
void addUnary(Samples &samples, const std::string &op, std::vector<std::string> types,
              Domain domain = Any, std::string attribute = "") {
  for (const std::string &type : types)
    samples.push_back(
        Sample{op, "%a: " + type, op + " " + attribute + "%a : " + type}.from({domain}));
}

void addBinary(Samples &samples, const std::string &op, std::vector<std::string> types,
               std::vector<Domain> domains = {}) {
  for (const std::string &type : types)
    samples.push_back(
        Sample{op, "%a: " + type + ", %b: " + type, op + " %a, %b : " + type}.from(domains));
}

void addElementwise(Samples &s) {
  const std::vector<std::string> floats = {"tensor<2x3xf64>", "tensor<f32>"};
  const std::vector<std::string> numbers = {"tensor<2x3xf64>", "tensor<f32>", "tensor<3xi32>",
                                            "tensor<2xui8>"};
  const std::vector<std::string> signedNumbers = {"tensor<2x3xf64>", "tensor<f32>",
                                                  "tensor<3xi32>"};
  const std::vector<std::string> integers = {"tensor<2x3xi32>", "tensor<2xui8>"};
  const std::vector<std::string> bits = {"tensor<2x3xi1>", "tensor<2xui8>"};
  const std::vector<std::string> anything = {"tensor<2x3xf64>", "tensor<f32>", "tensor<3xi32>",
                                             "tensor<2xi1>"};

  addUnary(s, "hjx.neg", numbers);
  for (const char *op : {"hjx.abs", "hjx.sign"})
    addUnary(s, op, signedNumbers);
  for (const char *op : {"hjx.floor", "hjx.ceil", "hjx.exp", "hjx.expm1", "hjx.sin", "hjx.cos",
                         "hjx.tan", "hjx.tanh", "hjx.erf", "hjx.logistic"})
    addUnary(s, op, floats);
  addUnary(s, "hjx.stop_gradient", floats);
  for (Sample &sample : s)
    sample.isStopped |= sample.op == "hjx.stop_gradient";
  addUnary(s, "hjx.round", floats, Any, "away_from_zero, ");
  addUnary(s, "hjx.round", floats, Any, "to_nearest_even, ");
  for (const char *op : {"hjx.sqrt", "hjx.rsqrt", "hjx.log", "hjx.log1p"})
    addUnary(s, op, floats, Positive);
  addUnary(s, "hjx.erf_inv", floats, Unit);
  addUnary(s, "hjx.not", bits);
  s.push_back({"hjx.is_finite", "%a: tensor<2x3xf64>",
               "hjx.is_finite %a : tensor<2x3xf64> -> tensor<2x3xi1>"});

  for (const char *op : {"hjx.add", "hjx.sub", "hjx.mul"})
    addBinary(s, op, numbers);
  // One value on both sides: its two contributions add up.
  s.push_back({"hjx.mul", "%a: tensor<2x3xf64>", "hjx.mul %a, %a : tensor<2x3xf64>"});
  addBinary(s, "hjx.div", floats, {Any, Positive});
  addBinary(s, "hjx.div", integers);
  addBinary(s, "hjx.rem", floats, {Any, Positive});
  addBinary(s, "hjx.rem", integers);
  addBinary(s, "hjx.max", anything);
  addBinary(s, "hjx.min", anything);
  addBinary(s, "hjx.pow", floats, {Positive, Any});
  for (const char *op : {"hjx.and", "hjx.or", "hjx.xor"})
    addBinary(s, op, bits);
  for (const char *op : {"hjx.shift_left", "hjx.shift_right_logical", "hjx.shift_right_arithmetic"})
    addBinary(s, op, integers);
  for (const char *direction : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const char *type : {"2x3xf64", "2x3xi32", "2x3xi1"})
      s.push_back({"hjx.compare", "%a: tensor<" + std::string(type) + ">, %b: tensor<" + type + ">",
                   "hjx.compare " + std::string(direction) + ", %a, %b : tensor<" + type +
                       "> -> tensor<2x3xi1>"});

  const std::string two = ", %a: tensor<2x3xf64>, %b: tensor<2x3xf64>",
                    select = "hjx.select_n %p, %a, %b";
  const std::string twoTypes = ", tensor<2x3xf64>, tensor<2x3xf64>", to = ") -> tensor<2x3xf64>";
  s.push_back(
      {"hjx.select_n", "%p: tensor<2x3xi1>" + two, select + " : (tensor<2x3xi1>" + twoTypes + to});
  s.push_back({"hjx.select_n", "%p: tensor<i1>" + two, select + " : (tensor<i1>" + twoTypes + to});
  s.push_back({"hjx.select_n", "%p: tensor<2x3xi32>" + two,
               select + ", %a : (tensor<2x3xi32>" + twoTypes + ", tensor<2x3xf64>" + to});
  s.push_back({"hjx.select_n", "%p: tensor<i32>" + two,
               select + ", %b : (tensor<i32>" + twoTypes + ", tensor<2x3xf64>" + to});
  s.push_back(
      {"hjx.clamp", "%lo: tensor<f64>, %a: tensor<2x3xf64>, %hi: tensor<f64>",
       "hjx.clamp %lo, %a, %hi : (tensor<f64>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>"});
  s.push_back(
      {"hjx.clamp", "%lo: tensor<3xf64>, %a: tensor<3xf64>, %hi: tensor<f64>",
       "hjx.clamp %lo, %a, %hi : (tensor<3xf64>, tensor<3xf64>, tensor<f64>) -> tensor<3xf64>"});
  s.push_back(
      {"hjx.clamp", "%lo: tensor<i32>, %a: tensor<3xi32>, %hi: tensor<3xi32>",
       "hjx.clamp %lo, %a, %hi : (tensor<i32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>"});

  for (const char *pair :
       {"f64:f32", "f32:f64", "f32:bf16", "f64:i32", "i32:f64", "i1:f64", "f64:i1", "i32:ui8"}) {
    auto [from, into] = llvm::StringRef(pair).split(':');
    s.push_back(
        {"hjx.convert", "%a: tensor<2x3x" + from.str() + ">",
         "hjx.convert %a : tensor<2x3x" + from.str() + "> -> tensor<2x3x" + into.str() + ">"});
  }
  s.push_back({"hjx.bitcast", "%a: tensor<2x3xf32>",
               "hjx.bitcast %a : tensor<2x3xf32> -> tensor<2x3xui32>"});
  s.push_back({"hjx.bitcast", "%a: tensor<2x3xf64>",
               "hjx.bitcast %a : tensor<2x3xf64> -> tensor<2x3x2xui32>"});
  s.push_back({"hjx.bitcast", "%a: tensor<2x3x2xui16>",
               "hjx.bitcast %a : tensor<2x3x2xui16> -> tensor<2x3xi32>"});
}

void addContraction(Samples &s) {
  auto dot = [&](std::string lhs, std::string rhs, std::string how, std::string result) {
    s.push_back({"hjx.dot_general", "%a: " + lhs + ", %b: " + rhs,
                 "hjx.dot_general %a, %b " + how + " : (" + lhs + ", " + rhs + ") -> " + result});
  };
  dot("tensor<2x3xf64>", "tensor<3x4xf64>", "contracting = [1] x [0]", "tensor<2x4xf64>");
  dot("tensor<3x2xf64>", "tensor<4x3xf64>", "contracting = [0] x [1]", "tensor<2x4xf64>");
  dot("tensor<3xf64>", "tensor<3xf64>", "contracting = [0] x [0]", "tensor<f64>");
  dot("tensor<2xf64>", "tensor<3xf64>", "contracting = [] x []", "tensor<2x3xf64>");
  dot("tensor<5x2x3xf64>", "tensor<3x4x5xf64>", "batching = [0] x [2] contracting = [2] x [0]",
      "tensor<5x2x4xf64>");
  dot("tensor<2x5x3x4xf64>", "tensor<4x2x6x3xf64>",
      "batching = [0] x [1] contracting = [3, 2] x [0, 3]", "tensor<2x5x6xf64>");
  dot("tensor<2x3xf32>", "tensor<3x4xf32>", "contracting = [1] x [0] accum = f64",
      "tensor<2x4xf64>");
  dot("tensor<2x3xi8>", "tensor<3x4xi8>", "contracting = [1] x [0] accum = i32", "tensor<2x4xi32>");
}

void addReduction(Samples &s) {
  for (const char *op : {"hjx.reduce_sum", "hjx.reduce_prod", "hjx.reduce_max", "hjx.reduce_min"}) {
    std::string name = op;
    s.push_back(
        {name, "%a: tensor<2x3xf64>", name + " %a axes = [1] : tensor<2x3xf64> -> tensor<2xf64>"});
    s.push_back(
        {name, "%a: tensor<2x3xf64>", name + " %a axes = [0] : tensor<2x3xf64> -> tensor<3xf64>"});
    s.push_back({name, "%a: tensor<2x3x4xf64>",
                 name + " %a axes = [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>"});
    s.push_back(
        {name, "%a: tensor<2x3xi32>", name + " %a axes = [0, 1] : tensor<2x3xi32> -> tensor<i32>"});
  }
  s.push_back(Sample{"hjx.reduce_prod", "%a: tensor<4xf64>",
                     "hjx.reduce_prod %a axes = [0] : tensor<4xf64> -> tensor<f64>"}
                  .from({Zeros}));
  for (const char *op : {"hjx.reduce_and", "hjx.reduce_or"})
    for (const char *element : {"i1", "ui8"})
      s.push_back({op, "%a: tensor<2x3x" + std::string(element) + ">",
                   std::string(op) + " %a axes = [1] : tensor<2x3x" + element + "> -> tensor<2x" +
                       element + ">"});
  for (const char *op : {"hjx.argmax", "hjx.argmin"}) {
    s.push_back({op, "%a: tensor<2x3xf64>",
                 std::string(op) + " %a axis = 1 : tensor<2x3xf64> -> tensor<2xi32>"});
    s.push_back({op, "%a: tensor<2x3xi32>",
                 std::string(op) + " %a axis = 0 : tensor<2x3xi32> -> tensor<3xi64>"});
  }
  for (const char *reverse : {"", " reverse"}) {
    s.push_back({"hjx.cumsum", "%a: tensor<2x3xf64>",
                 "hjx.cumsum %a axis = 1" + std::string(reverse) + " : tensor<2x3xf64>"});
    s.push_back({"hjx.cumsum", "%a: tensor<2x3xi32>",
                 "hjx.cumsum %a axis = 0" + std::string(reverse) + " : tensor<2x3xi32>"});
  }
}

void addMovement(Samples &s) {
  s.push_back(
      {"hjx.constant", "%a: tensor<2xf64>",
       "%c = hjx.constant dense<[2.0, 3.0]> : tensor<2xf64>\nhjx.mul %a, %c : tensor<2xf64>"});
  s.push_back({"hjx.iota", "%a: tensor<2x3xf64>",
               "%i = hjx.iota dim = 1 : tensor<2x3xf64>\nhjx.mul %a, %i : tensor<2x3xf64>"});
  auto one = [&](std::string op, std::string from, std::string attributes, std::string into) {
    s.push_back({op, "%a: " + from, op + " %a " + attributes + " : " + from + " -> " + into});
  };
  one("hjx.broadcast_in_dim", "tensor<f64>", "shape = [2, 3] dims = []", "tensor<2x3xf64>");
  one("hjx.broadcast_in_dim", "tensor<3xf64>", "shape = [2, 3] dims = [1]", "tensor<2x3xf64>");
  one("hjx.broadcast_in_dim", "tensor<2x1xf64>", "shape = [2, 4, 3] dims = [0, 2]",
      "tensor<2x4x3xf64>");
  one("hjx.broadcast_in_dim", "tensor<2xi1>", "shape = [2, 3] dims = [0]", "tensor<2x3xi1>");
  one("hjx.broadcast_in_dim", "tensor<!hjx.key<threefry2x32>>", "shape = [2] dims = []",
      "tensor<2x!hjx.key<threefry2x32>>");
  one("hjx.reshape", "tensor<2x3xf64>", "shape = [6]", "tensor<6xf64>");
  one("hjx.reshape", "tensor<2x3xf64>", "shape = [3, 1, 2]", "tensor<3x1x2xf64>");
  one("hjx.reshape", "tensor<1xi32>", "shape = []", "tensor<i32>");
  one("hjx.transpose", "tensor<2x3x4xf64>", "permutation = [1, 2, 0]", "tensor<3x4x2xf64>");
  one("hjx.transpose", "tensor<2x3xi1>", "permutation = [1, 0]", "tensor<3x2xi1>");
  s.push_back({"hjx.rev", "%a: tensor<2x3xf64>", "hjx.rev %a dims = [1] : tensor<2x3xf64>"});
  s.push_back({"hjx.rev", "%a: tensor<2x3x4xi32>", "hjx.rev %a dims = [0, 2] : tensor<2x3x4xi32>"});
  s.push_back({"hjx.concatenate", "%a: tensor<2x3xf64>, %b: tensor<2x1xf64>, %c: tensor<2x2xf64>",
               "hjx.concatenate %a, %b, %c dim = 1 : (tensor<2x3xf64>, tensor<2x1xf64>, "
               "tensor<2x2xf64>) -> tensor<2x6xf64>"});
  s.push_back({"hjx.concatenate", "%a: tensor<2xi1>, %b: tensor<1xi1>",
               "hjx.concatenate %a, %b dim = 0 : (tensor<2xi1>, tensor<1xi1>) -> tensor<3xi1>"});
  auto pad = [&](std::string how, std::string into) {
    s.push_back({"hjx.pad", "%a: tensor<2x3xf64>, %v: tensor<f64>",
                 "hjx.pad %a, %v " + how + " : (tensor<2x3xf64>, tensor<f64>) -> " + into});
  };
  pad("low = [1, 0] high = [0, 2] interior = [0, 0]", "tensor<3x5xf64>");
  pad("low = [0, 1] high = [0, 0] interior = [1, 2]", "tensor<3x8xf64>");
  pad("low = [-1, 1] high = [0, -2] interior = [0, 1]", "tensor<1x4xf64>");
  one("hjx.slice", "tensor<4x6xf64>", "start = [1, 0] limit = [4, 6] strides = [2, 4]",
      "tensor<2x2xf64>");
  one("hjx.slice", "tensor<4x3xi32>", "start = [0, 1] limit = [4, 3] strides = [1, 1]",
      "tensor<4x2xi32>");
  for (const char *element : {"f64", "i32"}) {
    std::string x = "tensor<4x5x" + std::string(element) + ">",
                u = "tensor<2x3x" + std::string(element) + ">";
    s.push_back(Sample{"hjx.dynamic_slice", "%a: " + x + ", %i: tensor<i32>, %j: tensor<i32>",
                       "hjx.dynamic_slice %a[%i, %j] sizes = [2, 3] : (" + x +
                           ", tensor<i32>, tensor<i32>) -> " + u}
                    .from({Any, Index, Index}));
    s.push_back(Sample{"hjx.dynamic_update_slice",
                       "%a: " + x + ", %u: " + u + ", %i: tensor<i32>, %j: tensor<i32>",
                       "hjx.dynamic_update_slice %a, %u[%i, %j] : (" + x + ", " + u +
                           ", tensor<i32>, tensor<i32>) -> " + x}
                    .from({Any, Any, Index, Index}));
  }
}

void addIndexing(Samples &s) {
  for (const char *mode : {"0", "1", "2"}) {
    std::string tail = std::string(", mode = ") + mode + " : i32}";
    auto gather = [&](std::string x, std::string i, std::string attributes, std::string into) {
      s.push_back(
          Sample{"hjx.gather", "%a: " + x + ", %i: " + i,
                 "hjx.gather %a, %i {" + attributes + tail + " : (" + x + ", " + i + ") -> " + into}
              .from({Any, Index}));
    };
    gather("tensor<3x2xf64>", "tensor<4x1xi32>",
           "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = "
           "array<i64: 0>, slice_sizes = array<i64: 1, 2>",
           "tensor<4x2xf64>");
    gather("tensor<4x3xf64>", "tensor<2x2xi32>",
           "offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 1>, start_index_map = "
           "array<i64: 1, 0>, slice_sizes = array<i64: 2, 1>",
           "tensor<2x2xf64>");
    gather("tensor<2x4x3xf64>", "tensor<5x2x1xi32>",
           "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 1>, "
           "operand_batching_dims = array<i64: 0>, "
           "start_indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 1>, "
           "slice_sizes = array<i64: 1, 1, 3>",
           "tensor<5x3x2xf64>");
    gather("tensor<3x2xi32>", "tensor<2x1xi32>",
           "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = "
           "array<i64: 0>, slice_sizes = array<i64: 1, 2>",
           "tensor<2x2xi32>");
    for (const char *kind : {"set", "add"}) {
      auto scatter = [&](std::string x, std::string i, std::string u, std::string attributes) {
        s.push_back(Sample{"hjx.scatter", "%a: " + x + ", %i: " + i + ", %u: " + u,
                           "hjx.scatter " + std::string(kind) + ", %a, %i, %u {" + attributes +
                               tail + " : (" + x + ", " + i + ", " + u + ") -> " + x}
                        .from({Any, Index, Any}));
      };
      scatter("tensor<3x2xf64>", "tensor<4x1xi32>", "tensor<4x2xf64>",
              "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
              "scatter_dims_to_operand_dims = array<i64: 0>");
      scatter("tensor<4x3xf64>", "tensor<2x2xi32>", "tensor<2x2xf64>",
              "update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 1>, "
              "scatter_dims_to_operand_dims = array<i64: 1, 0>");
      scatter("tensor<2x4x3xf64>", "tensor<5x2x1xi32>", "tensor<5x3x2xf64>",
              "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 1>, "
              "operand_batching_dims = array<i64: 0>, "
              "scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = "
              "array<i64: 1>");
      scatter("tensor<3x2xi32>", "tensor<2x1xi32>", "tensor<2x2xi32>",
              "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
              "scatter_dims_to_operand_dims = array<i64: 0>");
    }
  }
  // Indices that the user vouches for: 0, 2 of 3 rows, never twice.
  s.push_back({"hjx.scatter", "%a: tensor<3x2xf64>, %u: tensor<2x2xf64>",
               "%i = hjx.constant dense<[[2], [0]]> : tensor<2x1xi32>\n"
               "hjx.scatter set, %a, %i, %u {update_window_dims = array<i64: 1>, "
               "inserted_window_dims = array<i64: 0>, "
               "scatter_dims_to_operand_dims = array<i64: 0>, unique_indices} : (tensor<3x2xf64>, "
               "tensor<2x1xi32>, tensor<2x2xf64>) -> tensor<3x2xf64>"});
}

void addRandom(Samples &s) {
  s.push_back({"hjx.threefry2x32",
               "%a: tensor<2xui32>, %b: tensor<2xui32>, %c: tensor<2xui32>, %d: tensor<2xui32>",
               "hjx.threefry2x32 %a, %b, %c, %d : tensor<2xui32>"});
  s.push_back({"hjx.random_wrap", "%a: tensor<3x2xui32>",
               "hjx.random_wrap %a : tensor<3x2xui32> -> tensor<3x!hjx.key<threefry2x32>>"});
  s.push_back({"hjx.random_unwrap", "%a: tensor<3x!hjx.key<threefry2x32>>",
               "hjx.random_unwrap %a : tensor<3x!hjx.key<threefry2x32>> -> tensor<3x2xui32>"});
  s.push_back({"hjx.random_seed", "%a: tensor<2xi64>",
               "hjx.random_seed %a : tensor<2xi64> -> tensor<2x!hjx.key<threefry2x32>>"});
  s.push_back({"hjx.random_split", "%a: tensor<2x!hjx.key<threefry2x32>>",
               "hjx.random_split %a shape = [3] : tensor<2x!hjx.key<threefry2x32>> -> "
               "tensor<2x3x!hjx.key<threefry2x32>>"});
  s.push_back({"hjx.random_fold_in", "%a: tensor<2x!hjx.key<threefry2x32>>, %b: tensor<2xui32>",
               "hjx.random_fold_in %a, %b : (tensor<2x!hjx.key<threefry2x32>>, tensor<2xui32>) -> "
               "tensor<2x!hjx.key<threefry2x32>>"});
  for (const char *width : {"8", "32", "64"})
    s.push_back({"hjx.random_bits", "%a: tensor<2x!hjx.key<threefry2x32>>",
                 "hjx.random_bits %a width = " + std::string(width) +
                     " shape = [3] : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x3xui" + width +
                     ">"});
}

void addHigherOrder(Samples &s) {
  const std::string g =
      R"(func.func private @g(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<f64>) {
    %s = hjx.sin %x : tensor<3xf64>
    %m = hjx.mul %s, %w : tensor<3xf64>
    %r = hjx.reduce_sum %m axes = [0] : tensor<3xf64> -> tensor<f64>
    return %m, %r : tensor<3xf64>, tensor<f64>
  })";
  s.push_back(Sample{
      "func.call", "%a: tensor<3xf64>, %b: tensor<3xf64>",
      "%u:2 = func.call @g(%a, %b) : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, "
      "tensor<f64>)\n"
      "func.call @g(%u#0, %a) : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<f64>)"}
                  .with(g));

  const std::string body =
      R"( : (tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
    ^bb0(%q: tensor<2xf64>, %d: tensor<2xf64>, %e: tensor<2xf64>):
      %m = hjx.mul %q, %d : tensor<2xf64>
      %t = hjx.sin %e : tensor<2xf64>
      %n = hjx.add %m, %t : tensor<2xf64>
      %y = hjx.mul %n, %e : tensor<2xf64>
      hjx.yield %n, %y : tensor<2xf64>, tensor<2xf64>
    })";
  for (const char *reverse : {"", " reverse"})
    s.push_back({"hjx.scan", "%k: tensor<2xf64>, %c: tensor<2xf64>, %x: tensor<3x2xf64>",
                 "hjx.scan consts(%k) inits(%c) xs(%x) length = 3" + std::string(reverse) + body});
  // A counter beside a float carry, an unread carry, and a const that is stacked.
  s.push_back({"hjx.scan", "%k: tensor<f64>, %c: tensor<f64>, %i: tensor<i32>", R"(
    hjx.scan consts(%k) inits(%i, %c, %c) xs() length = 3 : (tensor<f64>, tensor<i32>, tensor<f64>, tensor<f64>) -> (tensor<i32>, tensor<f64>, tensor<f64>, tensor<3xf64>) {
    ^bb0(%q: tensor<f64>, %n: tensor<i32>, %d: tensor<f64>, %u: tensor<f64>):
      %one = hjx.constant dense<1> : tensor<i32>
      %next = hjx.add %n, %one : tensor<i32>
      %f = hjx.convert %n : tensor<i32> -> tensor<f64>
      %m = hjx.mul %d, %q : tensor<f64>
      %e = hjx.add %m, %f : tensor<f64>
      hjx.yield %next, %e, %u, %q : tensor<i32>, tensor<f64>, tensor<f64>, tensor<f64>
    })"});
  // A scan in a scan: the inner one runs over rows.
  s.push_back({"hjx.scan", "%w: tensor<f64>, %x: tensor<2x3xf64>", R"(
    hjx.scan consts(%w) inits(%w) xs(%x) length = 2 : (tensor<f64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<f64>, tensor<2x3xf64>) {
    ^bb0(%q: tensor<f64>, %c: tensor<f64>, %row: tensor<3xf64>):
      %r:2 = hjx.scan consts(%q) inits(%c) xs(%row) length = 3 reverse : (tensor<f64>, tensor<f64>, tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
      ^bb0(%p: tensor<f64>, %d: tensor<f64>, %e: tensor<f64>):
        %m = hjx.mul %d, %p : tensor<f64>
        %n = hjx.mul %m, %e : tensor<f64>
        %t = hjx.cos %n : tensor<f64>
        hjx.yield %t, %m : tensor<f64>, tensor<f64>
      }
      hjx.yield %r#0, %r#1 : tensor<f64>, tensor<3xf64>
    })"});
  s.push_back({"hjx.scan", "%c: tensor<f64>, %x: tensor<0xf64>", R"(
    hjx.scan consts() inits(%c) xs(%x) length = 0 : (tensor<f64>, tensor<0xf64>) -> (tensor<f64>, tensor<0xf64>) {
    ^bb0(%d: tensor<f64>, %e: tensor<f64>):
      %m = hjx.mul %d, %e : tensor<f64>
      hjx.yield %m, %d : tensor<f64>, tensor<f64>
    })"});

  // Runs while the counter is below %n (often never, sometimes past max_trip).
  auto loop = [&](std::string maxTrip) {
    return R"(
    %zero = hjx.constant dense<0> : tensor<i32>
    hjx.while cond_consts(%n) body_consts(%k) inits(%zero, %c))" +
           maxTrip +
           R"( : (tensor<i32>, tensor<2xf64>, tensor<i32>, tensor<2xf64>) -> (tensor<i32>, tensor<2xf64>) cond {
    ^bb0(%limit: tensor<i32>, %i: tensor<i32>, %d: tensor<2xf64>):
      %p = hjx.compare lt, %i, %limit : tensor<i32> -> tensor<i1>
      hjx.yield %p : tensor<i1>
    } body {
    ^bb0(%q: tensor<2xf64>, %i: tensor<i32>, %d: tensor<2xf64>):
      %one = hjx.constant dense<1> : tensor<i32>
      %next = hjx.add %i, %one : tensor<i32>
      %t = hjx.sin %d : tensor<2xf64>
      %e = hjx.mul %t, %q : tensor<2xf64>
      hjx.yield %next, %e : tensor<i32>, tensor<2xf64>
    })";
  };
  const std::string loopArguments = "%n: tensor<i32>, %k: tensor<2xf64>, %c: tensor<2xf64>";
  s.push_back({"hjx.while", loopArguments, loop(" max_trip = 4")});
  s.push_back(Sample{"hjx.while", loopArguments, loop("")}.forwardOnly("max_trip"));

  s.push_back({"hjx.cond", "%p: tensor<i1>, %a: tensor<2xf64>, %b: tensor<2xf64>", R"(
    hjx.cond %p, inputs(%a, %b) : (tensor<i1>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<f64>) {
    ^bb0(%x: tensor<2xf64>, %y: tensor<2xf64>):
      %s = hjx.sin %x : tensor<2xf64>
      %m = hjx.mul %s, %y : tensor<2xf64>
      %r = hjx.reduce_sum %m axes = [0] : tensor<2xf64> -> tensor<f64>
      hjx.yield %m, %r : tensor<2xf64>, tensor<f64>
    }, {
    ^bb0(%x: tensor<2xf64>, %y: tensor<2xf64>):
      %c = hjx.constant dense<1.0> : tensor<f64>
      hjx.yield %y, %c : tensor<2xf64>, tensor<f64>
    })"});
  s.push_back(Sample{"hjx.cond", "%i: tensor<i32>, %a: tensor<f64>, %n: tensor<i32>", R"(
    hjx.cond %i, inputs(%a, %n) : (tensor<i32>, tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>) {
    ^bb0(%x: tensor<f64>, %m: tensor<i32>):
      %s = hjx.exp %x : tensor<f64>
      hjx.yield %s, %m : tensor<f64>, tensor<i32>
    }, {
    ^bb0(%x: tensor<f64>, %m: tensor<i32>):
      %s = hjx.mul %x, %x : tensor<f64>
      %q = hjx.mul %m, %m : tensor<i32>
      hjx.yield %s, %q : tensor<f64>, tensor<i32>
    }, {
    ^bb0(%x: tensor<f64>, %m: tensor<i32>):
      hjx.yield %x, %m : tensor<f64>, tensor<i32>
    })"}
                  .from({Index}));
  s.push_back({"hjx.opt_barrier", "%a: tensor<2x3xf64>, %b: tensor<3xi32>",
               "hjx.opt_barrier %a, %b : tensor<2x3xf64>, tensor<3xi32>"});
}

/// Requests as parts of a function: every property of the function is then one
/// of a transform of a transform.
void addRequests(Samples &s) {
  const std::string g =
      R"(func.func private @g(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<f64> {
    %s = hjx.sin %x : tensor<3xf64>
    %m = hjx.mul %s, %w : tensor<3xf64>
    %q = hjx.mul %m, %m : tensor<3xf64>
    %r = hjx.reduce_sum %q axes = [0] : tensor<3xf64> -> tensor<f64>
    return %r : tensor<f64>
  })";
  const std::string two = "%a: tensor<3xf64>, %b: tensor<3xf64>";
  s.push_back(Sample{"hjx.jvp", two,
                     "hjx.jvp @g(%a, %b) tangents(%b) active = [true, false] : (tensor<3xf64>, "
                     "tensor<3xf64>, tensor<3xf64>) -> (tensor<f64>, tensor<f64>)"}
                  .with(g));
  s.push_back(Sample{"hjx.vjp", two + ", %c: tensor<f64>",
                     "hjx.vjp @g(%a, %b) cotangents(%c) active = [true, true] : (tensor<3xf64>, "
                     "tensor<3xf64>, tensor<f64>) -> (tensor<f64>, tensor<3xf64>, tensor<3xf64>)"}
                  .with(g));
  const std::string linearize =
      "%l:2 = hjx.linearize @g(%a, %b) active = [true, false] : (tensor<3xf64>, tensor<3xf64>) -> "
      "(tensor<f64>, !hjx.linear<(tensor<3xf64>) -> tensor<f64>>)\n";
  const std::string apply = "hjx.apply_linear %l#1(%b) : (!hjx.linear<(tensor<3xf64>) -> "
                            "tensor<f64>>, tensor<3xf64>) -> tensor<f64>";
  s.push_back(Sample{"hjx.linearize", two, linearize + apply}.with(g));
  s.push_back(Sample{"hjx.apply_linear", two, linearize + "%t = " + apply + "\n" + apply}.with(g));
  s.push_back(Sample{"hjx.apply_transpose", two + ", %c: tensor<f64>",
                     linearize + "hjx.apply_transpose %l#1(%c) : (!hjx.linear<(tensor<3xf64>) -> "
                                 "tensor<f64>>, tensor<f64>) -> tensor<3xf64>"}
                  .with(g));
  s.push_back(Sample{"hjx.vmap", "%a: tensor<3x2xf64>, %b: tensor<3xf64>",
                     "hjx.vmap @g(%a, %b) in_axes = [1, -1] out_axes = [0] size = 2 : "
                     "(tensor<3x2xf64>, tensor<3xf64>) -> tensor<2xf64>"}
                  .with(g));
  for (const char *policy : {"nothing_saveable", "dots_saveable",
                             "dots_with_no_batch_dims_saveable", "everything_saveable"})
    s.push_back(Sample{"hjx.checkpoint", two,
                       "hjx.checkpoint @g(%a, %b) policy = " + std::string(policy) +
                           " : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>"}
                    .with(g));
  // The rules are the true derivatives, so that differences agree.
  s.push_back(Sample{"hjx.custom_jvp", "%a: tensor<3xf64>, %n: tensor<i32>",
                     "hjx.custom_jvp @h(%a, %n) rule = @h_jvp : (tensor<3xf64>, tensor<i32>) -> "
                     "(tensor<3xf64>, tensor<i32>)"}
                  .with(R"(
    func.func private @h(%x: tensor<3xf64>, %n: tensor<i32>) -> (tensor<3xf64>, tensor<i32>) {
      %y = hjx.sin %x : tensor<3xf64>
      return %y, %n : tensor<3xf64>, tensor<i32>
    }
    func.func private @h_jvp(%x: tensor<3xf64>, %n: tensor<i32>, %x_dot: tensor<3xf64>) -> (tensor<3xf64>, tensor<i32>, tensor<3xf64>) {
      %y = hjx.sin %x : tensor<3xf64>
      %c = hjx.cos %x : tensor<3xf64>
      %y_dot = hjx.mul %c, %x_dot : tensor<3xf64>
      return %y, %n, %y_dot : tensor<3xf64>, tensor<i32>, tensor<3xf64>
    })"));
  s.push_back(Sample{"hjx.custom_vjp", two,
                     "hjx.custom_vjp @h(%a, %b) fwd = @h_fwd bwd = @h_bwd : (tensor<3xf64>, "
                     "tensor<3xf64>) -> tensor<3xf64>"}
                  .with(R"(
    func.func private @h(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
      %s = hjx.sin %x : tensor<3xf64>
      %y = hjx.mul %s, %w : tensor<3xf64>
      return %y : tensor<3xf64>
    }
    func.func private @h_fwd(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
      %s = hjx.sin %x : tensor<3xf64>
      %y = hjx.mul %s, %w : tensor<3xf64>
      return %y, %x, %w : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
    }
    func.func private @h_bwd(%x: tensor<3xf64>, %w: tensor<3xf64>, %y_bar: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
      %c = hjx.cos %x : tensor<3xf64>
      %s = hjx.sin %x : tensor<3xf64>
      %cw = hjx.mul %c, %w : tensor<3xf64>
      %x_bar = hjx.mul %cw, %y_bar : tensor<3xf64>
      %w_bar = hjx.mul %s, %y_bar : tensor<3xf64>
      return %x_bar, %w_bar : tensor<3xf64>, tensor<3xf64>
    })")
                  .reverseOnly("custom_vjp"));
}

} // namespace

const std::vector<Sample> &hjx::test::allSamples() {
  static const Samples samples = [] {
    Samples s;
    addElementwise(s);
    addContraction(s);
    addReduction(s);
    addMovement(s);
    addIndexing(s);
    addRandom(s);
    addHigherOrder(s);
    addRequests(s);
    return s;
  }();
  return samples;
}

std::vector<Sample> hjx::test::samplesOf(llvm::StringRef op) {
  Samples found;
  for (const Sample &sample : allSamples())
    if (sample.op == op)
      found.push_back(sample);
  return found;
}
