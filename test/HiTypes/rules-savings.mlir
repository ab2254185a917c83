// What is dropped of primitives (rules.h), and what discharge makes of refs that they take and of
// parts of hi values.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libRulesPlugin.so --canonicalize %s | FileCheck %s
// RUN: hjx-opt --load-hjx-plugin=%plugins/libRulesPlugin.so --hjx-discharge-refs %s | FileCheck %s --check-prefix=VALUES

// CHECK-LABEL: func.func @one_of_two(
// CHECK-NEXT:    %[[Y:.*]] = hjx.cos %{{.*}}
// CHECK-NEXT:    return %[[Y]]
func.func @one_of_two(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s, %c = hjx.call_primitive "sincos"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %c : tensor<3xf32>
}

// CHECK-LABEL: func.func @both(
// CHECK-NEXT:    hjx.call_primitive "sincos"
func.func @both(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %s, %c = hjx.call_primitive "sincos"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %s, %c : tensor<3xf32>, tensor<3xf32>
}

// Without the rule a call stays whole; one whose rule calls it again as it was stays, too.
// CHECK-LABEL: func.func @whole(
// CHECK-NEXT:    hjx.call_primitive "twins"
// CHECK-NEXT:    hjx.call_primitive "again"
// CHECK-NEXT:    return
func.func @whole(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %s, %c = hjx.call_primitive "twins"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %t, %d = hjx.call_primitive "again"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %c, %d : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @dead(
// CHECK-NEXT:    return
func.func @dead(%x: tensor<3xf32>) {
  %s, %c = hjx.call_primitive "twins"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// What is done to a ref is done, whether the result is used or not.
// CHECK-LABEL: func.func @effect(
// CHECK-NEXT:    hjx.call_primitive "tally"
// VALUES-LABEL: func.func @effect(
// VALUES-SAME:    %[[X:.*]]: tensor<3xf32>, %[[TOTAL:.*]]: tensor<3xf32> {hjx.alias = 0 : i64, hjx.donated}) -> tensor<3xf32>
// VALUES-NEXT:    %[[SUM:.*]] = hjx.add %[[TOTAL]], %[[X]]
// VALUES-NEXT:    return %[[SUM]]
func.func @effect(%x: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) {
  %n = hjx.call_primitive "tally"(%total, %x) : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// VALUES-LABEL: func.func @part(
// VALUES-SAME:    %[[ROWS:.*]]: !hjx.rows<5, 3>
// VALUES:         %[[PARTS:.*]]:2 = hjx.lower %[[ROWS]]
// VALUES:         hjx.raise %{{.*}} : (tensor<2x3xf32>, tensor<2xf32>) -> !hjx.rows<2, 3>
func.func @part(%r: !hjx.ref<!hjx.rows<5, 3>>) -> !hjx.rows<2, 3> {
  %part = hjx.ref_get %r[1:3] : (!hjx.ref<!hjx.rows<5, 3>>) -> !hjx.rows<2, 3>
  return %part : !hjx.rows<2, 3>
}

// The text of a linear map; a dead one goes.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT:    %[[Y_DOT:.*]] = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%arg0) tangents(%arg1) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    return %[[Y_DOT]]
func.func @linear(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) -> tensor<3xf32> {
  %y_dot = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%x_dot) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %dead = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%y_dot) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y_dot : tensor<3xf32>
}
