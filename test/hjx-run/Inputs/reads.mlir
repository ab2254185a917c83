// A graph whose eval counts up to what is in its state: on a GPU the host must read each condition.
module attributes {hjx.training_graph = {version = 1 : i64, vocabulary = 256 : i64, tokenizer = "bytes", config = "{}"}} {
  func.func @init(%key: tensor<!hjx.key<threefry2x32>> {hjx.name = "key", hjx.role = "key"})
      -> (tensor<f32> {hjx.name = "state.params.limit", hjx.role = "state"}) {
    %limit = hjx.constant dense<3.0> : tensor<f32>
    return %limit : tensor<f32>
  }

  func.func @eval(%limit: tensor<f32> {hjx.name = "state.params.limit", hjx.role = "state"},
                  %inputs: tensor<4x16xi32> {hjx.name = "inputs", hjx.role = "batch"},
                  %targets: tensor<4x16xi32> {hjx.name = "targets", hjx.role = "batch"})
      -> (tensor<f32> {hjx.name = "loss", hjx.role = "metric"}) {
    %zero = hjx.constant dense<0.0> : tensor<f32>
    %n = hjx.while cond_consts(%limit) body_consts() inits(%zero) : (tensor<f32>, tensor<f32>) -> tensor<f32> cond {
    ^bb0(%l: tensor<f32>, %i: tensor<f32>):
      %c = hjx.compare lt, %i, %l : tensor<f32> -> tensor<i1>
      hjx.yield %c : tensor<i1>
    } body {
    ^bb0(%i: tensor<f32>):
      %one = hjx.constant dense<1.0> : tensor<f32>
      %j = hjx.add %i, %one : tensor<f32>
      hjx.yield %j : tensor<f32>
    }
    return %n : tensor<f32>
  }
}
