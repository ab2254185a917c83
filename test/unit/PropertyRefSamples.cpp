// SPDX-License-Identifier: Apache-2.0
//
// Samples with refs: programs that write cells where others thread values. Their
// derivatives are compared with differences of the interpreter, which knows refs
// as memory; batched and compiled they are values long before.
#include "test/unit/PropertySamples.h"

using namespace hjx::test;
using enum Domain;

void hjx::test::addRefSamples(std::vector<Sample> &s) {
  // Each form of an index.
  const std::string cell = R"(
    %r = hjx.ref_new %x : (tensor<3x4xf64>) -> !hjx.ref<tensor<3x4xf64>>
    )";
  auto access = [&](const char *op, const std::string &arguments, const std::string &body, std::vector<Domain> domains = {}) {
    s.push_back(Sample{op, "%x: tensor<3x4xf64>, " + arguments, cell + body}.from(domains));
  };
  const std::string frozen = "\n    hjx.ref_freeze %r : (!hjx.ref<tensor<3x4xf64>>) -> tensor<3x4xf64>";
  access("hjx.ref_get", "%i: tensor<i32>", "hjx.ref_get %r[%i, 0:4:2] : (!hjx.ref<tensor<3x4xf64>>, tensor<i32>) -> tensor<2xf64>", {Any, Index});
  access("hjx.ref_get", "%i: tensor<2xi32>", "hjx.ref_get %r[:, %i] : (!hjx.ref<tensor<3x4xf64>>, tensor<2xi32>) -> tensor<3x2xf64>", {Any, Index});
  access("hjx.ref_swap", "%v: tensor<4xf64>", R"(%o = hjx.ref_swap %r[1, :], %v : (!hjx.ref<tensor<3x4xf64>>, tensor<4xf64>) -> tensor<4xf64>
    %p = hjx.mul %o, %v : tensor<4xf64>
    hjx.ref_swap %r[2, :], %p : (!hjx.ref<tensor<3x4xf64>>, tensor<4xf64>) -> tensor<4xf64>)");
  access("hjx.ref_swap", "%i: tensor<i32>, %v: tensor<3x2xf64>", "%o = hjx.ref_swap %r[:, %i +: 2], %v : (!hjx.ref<tensor<3x4xf64>>, tensor<i32>, tensor<3x2xf64>) -> tensor<3x2xf64>" + frozen, {Any, Index});
  access("hjx.ref_add", "%v: tensor<2x2xf64>", "hjx.ref_add %r[0:3:2, 1:4:2], %v : (!hjx.ref<tensor<3x4xf64>>, tensor<2x2xf64>) -> ()" + frozen);
  access("hjx.ref_add", "%i: tensor<3xi32>, %v: tensor<3x4xf64>", R"(hjx.ref_add %r[%i, :], %v : (!hjx.ref<tensor<3x4xf64>>, tensor<3xi32>, tensor<3x4xf64>) -> ()
    hjx.ref_add %r, %v : (!hjx.ref<tensor<3x4xf64>>, tensor<3x4xf64>) -> ())" + frozen, {Any, Index});
  s.push_back({"hjx.ref_new", "%a: tensor<i32>", "hjx.ref_new %a : (tensor<i32>) -> !hjx.ref<tensor<i32>>\n"
                                                 "%r = hjx.ref_new %a : (tensor<i32>) -> !hjx.ref<tensor<i32>>\n"
                                                 "hjx.ref_add %r, %a : (!hjx.ref<tensor<i32>>, tensor<i32>) -> ()\n"
                                                 "hjx.ref_freeze %r : (!hjx.ref<tensor<i32>>) -> tensor<i32>"});
  s.push_back({"hjx.ref_empty", "%a: tensor<2xf64>", "%r = hjx.ref_empty : !hjx.ref<tensor<2xf64>>\n"
                                                     "%o = hjx.ref_swap %r, %a : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> tensor<2xf64>\n"
                                                     "hjx.ref_get %r[1] : (!hjx.ref<tensor<2xf64>>) -> tensor<f64>"});

  // A loop over cells: a written constant, a read one, and slices, forwards and backwards.
  for (const char *reverse : {"", " reverse"})
    s.push_back({"hjx.ref_freeze", "%w: tensor<2xf64>, %c: tensor<2xf64>, %x: tensor<3x2xf64>", R"(
    %k = hjx.ref_new %w : (tensor<2xf64>) -> !hjx.ref<tensor<2xf64>>
    %a = hjx.ref_new %c : (tensor<2xf64>) -> !hjx.ref<tensor<2xf64>>
    %r = hjx.ref_new %x : (tensor<3x2xf64>) -> !hjx.ref<tensor<3x2xf64>>
    hjx.scan consts(%a, %k) inits() xs(%r) length = 3)" + std::string(reverse) +
                                       R"( : (!hjx.ref<tensor<2xf64>>, !hjx.ref<tensor<2xf64>>, !hjx.ref<tensor<3x2xf64>>) -> () {
    ^bb0(%d: !hjx.ref<tensor<2xf64>>, %q: !hjx.ref<tensor<2xf64>>, %e: !hjx.ref<tensor<2xf64>>):
      %0 = hjx.ref_get %d : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
      %1 = hjx.ref_get %q : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
      %2 = hjx.ref_get %e : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
      %3 = hjx.mul %0, %1 : tensor<2xf64>
      %4 = hjx.sin %3 : tensor<2xf64>
      %5 = hjx.mul %4, %2 : tensor<2xf64>
      hjx.ref_add %d, %5 : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> ()
      %6 = hjx.ref_get %d[0] : (!hjx.ref<tensor<2xf64>>) -> tensor<f64>
      hjx.ref_add %e[1], %6 : (!hjx.ref<tensor<2xf64>>, tensor<f64>) -> ()
      hjx.yield
    }
    %last = hjx.ref_get %a : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
    hjx.ref_add %r[0, :], %last : (!hjx.ref<tensor<3x2xf64>>, tensor<2xf64>) -> ()
    hjx.ref_freeze %r : (!hjx.ref<tensor<3x2xf64>>) -> tensor<3x2xf64>)"});

  // A branch, mapped or not, that writes in one case only.
  s.push_back({"hjx.ref_get", "%p: tensor<i1>, %x: tensor<2xf64>, %y: tensor<2xf64>", R"(
    %r = hjx.ref_new %x : (tensor<2xf64>) -> !hjx.ref<tensor<2xf64>>
    %v = hjx.cond %p, inputs(%r, %y) : (tensor<i1>, !hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> tensor<2xf64> {
    ^bb0(%a: !hjx.ref<tensor<2xf64>>, %b: tensor<2xf64>):
      hjx.yield %b : tensor<2xf64>
    }, {
    ^bb0(%a: !hjx.ref<tensor<2xf64>>, %b: tensor<2xf64>):
      %0 = hjx.ref_swap %a, %b : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> tensor<2xf64>
      %1 = hjx.sin %0 : tensor<2xf64>
      hjx.ref_add %a, %1 : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> ()
      hjx.yield %0 : tensor<2xf64>
    }
    hjx.ref_add %r, %v : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> ()
    hjx.ref_get %r : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>)"});

  // A while loop whose condition reads what its body counts; mapped, its elements end at different times.
  s.push_back({"hjx.ref_get", "%n: tensor<i32>, %k: tensor<2xf64>, %c: tensor<2xf64>", R"(
    %zero = hjx.constant dense<0> : tensor<i32>
    %i = hjx.ref_new %zero : (tensor<i32>) -> !hjx.ref<tensor<i32>>
    %r = hjx.ref_new %c : (tensor<2xf64>) -> !hjx.ref<tensor<2xf64>>
    hjx.while cond_consts(%n, %i) body_consts(%i, %r, %k) inits() max_trip = 4 : (tensor<i32>, !hjx.ref<tensor<i32>>, !hjx.ref<tensor<i32>>, !hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> () cond {
    ^bb0(%limit: tensor<i32>, %j: !hjx.ref<tensor<i32>>):
      %v = hjx.ref_get %j : (!hjx.ref<tensor<i32>>) -> tensor<i32>
      %p = hjx.compare lt, %v, %limit : tensor<i32> -> tensor<i1>
      hjx.yield %p : tensor<i1>
    } body {
    ^bb0(%j: !hjx.ref<tensor<i32>>, %d: !hjx.ref<tensor<2xf64>>, %q: tensor<2xf64>):
      %one = hjx.constant dense<1> : tensor<i32>
      hjx.ref_add %j, %one : (!hjx.ref<tensor<i32>>, tensor<i32>) -> ()
      %0 = hjx.ref_get %d : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
      %1 = hjx.sin %0 : tensor<2xf64>
      %2 = hjx.mul %1, %q : tensor<2xf64>
      %3 = hjx.ref_swap %d, %2 : (!hjx.ref<tensor<2xf64>>, tensor<2xf64>) -> tensor<2xf64>
      hjx.yield
    }
    hjx.ref_get %r : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>)"});

  // Calls and their relatives that get a cell: they read, write, and return.
  const std::string callee = R"(func.func private @g(%r: !hjx.ref<tensor<3xf64>>, %x: tensor<3xf64>) -> tensor<f64> {
    %0 = hjx.ref_get %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
    %1 = hjx.sin %x : tensor<3xf64>
    %2 = hjx.mul %0, %1 : tensor<3xf64>
    hjx.ref_add %r, %2 : (!hjx.ref<tensor<3xf64>>, tensor<3xf64>) -> ()
    %own = hjx.ref_new %2 : (tensor<3xf64>) -> !hjx.ref<tensor<3xf64>>
    hjx.ref_add %own[0:2], %old : (!hjx.ref<tensor<3xf64>>, tensor<2xf64>) -> ()
    %3 = hjx.ref_freeze %own : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
    %4 = hjx.reduce_sum %3 axes = [0] : tensor<3xf64> -> tensor<f64>
    return %4 : tensor<f64>
  })";
  std::string defined = callee;
  const std::string old = "%old = hjx.slice %x start = [1] limit = [3] strides = [1] : tensor<3xf64> -> tensor<2xf64>\n    ";
  defined.insert(defined.find("%own = "), old);
  for (const char *call : {"func.call @g(%r, %x)", "hjx.checkpoint @g(%r, %x)"})
    s.push_back(Sample{"hjx.ref_get", "%c: tensor<3xf64>, %x: tensor<3xf64>", R"(
    %r = hjx.ref_new %c : (tensor<3xf64>) -> !hjx.ref<tensor<3xf64>>
    %a = )" + std::string(call) + R"( : (!hjx.ref<tensor<3xf64>>, tensor<3xf64>) -> tensor<f64>
    hjx.ref_add %r[2], %a : (!hjx.ref<tensor<3xf64>>, tensor<f64>) -> ()
    %b = )" + std::string(call) + R"( : (!hjx.ref<tensor<3xf64>>, tensor<3xf64>) -> tensor<f64>
    hjx.ref_add %r[1], %b : (!hjx.ref<tensor<3xf64>>, tensor<f64>) -> ()
    hjx.ref_get %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>)"}
                    .with(defined));

  // A rule of the user's that reads a cell, and says what its derivative is.
  s.push_back(Sample{"hjx.ref_get", "%c: tensor<3xf64>, %x: tensor<3xf64>", R"(
    %r = hjx.ref_new %c : (tensor<3xf64>) -> !hjx.ref<tensor<3xf64>>
    %a = hjx.custom_vjp @h(%r, %x) fwd = @fwd bwd = @bwd : (!hjx.ref<tensor<3xf64>>, tensor<3xf64>) -> tensor<3xf64>
    hjx.ref_add %r, %a : (!hjx.ref<tensor<3xf64>>, tensor<3xf64>) -> ()
    hjx.ref_get %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>)"}
                  .with(R"(func.func private @h(%r: !hjx.ref<tensor<3xf64>>, %x: tensor<3xf64>) -> tensor<3xf64> {
    %0 = hjx.ref_get %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
    %1 = hjx.mul %0, %x : tensor<3xf64>
    return %1 : tensor<3xf64>
  }
  func.func private @fwd(%r: !hjx.ref<tensor<3xf64>>, %x: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
    %0 = hjx.ref_get %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
    %1 = hjx.mul %0, %x : tensor<3xf64>
    return %1, %0, %x : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
  }
  func.func private @bwd(%r: !hjx.ref<tensor<3xf64>>, %v: tensor<3xf64>, %x: tensor<3xf64>, %g: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
    %0 = hjx.mul %g, %x : tensor<3xf64>
    %1 = hjx.mul %g, %v : tensor<3xf64>
    return %0, %1 : tensor<3xf64>, tensor<3xf64>
  })")
                  .reverseOnly("custom_vjp"));
}
