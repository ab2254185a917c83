// RUN: hjx-opt %s --hjx-join-pads | FileCheck %s
// Sums of disjoint padded parts become concatenations; other sums stay.

// CHECK-LABEL: func.func @gradient_of_slices
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<2x2xf32>, %[[C:.*]]: tensor<2x1xf32>)
// CHECK: %[[A0:.*]] = hjx.add %[[A]], %{{.*}}
// CHECK: %[[C0:.*]] = hjx.add %[[C]], %{{.*}}
// CHECK: %[[B0:.*]] = hjx.add %[[B]], %{{.*}}
// CHECK: %[[GAP:.*]] = hjx.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK: hjx.concatenate %[[A0]], %[[C0]], %[[B0]], %[[GAP]] dim = 1
// CHECK-NOT: hjx.pad
// CHECK: return
func.func @gradient_of_slices(%a: tensor<2x3xf32>, %b: tensor<2x2xf32>, %c: tensor<2x1xf32>) -> tensor<2x10xf32> {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %ap = hjx.pad %a, %zero low = [0, 0] high = [0, 7] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x10xf32>
  %bp = hjx.pad %b, %zero low = [0, 4] high = [0, 4] interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x10xf32>
  %cp = hjx.pad %c, %zero low = [0, 3] high = [0, 6] interior = [0, 0] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x10xf32>
  %s = hjx.add %ap, %bp : tensor<2x10xf32>
  %t = hjx.add %s, %cp : tensor<2x10xf32>
  return %t : tensor<2x10xf32>
}

// Integers have one zero.
// CHECK-LABEL: func.func @integers
// CHECK-SAME: (%[[A:.*]]: tensor<1xi32>, %[[B:.*]]: tensor<2xi32>)
// CHECK: hjx.concatenate %[[A]], %[[B]] dim = 0
func.func @integers(%a: tensor<1xi32>, %b: tensor<2xi32>) -> tensor<3xi32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  %ap = hjx.pad %a, %zero low = [0] high = [2] interior = [0] : (tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  %bp = hjx.pad %b, %zero low = [1] high = [0] interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<3xi32>
  %s = hjx.add %bp, %ap : tensor<3xi32>
  return %s : tensor<3xi32>
}

// CHECK-LABEL: func.func @overlapping_or_not_zero
// CHECK-COUNT-2: hjx.add
// CHECK-NOT: hjx.concatenate
func.func @overlapping_or_not_zero(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %minus = hjx.constant dense<-0.0> : tensor<f32>
  %ap = hjx.pad %a, %zero low = [0] high = [1] interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  %bp = hjx.pad %b, %zero low = [1] high = [0] interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  %s = hjx.add %ap, %bp : tensor<3xf32>
  %am = hjx.pad %a, %minus low = [0] high = [2] interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %bm = hjx.pad %b, %zero low = [2] high = [0] interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %t = hjx.add %am, %bm : tensor<4xf32>
  return %s, %t : tensor<3xf32>, tensor<4xf32>
}

// A partial sum that someone else needs stays a term of its own.
// CHECK-LABEL: func.func @shared_partial_sum
// CHECK: hjx.concatenate
// CHECK: hjx.add
// CHECK: return
func.func @shared_partial_sum(%a: tensor<1xf32>, %b: tensor<1xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %ap = hjx.pad %a, %zero low = [0] high = [2] interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<3xf32>
  %bp = hjx.pad %b, %zero low = [1] high = [1] interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<3xf32>
  %cp = hjx.pad %b, %zero low = [2] high = [0] interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<3xf32>
  %s = hjx.add %ap, %bp : tensor<3xf32>
  %t = hjx.add %s, %cp : tensor<3xf32>
  return %s, %t : tensor<3xf32>, tensor<3xf32>
}
