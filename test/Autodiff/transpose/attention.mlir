// RUN: hjx-opt --hjx-transpose --symbol-dce %s | FileCheck %s
// Reverse mode keeps query, key, value, out and logsumexp: no scores.

func.func private @f(%q: tensor<3x2x4xbf16>, %k: tensor<5x2x4xbf16>, %v: tensor<5x2x4xbf16>) -> tensor<3x2x4xbf16> {
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 causal : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x4xbf16>) -> (tensor<3x2x4xbf16>, tensor<3x2xf32>)
  return %out : tensor<3x2x4xbf16>
}
func.func @g(%q: tensor<3x2x4xbf16>, %k: tensor<5x2x4xbf16>, %v: tensor<5x2x4xbf16>, %bar: tensor<3x2x4xbf16>) -> (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x4xbf16>) {
  %out, %bars:3 = hjx.vjp @f(%q, %k, %v) cotangents(%bar) active = [true, true, true] : (tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x4xbf16>, tensor<3x2x4xbf16>) -> (tensor<3x2x4xbf16>, tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x4xbf16>)
  return %bars#0, %bars#1, %bars#2 : tensor<3x2x4xbf16>, tensor<5x2x4xbf16>, tensor<5x2x4xbf16>
}
// CHECK-LABEL: func.func private @f.fwd.111
// CHECK: %[[OUT:.*]], %[[SUM:.*]] = hjx.attention
// CHECK-LABEL: func.func private @f.lin.111.transpose
// CHECK-SAME: (%{{[^:]*}}: tensor<{{[35]}}x2x4xbf16>, %{{[^:]*}}: tensor<{{[35]}}x2x4xbf16>, %{{[^:]*}}: tensor<{{[35]}}x2x4xbf16>, %{{.*}}, %{{.*}}, %[[BAR:[^:]*]]: tensor<3x2x4xbf16>)
// CHECK-DAG: %[[BAR_WIDE:.*]] = hjx.convert %[[BAR]] : tensor<3x2x4xbf16> -> tensor<3x2x4xf32>
// CHECK: %[[PRODUCT:.*]] = hjx.mul %{{.*}}, %{{.*}} : tensor<3x2x4xf32>
// CHECK: %[[SHIFT:.*]] = hjx.reduce_sum %[[PRODUCT]] axes = [2] : tensor<3x2x4xf32> -> tensor<3x2xf32>
// CHECK: hjx.attention_cotangent %{{.*}}, %{{.*}}, %{{.*}} logsumexp = %{{.*}} cotangents = %[[BAR]], %[[SHIFT]] scale = 5.000000e-01 causal
