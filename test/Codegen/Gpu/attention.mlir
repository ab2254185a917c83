// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s
// RUN: not hjx-opt %s --hjx-to-kernel 2>&1 | FileCheck %s --check-prefix=CPU
// Attention is one kernel, its cotangent two, in one launch; q, k and v are read where they are, scores are nowhere.

// CPU: error: 'func.func' op is a kernel of GPUs only
// CPU-NEXT: help: write attention out before the tensor stage with hjx-decompose-attention

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref<{{.*}}70x70x
// CHECK: gpu.launch_func @device::@attention_bf16_40_64x64_causal blocks
// CHECK: gpu.launch_func @device::@attention_query_bar_bf16_40_64x64_causal_etc_x2 blocks
func.func @main(%qkv: tensor<2x70x3x80xbf16>, %bar: tensor<2x70x2x40xbf16>, %shift: tensor<2x70x2xf32>)
    -> (tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>) {
  %q0 = tensor.extract_slice %qkv[0, 0, 0, 0] [2, 70, 1, 80] [1, 1, 1, 1] : tensor<2x70x3x80xbf16> to tensor<2x70x80xbf16>
  %q = tensor.expand_shape %q0 [[0], [1], [2, 3]] output_shape [2, 70, 2, 40] : tensor<2x70x80xbf16> into tensor<2x70x2x40xbf16>
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5 causal
      : (tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>) -> (tensor<2x70x2x40xbf16>, tensor<2x70x2xf32>)
  %bars:3 = hjx.attention_cotangent %q, %q, %q logsumexp = %sum cotangents = %bar, %shift scale = 0.5 causal
      : (tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2xf32>, tensor<2x70x2x40xbf16>, tensor<2x70x2xf32>)
      -> (tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>)
  return %out, %bars#0, %bars#1, %bars#2 : tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>, tensor<2x70x2x40xbf16>
}

// Strict f32 has no tensor cores; the head of 12 features is no multiple of what they make.
// CHECK-LABEL: func.func @strict
// CHECK: gpu.launch_func @device::@attention_f32_12_64x32 blocks
func.func @strict(%q: tensor<70x2x12xf32>) -> tensor<70x2x12xf32> {
  %out, %sum = hjx.attention %q, %q, %q scale = 0.5
      : (tensor<70x2x12xf32>, tensor<70x2x12xf32>, tensor<70x2x12xf32>) -> (tensor<70x2x12xf32>, tensor<70x2xf32>)
  return %out : tensor<70x2x12xf32>
}

// CHECK-LABEL: gpu.func @attention_bf16_40_64x64_causal(
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK: layout = #nvvm.mma_layout<col>
