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

/// More positions than heads than features, other ones for queries, keys and values; with and without a batch.
void addAttention(Samples &s) {
  auto add = [&](std::string lead, std::string element, std::string settings) {
    auto type = [&](const char *shape) { return "tensor<" + lead + shape + "x" + element + ">"; };
    std::string query = type("3x2x2"), key = type("4x2x2"), value = type("4x2x3"), out = type("3x2x3"),
                sum = type("3x2");
    std::string all = " " + settings + " : (" + query + ", " + key + ", " + value;
    std::string arguments = "%a: " + query + ", %b: " + key + ", %c: " + value;
    s.push_back({"hjx.attention", arguments, "hjx.attention %a, %b, %c" + all + ") -> (" + out + ", " + sum + ")"});
    if (lead.empty() && settings != "scale = 0.5") // Eight operands: many ways to map them, and to differentiate.
      s.push_back({"hjx.attention_tangent",
                 arguments + ", %d: " + out + ", %e: " + sum + ", %f: " + query + ", %g: " + key + ", %h: " + value,
                 "hjx.attention_tangent %a, %b, %c out = %d, %e tangents = %f, %g, %h" + all + ", " + out + ", " + sum +
                     ", " + query + ", " + key + ", " + value + ") -> (" + out + ", " + sum + ")"});
    s.push_back({"hjx.attention_cotangent", arguments + ", %d: " + sum + ", %e: " + out + ", %f: " + sum,
                 "hjx.attention_cotangent %a, %b, %c logsumexp = %d cotangents = %e, %f" + all + ", " + sum + ", " + out +
                     ", " + sum + ") -> (" + query + ", " + key + ", " + value + ")"});
  };
  add("", "f64", "scale = 0.5");
  add("", "f64", "scale = -1.5 causal");
  add("2x1x", "f32", "scale = 0.5 causal");
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
    s.push_back({"hjx.cumsum", "%a: tensor<3xf64>",
                 "hjx.cumsum %a axis = 0" + std::string(reverse) + " : tensor<3xf64>"});
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

} // namespace

const std::vector<Sample> &hjx::test::allSamples() {
  static const Samples samples = [] {
    Samples s;
    addElementwise(s);
    addContraction(s);
  addAttention(s);
    addReduction(s);
    addMovement(s);
    addIndexing(s);
    addRandom(s);
    addHigherOrderSamples(s);
    addRefSamples(s);
    addRequestSamples(s);
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
