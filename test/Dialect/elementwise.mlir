// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Elementwise ops print and parse back.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<2x3xf32>, %h: tensor<2xbf16>, %i: tensor<2xui8>, %s: tensor<2x3xi64>, %p: tensor<i1>, %k: tensor<2x!hjx.key<threefry2x32>>) {
  // CHECK: hjx.neg %{{.*}} : tensor<2x3xi64>
  %neg = hjx.neg %s : tensor<2x3xi64>
  // CHECK: hjx.abs %{{.*}} : tensor<2x3xf32>
  %abs = hjx.abs %x : tensor<2x3xf32>
  // CHECK: hjx.sign %{{.*}} : tensor<2x3xf32>
  %sign = hjx.sign %x : tensor<2x3xf32>
  // CHECK: hjx.floor %{{.*}} : tensor<2x3xf32>
  %floor = hjx.floor %x : tensor<2x3xf32>
  // CHECK: hjx.ceil %{{.*}} : tensor<2x3xf32>
  %ceil = hjx.ceil %x : tensor<2x3xf32>
  // CHECK: hjx.round away_from_zero, %{{.*}} : tensor<2x3xf32>
  %round0 = hjx.round away_from_zero, %x : tensor<2x3xf32>
  // CHECK: hjx.round to_nearest_even, %{{.*}} : tensor<2x3xf32>
  %round1 = hjx.round to_nearest_even, %x : tensor<2x3xf32>
  // CHECK: hjx.sqrt %{{.*}} : tensor<2xbf16>
  %sqrt = hjx.sqrt %h : tensor<2xbf16>
  // CHECK: hjx.rsqrt %{{.*}} : tensor<2x3xf32>
  %rsqrt = hjx.rsqrt %x : tensor<2x3xf32>
  // CHECK: hjx.exp %{{.*}} : tensor<2x3xf32>
  %exp = hjx.exp %x : tensor<2x3xf32>
  // CHECK: hjx.expm1 %{{.*}} : tensor<2x3xf32>
  %expm1 = hjx.expm1 %x : tensor<2x3xf32>
  // CHECK: hjx.log %{{.*}} : tensor<2x3xf32>
  %log = hjx.log %x : tensor<2x3xf32>
  // CHECK: hjx.log1p %{{.*}} : tensor<2x3xf32>
  %log1p = hjx.log1p %x : tensor<2x3xf32>
  // CHECK: hjx.sin %{{.*}} : tensor<2x3xf32>
  %sin = hjx.sin %x : tensor<2x3xf32>
  // CHECK: hjx.cos %{{.*}} : tensor<2x3xf32>
  %cos = hjx.cos %x : tensor<2x3xf32>
  // CHECK: hjx.tan %{{.*}} : tensor<2x3xf32>
  %tan = hjx.tan %x : tensor<2x3xf32>
  // CHECK: hjx.tanh %{{.*}} : tensor<2x3xf32>
  %tanh = hjx.tanh %x : tensor<2x3xf32>
  // CHECK: hjx.erf %{{.*}} : tensor<2x3xf32>
  %erf = hjx.erf %x : tensor<2x3xf32>
  // CHECK: hjx.erf_inv %{{.*}} : tensor<2x3xf32>
  %erf_inv = hjx.erf_inv %x : tensor<2x3xf32>
  // CHECK: hjx.logistic %{{.*}} : tensor<2x3xf32>
  %logistic = hjx.logistic %x : tensor<2x3xf32>
  // CHECK: hjx.not %{{.*}} : tensor<i1>
  %not = hjx.not %p : tensor<i1>
  // CHECK: hjx.stop_gradient %{{.*}} : tensor<2x!hjx.key<threefry2x32>>
  %stop = hjx.stop_gradient %k : tensor<2x!hjx.key<threefry2x32>>
  // CHECK: hjx.is_finite %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %finite = hjx.is_finite %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.convert %{{.*}} : tensor<2xui8> -> tensor<2xf64>
  %convert = hjx.convert %i : tensor<2xui8> -> tensor<2xf64>
  // CHECK: hjx.bitcast %{{.*}} : tensor<2x3xf32> -> tensor<2x3x4xui8>
  %bitcast = hjx.bitcast %x : tensor<2x3xf32> -> tensor<2x3x4xui8>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<2xui8>, %j: tensor<2xui8>, %p: tensor<2xi1>, %q: tensor<2xi1>) {
  // CHECK: hjx.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %add = hjx.add %x, %y : tensor<2x3xf32>
  // CHECK: hjx.sub %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %sub = hjx.sub %x, %y : tensor<2x3xf32>
  // CHECK: hjx.mul %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %mul = hjx.mul %x, %y : tensor<2x3xf32>
  // CHECK: hjx.div %{{.*}}, %{{.*}} : tensor<2xui8>
  %div = hjx.div %i, %j : tensor<2xui8>
  // CHECK: hjx.rem %{{.*}}, %{{.*}} : tensor<2xui8>
  %rem = hjx.rem %i, %j : tensor<2xui8>
  // CHECK: hjx.max %{{.*}}, %{{.*}} : tensor<2xi1>
  %max = hjx.max %p, %q : tensor<2xi1>
  // CHECK: hjx.min %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %min = hjx.min %x, %y : tensor<2x3xf32>
  // CHECK: hjx.pow %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %pow = hjx.pow %x, %y : tensor<2x3xf32>
  // CHECK: hjx.and %{{.*}}, %{{.*}} : tensor<2xui8>
  %and = hjx.and %i, %j : tensor<2xui8>
  // CHECK: hjx.or %{{.*}}, %{{.*}} : tensor<2xi1>
  %or = hjx.or %p, %q : tensor<2xi1>
  // CHECK: hjx.xor %{{.*}}, %{{.*}} : tensor<2xi1>
  %xor = hjx.xor %p, %q : tensor<2xi1>
  // CHECK: hjx.shift_left %{{.*}}, %{{.*}} : tensor<2xui8>
  %shl = hjx.shift_left %i, %j : tensor<2xui8>
  // CHECK: hjx.shift_right_logical %{{.*}}, %{{.*}} : tensor<2xui8>
  %lshr = hjx.shift_right_logical %i, %j : tensor<2xui8>
  // CHECK: hjx.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<2xui8>
  %ashr = hjx.shift_right_arithmetic %i, %j : tensor<2xui8>
  return
}

// CHECK-LABEL: func.func @choice
func.func @choice(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %lo: tensor<f32>, %i: tensor<i32>) {
  // CHECK: hjx.compare eq, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %eq = hjx.compare eq, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.compare ne, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %ne = hjx.compare ne, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.compare lt, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %lt = hjx.compare lt, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.compare le, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %le = hjx.compare le, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.compare gt, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %gt = hjx.compare gt, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.compare ge, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %ge = hjx.compare ge, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.select_n %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s0 = hjx.select_n %lt, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: hjx.select_n %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s1 = hjx.select_n %i, %x, %y, %x : (tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: hjx.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = hjx.clamp %lo, %x, %y : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
