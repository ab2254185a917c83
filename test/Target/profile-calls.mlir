// RUN: hjx-opt %s --hjx-profile-calls | FileCheck %s
// Two clock reads around each call; one row of the table per callee.

// CHECK: module attributes {hjx.profile_names = ["a", "b"]}
// CHECK: llvm.mlir.global external @hjx_profile(dense<0> : tensor<4xi64>)
func.func private @a()
func.func private @b()
// CHECK-LABEL: func.func @main
// CHECK: %[[START:.*]] = llvm.call @hjx_rt_now_ns
// CHECK: call @a()
// CHECK: %[[END:.*]] = llvm.call @hjx_rt_now_ns
// CHECK: arith.subi %[[END]], %[[START]]
// CHECK: call @b()
func.func @main() {
  call @a() : () -> ()
  call @b() : () -> ()
  return
}
