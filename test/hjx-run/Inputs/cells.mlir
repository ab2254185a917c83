// A function with refs: one that is counted up, a table of which rows are added to, one that is only
// read. Another function calls it.
func.func @update(%calls: !hjx.ref<tensor<i32>> {hjx.name = "calls"}, %table: !hjx.ref<tensor<4x2xf32>> {hjx.name = "table"},
                  %scale: !hjx.ref<tensor<2xf32>> {hjx.name = "scale"}, %ids: tensor<3xi32> {hjx.name = "ids"})
    -> (tensor<2xf32> {hjx.name = "first"}) {
  %one = hjx.constant dense<1> : tensor<i32>
  hjx.ref_add %calls, %one : (!hjx.ref<tensor<i32>>, tensor<i32>) -> ()
  %s = hjx.ref_get %scale : (!hjx.ref<tensor<2xf32>>) -> tensor<2xf32>
  %rows = hjx.broadcast_in_dim %s shape = [3, 2] dims = [1] : tensor<2xf32> -> tensor<3x2xf32>
  hjx.ref_add %table[%ids, :], %rows : (!hjx.ref<tensor<4x2xf32>>, tensor<3xi32>, tensor<3x2xf32>) -> ()
  %first = hjx.ref_get %table[0, :] : (!hjx.ref<tensor<4x2xf32>>) -> tensor<2xf32>
  return %first : tensor<2xf32>
}

func.func @twice(%calls: !hjx.ref<tensor<i32>>, %table: !hjx.ref<tensor<4x2xf32>>, %scale: tensor<2xf32>, %ids: tensor<3xi32>) {
  %s = hjx.ref_new %scale : (tensor<2xf32>) -> !hjx.ref<tensor<2xf32>>
  %a = call @update(%calls, %table, %s, %ids) : (!hjx.ref<tensor<i32>>, !hjx.ref<tensor<4x2xf32>>, !hjx.ref<tensor<2xf32>>, tensor<3xi32>) -> tensor<2xf32>
  %b = call @update(%calls, %table, %s, %ids) : (!hjx.ref<tensor<i32>>, !hjx.ref<tensor<4x2xf32>>, !hjx.ref<tensor<2xf32>>, tensor<3xi32>) -> tensor<2xf32>
  return
}
