// RUN: hjx-opt %s --canonicalize --split-input-file | FileCheck %s
// Scans lose what nobody reads, conds with a known index become their branch;
// each beside a twin that must stay.

// A const, an xs and a ys that nobody reads go.
// CHECK-LABEL: func.func @scan_unused
// CHECK-SAME: (%[[W:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>, %[[Z:.*]]: tensor<3xf64>)
func.func @scan_unused(%w: tensor<f32>, %x: tensor<3xf32>, %z: tensor<3xf64>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK: %[[R:.*]]:2 = hjx.scan consts() inits(%[[W]]) xs(%[[X]]) length = 3 : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[S:.*]] = hjx.add %[[C]], %[[XI]]
  // CHECK-NEXT: %[[N:.*]] = hjx.neg %[[XI]]
  // CHECK-NEXT: hjx.yield %[[S]], %[[N]]
  %r:3 = hjx.scan consts(%w) inits(%w) xs(%x, %z) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3xf64>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %c: tensor<f32>, %xi: tensor<f32>, %zi: tensor<f64>):
    %s = hjx.add %c, %xi : tensor<f32>
    %n = hjx.neg %xi : tensor<f32>
    hjx.yield %s, %n, %s : tensor<f32>, tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<f32>, tensor<3xf32>
}

// -----

// A carry that never changes is a const.
// CHECK-LABEL: func.func @scan_invariant_carry
// CHECK-SAME: (%[[W:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>)
func.func @scan_invariant_carry(%w: tensor<f32>, %x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK: %[[YS:.*]] = hjx.scan consts(%[[W]]) inits() xs(%[[X]]) length = 3 reverse : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: ^bb0(%[[K:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[M:.*]] = hjx.mul %[[K]], %[[XI]]
  // CHECK-NEXT: hjx.yield %[[M]] : tensor<f32>
  %c, %ys = hjx.scan consts() inits(%w) xs(%x) length = 3 reverse : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %xi: tensor<f32>):
    %m = hjx.mul %k, %xi : tensor<f32>
    hjx.yield %k, %m : tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[W]], %[[YS]]
  return %c, %ys : tensor<f32>, tensor<3xf32>
}

// -----

// A carry that nobody reads but itself is dead, with the ops that feed it.
// CHECK-LABEL: func.func @scan_dead_carry
// CHECK-SAME: (%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>)
func.func @scan_dead_carry(%a: tensor<f32>, %b: tensor<f32>, %x: tensor<3xf32>) -> tensor<f32> {
  // CHECK: %[[R:.*]] = hjx.scan consts() inits(%[[B]]) xs(%[[X]]) length = 3 : (tensor<f32>, tensor<3xf32>) -> tensor<f32> {
  // CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[S:.*]] = hjx.add %[[C]], %[[XI]]
  // CHECK-NEXT: hjx.yield %[[S]] : tensor<f32>
  %dead, %live = hjx.scan consts() inits(%a, %b) xs(%x) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%d: tensor<f32>, %c: tensor<f32>, %xi: tensor<f32>):
    %e = hjx.sin %d : tensor<f32>
    %f = hjx.add %e, %xi : tensor<f32>
    %s = hjx.add %c, %xi : tensor<f32>
    hjx.yield %f, %s : tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[R]]
  return %live : tensor<f32>
}

// -----

// The twin: the result of the first carry is unused, but the second reads it.
// CHECK-LABEL: func.func @scan_carry_read_by_another
func.func @scan_carry_read_by_another(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[R:.*]]:2 = hjx.scan consts() inits(%{{.*}}, %{{.*}}) xs() length = 3 : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: ^bb0(%[[D:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[E:.*]] = hjx.sin %[[D]]
  // CHECK-NEXT: %[[S:.*]] = hjx.add %[[C]], %[[E]]
  // CHECK-NEXT: hjx.yield %[[E]], %[[S]]
  %unread, %live = hjx.scan consts() inits(%a, %b) xs() length = 3 : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%d: tensor<f32>, %c: tensor<f32>):
    %e = hjx.sin %d : tensor<f32>
    %s = hjx.add %c, %e : tensor<f32>
    hjx.yield %e, %s : tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[R]]#1
  return %live : tensor<f32>
}

// -----

// Two carries that swap do change, though each is yielded as it came in.
// CHECK-LABEL: func.func @scan_swapped_carries
func.func @scan_swapped_carries(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: hjx.scan consts() inits(%{{.*}}, %{{.*}}) xs() length = 3
  // CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>):
  // CHECK-NEXT: hjx.yield %[[D]], %[[C]]
  %r:2 = hjx.scan consts() inits(%a, %b) xs() length = 3 : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%c: tensor<f32>, %d: tensor<f32>):
    hjx.yield %d, %c : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// -----

// An invariant carry that is also a ys is repeated outside.
// CHECK-LABEL: func.func @scan_invariant_carry_stacked
// CHECK-SAME: (%[[W:.*]]: tensor<f32>)
func.func @scan_invariant_carry_stacked(%w: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK-NOT: hjx.scan
  // CHECK: %[[YS:.*]] = hjx.broadcast_in_dim %[[W]] shape = [3] dims = []
  %c, %ys = hjx.scan consts() inits(%w) xs() length = 3 : (tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>):
    hjx.yield %k, %k : tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[W]], %[[YS]]
  return %c, %ys : tensor<f32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @cond_known
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
func.func @cond_known(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %true = hjx.constant dense<true> : tensor<i1>
  %nine = hjx.constant dense<9> : tensor<i32>
  // CHECK-NOT: hjx.cond
  // CHECK: %[[N:.*]] = hjx.neg %[[X]]
  %0 = hjx.cond %true, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.neg %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }
  // CHECK: %[[S:.*]] = hjx.sin %[[X]]
  %1 = hjx.cond %nine, inputs(%x) : (tensor<i32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.cos %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.sin %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }
  %2 = hjx.cond %nine, inputs(%x) : (tensor<i32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }
  // CHECK: return %[[N]], %[[S]], %[[X]]
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @cond_unknown
func.func @cond_unknown(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: hjx.cond
  %0 = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.neg %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// No clean-up looks through a barrier.
// CHECK-LABEL: func.func @opt_barrier
// CHECK: hjx.opt_barrier
func.func @opt_barrier(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = hjx.opt_barrier %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Equal consts, xs and ys are one; a ys that is an xs as it came is that xs; a
// constant passed in is seen inside.
// CHECK-LABEL: func.func @scan_equal_parts
// CHECK-SAME: (%[[W:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>)
func.func @scan_equal_parts(%w: tensor<f32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK: %[[YS:.*]] = hjx.scan consts(%[[W]]) inits() xs(%[[X]]) length = 3 : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: ^bb0(%[[K:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[TWO:.*]] = hjx.constant dense<2.0
  // CHECK-NEXT: %[[M:.*]] = hjx.mul %[[K]], %[[XI]]
  // CHECK-NEXT: %[[N:.*]] = hjx.mul %[[M]], %[[TWO]]
  // CHECK-NEXT: %[[P:.*]] = hjx.add %[[N]], %[[K]]
  // CHECK-NEXT: %[[Q:.*]] = hjx.add %[[P]], %[[XI]]
  // CHECK-NEXT: hjx.yield %[[Q]] : tensor<f32>
  %two = hjx.constant dense<2.0> : tensor<f32>
  %r:3 = hjx.scan consts(%w, %two, %w) inits() xs(%x, %x) length = 3 : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %t: tensor<f32>, %k2: tensor<f32>, %xi: tensor<f32>, %xj: tensor<f32>):
    %m = hjx.mul %k, %xi : tensor<f32>
    %n = hjx.mul %m, %t : tensor<f32>
    %p = hjx.add %n, %k2 : tensor<f32>
    %q = hjx.add %p, %xj : tensor<f32>
    hjx.yield %q, %xj, %q : tensor<f32>, tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[YS]], %[[X]], %[[YS]]
  return %r#0, %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Two carries that feed each other and nothing else go together.
// CHECK-LABEL: func.func @scan_dead_cycle
func.func @scan_dead_cycle(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // CHECK: hjx.scan consts() inits(%{{.*}}) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
  %r:3 = hjx.scan consts() inits(%a, %b, %a) xs() length = 3 : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%c: tensor<f32>, %d: tensor<f32>, %live: tensor<f32>):
    %n = hjx.neg %d : tensor<f32>
    %s = hjx.sin %live : tensor<f32>
    hjx.yield %n, %c, %s : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %r#2 : tensor<f32>
}

// -----

// A while loses a carry that neither its predicate nor a used result needs.
// CHECK-LABEL: func.func @while_dead_carry
func.func @while_dead_carry(%n: tensor<i32>, %x: tensor<f32>, %k: tensor<f32>) -> tensor<f32> {
  // CHECK: hjx.while cond_consts(%{{.*}}) body_consts() inits(%{{.*}}, %{{.*}}) : (tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) cond {
  // CHECK-NOT: hjx.exp
  %zero = hjx.constant dense<0> : tensor<i32>
  %i, %dead, %y = hjx.while cond_consts(%n, %n) body_consts(%k) inits(%zero, %x, %x) : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<i32>, tensor<f32>, tensor<f32>) cond {
  ^bb0(%l: tensor<i32>, %unused: tensor<i32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>):
    %p = hjx.compare lt, %c, %l : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%w: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %next = hjx.add %c, %one : tensor<i32>
    %f = hjx.exp %d : tensor<f32>
    %g = hjx.mul %f, %w : tensor<f32>
    %s = hjx.sin %e : tensor<f32>
    hjx.yield %next, %g, %s : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// A cond keeps the results and inputs that matter; a result that every branch
// takes from one input is that input. The twin takes it from two and stays.
// CHECK-LABEL: func.func @cond_parts
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<f32>, %[[W:.*]]: tensor<f32>)
func.func @cond_parts(%p: tensor<i1>, %x: tensor<f32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[Y:.*]] = hjx.cond %[[P]], inputs(%[[X]]) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  // CHECK-NOT: hjx.exp
  %r:3 = hjx.cond %p, inputs(%x, %w, %x) : (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    %n = hjx.neg %c : tensor<f32>
    %e = hjx.exp %b : tensor<f32>
    hjx.yield %n, %b, %e : tensor<f32>, tensor<f32>, tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    hjx.yield %a, %b, %a : tensor<f32>, tensor<f32>, tensor<f32>
  }
  // CHECK: return %[[Y]], %[[W]]
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @cond_parts_twin
// CHECK: hjx.cond %{{.*}}, inputs(%{{.*}}, %{{.*}})
func.func @cond_parts_twin(%p: tensor<i1>, %x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %r = hjx.cond %p, inputs(%x, %w) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    hjx.yield %b : tensor<f32>
  }
  return %r : tensor<f32>
}
