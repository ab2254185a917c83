// RUN: hjx-opt %s --hjx-batch-launches --split-input-file | FileCheck %s
// Launches that have nothing to do with each other are one launch.

// The third is on other buffers and joins the first; the second reads what the first wrote and stays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[^:]*]]: memref<20xf32>, %[[Y:[^:]*]]: memref<20xf32>, %[[Z:[^:]*]]: memref<20xf32>, %[[U:[^:]*]]: memref<20xf32>, %[[V:[^:]*]]: memref<20xf32>, %[[RATE:[^:]*]]: memref<f32>
// CHECK: gpu.launch_func @device::@scale_x2 blocks in (%c6{{.*}}) threads in (%c32{{.*}}) args(%[[X]] : memref<20xf32>, %[[U]] : memref<20xf32>, %[[RATE]] : memref<f32>, %[[Y]] : memref<20xf32>, %[[V]] : memref<20xf32>) {hjx.traffic = array<i64: 168, 160>}
// CHECK: gpu.launch_func @device::@scale blocks in (%c3{{.*}}) threads in (%c32{{.*}}) args(%[[Y]] : memref<20xf32>, %[[RATE]] : memref<f32>, %[[Z]] : memref<20xf32>)
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @scale(
// CHECK: gpu.func @scale_x2(%[[A0:.*]]: memref<20xf32> {llvm.readonly}, %[[A1:.*]]: memref<20xf32> {llvm.readonly}, %[[R:.*]]: memref<f32> {llvm.readonly}, %[[B0:.*]]: memref<20xf32>, %[[B1:.*]]: memref<20xf32>) workgroup(%{{.*}} : memref<32xf32, #gpu.address_space<workgroup>>)
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

// Products stay alone, and a kernel whose grid each launch chooses; a host that looks at memory ends a batch.
// CHECK-LABEL: func.func @others
// CHECK-NOT: _x2
module attributes {gpu.container_module} {
  func.func @others(%x: memref<20xf32>, %y: memref<20xf32>, %u: memref<20xf32>, %v: memref<20xf32>) -> f32 {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<20xf32>) {hjx.product}
    gpu.launch_func @device::@free blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20xf32>)
    gpu.launch_func @device::@free blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<20xf32>)
    gpu.launch_func @device::@fixed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%u : memref<20xf32>)
    %seen = memref.load %v[%c0] : memref<20xf32>
    gpu.launch_func @device::@fixed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%v : memref<20xf32>)
    return %seen : f32
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @free(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @fixed(%a: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
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
// CHECK: gpu.func @sum_etc_x3(%[[A0:.*]]: memref<20xf32> {llvm.noalias}, %[[A1:.*]]: memref<20xf32> {llvm.noalias}, %[[B:.*]]: memref<20xf32>) workgroup(%[[W:[^ ]*]] : memref<64xf32, #gpu.address_space<workgroup>>)
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

// A sum waits for the next one as long as the product reads its operand, too: then it would hold memory.
// CHECK-LABEL: func.func @sink
// CHECK-SAME: %[[X:[^:]*]]: memref<20x1024xf32>, %[[S:[^:]*]]: memref<20xf32>, %[[T:[^:]*]]: memref<20xf32>, %[[Z:[^:]*]]: memref<20xf32>
// CHECK: %[[A:.*]] = memref.alloc() : memref<20x1024xf32>
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[X]] : memref<20x1024xf32>, %[[A]] : memref<20x1024xf32>)
// CHECK: %[[B:.*]] = memref.alloc() : memref<20x1024xf32>
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@sum_x2 {{.*}} args(%[[A]] : memref<20x1024xf32>, %[[B]] : memref<20x1024xf32>, %[[S]] : memref<20xf32>, %[[T]] : memref<20xf32>)
// CHECK: gpu.launch_func @device::@product {{.*}} args(%[[X]] : memref<20x1024xf32>, %[[X]] : memref<20x1024xf32>)
// CHECK: gpu.launch_func @device::@sum {{.*}} args(%[[X]] : memref<20x1024xf32>, %[[Z]] : memref<20xf32>)
module attributes {gpu.container_module} {
  func.func @sink(%x: memref<20x1024xf32>, %s: memref<20xf32>, %t: memref<20xf32>, %z: memref<20xf32>) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %a : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %s : memref<20xf32>)
    %b = memref.alloc() : memref<20x1024xf32>
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20x1024xf32>, %b : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<20x1024xf32>, %t : memref<20xf32>)
    gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %x : memref<20x1024xf32>) {hjx.product}
    gpu.launch_func @device::@sum blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<20x1024xf32>, %z : memref<20xf32>)
    return
  }
  gpu.module @device {
    gpu.func @product(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20x1024xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
    gpu.func @sum(%a: memref<20x1024xf32> {llvm.readonly}, %b: memref<20xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      gpu.return
    }
  }
}
