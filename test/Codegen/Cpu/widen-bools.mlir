// RUN: hjx-opt %s --hjx-widen-bools | FileCheck %s
// No buffer holds i1 afterwards: bytes are compared with zero, booleans extended.

#id = affine_map<(i) -> (i)>

// CHECK: memref.global "private" constant @mask : memref<3xi8> = dense<[1, 0, 1]>
memref.global "private" constant @mask : memref<3xi1> = dense<[true, false, true]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<3xi8>, %[[Y:.*]]: memref<3xi8>)
func.func @main(%x: memref<3xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %m = memref.get_global @mask : memref<3xi1>
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : memref<3xi8>, memref<3xi8>) outs(%[[Y]] : memref<3xi8>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8, %{{.*}}: i8)
  // CHECK: %[[ANDED:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
  // CHECK: %[[BYTE:.*]] = arith.extui %[[ANDED]] : i1 to i8
  // CHECK: linalg.yield %[[BYTE]] : i8
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %m : memref<3xi1>, memref<3xi1>) outs(%y : memref<3xi1>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %r = arith.andi %a, %b : i1
    linalg.yield %r : i1
  }
  // CHECK: %[[BYTE2:.*]] = memref.load %[[Y]][%{{.*}}] : memref<3xi8>
  // CHECK: %[[BOOL:.*]] = arith.cmpi ne, %[[BYTE2]], %{{.*}} : i8
  // CHECK: %[[BYTE3:.*]] = arith.extui %[[BOOL]] : i1 to i8
  // CHECK: memref.store %[[BYTE3]], %[[Y]]
  %v = memref.load %y[%c0] : memref<3xi1>
  memref.store %v, %y[%c0] : memref<3xi1>
  return
}
