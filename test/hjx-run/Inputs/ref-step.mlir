  func.func @step(%table: !hjx.ref<tensor<256x256xf32>> {hjx.name = "state.params.table", hjx.role = "state"},
                  %momentum: !hjx.ref<tensor<256x256xf32>> {hjx.name = "state.opt.momentum", hjx.role = "state"},
                  %inputs: tensor<4x16xi32> {hjx.name = "inputs", hjx.role = "batch"},
                  %targets: tensor<4x16xi32> {hjx.name = "targets", hjx.role = "batch"},
                  %rate: tensor<f32> {hjx.name = "learning_rate", hjx.role = "scalar"})
      -> (tensor<f32> {hjx.name = "loss", hjx.role = "metric"},
          tensor<f32> {hjx.name = "grad_norm", hjx.role = "metric"},
          tensor<f32> {hjx.name = "largest", hjx.role = "metric"}) {
    %t = hjx.ref_get %table : (!hjx.ref<tensor<256x256xf32>>) -> tensor<256x256xf32>
    %m = hjx.ref_get %momentum : (!hjx.ref<tensor<256x256xf32>>) -> tensor<256x256xf32>
    %r:5 = call @update(%t, %m, %inputs, %targets, %rate) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<f32>)
        -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
    %t0 = hjx.ref_swap %table, %r#0 : (!hjx.ref<tensor<256x256xf32>>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %m0 = hjx.ref_swap %momentum, %r#1 : (!hjx.ref<tensor<256x256xf32>>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %r#2, %r#3, %r#4 : tensor<f32>, tensor<f32>, tensor<f32>
  }
}
