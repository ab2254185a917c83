// RUN: hjx-opt %s --hjx-to-gpu-kernel --hjx-to-gpu-machine --hjx-emit-ptx -o /dev/null | FileCheck %s
// Nothing is read behind the end of a buffer of 12 bytes: not even the rest of an aligned vector,
// which LLVM would read at once if it knew of the alignment.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: .entry
// CHECK-NOT: ld.global{{.*}}v4
// CHECK: ret;
func.func @main(%x: tensor<1x3xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x3xf32>) outs(%f : tensor<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
  } -> tensor<1xf32>
  return %s : tensor<1xf32>
}
