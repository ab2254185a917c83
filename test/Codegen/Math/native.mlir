// RUN: hjx-opt %s --hjx-expand-math | FileCheck %s
// RUN: hjx-opt %s --hjx-expand-math | mlir-opt --convert-math-to-llvm --convert-vector-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir | llc -mcpu=x86-64-v3 -mtriple=x86_64-linux-gnu | FileCheck %s --check-prefix=X86 --implicit-check-not=call --implicit-check-not=jmp
// RUN: hjx-opt %s --hjx-expand-math | mlir-opt --convert-math-to-llvm --convert-vector-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir | llc -mcpu=sm_80 -mtriple=nvptx64-nvidia-cuda | FileCheck %s --check-prefix=PTX --implicit-check-not=call
// What LLVM selects without a library stays, and LLVM does select it on both targets.

// CHECK-LABEL: @native(
// CHECK: math.absf
// CHECK: math.copysign
// CHECK: math.fma
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.ceil
// CHECK: math.trunc
// CHECK: math.round
// CHECK: math.roundeven
// X86: vsqrtps
// X86-COUNT-5: vroundps
// PTX: sqrt.rn.f32
// PTX-DAG: cvt.rmi.f32.f32
// PTX-DAG: cvt.rpi.f32.f32
// PTX-DAG: cvt.rzi.f32.f32
// PTX-DAG: cvt.rni.f32.f32
func.func @native(%x: vector<4xf32>)
    -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %0 = math.absf %x : vector<4xf32>
  %1 = math.copysign %0, %x : vector<4xf32>
  %2 = math.fma %0, %1, %x : vector<4xf32>
  %3 = math.sqrt %2 : vector<4xf32>
  %4 = math.floor %3 : vector<4xf32>
  %5 = math.ceil %3 : vector<4xf32>
  %6 = math.trunc %3 : vector<4xf32>
  %7 = math.round %3 : vector<4xf32>
  %8 = math.roundeven %3 : vector<4xf32>
  return %4, %5, %6, %7, %8
    : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}
