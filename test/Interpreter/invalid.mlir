// RUN: hjx-opt %s --hjx-interpret --verify-diagnostics --split-input-file
// What the interpreter refuses, and what a failing check says.

func.func @fails() {
  %x = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]> : tensor<2x3xf32>
  // expected-error @below {{'check.expect_eq' op failed: 1 of 6 elements differ}}
  // expected-note @below {{at [1, 2]: expected 6.5, got 6}}
  check.expect_eq %x, %y : tensor<2x3xf32>
  // expected-error @below {{'check.expect_close' op failed: 1 of 6 elements differ}}
  // expected-note @below {{at [1, 2]: expected 6.5, got 6}}
  check.expect_close %x, %y rtol = 1.0e-2 : tensor<2x3xf32>
  check.expect_close %x, %y rtol = 1.0e-1 : tensor<2x3xf32>
  check.expect_close %x, %y atol = 5.0e-1 : tensor<2x3xf32>
  %p = hjx.compare lt, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // expected-error @below {{'check.expect_true' op failed: 5 of 6 elements differ}}
  // expected-note @below {{at [0, 0]: expected true, got false}}
  // expected-note @below {{at [0, 1]: expected true, got false}}
  // expected-note @below {{at [0, 2]: expected true, got false}}
  // expected-note @below {{at [1, 0]: expected true, got false}}
  check.expect_true %p : tensor<2x3xi1>
  return
}

// -----

// expected-error @below {{hjx-interpret: expected a public function without arguments to run}}
module {
  func.func @takes_arguments(%x: tensor<f32>) { return }
  func.func private @is_private() { return }
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @main() {
  %x = hjx.constant dense<1.0> : tensor<f32>
  // expected-error @below {{'hjx.checkpoint' op is a request, which the interpreter does not evaluate: run hjx-expand-transforms first}}
  %y = hjx.checkpoint @f(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main() {
  // expected-error @below {{'arith.constant' op has no interpreter rule; compile the function, or write the op's evaluation in lib/Interpreter}}
  %x = arith.constant dense<1.0> : tensor<2xf32>
  return
}

// -----

func.func @main() {
  // expected-error @below {{expected arrays of at most 1 GiB, got 'tensor<4294967296x4294967296x4294967296xf32>'}}
  %x = hjx.iota dim = 0 : tensor<4294967296x4294967296x4294967296xf32>
  return
}

// -----

// expected-error @below {{the interpreter nests calls and loops at most 200 deep: expected a program without recursion}}
func.func private @again() {
  func.call @again() : () -> ()
  return
}
func.func @main() {
  func.call @again() : () -> ()
  return
}

// -----

func.func private @external(tensor<f32>) -> tensor<f32>
func.func @main() {
  %x = hjx.constant dense<1.0> : tensor<f32>
  // expected-error @below {{'func.call' op expected @external to have a body of one block}}
  %y = func.call @external(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main() {
  // expected-error @below {{'hjx.constant' op expected a value whose elements are present (dense<...> or a loaded resource)}}
  %x = hjx.constant dense_resource<missing> : tensor<2xf32>
  return
}

// -----

// expected-error @below {{the interpreter runs functions of one block, got 2}}
func.func @main() {
  cf.br ^next
^next:
  return
}

// -----

func.func private @complex() -> tensor<2xcomplex<f32>>
func.func @main() {
  // expected-error @below {{expected arrays of numbers, bools or keys, got 'tensor<2xcomplex<f32>>'}}
  %x = func.call @complex() : () -> tensor<2xcomplex<f32>>
  return
}
