// RUN: hjx-opt %s --hjx-bufferize --split-input-file --verify-diagnostics
// What the signature of a program must keep to.

// expected-error@+1 {{expected arguments and results of static tensor type, got 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+1 {{expected arguments and results of static tensor type, got 'f32'}}
func.func @scalar(%x: f32) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'hjx.alias' to name one of 1 results, got 3}}
func.func @out_of_range(%x: tensor<2xf32> {hjx.alias = 3 : i64}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{result 0 has two arguments as its storage: 0 and 1}}
func.func @twice(%x: tensor<2xf32> {hjx.alias = 0 : i64}, %y: tensor<2xf32> {hjx.alias = 0 : i64}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{argument 0 cannot be the storage of result 0: expected type 'tensor<3xf32>', got 'tensor<2xf32>'}}
func.func @other_type(%x: tensor<2xf32> {hjx.alias = 0 : i64}, %y: tensor<3xf32>) -> tensor<3xf32> {
  return %y : tensor<3xf32>
}

// -----

func.func @not_aligned(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  // expected-error@+1 {{expected the condition to forward values of the types it takes, got 'tensor<f32>' and 'tensor<f32>', 'tensor<f32>'; run hjx-align-while first}}
  %r = scf.while (%a = %x, %b = %x) : (tensor<f32>, tensor<f32>) -> tensor<f32> {
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    scf.yield %a, %a : tensor<f32>, tensor<f32>
  }
  return %r : tensor<f32>
}
