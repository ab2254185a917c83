// RUN: hjx-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hjx-verify-stage{stage=kernel})'
// The kernel stage: a program with a plan and a signature, on buffers.

// expected-error@+1 {{expected @main with 'hjx.memory_plan' at the kernel stage}}
module {
  func.func @main(%x: memref<2xf32>) { return }
}

// -----

module {
  // expected-error@+1 {{has the type 'tensor<2xf32>', which is not allowed at the kernel stage: tensors are buffers}}
  func.func @main(%x: tensor<2xf32>) { return }
}

// -----

module {
  func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) {
    // expected-error@+1 {{is not allowed at the kernel stage: expected ops of arith, func, gpu, llvm, math, memref, nvvm, scf and vector only}}
    linalg.copy ins(%x : memref<2xf32>) outs(%y : memref<2xf32>)
    return
  }
}

// -----

// expected-error@+1 {{expected a module with a function @main on tensors, or with the attribute 'hjx.signature'}}
module {
  func.func @main(%x: memref<2xf32>) attributes {hjx.memory_plan = {}} { return }
}

// -----

// expected-error@+1 {{expected 'hjx.signature' to hold a function type of tensors}}
module attributes {hjx.signature = {type = (f32) -> ()}} {
  func.func @main(%x: memref<2xf32>) attributes {hjx.memory_plan = {}} { return }
}

// -----

// expected-error@+1 {{expected 'hjx.signature' to hold a function type of tensors}}
module attributes {hjx.signature = {arguments = [{hjx.alias = 1 : i64}], results = [{}], type = (tensor<2xf32>) -> tensor<2xf32>}} {
  func.func @main(%x: memref<2xf32>) attributes {hjx.memory_plan = {}} { return }
}

// -----

// Three arguments are not two words, a bool and a result.
module attributes {hjx.signature = {arguments = [{}, {}], results = [{}], type = (tensor<!hjx.key<threefry2x32>>, tensor<3xi1>) -> tensor<2xf32>}} {
  // expected-error@+1 {{which does not store what 'hjx.signature' of the module records}}
  func.func @main(%x: memref<2xi32>, %p: memref<4xi8>, %r: memref<2xf32>) attributes {hjx.memory_plan = {}} { return }
}

// -----

module attributes {hjx.signature = {arguments = [{hjx.alias = 1 : i64}, {}, {}], results = [{}, {}], type = (tensor<4xf32>, tensor<!hjx.key<threefry2x32>>, tensor<3xi1>) -> (tensor<2xf32>, tensor<4xf32>)}} {
  func.func @main(%a: memref<4xf32>, %x: memref<2xi32>, %p: memref<3xi8>, %r: memref<2xf32>, %arena: memref<64xi8> {hjx.arena}) attributes {hjx.memory_plan = {}} { return }
}
