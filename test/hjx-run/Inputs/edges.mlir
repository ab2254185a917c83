// Programs at the edge of what a device has to do.
func.func @same(%x: tensor<4xf32> {hjx.alias = 0 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @copy(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @empty(%x: tensor<0xf32>) -> tensor<0xf32> {
  return %x : tensor<0xf32>
}
func.func @constant() -> tensor<4xf32> {
  %c = hjx.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}
func.func @loop(%limit: tensor<i32>) -> tensor<i32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  %n = hjx.while cond_consts(%limit) body_consts() inits(%zero) : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<i32>, %i: tensor<i32>):
    %c = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
    hjx.yield %c : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %j = hjx.add %i, %one : tensor<i32>
    hjx.yield %j : tensor<i32>
  }
  return %n : tensor<i32>
}
