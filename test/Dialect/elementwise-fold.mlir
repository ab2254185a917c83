// RUN: hjx-opt %s --canonicalize --split-input-file | FileCheck %s
// Elementwise identities, each beside a twin that must stay.

// CHECK-LABEL: func.func @neg_neg
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @neg_neg(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = hjx.neg %x : tensor<2x3xf32>
  %1 = hjx.neg %0 : tensor<2x3xf32>
  // CHECK: %[[ABS:.*]] = hjx.abs %[[X]]
  // CHECK: %[[KEPT:.*]] = hjx.neg %[[ABS]]
  %2 = hjx.abs %x : tensor<2x3xf32>
  %3 = hjx.neg %2 : tensor<2x3xf32>
  // CHECK: return %[[X]], %[[KEPT]]
  return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @not_not
// CHECK-SAME: (%[[P:.*]]: tensor<2xi1>)
func.func @not_not(%p: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
  // CHECK: %[[KEPT:.*]] = hjx.not %[[P]]
  %0 = hjx.not %p : tensor<2xi1>
  %1 = hjx.not %0 : tensor<2xi1>
  // CHECK: return %[[P]], %[[KEPT]]
  return %1, %0 : tensor<2xi1>, tensor<2xi1>
}

// -----

// For floats the neutral element of addition is -0, not +0: -0 + +0 is +0.
// CHECK-LABEL: func.func @add_zero
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi32>)
func.func @add_zero(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %minus_zero = hjx.constant dense<-0.0> : tensor<2xf32>
  // CHECK-DAG: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<2xf32>
  %zero = hjx.constant dense<0.0> : tensor<2xf32>
  %izero = hjx.constant dense<0> : tensor<2xi32>
  // CHECK-DAG: %[[ONE:.*]] = hjx.constant dense<1> : tensor<2xi32>
  %ione = hjx.constant dense<1> : tensor<2xi32>
  %0 = hjx.add %minus_zero, %x : tensor<2xf32>
  // CHECK: %[[KEPT:.*]] = hjx.add %[[X]], %[[ZERO]] : tensor<2xf32>
  %1 = hjx.add %x, %zero : tensor<2xf32>
  %2 = hjx.add %i, %izero : tensor<2xi32>
  // CHECK: %[[IKEPT:.*]] = hjx.add %[[I]], %[[ONE]] : tensor<2xi32>
  %3 = hjx.add %i, %ione : tensor<2xi32>
  // CHECK: return %[[X]], %[[KEPT]], %[[I]], %[[IKEPT]]
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @sub_zero
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
func.func @sub_zero(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: %[[MINUS_ZERO:.*]] = hjx.constant dense<-0.000000e+00>
  %minus_zero = hjx.constant dense<-0.0> : tensor<2xf32>
  // CHECK-DAG: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00>
  %zero = hjx.constant dense<0.0> : tensor<2xf32>
  %0 = hjx.sub %x, %zero : tensor<2xf32>
  // CHECK: %[[KEPT0:.*]] = hjx.sub %[[X]], %[[MINUS_ZERO]]
  %1 = hjx.sub %x, %minus_zero : tensor<2xf32>
  // CHECK: %[[KEPT1:.*]] = hjx.sub %[[ZERO]], %[[X]]
  %2 = hjx.sub %zero, %x : tensor<2xf32>
  // CHECK: return %[[X]], %[[KEPT0]], %[[KEPT1]]
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// x * 0 is not 0 for NaN, infinities and signs.
// CHECK-LABEL: func.func @mul_one
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
func.func @mul_one(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = hjx.constant dense<1.0> : tensor<2xf32>
  // CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00>
  %zero = hjx.constant dense<0.0> : tensor<2xf32>
  %0 = hjx.mul %x, %one : tensor<2xf32>
  %1 = hjx.mul %one, %x : tensor<2xf32>
  // CHECK: %[[KEPT:.*]] = hjx.mul %[[X]], %[[ZERO]]
  %2 = hjx.mul %x, %zero : tensor<2xf32>
  // CHECK: return %[[X]], %[[X]], %[[KEPT]]
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @div_one
// CHECK-SAME: (%[[X:.*]]: tensor<2xui8>)
func.func @div_one(%x: tensor<2xui8>) -> (tensor<2xui8>, tensor<2xui8>) {
  // CHECK: %[[ONE:.*]] = hjx.constant dense<1> : tensor<2xui8>
  %one = hjx.constant dense<1> : tensor<2xui8>
  %0 = hjx.div %x, %one : tensor<2xui8>
  // CHECK: %[[KEPT:.*]] = hjx.div %[[ONE]], %[[X]]
  %1 = hjx.div %one, %x : tensor<2xui8>
  // CHECK: return %[[X]], %[[KEPT]]
  return %0, %1 : tensor<2xui8>, tensor<2xui8>
}

// -----

// CHECK-LABEL: func.func @and_or_same
// CHECK-SAME: (%[[X:.*]]: tensor<2xi8>, %[[Y:.*]]: tensor<2xi8>)
func.func @and_or_same(%x: tensor<2xi8>, %y: tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %0 = hjx.and %x, %x : tensor<2xi8>
  %1 = hjx.or %x, %x : tensor<2xi8>
  // CHECK: %[[KEPT:.*]] = hjx.and %[[X]], %[[Y]]
  %2 = hjx.and %x, %y : tensor<2xi8>
  // CHECK: return %[[X]], %[[X]], %[[KEPT]]
  return %0, %1, %2 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}

// -----

// Integer splats fold, wrapping at their width; floats and other constants stay.
// CHECK-LABEL: func.func @splats
func.func @splats() -> (tensor<2xui8>, tensor<2xui8>, tensor<2xui8>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xui8>) {
  %a = hjx.constant dense<200> : tensor<2xui8>
  %b = hjx.constant dense<100> : tensor<2xui8>
  %c = hjx.constant dense<[1, 2]> : tensor<2xui8>
  %t = hjx.constant dense<true> : tensor<2xi1>
  %f = hjx.constant dense<false> : tensor<2xi1>
  %x = hjx.constant dense<2.0> : tensor<2xf32>
  // CHECK-DAG: %[[ADD:.*]] = hjx.constant dense<44> : tensor<2xui8>
  %0 = hjx.add %a, %b : tensor<2xui8>
  // CHECK-DAG: %[[SUB:.*]] = hjx.constant dense<156> : tensor<2xui8>
  %1 = hjx.sub %b, %a : tensor<2xui8>
  // CHECK-DAG: %[[MUL:.*]] = hjx.constant dense<32> : tensor<2xui8>
  %2 = hjx.mul %a, %b : tensor<2xui8>
  // CHECK-DAG: %[[AND:.*]] = hjx.constant dense<false> : tensor<2xi1>
  %3 = hjx.and %t, %f : tensor<2xi1>
  // CHECK-DAG: %[[OR:.*]] = hjx.constant dense<true> : tensor<2xi1>
  %4 = hjx.or %t, %f : tensor<2xi1>
  // CHECK: %[[KEPT0:.*]] = hjx.add %{{.*}} : tensor<2xf32>
  %5 = hjx.add %x, %x : tensor<2xf32>
  // CHECK: %[[KEPT1:.*]] = hjx.add %{{.*}} : tensor<2xui8>
  %6 = hjx.add %a, %c : tensor<2xui8>
  // CHECK: return %[[ADD]], %[[SUB]], %[[MUL]], %[[AND]], %[[OR]], %[[KEPT0]], %[[KEPT1]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xui8>, tensor<2xui8>, tensor<2xui8>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xui8>
}

// -----

// CHECK-LABEL: func.func @select_n
// CHECK-SAME: (%[[P:.*]]: tensor<2xi1>, %[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<2xf32>)
func.func @select_n(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %t = hjx.constant dense<true> : tensor<2xi1>
  %f = hjx.constant dense<false> : tensor<i1>
  %many = hjx.constant dense<7> : tensor<i32>
  %few = hjx.constant dense<-7> : tensor<i32>
  %0 = hjx.select_n %t, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = hjx.select_n %f, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = hjx.select_n %many, %x, %x, %y : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = hjx.select_n %few, %x, %y, %y : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = hjx.select_n %p, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[KEPT:.*]] = hjx.select_n %[[P]], %[[X]], %[[Y]]
  %5 = hjx.select_n %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: return %[[Y]], %[[X]], %[[Y]], %[[X]], %[[X]], %[[KEPT]]
  return %0, %1, %2, %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @convert
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
func.func @convert(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = hjx.convert %x : tensor<2xf32> -> tensor<2xf32>
  // A round trip through a narrower type loses digits.
  // CHECK: %[[NARROW:.*]] = hjx.convert %[[X]] : tensor<2xf32> -> tensor<2xbf16>
  %1 = hjx.convert %x : tensor<2xf32> -> tensor<2xbf16>
  // CHECK: %[[KEPT:.*]] = hjx.convert %[[NARROW]] : tensor<2xbf16> -> tensor<2xf32>
  %2 = hjx.convert %1 : tensor<2xbf16> -> tensor<2xf32>
  // CHECK: return %[[X]], %[[KEPT]]
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}
