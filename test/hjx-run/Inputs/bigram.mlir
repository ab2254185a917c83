// A byte bigram model: the logits of the next byte are a row of a table. SGD with momentum; a
// step whose loss is not finite changes nothing.
module attributes {hjx.training_graph = {version = 1 : i64, vocabulary = 256 : i64, tokenizer = "bytes",
    config = "{\"model\": \"bigram\", \"steps\": 40, \"learning_rate\": 20.0, \"warmup_steps\": 4}"}} {
  func.func private @loss(%table: tensor<256x256xf32>, %inputs: tensor<4x16xi32>, %targets: tensor<4x16xi32>) -> tensor<f32> {
    %i = hjx.reshape %inputs shape = [64, 1] : tensor<4x16xi32> -> tensor<64x1xi32>
    %rows = hjx.gather %table, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
        start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 256>} : (tensor<256x256xf32>, tensor<64x1xi32>) -> tensor<64x256xf32>
    %exp = hjx.exp %rows : tensor<64x256xf32>
    %sum = hjx.reduce_sum %exp axes = [1] : tensor<64x256xf32> -> tensor<64xf32>
    %log = hjx.log %sum : tensor<64xf32>
    %t = hjx.reshape %targets shape = [64] : tensor<4x16xi32> -> tensor<64xi32>
    %tb = hjx.broadcast_in_dim %t shape = [64, 256] dims = [0] : tensor<64xi32> -> tensor<64x256xi32>
    %id = hjx.iota dim = 1 : tensor<64x256xi32>
    %hit = hjx.compare eq, %tb, %id : tensor<64x256xi32> -> tensor<64x256xi1>
    %zero = hjx.constant dense<0.0> : tensor<64x256xf32>
    %picked = hjx.select_n %hit, %zero, %rows : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %logit = hjx.reduce_sum %picked axes = [1] : tensor<64x256xf32> -> tensor<64xf32>
    %nll = hjx.sub %log, %logit : tensor<64xf32>
    %total = hjx.reduce_sum %nll axes = [0] : tensor<64xf32> -> tensor<f32>
    %n = hjx.constant dense<64.0> : tensor<f32>
    %mean = hjx.div %total, %n : tensor<f32>
    return %mean : tensor<f32>
  }

  func.func @init(%key: tensor<!hjx.key<threefry2x32>> {hjx.name = "key", hjx.role = "key"})
      -> (tensor<256x256xf32> {hjx.name = "state.params.table", hjx.role = "state"},
          tensor<256x256xf32> {hjx.name = "state.opt.momentum", hjx.role = "state"}) {
    %bits = hjx.random_bits %key width = 32 shape = [256, 256] : tensor<!hjx.key<threefry2x32>> -> tensor<256x256xui32>
    %float = hjx.convert %bits : tensor<256x256xui32> -> tensor<256x256xf32>
    %scale = hjx.constant dense<2.3283064e-12> : tensor<256x256xf32>
    %table = hjx.mul %float, %scale : tensor<256x256xf32>
    %zero = hjx.constant dense<0.0> : tensor<256x256xf32>
    return %table, %zero : tensor<256x256xf32>, tensor<256x256xf32>
  }

  func.func @step(%table: tensor<256x256xf32> {hjx.name = "state.params.table", hjx.role = "state", hjx.donated},
                  %momentum: tensor<256x256xf32> {hjx.name = "state.opt.momentum", hjx.role = "state", hjx.donated},
                  %inputs: tensor<4x16xi32> {hjx.name = "inputs", hjx.role = "batch"},
                  %targets: tensor<4x16xi32> {hjx.name = "targets", hjx.role = "batch"},
                  %rate: tensor<f32> {hjx.name = "learning_rate", hjx.role = "scalar"})
      -> (tensor<256x256xf32> {hjx.name = "state.params.table", hjx.role = "state"},
          tensor<256x256xf32> {hjx.name = "state.opt.momentum", hjx.role = "state"},
          tensor<f32> {hjx.name = "loss", hjx.role = "metric"},
          tensor<f32> {hjx.name = "grad_norm", hjx.role = "metric"},
          tensor<f32> {hjx.name = "largest", hjx.role = "metric"}) {
    %one = hjx.constant dense<1.0> : tensor<f32>
    %loss, %grad = hjx.vjp @loss(%table, %inputs, %targets) cotangents(%one) active = [true, false, false]
        : (tensor<256x256xf32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<f32>) -> (tensor<f32>, tensor<256x256xf32>)
    %squares = hjx.mul %grad, %grad : tensor<256x256xf32>
    %square = hjx.reduce_sum %squares axes = [0, 1] : tensor<256x256xf32> -> tensor<f32>
    %norm = hjx.sqrt %square : tensor<f32>
    %beta = hjx.constant dense<0.5> : tensor<256x256xf32>
    %kept = hjx.mul %momentum, %beta : tensor<256x256xf32>
    %new = hjx.add %kept, %grad : tensor<256x256xf32>
    %rates = hjx.broadcast_in_dim %rate shape = [256, 256] dims = [] : tensor<f32> -> tensor<256x256xf32>
    %update = hjx.mul %new, %rates : tensor<256x256xf32>
    %moved = hjx.sub %table, %update : tensor<256x256xf32>
    %fine = hjx.is_finite %norm : tensor<f32> -> tensor<i1>
    %t = hjx.select_n %fine, %table, %moved : (tensor<i1>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %m = hjx.select_n %fine, %momentum, %new : (tensor<i1>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %largest = hjx.reduce_max %t axes = [0, 1] : tensor<256x256xf32> -> tensor<f32>
    return %t, %m, %loss, %norm, %largest : tensor<256x256xf32>, tensor<256x256xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  }

  func.func @eval(%table: tensor<256x256xf32> {hjx.name = "state.params.table", hjx.role = "state"},
                  %inputs: tensor<4x16xi32> {hjx.name = "inputs", hjx.role = "batch"},
                  %targets: tensor<4x16xi32> {hjx.name = "targets", hjx.role = "batch"})
      -> (tensor<f32> {hjx.name = "loss", hjx.role = "metric"}) {
    %loss = call @loss(%table, %inputs, %targets) : (tensor<256x256xf32>, tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  func.func @logits(%table: tensor<256x256xf32> {hjx.name = "state.params.table", hjx.role = "state"},
                    %tokens: tensor<1x8xi32> {hjx.name = "tokens", hjx.role = "batch"})
      -> (tensor<1x8x256xf32> {hjx.name = "logits", hjx.role = "logits"}) {
    %i = hjx.reshape %tokens shape = [8, 1] : tensor<1x8xi32> -> tensor<8x1xi32>
    %rows = hjx.gather %table, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
        start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 256>} : (tensor<256x256xf32>, tensor<8x1xi32>) -> tensor<8x256xf32>
    %y = hjx.reshape %rows shape = [1, 8, 256] : tensor<8x256xf32> -> tensor<1x8x256xf32>
    return %y : tensor<1x8x256xf32>
  }
}
