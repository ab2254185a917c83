// SPDX-License-Identifier: Apache-2.0
//
// The samples of control flow, calls and requests: small programs.
#include "test/unit/PropertySamples.h"

using namespace hjx::test;
using enum Domain;

void hjx::test::addHigherOrderSamples(std::vector<Sample> &s) {
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
void hjx::test::addRequestSamples(std::vector<Sample> &s) {
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
