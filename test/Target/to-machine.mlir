// RUN: hjx-opt %s --hjx-to-kernel --hjx-to-machine | FileCheck %s
// From the tensor stage to nothing but LLVM: no op of another dialect is left.

// CHECK-NOT: {{(func|memref|scf|vector|arith|math|linalg|builtin)\.[a-z]}}
// CHECK: llvm.func @hjx_entry(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-NOT: {{(func|memref|scf|vector|arith|math|linalg|builtin)\.[a-z]}}
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<2x37xf32>, %p: tensor<2x37xi1>, %w: tensor<37x8xbf16>) -> (tensor<2xf32>, tensor<2x37xi1>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x37xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x37xi1>
  %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %p : tensor<2x37xf32>, tensor<2x37xi1>) outs(%e2 : tensor<2x37xi1>) {
  ^bb0(%a: f32, %b: i1, %o: i1):
    %c = arith.cmpf olt, %a, %zero : f32
    %d = arith.andi %b, %c : i1
    linalg.yield %d : i1
  } -> tensor<2x37xi1>
  return %r, %n : tensor<2xf32>, tensor<2x37xi1>
}
