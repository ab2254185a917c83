// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of control flow refuse.

func.func @scan_c1_length(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.scan' op (C1) expected a length that is not negative, got -1}}
  hjx.scan consts() inits() xs() length = -1 : () -> () {
  }
  return
}

// -----

func.func @scan_c1_xs(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.scan' op (C1) expected xs with a leading dimension of 2, got 'tensor<3xf32>'}}
  hjx.scan consts() inits() xs(%x) length = 2 : (tensor<3xf32>) -> () {
  ^bb0(%xi: tensor<f32>):
  }
  return
}

// -----

func.func @scan_c2_count(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.scan' op (C2) body arguments: expected 1 values, got 0}}
  hjx.scan consts() inits() xs(%x) length = 3 : (tensor<3xf32>) -> () {
  }
  return
}

// -----

func.func @scan_c2_type(%w: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error @below {{'hjx.scan' op (C2) body arguments: expected 'tensor<f32>' at position 1, got 'tensor<3xf32>'}}
  hjx.scan consts(%w) inits() xs(%x) length = 3 : (tensor<f32>, tensor<3xf32>) -> () {
  ^bb0(%c: tensor<f32>, %xi: tensor<3xf32>):
  }
  return
}

// -----

func.func @scan_c3_count(%x: tensor<f32>) {
  // expected-error @below {{'hjx.scan' op (C3) body yields 0 values, expected at least the 1 carries}}
  %y = hjx.scan consts() inits(%x) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
  }
  return
}

// -----

func.func @scan_c3_type(%x: tensor<f32>) {
  // expected-error @below {{'hjx.scan' op (C3) carries yielded by the body: expected 'tensor<f32>' at position 0, got 'tensor<f64>'}}
  %y = hjx.scan consts() inits(%x) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    %d = hjx.convert %c : tensor<f32> -> tensor<f64>
    hjx.yield %d : tensor<f64>
  }
  return
}

// -----

func.func @scan_c4(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.scan' op (C4) results: expected 'tensor<3xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.scan consts() inits() xs(%x) length = 3 : (tensor<3xf32>) -> tensor<f32> {
  ^bb0(%xi: tensor<f32>):
    hjx.yield %xi : tensor<f32>
  }
  return
}

// -----

func.func @scan_is_isolated(%w: tensor<f32>, %x: tensor<3xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %y = hjx.scan consts() inits() xs(%x) length = 3 : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%xi: tensor<f32>):
    // expected-error @below {{'hjx.mul' op using value defined outside the region}}
    %z = hjx.mul %w, %xi : tensor<f32>
    hjx.yield %z : tensor<f32>
  }
  return
}

// -----

func.func @while_c1_arguments(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C1) cond arguments: expected 1 values, got 2}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    %p = hjx.compare lt, %i, %j : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    hjx.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @while_c1_predicate(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C1) cond must yield one tensor<i1>}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    hjx.yield %i : tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>):
    hjx.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @while_c2_arguments(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C2) body arguments: expected 'tensor<i32>' at position 0, got 'tensor<i64>'}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = hjx.compare lt, %i, %i : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>):
    hjx.yield %i : tensor<i64>
  }
  return
}

// -----

func.func @while_c2_yield(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C2) carries yielded by body: expected 1 values, got 0}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = hjx.compare lt, %i, %i : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    hjx.yield
  }
  return
}

// -----

func.func @while_c3(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C3) results: expected 'tensor<i32>' at position 0, got 'tensor<i64>'}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i64> cond {
  ^bb0(%i: tensor<i32>):
    %p = hjx.compare lt, %i, %i : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    hjx.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @while_c4(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op (C4) expected max_trip not to be negative, got -1}}
  %r = hjx.while cond_consts() body_consts() inits(%n) max_trip = -1 : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = hjx.compare lt, %i, %i : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    hjx.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @while_terminator(%n: tensor<i32>) {
  // expected-error @below {{'hjx.while' op body must end in hjx.yield}}
  %r = hjx.while cond_consts() body_consts() inits(%n) : (tensor<i32>) -> tensor<i32> cond {
  ^bb0(%i: tensor<i32>):
    %p = hjx.compare lt, %i, %i : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
  }
  return
}

// -----

func.func @cond_c1_scalar(%p: tensor<2xi1>) {
  // expected-error @below {{'hjx.cond' op (C1) expected a scalar index, got 'tensor<2xi1>'}}
  hjx.cond %p, inputs() : (tensor<2xi1>) -> () {
    hjx.yield
  }, {
    hjx.yield
  }
  return
}

// -----

func.func @cond_c1_bool(%p: tensor<i1>) {
  // expected-error @below {{'hjx.cond' op (C1) expected two branches for a bool index, got 1}}
  hjx.cond %p, inputs() : (tensor<i1>) -> () {
    hjx.yield
  }
  return
}

// -----

func.func @cond_c1_none(%i: tensor<i32>) {
  // expected-error @below {{'hjx.cond' op (C1) expected at least one branch, got 0}}
  "hjx.cond"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @cond_c2(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{'hjx.cond' op (C2) arguments of branch 1: expected 1 values, got 0}}
  hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> () {
  ^bb0(%a: tensor<f32>):
    hjx.yield
  }, {
    hjx.yield
  }
  return
}

// -----

func.func @cond_c3(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{'hjx.cond' op (C3) values yielded by branch 1: expected 'tensor<f32>' at position 0, got 'tensor<f64>'}}
  %y = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %b = hjx.convert %a : tensor<f32> -> tensor<f64>
    hjx.yield %b : tensor<f64>
  }
  return
}

// -----

func.func @cond_terminator(%p: tensor<i1>) {
  // expected-error @below {{'hjx.cond' op branch 0 must end in hjx.yield}}
  hjx.cond %p, inputs() : (tensor<i1>) -> () {
    %c = hjx.constant dense<1.0> : tensor<f32>
  }, {
    hjx.yield
  }
  return
}

// -----

func.func @opt_barrier_c1(%x: tensor<2xf32>) {
  // expected-error @+2 {{opt_barrier: expected 1 results, got 0}}
  // expected-error @below {{failed to infer returned types}}
  "hjx.opt_barrier"(%x) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @yield_has_a_parent(%x: tensor<2xf32>) {
  // expected-error @below {{'hjx.yield' op expects parent op to be one of 'hjx.scan, hjx.while, hjx.cond'}}
  hjx.yield %x : tensor<2xf32>
}
