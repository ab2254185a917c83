// RUN: hjx-opt %s --hjx-expand-transforms --split-input-file --verify-diagnostics

func.func @write_tangent(%x: tensor<f32>, %r: !hjx.ref<tensor<f32>>, %bar: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @log(%x, %r) cotangents(%bar) active = [true, false] : (tensor<f32>, !hjx.ref<tensor<f32>>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
func.func private @log(%x: tensor<f32>, %r: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  // expected-error @below {{'hjx.ref_add' op writes a value that has a tangent into a ref that has none: expected a ref made inside the differentiated function, or one that is differentiated itself; to write the value alone, apply hjx.stop_gradient to it}}
  hjx.ref_add %r, %x : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  return %x : tensor<f32>
}

// -----

func.func @shared_write(%xs: tensor<2xf32>, %r: !hjx.ref<tensor<f32>>) -> tensor<2xf32> {
  // expected-note @below {{needed by this hjx.vmap}}
  %y = hjx.vmap @caller(%xs, %r) in_axes = [0, -1] out_axes = [0] size = 2 : (tensor<2xf32>, !hjx.ref<tensor<f32>>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @caller(%x: tensor<f32>, %r: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  func.call @count(%r) : (!hjx.ref<tensor<f32>>) -> ()
  return %x : tensor<f32>
}
func.func private @count(%r: !hjx.ref<tensor<f32>>) {
  %one = hjx.constant dense<1.0> : tensor<f32>
  // expected-error @below {{'hjx.ref_add' op writes a ref that all elements of the batch share, in a function that is mapped; move the ref to be an argument that is mapped, or write it outside}}
  hjx.ref_add %r, %one : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  return
}

// -----

// The rule of a custom_vjp says nothing of what it writes.
func.func @custom_writes(%x: tensor<f32>, %bar: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @inside(%x) cotangents(%bar) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
func.func private @inside(%x: tensor<f32>) -> tensor<f32> {
  %r = hjx.ref_new %x : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  // expected-error @below {{'hjx.custom_vjp' op writes a ref that is made inside a function that is differentiated or mapped, and its rule says nothing of the derivative of what it writes; return the value, and write it afterwards}}
  hjx.custom_vjp @f(%r) fwd = @f bwd = @bwd : (!hjx.ref<tensor<f32>>) -> ()
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @f(%r: !hjx.ref<tensor<f32>>) {
  %one = hjx.constant dense<1.0> : tensor<f32>
  hjx.ref_add %r, %one : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  return
}
func.func private @bwd(%r: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  return %one : tensor<f32>
}

// -----

func.func @bwd_uses(%x: tensor<f32>, %bar: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @inside(%x) cotangents(%bar) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
func.func private @inside(%x: tensor<f32>) -> tensor<f32> {
  %r = hjx.ref_new %x : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  // expected-error @below {{'hjx.custom_vjp' op has a bwd that uses a ref that is gone by then: made inside a function that is differentiated or mapped, or shared by the elements of one that is mapped; make it outside, or read it in fwd and keep the value as a residual}}
  %y = hjx.custom_vjp @f(%r) fwd = @f bwd = @bwd : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @f(%r: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %v = hjx.ref_get %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %v : tensor<f32>
}
func.func private @bwd(%r: !hjx.ref<tensor<f32>>, %bar: tensor<f32>) -> tensor<f32> {
  %v = hjx.ref_get %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %v : tensor<f32>
}
