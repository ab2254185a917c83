// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of attention refuse.

func.func @c1(%q: tensor<3x2x4xf32>, %k: tensor<5x2x4xf64>, %v: tensor<5x2x4xf32>) {
  // expected-error @+2 {{attention: (C1) expected query, key and value of one element type, got 'tensor<3x2x4xf32>', 'tensor<5x2x4xf64>' and 'tensor<5x2x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 : (tensor<3x2x4xf32>, tensor<5x2x4xf64>, tensor<5x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return
}

// -----

func.func @c2(%q: tensor<3x2x4xf32>, %k: tensor<5x1x4xf32>, %v: tensor<5x2x4xf32>) {
  // expected-error @+2 {{attention: (C2) expected query, key and value [..., positions, heads, features] with the same leading dimensions and heads, got}}
  // expected-error @below {{failed to infer returned types}}
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 : (tensor<3x2x4xf32>, tensor<5x1x4xf32>, tensor<5x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return
}

// -----

func.func @c3(%q: tensor<3x2x4xf32>, %k: tensor<5x2x4xf32>, %v: tensor<6x2x4xf32>) {
  // expected-error @+2 {{attention: (C3) expected query and key of the same features, key and value of the same positions, got}}
  // expected-error @below {{failed to infer returned types}}
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 : (tensor<3x2x4xf32>, tensor<5x2x4xf32>, tensor<6x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return
}

// -----

func.func @c4(%q: tensor<3x2x4xbf16>, %sum: tensor<3x2xf32>, %shift: tensor<3x2xbf16>) {
  // expected-error @+2 {{attention_cotangent: (C4) expected shift of type 'tensor<3x2xf32>', got 'tensor<3x2xbf16>'}}
  // expected-error @below {{failed to infer returned types}}
  %bars:3 = hjx.attention_cotangent %q, %q, %q logsumexp = %sum cotangents = %q, %shift scale = 0.5 : (tensor<3x2x4xbf16>, tensor<3x2x4xbf16>, tensor<3x2x4xbf16>, tensor<3x2xf32>, tensor<3x2x4xbf16>, tensor<3x2xbf16>) -> (tensor<3x2x4xbf16>, tensor<3x2x4xbf16>, tensor<3x2x4xbf16>)
  return
}
