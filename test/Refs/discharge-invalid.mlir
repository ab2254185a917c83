// RUN: hjx-opt %s --hjx-discharge-refs --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op returns a ref as result 0; return what it holds: hjx.ref_freeze or hjx.ref_get}}
func.func @returned(%r: !hjx.ref<tensor<f32>>) -> !hjx.ref<tensor<f32>> {
  return %r : !hjx.ref<tensor<f32>>
}

// -----

func.func @twice(%r: !hjx.ref<tensor<f32>>) {
  // expected-error @below {{'func.call' op takes one ref twice, as operands 0 and 1; pass it once}}
  func.call @two(%r, %r) : (!hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>) -> ()
  return
}
func.func private @two(%r: !hjx.ref<tensor<f32>>, %s: !hjx.ref<tensor<f32>>) {
  return
}

// -----

func.func @condition(%r: !hjx.ref<tensor<f32>>) {
  // expected-error @below {{'hjx.while' op has a condition that writes a ref; write it in the body}}
  hjx.while cond_consts(%r) body_consts() inits() : (!hjx.ref<tensor<f32>>) -> () cond {
  ^bb0(%c: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %c, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    %p = hjx.compare lt, %v, %v : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0:
    hjx.yield
  }
  return
}

// -----

func.func @request(%r: !hjx.ref<tensor<f32>>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'hjx.vmap' op takes a ref that is discharged; expand requests first: hjx-expand-transforms}}
  %y = hjx.vmap @f(%r, %x) in_axes = [-1, 0] out_axes = [0] size = 2 : (!hjx.ref<tensor<f32>>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @f(%r: !hjx.ref<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @recursive(%r: !hjx.ref<tensor<f32>>) {
  func.call @loop(%r) : (!hjx.ref<tensor<f32>>) -> ()
  return
}
// expected-error @below {{'func.func' op calls itself; a function with refs cannot}}
func.func private @loop(%r: !hjx.ref<tensor<f32>>) {
  func.call @loop(%r) : (!hjx.ref<tensor<f32>>) -> ()
  return
}

// -----

func.func @external(%r: !hjx.ref<tensor<f32>>) {
  func.call @declared(%r) : (!hjx.ref<tensor<f32>>) -> ()
  return
}
// expected-error @below {{'func.func' op takes a ref but has no body}}
func.func private @declared(!hjx.ref<tensor<f32>>)
