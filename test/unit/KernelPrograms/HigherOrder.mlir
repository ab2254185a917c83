// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches: for KernelPrograms.h.

// ----- while_and_if
func.func @main(%x: tensor<33xf32>, %limit: tensor<i32>) -> (tensor<33xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %start = tensor.from_elements %c0 : tensor<i32>
  %r:2 = scf.while (%v = %x, %i = %start) : (tensor<33xf32>, tensor<i32>) -> (tensor<33xf32>, tensor<i32>) {
    %n = tensor.extract %i[] : tensor<i32>
    %l = tensor.extract %limit[] : tensor<i32>
    %c = arith.cmpi sle, %n, %l : i32
    scf.condition(%c) %v, %i : tensor<33xf32>, tensor<i32>
  } do {
  ^bb0(%v: tensor<33xf32>, %i: tensor<i32>):
    %n = tensor.extract %i[] : tensor<i32>
    %odd = arith.remsi %n, %c2 : i32
    %isOdd = arith.cmpi eq, %odd, %c1 : i32
    %w = scf.if %isOdd -> tensor<33xf32> {
      %e = tensor.empty() : tensor<33xf32>
      %s = linalg.add ins(%v, %v : tensor<33xf32>, tensor<33xf32>) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      scf.yield %s : tensor<33xf32>
    } else {
      %e = tensor.empty() : tensor<33xf32>
      %s = linalg.sub ins(%v, %x : tensor<33xf32>, tensor<33xf32>) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      scf.yield %s : tensor<33xf32>
    }
    %m = arith.addi %n, %c1 : i32
    %next = tensor.from_elements %m : tensor<i32>
    scf.yield %w, %next : tensor<33xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<33xf32>, tensor<i32>
}

// ----- swapping_loop
func.func @main(%a0: tensor<9xf32>, %b0: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<9xf32>, tensor<9xf32>) {
    %e = tensor.empty() : tensor<9xf32>
    %s = linalg.add ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %b, %s : tensor<9xf32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xf32>
}

// ----- value_carried_twice
func.func @main(%a0: tensor<9xf32>, %b0: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<9xf32>, tensor<9xf32>) {
    %e = tensor.empty() : tensor<9xf32>
    %s = linalg.add ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %s, %s : tensor<9xf32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xf32>
}

// ----- switch_of_three
func.func @main(%x: tensor<9xf32>, %which: tensor<4xi32>) -> tensor<4x9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %init = tensor.empty() : tensor<4x9xf32>
  %r = scf.for %n = %c0 to %c4 step %c1 iter_args(%acc = %init) -> tensor<4x9xf32> {
    %w = tensor.extract %which[%n] : tensor<4xi32>
    %i = arith.index_cast %w : i32 to index
    %v = scf.index_switch %i -> tensor<9xf32>
    case 0 {
      scf.yield %x : tensor<9xf32>
    }
    case 1 {
      %e = tensor.empty() : tensor<9xf32>
      %s = linalg.add ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
      scf.yield %s : tensor<9xf32>
    }
    default {
      %e = tensor.empty() : tensor<9xf32>
      %s = linalg.mul ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
      scf.yield %s : tensor<9xf32>
    }
    %next = tensor.insert_slice %v into %acc[%n, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<4x9xf32>
    scf.yield %next : tensor<4x9xf32>
  }
  return %r : tensor<4x9xf32>
}

// ----- choice_between_tensors
func.func @main(%p: tensor<i1>, %x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %c = tensor.extract %p[] : tensor<i1>
  %r = arith.select %c, %x, %y : tensor<5x7xf32>
  %s = arith.select %c, %y, %r : tensor<5x7xf32>
  return %r, %s : tensor<5x7xf32>, tensor<5x7xf32>
}

// ----- loop_that_drops_what_it_takes
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32>, %limit: tensor<i32>) -> (tensor<5xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<i32>
  %r:2 = scf.while (%a = %x, %old = %x, %n = %zero) : (tensor<5xf32>, tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>) {
    %va = tensor.extract %a[%c0] : tensor<5xf32>
    %vb = tensor.extract %old[%c0] : tensor<5xf32>
    %vn = tensor.extract %n[] : tensor<i32>
    %vl = tensor.extract %limit[] : tensor<i32>
    %less = arith.cmpi slt, %vn, %vl : i32
    %same = arith.cmpf oeq, %va, %vb : f32
    %go = arith.andi %less, %same : i1
    scf.condition(%go) %a, %n : tensor<5xf32>, tensor<i32>
  } do {
  ^bb0(%a: tensor<5xf32>, %n: tensor<i32>):
    %e = tensor.empty() : tensor<5xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) {
      ^bb0(%v: f32, %o: f32):
        %s = arith.addf %v, %v : f32
        linalg.yield %s : f32
    } -> tensor<5xf32>
    %vn = tensor.extract %n[] : tensor<i32>
    %vm = arith.addi %vn, %c1 : i32
    %e0 = tensor.empty() : tensor<i32>
    %m = linalg.fill ins(%vm : i32) outs(%e0 : tensor<i32>) -> tensor<i32>
    scf.yield %y, %a, %m : tensor<5xf32>, tensor<5xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<5xf32>, tensor<i32>
}
