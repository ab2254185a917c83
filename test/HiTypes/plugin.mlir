// Types and primitives of a plugin (examples/hi_types): text, bytecode and back, and their expansions.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so %s > %t.mlir
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so --emit-bytecode %s -o %t.mlirbc
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so %t.mlirbc | diff %t.mlir -
// RUN: FileCheck %s < %t.mlir
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so --hjx-lower-hi %s | FileCheck %s --check-prefix=LO

// CHECK-LABEL: func.func @nested(%arg0: !hjx.tup<!hjx.q8<2x3>, tensor<f32>>) -> tensor<2x3xf32>
// LO-LABEL: func.func @nested(
// LO-SAME:    %[[VALUES:.*]]: tensor<2x3xi8>, %[[SCALES:.*]]: tensor<2xf32>, %{{.*}}: tensor<f32>) -> tensor<2x3xf32>
func.func @nested(%t: !hjx.tup<!hjx.q8<2x3>, tensor<f32>>) -> tensor<2x3xf32> {
  // CHECK: hjx.call_primitive "get_tuple_element"(%arg0) params {index = 0 : i64}
  %q = hjx.call_primitive "get_tuple_element"(%t) params {index = 0} : (!hjx.tup<!hjx.q8<2x3>, tensor<f32>>) -> !hjx.q8<2x3>
  // LO: %[[NUMBERS:.*]] = hjx.convert %[[VALUES]] : tensor<2x3xi8> -> tensor<2x3xf32>
  // LO: %[[COLUMN:.*]] = hjx.reshape %[[SCALES]] shape = [2, 1]
  // LO: hjx.mul %[[NUMBERS]], %{{.*}} : tensor<2x3xf32>
  // LO-NOT: call_primitive
  %x = hjx.call_primitive "dequantize"(%q) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  return %x : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @swap
// LO-LABEL: func.func @swap(
// LO-SAME:    %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
// LO-NEXT:    return %[[Y]], %[[X]]
func.func @swap(%t: !hjx.tup<tensor<3xf32>, tensor<f32>>) -> !hjx.tup<tensor<f32>, tensor<3xf32>> {
  %x = hjx.call_primitive "get_tuple_element"(%t) params {index = 0} : (!hjx.tup<tensor<3xf32>, tensor<f32>>) -> tensor<3xf32>
  %y = hjx.call_primitive "get_tuple_element"(%t) params {index = 1} : (!hjx.tup<tensor<3xf32>, tensor<f32>>) -> tensor<f32>
  %s = hjx.call_primitive "make_tup"(%y, %x) : (tensor<f32>, tensor<3xf32>) -> !hjx.tup<tensor<f32>, tensor<3xf32>>
  return %s : !hjx.tup<tensor<f32>, tensor<3xf32>>
}

// CHECK-LABEL: func.func @empty(%arg0: !hjx.tup) -> !hjx.tup
// LO-LABEL: func.func @empty()
func.func @empty(%t: !hjx.tup) -> !hjx.tup {
  return %t : !hjx.tup
}
