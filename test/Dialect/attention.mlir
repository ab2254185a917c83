// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Attention and its derivatives print and parse back.

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<3x2x4xbf16>, %k: tensor<5x2x4xbf16>, %v: tensor<5x2x6xbf16>) {
  // CHECK: hjx.attention %{{.*}}, %{{.*}}, %{{.*}} scale = 5.000000e-01 causal : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>) -> (tensor<3x2x6xbf16>, tensor<3x2xf32>)
  %out, %logsumexp = hjx.attention %q, %k, %v scale = 0.5 causal : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>) -> (tensor<3x2x6xbf16>, tensor<3x2xf32>)
  // CHECK: hjx.attention_tangent %{{.*}}, %{{.*}}, %{{.*}} out = %{{.*}}, %{{.*}} tangents = %{{.*}}, %{{.*}}, %{{.*}} scale = 5.000000e-01 causal :
  %out_dot, %logsumexp_dot = hjx.attention_tangent %q, %k, %v out = %out, %logsumexp tangents = %q, %k, %v scale = 0.5 causal : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>, tensor<3x2x6xbf16>, tensor<3x2xf32>, tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>) -> (tensor<3x2x6xbf16>, tensor<3x2xf32>)
  // CHECK: hjx.attention_cotangent %{{.*}}, %{{.*}}, %{{.*}} logsumexp = %{{.*}} cotangents = %{{.*}}, %{{.*}} scale = 5.000000e-01 :
  %bars:3 = hjx.attention_cotangent %q, %k, %v logsumexp = %logsumexp cotangents = %out, %logsumexp scale = 0.5 : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>, tensor<3x2xf32>, tensor<3x2x6xbf16>, tensor<3x2xf32>) -> (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x6xbf16>)
  return
}
