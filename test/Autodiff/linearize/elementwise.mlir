// RUN: hjx-opt --hjx-linearize --symbol-dce --split-input-file %s | FileCheck %s
// One program becomes two; what the linear one names of the other are residuals.

func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = hjx.sin %x : tensor<2xf32>
  %y = hjx.mul %x, %s : tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK-LABEL: func.func @x_sin_x
// CHECK: %[[FWD:.*]]:3 = call @f.fwd.1(%[[X:.*]]) :
// CHECK: %[[LIN:.*]] = call @f.lin.1(%[[FWD]]#1, %[[FWD]]#2, %[[X]], %[[X_DOT:.*]]) :
// CHECK: return %[[FWD]]#0, %[[LIN]]
func.func @x_sin_x(%x: tensor<2xf32>, %x_dot: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y, %map = hjx.linearize @f(%x) active = [true] : (tensor<2xf32>) -> (tensor<2xf32>, !hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>)
  %y_dot = hjx.apply_linear %map(%x_dot) : (!hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>, tensor<2xf32>) -> tensor<2xf32>
  return %y, %y_dot : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func private @f.fwd.1
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
// CHECK: %[[S:.*]] = hjx.sin %[[X]]
// CHECK: %[[C:.*]] = hjx.cos %[[X]]
// CHECK: %[[Y:.*]] = hjx.mul %[[X]], %[[S]]
// CHECK: return %[[Y]], %[[C]], %[[S]]
// CHECK-LABEL: func.func private @f.lin.1
// CHECK-SAME: (%[[C:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<2xf32>, %[[X_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[B:.*]] = hjx.mul %[[X_DOT]], %[[C]]
// CHECK: %[[A:.*]] = hjx.mul %[[X_DOT]], %[[S]]
// CHECK: %[[D:.*]] = hjx.mul %[[B]], %[[X]]
// CHECK: %[[Y_DOT:.*]] = hjx.add %[[A]], %[[D]]
// CHECK: return %[[Y_DOT]]

// -----

// A residual that is a result already is not returned twice: exp' = exp.
func.func private @exp(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = hjx.exp %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK-LABEL: func.func @forwarded_output
// CHECK: %[[Y:.*]] = call @exp.fwd.1(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK: call @exp.lin.1(%[[Y]], %{{.*}})
func.func @forwarded_output(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y, %map = hjx.linearize @exp(%x) active = [true] : (tensor<2xf32>) -> (tensor<2xf32>, !hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>, tensor<2xf32>) -> tensor<2xf32>
  return %y_dot : tensor<2xf32>
}

// -----

// Constants and broadcasts are emitted again instead of being kept.
func.func private @scale(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %two = hjx.constant dense<2.0> : tensor<2x3xf32>
  %e = hjx.exp %s : tensor<3xf32>
  %b = hjx.broadcast_in_dim %e shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %y = hjx.mul %x, %two : tensor<2x3xf32>
  %z = hjx.mul %y, %b : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @cheap_residuals
// CHECK: call @scale.fwd.10(%{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
// CHECK-LABEL: func.func private @scale.lin.10
// CHECK-SAME: (%[[E:.*]]: tensor<3xf32>, %{{.*}}: tensor<2x3xf32>)
// CHECK-DAG: hjx.constant dense<2.000000e+00>
// CHECK-DAG: hjx.broadcast_in_dim %[[E]]
func.func @cheap_residuals(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %y, %map = hjx.linearize @scale(%x, %s) active = [true, false] : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, !hjx.linear<(tensor<2x3xf32>) -> tensor<2x3xf32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<2x3xf32>) -> tensor<2x3xf32>>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y_dot : tensor<2x3xf32>
}
