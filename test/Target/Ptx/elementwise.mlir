// RUN: hjx-opt %s --hjx-to-gpu-kernel --hjx-to-gpu-machine -o %t.mlir
// RUN: FileCheck %s --check-prefix=HOST < %t.mlir
// RUN: hjx-opt %t.mlir --hjx-emit-ptx="chip=sm_90" -o /dev/null | FileCheck %s
// The host passes pointers to the arguments; the device code is PTX with hjx's own maths.

#id = affine_map<(i) -> (i)>

// HOST: llvm.func @hjx_entry(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[LAUNCHER:.*]]: !llvm.ptr)
// HOST: llvm.call @hjx_rt_launch(%[[LAUNCHER]],
// HOST: gpu.module @device
// HOST: llvm.func @exp({{.*}}nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>

// CHECK: .version 8.0
// CHECK: .target sm_90
// CHECK: .entry exp(
// CHECK: .param .u64 .ptr .align 16
// CHECK: .reqntid 32, 1, 1
// CHECK: ld.global.nc.v4.b32
// CHECK: fma.rn.f32
// CHECK: st.global.v4.b32
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
