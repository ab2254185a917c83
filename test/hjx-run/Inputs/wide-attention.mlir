// Heads that no kernel of attention takes.
func.func @wide(%q: tensor<3x2x130xf32>) -> tensor<3x2x130xf32> {
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 : (tensor<3x2x130xf32>, tensor<3x2x130xf32>, tensor<3x2x130xf32>) -> (tensor<3x2x130xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x130xf32>
}
