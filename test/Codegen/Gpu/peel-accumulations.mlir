// RUN: hjx-opt %s --hjx-peel-accumulations | FileCheck %s
// The first round of a loop that only adds to large zeros stands before it.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @three
// CHECK: %[[ZEROS:.*]] = linalg.generic
// CHECK: %[[G:.*]] = tensor.extract_slice %{{.*}}[%c0, 0]
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[ZEROS]], %[[G]] :
// CHECK: scf.for %{{.*}} = %c1{{.*}} to %c3{{.*}} iter_args(%{{.*}} = %[[FIRST]])
func.func @three(%x: tensor<3x262144xf32>) -> tensor<262144xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<262144xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%zero : f32) outs(%e : tensor<262144xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<262144xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %f) -> (tensor<262144xf32>) {
    %g = tensor.extract_slice %x[%i, 0] [1, 262144] [1, 1] : tensor<3x262144xf32> to tensor<262144xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %g : tensor<262144xf32>, tensor<262144xf32>) outs(%e : tensor<262144xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
    } -> tensor<262144xf32>
    scf.yield %n : tensor<262144xf32>
  }
  return %r : tensor<262144xf32>
}

// The gradient may be widened where it is added.
// CHECK-LABEL: func.func @widened
// CHECK-NOT: scf.for
func.func @widened(%x: tensor<2x262144xbf16>) -> tensor<262144xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<262144xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%zero : f32) outs(%e : tensor<262144xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<262144xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %f) -> (tensor<262144xf32>) {
    %g = tensor.extract_slice %x[%i, 0] [1, 262144] [1, 1] : tensor<2x262144xbf16> to tensor<262144xbf16>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %g : tensor<262144xf32>, tensor<262144xbf16>) outs(%e : tensor<262144xf32>) {
      ^bb0(%a: f32, %b: bf16, %o: f32):
        %w = arith.extf %b : bf16 to f32
        %t = arith.addf %a, %w : f32
        linalg.yield %t : f32
    } -> tensor<262144xf32>
    scf.yield %n : tensor<262144xf32>
  }
  return %r : tensor<262144xf32>
}

// Of two rounds none is left as a loop; a small sum is not worth a second body, nor is a loop that reads it otherwise.
// CHECK-LABEL: func.func @two
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @small
// CHECK: scf.for %{{.*}} = %c0
// CHECK-LABEL: func.func @product
// CHECK: scf.for %{{.*}} = %c0
func.func @two(%x: tensor<2x262144xf32>) -> tensor<262144xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<262144xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%zero : f32) outs(%e : tensor<262144xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<262144xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %f) -> (tensor<262144xf32>) {
    %g = tensor.extract_slice %x[%i, 0] [1, 262144] [1, 1] : tensor<2x262144xf32> to tensor<262144xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %g : tensor<262144xf32>, tensor<262144xf32>) outs(%e : tensor<262144xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
    } -> tensor<262144xf32>
    scf.yield %n : tensor<262144xf32>
  }
  return %r : tensor<262144xf32>
}

func.func @small(%x: tensor<2x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%zero : f32) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %f) -> (tensor<8xf32>) {
    %g = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %g : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
    } -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @product(%x: tensor<2x262144xf32>) -> tensor<262144xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<262144xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%zero : f32) outs(%e : tensor<262144xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<262144xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %f) -> (tensor<262144xf32>) {
    %g = tensor.extract_slice %x[%i, 0] [1, 262144] [1, 1] : tensor<2x262144xf32> to tensor<262144xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %g : tensor<262144xf32>, tensor<262144xf32>) outs(%e : tensor<262144xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = arith.mulf %a, %b : f32
        linalg.yield %t : f32
    } -> tensor<262144xf32>
    scf.yield %n : tensor<262144xf32>
  }
  return %r : tensor<262144xf32>
}
