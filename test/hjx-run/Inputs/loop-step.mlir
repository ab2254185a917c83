// A step that the device's numbers steer: how often its loop runs is known there alone.
module attributes {hjx.training_graph = {version = 1 : i64, vocabulary = 256 : i64, tokenizer = "bytes",
    config = "{\"model\": \"loop\", \"steps\": 3, \"learning_rate\": 0.1, \"warmup_steps\": 0}"}} {
  func.func @init(%key: tensor<!hjx.key<threefry2x32>> {hjx.name = "key", hjx.role = "key"})
      -> (tensor<3xf32> {hjx.name = "params.w", hjx.role = "state"}) {
    %w = hjx.constant dense<1.0> : tensor<3xf32>
    return %w : tensor<3xf32>
  }

  func.func @step(%w: tensor<3xf32> {hjx.name = "params.w", hjx.role = "state", hjx.donated},
                  %inputs: tensor<2x8xi32> {hjx.name = "inputs", hjx.role = "batch"},
                  %targets: tensor<2x8xi32> {hjx.name = "targets", hjx.role = "batch"},
                  %rate: tensor<f32> {hjx.name = "learning_rate", hjx.role = "scalar"})
      -> (tensor<3xf32> {hjx.name = "params.w", hjx.role = "state"},
          tensor<f32> {hjx.name = "loss", hjx.role = "metric"}) {
    %limit = hjx.reduce_max %inputs axes = [0, 1] : tensor<2x8xi32> -> tensor<i32>
    %zero = hjx.constant dense<0> : tensor<i32>
    %n = hjx.while cond_consts(%limit) body_consts() inits(%zero) : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
    ^bb0(%l: tensor<i32>, %i: tensor<i32>):
      %c = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
      hjx.yield %c : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>):
      %forty = hjx.constant dense<40> : tensor<i32>
      %j = hjx.add %i, %forty : tensor<i32>
      hjx.yield %j : tensor<i32>
    }
    %loss = hjx.convert %n : tensor<i32> -> tensor<f32>
    %rates = hjx.broadcast_in_dim %rate shape = [3] dims = [] : tensor<f32> -> tensor<3xf32>
    %new = hjx.sub %w, %rates : tensor<3xf32>
    return %new, %loss : tensor<3xf32>, tensor<f32>
  }
}
