// RUN: hjx-opt %s --hjx-batch-launches --split-input-file | FileCheck %s
// Launches that have nothing to do with each other are one launch.

// The third is on other buffers and joins the first; the second reads what the first wrote and stays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[^:]*]]: memref<20xf32>, %[[Y:[^:]*]]: memref<20xf32>, %[[Z:[^:]*]]: memref<20xf32>, %[[U:[^:]*]]: memref<20xf32>, %[[V:[^:]*]]: memref<20xf32>, %[[RATE:[^:]*]]: memref<f32>
// CHECK: gpu.launch_func @device::@scale_x2 blocks in (%c6{{.*}}) threads in (%c32{{.*}}) args(%[[X]] : memref<20xf32>, %[[U]] : memref<20xf32>, %[[RATE]] : memref<f32>, %[[Y]] : memref<20xf32>, %[[V]] : memref<20xf32>) {hjx.traffic = array<i64: 168, 160>}
// CHECK: gpu.launch_func @device::@scale blocks in (%c3{{.*}}) threads in (%c32{{.*}}) args(%[[Y]] : memref<20xf32>, %[[RATE]] : memref<f32>, %[[Z]] : memref<20xf32>)
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @scale(
// CHECK: gpu.func @scale_x2(%[[A0:.*]]: memref<20xf32> {llvm.readonly}, %[[A1:.*]]: memref<20xf32> {llvm.readonly}, %[[R:.*]]: memref<f32> {llvm.readonly}, %[[B0:.*]]: memref<20xf32>, %[[B1:.*]]: memref<20xf32>) workgroup(%{{.*}} : memref<32xf32, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64})
// CHECK-SAME: known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 6, 1, 1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x upper_bound 6
// CHECK: %[[MEMBER:.*]] = arith.divui %[[BLOCK]], %c3
// CHECK: %[[LOCAL:.*]] = arith.remui %[[BLOCK]], %c3
// CHECK: %[[CHOSEN:.*]]:2 = scf.index_switch %[[MEMBER]] -> memref<20xf32>, memref<20xf32>
// CHECK: case 0
// CHECK: scf.yield %[[A0]], %[[B0]]
// CHECK: default
// CHECK: scf.yield %[[A1]], %[[B1]]
// CHECK: memref.load %[[CHOSEN]]#0[%[[LOCAL]]]
// CHECK: memref.load %[[R]][]
// CHECK: memref.store %{{.*}}, %[[CHOSEN]]#1[%[[LOCAL]]]
module attributes {gpu.container_module} {
  func.func @main(%x: memref<20xf32>, %y: memref<20xf32>, %z: memref<20xf32>, %u: memref<20xf32>, %v: memref<20xf32>, %rate: memref<f32>) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @device::@scale blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%x : memref<20xf32>, %rate : memref<f32>, %y : memref<20xf32>) {hjx.traffic = array<i64: 84, 80>}
    gpu.launch_func @device::@scale blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%y : memref<20xf32>, %rate : memref<f32>, %z : memref<20xf32>) {hjx.traffic = array<i64: 84, 80>}
    gpu.launch_func @device::@scale blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%u : memref<20xf32>, %rate : memref<f32>, %v : memref<20xf32>) {hjx.traffic = array<i64: 84, 80>}
    return
  }
  gpu.module @device {
    gpu.func @scale(%a: memref<20xf32> {llvm.readonly}, %r: memref<f32> {llvm.readonly}, %b: memref<20xf32>)
        workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
      %block = gpu.block_id x upper_bound 3
      %value = memref.load %a[%block] : memref<20xf32>
      %rate = memref.load %r[] : memref<f32>
      %scaled = arith.mulf %value, %rate : f32
      memref.store %scaled, %w[%block] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %scaled, %b[%block] : memref<20xf32>
      gpu.return
    }
  }
}

// -----

// A host that looks at memory ends a batch, and products join products alone, of blocks like theirs.
// CHECK-LABEL: func.func @others
// CHECK-NOT: _x2
module attributes {gpu.container_module} {
  func.func @others(%x: memref<20xf32>, %y: memref<20xf32>, %u: memref<20xf32>, %v: memref<20xf32>) -> f32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    gpu.launch_func @device::@fixed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1) args(%y : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@fixed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%u : memref<20xf32>)
    %seen = memref.load %v[%c0] : memref<20xf32>
    gpu.launch_func @device::@fixed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%v : memref<20xf32>)
    return %seen : f32
  }
  gpu.module @device {
    gpu.func @wide(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
    gpu.func @fixed(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Blocks choose among pointers to tensor maps, not among the buffers. Three products by maps are one launch of two parts,
// which a comment keeps from becoming one code where they end alike.
// CHECK-LABEL: func.func @maps
// CHECK: gpu.launch_func @device::@narrow_etc_x3 blocks in (%c5
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @narrow_etc_x3(%[[A0:.*]]: memref<20xf32> {hjx.tensor_map = {box = array<i64: 4>, element = f32}, llvm.readonly}, %[[A1:.*]]: memref<20xf32> {hjx.tensor_map = {{.*}}}, %[[C0:[^:]*]]: memref<20xf32>, %[[C1:[^:]*]]: memref<20xf32>, %[[B:[^:]*]]: memref<20xf32> {hjx.tensor_map = {{{.*}}element = bf16}, llvm.readonly}
// CHECK: scf.if
// CHECK: %[[MAP0:.*]] = builtin.unrealized_conversion_cast %[[A0]] : memref<20xf32> to !llvm.ptr
// CHECK: %[[MAP1:.*]] = builtin.unrealized_conversion_cast %[[A1]] : memref<20xf32> to !llvm.ptr
// CHECK: %[[CHOSEN:.*]]:2 = scf.index_switch %{{.*}} -> !llvm.ptr, memref<20xf32>
// CHECK: scf.yield %[[MAP0]], %[[C0]] : !llvm.ptr, memref<20xf32>
// CHECK: scf.yield %[[MAP1]], %[[C1]] : !llvm.ptr, memref<20xf32>
// CHECK: nvvm.prefetch tensormap, %[[CHOSEN]]#0
// CHECK: llvm.inline_asm has_side_effects "// end of part 0"
// CHECK: } else {
// CHECK: %[[MAP:.*]] = builtin.unrealized_conversion_cast %[[B]] : memref<20xf32> to !llvm.ptr
// CHECK: nvvm.prefetch tensormap, %[[MAP]]
// CHECK: llvm.inline_asm has_side_effects "// end of part 1"
module attributes {gpu.container_module} {
  func.func @maps(%x: memref<20xf32>, %y: memref<20xf32>, %z: memref<20xf32>, %u: memref<20xf32>, %v: memref<20xf32>, %w: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch_func @device::@narrow blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>, %u : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>, %v : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@narrow blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<20xf32>, %w : memref<20xf32>) {hjx.product}
    return
  }
  gpu.module @device {
    gpu.func @narrow(%a: memref<20xf32> {hjx.tensor_map = {box = array<i64: 4>, element = f32}, llvm.readonly}, %c: memref<20xf32>)
        kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %thread = gpu.thread_id x
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %thread, %zero : index
      scf.if %first {
        %map = builtin.unrealized_conversion_cast %a : memref<20xf32> to !llvm.ptr
        nvvm.prefetch tensormap, %map : !llvm.ptr
      }
      %value = arith.constant 1.0 : f32
      memref.store %value, %c[%thread] : memref<20xf32>
      gpu.return
    }
    gpu.func @wide(%b: memref<20xf32> {hjx.tensor_map = {box = array<i64: 8>, element = bf16}, llvm.readonly}, %c: memref<20xf32>)
        kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %map = builtin.unrealized_conversion_cast %b : memref<20xf32> to !llvm.ptr
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.return
    }
  }
}

// -----

// Products whose blocks are unlike those of the product beside them wait for each other: %dw1 for %dw0. What
// another product needs does not wait.
// CHECK-LABEL: func.func @unlike
// CHECK-SAME: %[[X:[^:]*]]: memref<20xf32>, %[[DX1:[^:]*]]: memref<20xf32>, %[[DX0:[^:]*]]: memref<20xf32>, %[[DW1:[^:]*]]: memref<20xf32>, %[[DW0:[^:]*]]: memref<20xf32>
// CHECK: gpu.launch_func @device::@wide {{.*}} args(%[[X]] : memref<20xf32>, %[[DX1]] : memref<20xf32>)
// CHECK-NEXT: gpu.launch_func @device::@wide {{.*}} args(%[[DX1]] : memref<20xf32>, %[[DX0]] : memref<20xf32>)
// CHECK: gpu.launch_func @device::@narrow_x2 {{.*}} args(%[[DX0]] : memref<20xf32>, %[[X]] : memref<20xf32>, %[[DW0]] : memref<20xf32>, %[[DW1]] : memref<20xf32>)
// CHECK-NOT: gpu.launch_func
module attributes {gpu.container_module} {
  func.func @unlike(%x: memref<20xf32>, %dx1: memref<20xf32>, %dx0: memref<20xf32>, %dw1: memref<20xf32>, %dw0: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1) args(%x : memref<20xf32>, %dx1 : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>, %dw1 : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1) args(%dx1 : memref<20xf32>, %dx0 : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%dx0 : memref<20xf32>, %dw0 : memref<20xf32>) {hjx.product}
    return
  }
  gpu.module @device {
    gpu.func @wide(%a: memref<20xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
    gpu.func @narrow(%a: memref<20xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Products that do not depend on each other are one launch, and a product. Sizes that are the same are passed once,
// tiles lie in the same place, and another number of blocks makes another part.
// CHECK-LABEL: func.func @products
// CHECK-SAME: %[[DY:[^:]*]]: memref<?xf32>, %[[X:[^:]*]]: memref<?xf32>, %[[W:[^:]*]]: memref<?xf32>, %[[DW:[^:]*]]: memref<?xf32>, %[[DX:[^:]*]]: memref<?xf32>, %[[Z:[^:]*]]: memref<?xf32>, %[[DZ:[^:]*]]: memref<?xf32>
// CHECK: gpu.launch_func @device::@product_etc_x3 blocks in (%c15{{.*}}) threads in (%c128{{.*}}) args(%[[DY]] : memref<?xf32>, %[[X]] : memref<?xf32>, %[[DW]] : memref<?xf32>, %c16{{.*}} : index, %[[DY]] : memref<?xf32>, %[[W]] : memref<?xf32>, %[[DX]] : memref<?xf32>, %c8{{.*}} : index, %[[DY]] : memref<?xf32>, %[[Z]] : memref<?xf32>, %[[DZ]] : memref<?xf32>, %c16{{.*}} : index) {hjx.product, hjx.traffic = array<i64: 60, 30>}
// CHECK: gpu.launch_func @device::@product_x2 blocks in (%c8{{.*}}) threads in (%c128{{.*}}) args(%[[DX]] : memref<?xf32>, %[[W]] : memref<?xf32>, %[[X]] : memref<?xf32>, %[[Z]] : memref<?xf32>, %[[DY]] : memref<?xf32>, %c16{{.*}} : index) {hjx.product, hjx.traffic = array<i64: 40, 20>}
// CHECK: gpu.launch_func @device::@sum blocks
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @product_etc_x3(
// CHECK-SAME: workgroup(%{{.*}} : memref<1024xi8, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64}, %{{.*}} : memref<64xf32, #gpu.address_space<workgroup>> {hjx.turn = 1 : i64, llvm.align = 1024 : i64}, %{{.*}} : memref<1024xi8, #gpu.address_space<workgroup>> {hjx.turn = 2 : i64})
module attributes {gpu.container_module} {
  func.func @products(%dy: memref<?xf32>, %x: memref<?xf32>, %w: memref<?xf32>, %dw: memref<?xf32>, %dx: memref<?xf32>, %z: memref<?xf32>, %dz: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %size = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @device::@product blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%dy : memref<?xf32>, %x : memref<?xf32>, %dw : memref<?xf32>, %c16 : index) {hjx.product, hjx.traffic = array<i64: 20, 10>}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%dw : memref<?xf32>)
    gpu.launch_func @device::@other blocks in (%c5, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%dy : memref<?xf32>, %w : memref<?xf32>, %dx : memref<?xf32>, %c8 : index) {hjx.product, hjx.traffic = array<i64: 20, 10>}
    gpu.launch_func @device::@product blocks in (%c6, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%dy : memref<?xf32>, %z : memref<?xf32>, %dz : memref<?xf32>, %c16 : index) {hjx.product, hjx.traffic = array<i64: 20, 10>}
    gpu.launch_func @device::@product blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%dx : memref<?xf32>, %w : memref<?xf32>, %z : memref<?xf32>, %c16 : index) {hjx.product, hjx.traffic = array<i64: 20, 10>}
    gpu.launch_func @device::@product blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%dx : memref<?xf32>, %x : memref<?xf32>, %dy : memref<?xf32>, %size : index) {hjx.product, hjx.traffic = array<i64: 20, 10>}
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<?xf32> {llvm.readonly}, %b: memref<?xf32> {llvm.readonly}, %c: memref<?xf32>, %n: index)
        workgroup(%tiles: memref<1024xi8, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.barrier
      gpu.return
    }
    gpu.func @other(%a: memref<?xf32> {llvm.readonly}, %b: memref<?xf32> {llvm.readonly}, %c: memref<?xf32>, %n: index)
        workgroup(%tiles: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.barrier
      gpu.return
    }
    gpu.func @sum(%a: memref<?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Parts of one buffer may be written at once if they have nothing in common.
// CHECK-LABEL: func.func @apart
// CHECK: gpu.launch_func @device::@fill_x2 blocks in
// CHECK: gpu.launch_func @device::@fill blocks in
// CHECK-NOT: gpu.launch_func
module attributes {gpu.container_module} {
  func.func @apart(%x: memref<20x30xf32>) {
    %c1 = arith.constant 1 : index
    %left = memref.subview %x[0, 0] [20, 10] [1, 1] : memref<20x30xf32> to memref<20x10xf32, strided<[30, 1]>>
    %right = memref.subview %x[0, 10] [20, 10] [1, 1] : memref<20x30xf32> to memref<20x10xf32, strided<[30, 1], offset: 10>>
    %middle = memref.subview %x[0, 5] [20, 10] [1, 1] : memref<20x30xf32> to memref<20x10xf32, strided<[30, 1], offset: 5>>
    %0 = memref.reinterpret_cast %left to offset: [0], sizes: [590], strides: [1] : memref<20x10xf32, strided<[30, 1]>> to memref<590xf32, strided<[1]>>
    %1 = memref.reinterpret_cast %right to offset: [10], sizes: [590], strides: [1] : memref<20x10xf32, strided<[30, 1], offset: 10>> to memref<590xf32, strided<[1], offset: 10>>
    %2 = memref.reinterpret_cast %middle to offset: [5], sizes: [590], strides: [1] : memref<20x10xf32, strided<[30, 1], offset: 5>> to memref<590xf32, strided<[1], offset: 5>>
    %a = memref.cast %0 : memref<590xf32, strided<[1]>> to memref<?xf32, strided<[1], offset: ?>>
    %b = memref.cast %1 : memref<590xf32, strided<[1], offset: 10>> to memref<?xf32, strided<[1], offset: ?>>
    %c = memref.cast %2 : memref<590xf32, strided<[1], offset: 5>> to memref<?xf32, strided<[1], offset: ?>>
    gpu.launch_func @device::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32, strided<[1], offset: ?>>)
    gpu.launch_func @device::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<?xf32, strided<[1], offset: ?>>)
    gpu.launch_func @device::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<?xf32, strided<[1], offset: ?>>)
    return
  }
  gpu.module @device {
    gpu.func @fill(%a: memref<?xf32, strided<[1], offset: ?>>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Other kernels, too, if their blocks are alike: a block of the second part does as if it were of a
// grid of its own, uses buffers of the first, and has threads that only wait.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:[^:]*]]: memref<20xf32>, %[[Y:[^:]*]]: memref<20xf32>, %[[U:[^:]*]]: memref<20xf32>, %[[V:[^:]*]]: memref<20xf32>
// CHECK: gpu.launch_func @device::@sum_etc_x3 blocks in (%c6{{.*}}) threads in (%c64{{.*}}) args(%[[X]] : memref<20xf32>, %[[Y]] : memref<20xf32>, %[[U]] : memref<20xf32>)
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @sum_etc_x3(%[[A0:.*]]: memref<20xf32> {llvm.noalias}, %[[A1:.*]]: memref<20xf32> {llvm.noalias}, %[[B:.*]]: memref<20xf32>) workgroup(%[[W:[^ ]*]] : memref<64xf32, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64})
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 6, 1, 1>
// CHECK: %[[OWN:.*]] = memref.alloca() {alignment = 16 : i64} : memref<4xf32>
// CHECK-NOT: memref.alloca
// CHECK: %[[THREAD:.*]] = gpu.thread_id x upper_bound 64
// CHECK: %[[BLOCK:.*]] = gpu.block_id x upper_bound 6
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %c4
// CHECK: scf.if %[[FIRST]] {
// CHECK: arith.remui %[[BLOCK]], %c2
// CHECK: memref.store %{{.*}}, %[[OWN]]
// CHECK: gpu.barrier
// CHECK: } else {
// CHECK: %[[LOCAL:.*]] = arith.subi %[[BLOCK]], %c4
// CHECK: %[[MINE:.*]] = arith.cmpi ult, %[[THREAD]], %c32
// CHECK: scf.if %[[MINE]] {
// CHECK-NOT: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[OWN]][%[[LOCAL]]]
// CHECK: memref.store %{{.*}}, %[[B]][%[[LOCAL]]]
module attributes {gpu.container_module} {
  func.func @parts(%x: memref<20xf32>, %y: memref<20xf32>, %u: memref<20xf32>, %v: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @device::@sum blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<20xf32>)
    gpu.launch_func @device::@narrow blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1) args(%u : memref<20xf32>)
    gpu.launch_func @device::@sum blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @sum(%a: memref<20xf32> {llvm.noalias}) workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %block = gpu.block_id x upper_bound 2
      %value = memref.load %a[%block] : memref<20xf32>
      memref.store %value, %w[%block] : memref<64xf32, #gpu.address_space<workgroup>>
      %own = memref.alloca() : memref<4xf32>
      memref.store %value, %own[%block] : memref<4xf32>
      gpu.barrier
      %other = memref.load %w[%block] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %other, %a[%block] : memref<20xf32>
      gpu.return
    }
    gpu.func @narrow(%b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %block = gpu.block_id x upper_bound 2
      %value = memref.load %b[%block] : memref<20xf32>
      %own = memref.alloca() {alignment = 16 : i64} : memref<4xf32>
      memref.store %value, %own[%block] : memref<4xf32>
      memref.store %value, %b[%block] : memref<20xf32>
      gpu.return
    }
  }
}

// -----

// A barrier is for all threads of a block: kernels of smaller blocks that have one stay alone.
// CHECK-LABEL: func.func @barriers
// CHECK-NOT: _x2
module attributes {gpu.container_module} {
  func.func @barriers(%x: memref<20xf32>, %u: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<20xf32>)
    gpu.launch_func @device::@waits blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%u : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @wide(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @waits(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      gpu.barrier
      gpu.return
    }
  }
}

// -----

// A sum waits behind products for the next one, as long as less memory is alive than at the worst: here that is two buffers.
// CHECK-LABEL: func.func @hold
// CHECK-SAME: %[[X:[^:]*]]: memref<20x1024xf32>, %[[S:[^:]*]]: memref<20xf32>, %[[T:[^:]*]]: memref<20xf32>, %[[Z:[^:]*]]: memref<20xf32>
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[X]] : memref<20x1024xf32>, %[[A:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@sum_x2 {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B]] : memref<20x1024xf32>, %[[S]] : memref<20xf32>, %[[T]] : memref<20xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[B]] : memref<20x1024xf32>, %[[C:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[C]] : memref<20x1024xf32>, %[[D:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@sum {{.*}} args(%[[D]] : memref<20x1024xf32>, %[[Z]] : memref<20xf32>)
module attributes {gpu.container_module} {
  func.func @hold(%x: memref<20x1024xf32>, %s: memref<20xf32>, %t: memref<20xf32>, %z: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %a : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %s : memref<20xf32>)
    %b = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %t : memref<20xf32>)
    %c = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %c : memref<20x1024xf32>) {hjx.product}
    %d = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<20x1024xf32>, %d : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<20x1024xf32>, %z : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @narrow(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @sum(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// What was needed before there is room for again.
// CHECK-LABEL: func.func @wait
// CHECK-SAME: %[[X:[^:]*]]: memref<20x1024xf32>, %[[S:[^:]*]]: memref<20xf32>, %[[T:[^:]*]]: memref<20xf32>, %[[Z:[^:]*]]: memref<20xf32>
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[X]] : memref<20x1024xf32>, %[[A:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[B]] : memref<20x1024xf32>, %[[C:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[C]] : memref<20x1024xf32>, %[[D:[^ ]*]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@sum_x3 {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B]] : memref<20x1024xf32>, %[[D]] : memref<20x1024xf32>, %[[S]] : memref<20xf32>, %[[T]] : memref<20xf32>, %[[Z]] : memref<20xf32>)
module attributes {gpu.container_module} {
  func.func @wait(%x: memref<20x1024xf32>, %s: memref<20xf32>, %t: memref<20xf32>, %z: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %many = memref.alloc() : memref<8x20x1024xf32>
    memref.dealloc %many : memref<8x20x1024xf32>
    %a = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %a : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %s : memref<20xf32>)
    %b = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %t : memref<20xf32>)
    %c = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %c : memref<20x1024xf32>) {hjx.product}
    %d = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<20x1024xf32>, %d : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<20x1024xf32>, %z : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @narrow(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @sum(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// The same holds for results that are there before they are needed: here the second is not.
// CHECK-LABEL: func.func @early
// CHECK: gpu.launch_func @device::@narrow blocks
// CHECK: gpu.launch_func @device::@product
// CHECK: gpu.launch_func @device::@narrow blocks
// CHECK: gpu.launch_func @device::@product
module attributes {gpu.container_module} {
  func.func @early(%x: memref<20x1024xf32>, %s: memref<20xf32>, %t: memref<20xf32>, %z: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %a : memref<20x1024xf32>)
    %b = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    %c = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %c : memref<20x1024xf32>)
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %s : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @narrow(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @sum(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// And here it is.
// CHECK-LABEL: func.func @room
// CHECK: gpu.launch_func @device::@narrow_x2 blocks
// CHECK: gpu.launch_func @device::@product
// CHECK: gpu.launch_func @device::@product
module attributes {gpu.container_module} {
  func.func @room(%x: memref<20x1024xf32>, %s: memref<20xf32>, %t: memref<20xf32>, %z: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %many = memref.alloc() : memref<8x20x1024xf32>
    memref.dealloc %many : memref<8x20x1024xf32>
    %a = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %a : memref<20x1024xf32>)
    %b = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    %c = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %c : memref<20x1024xf32>)
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %s : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @narrow(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @sum(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}
