// RUN: hjx-opt %s | hjx-opt | FileCheck %s

// CHECK-LABEL: func.func @cells
func.func @cells(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: %[[R:.*]] = hjx.ref_new %{{.*}} : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
  %r = hjx.ref_new %x : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
  // CHECK: hjx.ref_empty : !hjx.ref<tensor<2xi32>>
  %e = hjx.ref_empty : !hjx.ref<tensor<2xi32>>
  // CHECK: hjx.ref_add %[[R]], %{{.*}} : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> ()
  hjx.ref_add %r, %x : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> ()
  // CHECK: hjx.ref_freeze %[[R]] : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @index
func.func @index(%r: !hjx.ref<tensor<4x5x6xf32>>, %i: tensor<i32>, %ids: tensor<7xi32>, %x: tensor<7x5xf32>) {
  // CHECK: hjx.ref_get %{{.*}}[:, 2, 1:6:2] :
  %0 = hjx.ref_get %r[:, 2, 1:7:2] : (!hjx.ref<tensor<4x5x6xf32>>) -> tensor<4x3xf32>
  // CHECK: hjx.ref_get %{{.*}}[%{{.*}}, :, %{{.*}} +: 2] :
  %1 = hjx.ref_get %r[%i, :, %i +: 2] : (!hjx.ref<tensor<4x5x6xf32>>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  // Contiguous indices stay in place.
  // CHECK: hjx.ref_get %{{.*}}[:, 0, %{{.*}}] : {{.*}} -> tensor<4x7xf32>
  %2 = hjx.ref_get %r[:, 0, %ids] : (!hjx.ref<tensor<4x5x6xf32>>, tensor<7xi32>) -> tensor<4x7xf32>
  // Others come first.
  // CHECK: hjx.ref_swap %{{.*}}[0, :, %{{.*}}], %{{.*}} : {{.*}} -> tensor<7x5xf32>
  %3 = hjx.ref_swap %r[0, :, %ids], %x : (!hjx.ref<tensor<4x5x6xf32>>, tensor<7xi32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  // CHECK: hjx.ref_add %{{.*}}[0:0, :, 5], %{{.*}} :
  %z = hjx.constant dense<0.0> : tensor<0x5xf32>
  hjx.ref_add %r[0:0, :, 5], %z : (!hjx.ref<tensor<4x5x6xf32>>, tensor<0x5xf32>) -> ()
  return
}

// A scan that takes a ref's slices, and one as a constant.
// CHECK-LABEL: func.func @scan
func.func @scan(%r: !hjx.ref<tensor<3x2xf32>>, %s: !hjx.ref<tensor<2xf32>>) {
  // CHECK: hjx.scan consts(%{{.*}}) inits() xs(%{{.*}}) length = 3 : (!hjx.ref<tensor<2xf32>>, !hjx.ref<tensor<3x2xf32>>) -> ()
  hjx.scan consts(%s) inits() xs(%r) length = 3 : (!hjx.ref<tensor<2xf32>>, !hjx.ref<tensor<3x2xf32>>) -> () {
  ^bb0(%c: !hjx.ref<tensor<2xf32>>, %x: !hjx.ref<tensor<2xf32>>):
    %v = hjx.ref_get %x : (!hjx.ref<tensor<2xf32>>) -> tensor<2xf32>
    hjx.ref_add %c, %v : (!hjx.ref<tensor<2xf32>>, tensor<2xf32>) -> ()
    hjx.yield
  }
  return
}
