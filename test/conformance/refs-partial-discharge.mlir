// RUN: hjx-opt %s --hjx-expand-transforms --symbol-dce --canonicalize --split-input-file | FileCheck %s
//
// A function that is differentiated or mapped loses the refs that the transform concerns; others
// stay, and are read and written as before.

// The one that is made inside becomes a value, the counter does not.
// CHECK-LABEL: func.func @made_inside
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<f32>, %{{.*}}: tensor<f32>, %[[COUNT:[a-z0-9]+]]: !hjx.ref<tensor<f32>>)
// CHECK: func.func private @{{.*}}(%{{.*}}: tensor<f32>, %[[R:.*]]: !hjx.ref<tensor<f32>>
// CHECK-NOT: hjx.ref_new
// CHECK: hjx.ref_add %{{.*}}, %{{.*}} : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
// CHECK-NOT: hjx.ref_swap
func.func @made_inside(%x: tensor<f32>, %dot: tensor<f32>, %count: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @f(%x, %count) tangents(%dot) active = [true, false] : (tensor<f32>, !hjx.ref<tensor<f32>>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}
func.func private @f(%x: tensor<f32>, %count: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %r = hjx.ref_new %x : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  %s = hjx.sin %x : tensor<f32>
  %old = hjx.ref_swap %r, %s : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
  hjx.ref_add %count, %one : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// In a loop: the cell that is made outside of it and differentiated becomes a carry, the counter
// stays a constant.
// CHECK-LABEL: func.func @loop
// CHECK: hjx.scan consts({{.*}}) inits(%{{.*}}, %{{.*}}) xs() length = 3 : ({{.*}}!hjx.ref<tensor<f32>>{{.*}}) -> (tensor<f32>, tensor<f32>)
// CHECK: hjx.ref_add
func.func @loop(%x: tensor<f32>, %dot: tensor<f32>, %count: !hjx.ref<tensor<f32>>) -> (tensor<f32>, tensor<f32>) {
  %y, %y_dot = hjx.jvp @g(%x, %count) tangents(%dot) active = [true, false] : (tensor<f32>, !hjx.ref<tensor<f32>>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @g(%x: tensor<f32>, %count: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %r = hjx.ref_new %x : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  hjx.scan consts(%r, %count) inits() xs() length = 3 : (!hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>) -> () {
  ^bb0(%c: !hjx.ref<tensor<f32>>, %n: !hjx.ref<tensor<f32>>):
    %one = hjx.constant dense<1.0> : tensor<f32>
    %v = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %s = hjx.sin %v : tensor<f32>
    %old = hjx.ref_swap %c, %s : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
    hjx.ref_add %n, %one : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    hjx.yield
  }
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %y : tensor<f32>
}
