// Slices and updates at places that are computed: the first of %i, %i + 1 and what a table says of %i.
module attributes {hjx.training_graph = {version = 1 : i64, vocabulary = 256 : i64, tokenizer = "bytes", config = "{}"}} {
  func.func @slice(%x: tensor<5x8xf32>, %i: tensor<i32>) -> (tensor<2x8xf32>, tensor<3xf32>) {
    %zero = hjx.constant dense<0> : tensor<i32>
    %row = hjx.dynamic_slice %x[%i, %zero] sizes = [2, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    %scaled = hjx.mul %row, %row : tensor<2x8xf32>
    %part = hjx.dynamic_slice %x[%i, %i] sizes = [1, 3] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %flat = hjx.reshape %part shape = [3] : tensor<1x3xf32> -> tensor<3xf32>
    return %scaled, %flat : tensor<2x8xf32>, tensor<3xf32>
  }

  func.func @update(%x: tensor<5x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<5x8xf32> {
    %one = hjx.constant dense<1> : tensor<i32>
    %j = hjx.add %i, %one : tensor<i32>
    %old = hjx.dynamic_slice %x[%i, %j] sizes = [2, 3] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %new = hjx.sub %u, %old : tensor<2x3xf32>
    %y = hjx.dynamic_update_slice %x, %new [%j, %i] : (tensor<5x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    return %y : tensor<5x8xf32>
  }

  // The places are those of a table, one a round.
  func.func @pick(%x: tensor<5x8xf32>, %places: tensor<4xi32>) -> tensor<4x8xf32> {
    %all = hjx.scan consts(%x) inits() xs(%places) length = 4 : (tensor<5x8xf32>, tensor<4xi32>) -> tensor<4x8xf32> {
    ^bb0(%whole: tensor<5x8xf32>, %i: tensor<i32>):
      %c0 = hjx.constant dense<0> : tensor<i32>
      %row = hjx.dynamic_slice %whole[%i, %c0] sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %flat = hjx.reshape %row shape = [8] : tensor<1x8xf32> -> tensor<8xf32>
      %e = hjx.neg %flat : tensor<8xf32>
      hjx.yield %e : tensor<8xf32>
    }
    return %all : tensor<4x8xf32>
  }

  // Each round writes the row at which it is, and goes where the table says.
  func.func @walk(%next: tensor<5xi32>, %rows: tensor<4x8xf32>, %start: tensor<i32>) -> (tensor<i32>, tensor<5x8xf32>, tensor<4xi32>) {
    %zero = hjx.constant dense<0.0> : tensor<5x8xf32>
    %last, %all, %places = hjx.scan consts(%next) inits(%start, %zero) xs(%rows) length = 4 : (tensor<5xi32>, tensor<i32>, tensor<5x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<5x8xf32>, tensor<4xi32>) {
    ^bb0(%n: tensor<5xi32>, %i: tensor<i32>, %so_far: tensor<5x8xf32>, %row: tensor<8xf32>):
      %c0 = hjx.constant dense<0> : tensor<i32>
      %update = hjx.reshape %row shape = [1, 8] : tensor<8xf32> -> tensor<1x8xf32>
      %more = hjx.dynamic_update_slice %so_far, %update [%i, %c0] : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
      %at = hjx.dynamic_slice %n[%i] sizes = [1] : (tensor<5xi32>, tensor<i32>) -> tensor<1xi32>
      %j = hjx.reshape %at shape = [] : tensor<1xi32> -> tensor<i32>
      hjx.yield %j, %more, %i : tensor<i32>, tensor<5x8xf32>, tensor<i32>
    }
    return %last, %all, %places : tensor<i32>, tensor<5x8xf32>, tensor<4xi32>
  }
}
