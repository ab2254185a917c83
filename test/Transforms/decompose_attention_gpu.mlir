// RUN: hjx-opt --hjx-to-pure=gpu --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: hjx-opt --hjx-to-pure=gpu --hjx-to-lo --hjx-to-tensor=gpu --split-input-file %s 2>&1 | FileCheck %s --check-prefix=LATE
// Heads that are no whole vectors of 16 bytes are padded for the kernels of a GPU; what these do not take is written
// out, and a remark says what that costs.

// CHECK-LABEL: func.func @whole
// CHECK-NEXT: hjx.attention %arg0, %arg1, %arg1
// CHECK-NEXT: return
func.func @whole(%q: tensor<3x2x16xbf16>, %k: tensor<5x2x16xbf16>) -> tensor<3x2x16xbf16> {
  %out, %sum = hjx.attention %q, %k, %k scale = 0.5 : (tensor<3x2x16xbf16>, tensor<5x2x16xbf16>, tensor<5x2x16xbf16>) -> (tensor<3x2x16xbf16>, tensor<3x2xf32>)
  return %out : tensor<3x2x16xbf16>
}

// -----

// Keys of 20 features, values of 12: 24 of bf16 are whole vectors.
// CHECK-LABEL: func.func @padded
// CHECK: %[[Q:.*]] = hjx.pad %arg0, %{{.*}} high = [0, 0, 4]
// CHECK: %[[K:.*]] = hjx.pad %arg1, %{{.*}} high = [0, 0, 4]
// CHECK: %[[V:.*]] = hjx.pad %arg2, %{{.*}} high = [0, 0, 12]
// CHECK: %[[OUT:.*]], %[[SUM:.*]] = hjx.attention %[[Q]], %[[K]], %[[V]] scale = 5.000000e-01 causal : (tensor<3x2x24xbf16>, tensor<5x2x24xbf16>, tensor<5x2x24xbf16>)
// CHECK: %[[PART:.*]] = hjx.slice %[[OUT]] start = [0, 0, 0] limit = [3, 2, 12]
// CHECK: return %[[PART]], %[[SUM]]
func.func @padded(%q: tensor<3x2x20xbf16>, %k: tensor<5x2x20xbf16>, %v: tensor<5x2x12xbf16>) -> (tensor<3x2x12xbf16>, tensor<3x2xf32>) {
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 causal : (tensor<3x2x20xbf16>, tensor<5x2x20xbf16>, tensor<5x2x12xbf16>) -> (tensor<3x2x12xbf16>, tensor<3x2xf32>)
  return %out, %sum : tensor<3x2x12xbf16>, tensor<3x2xf32>
}

// -----

// The gradient of padded attention is that of the kernels, too.
// CHECK-LABEL: func.func @gradient
// CHECK: hjx.attention_cotangent {{.*}} (tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>,
func.func private @loss(%q: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 : (tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x2xf32>
}
func.func @gradient(%q: tensor<3x2x2xf32>, %bar: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %out, %g = hjx.vjp @loss(%q) cotangents(%bar) active = [true] : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>, tensor<3x2x2xf32>)
  return %g : tensor<3x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @wide
// CHECK-NOT: hjx.attention
func.func @wide(%q: tensor<2x512x2x130xbf16>) -> tensor<2x512x2x130xbf16> {
  // expected-remark @+1 {{attention stores its scores, 4.0 MiB: expected at most 128 features of a head, got 130}}
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 : (tensor<2x512x2x130xbf16>, tensor<2x512x2x130xbf16>, tensor<2x512x2x130xbf16>) -> (tensor<2x512x2x130xbf16>, tensor<2x512x2xf32>)
  return %out : tensor<2x512x2x130xbf16>
}

// -----

// CHECK-LABEL: func.func @double
// CHECK-NOT: hjx.attention
func.func @double(%q: tensor<3x2x4xf64>, %k: tensor<5x2x4xf64>) -> tensor<3x2x4xf64> {
  // expected-remark @+1 {{attention stores its scores, 240 bytes: expected f16, bf16 or f32, got f64}}
  %out, %sum = hjx.attention %q, %k, %k scale = 0.5 : (tensor<3x2x4xf64>, tensor<5x2x4xf64>, tensor<5x2x4xf64>) -> (tensor<3x2x4xf64>, tensor<3x2xf64>)
  return %out : tensor<3x2x4xf64>
}

// -----

// CHECK-LABEL: func.func @negative
// CHECK-NOT: hjx.attention
func.func @negative(%q: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  // expected-remark @+1 {{expected a positive and finite scale, got -0.5}}
  %out, %sum = hjx.attention %q, %q, %q scale = -0.5 : (tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x4xf32>
}

// -----

// Nothing to store, nothing to say.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: hjx.attention
func.func @empty(%q: tensor<0x2x4xf32>) -> tensor<0x2x4xf32> {
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 : (tensor<0x2x4xf32>, tensor<0x2x4xf32>, tensor<0x2x4xf32>) -> (tensor<0x2x4xf32>, tensor<0x2xf32>)
  return %out : tensor<0x2x4xf32>
}

// -----

// Found where derivatives are arrays: after the stage lo.
// CHECK-LABEL: func.func @forward
// LATE: remark: attention stores its scores, 72 bytes: expected derivatives in reverse mode, got one in forward mode
func.func private @out(%q: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 : (tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x4xf32>
}
func.func @forward(%q: tensor<3x2x4xf32>, %dot: tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>) {
  %out, %out_dot = hjx.jvp @out(%q) tangents(%dot) active = [true] : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  return %out, %out_dot : tensor<3x2x4xf32>, tensor<3x2x4xf32>
}
