// SPDX-License-Identifier: Apache-2.0
//
// Contractions: products summed over shared dimensions.
#ifndef HJX_CONTRACTION_TD
#define HJX_CONTRACTION_TD

include "dialects/hjx/Base.td"

def Hjx_DotGeneralOp : Hjx_InferredOp<"dot_general"> {
  let summary = "Batched contraction of two arrays";
  let description = [{
    Sums lhs * rhs over the contracting dimensions, for each index of the
    batching dimensions. The result's dimensions are the batching dimensions in
    the order given, then the free dimensions of lhs, then those of rhs, as
    XLA's DotGeneral. Products accumulate in `accum_type` when given (the
    result's element type), else in the operands' type, but at least in f32.

    Constraints: (C1) lhs and rhs have the same element type. (C2) the
    dimension lists of one operand are in range and name no dimension twice.
    (C3) lhs_batching and rhs_batching have one length, as have lhs_contracting
    and rhs_contracting. (C4) paired dimensions have equal sizes. (C5)
    `accum_type` is a float type for floats and an integer type for integers.
    ```mlir
    %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %z = hjx.dot_general %x, %y batching = [0] x [0] contracting = [2] x [1] : ...
    ```
  }];
  let arguments = (ins Hjx_NumArray:$lhs, Hjx_NumArray:$rhs,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batching,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batching,
      DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
      OptionalAttr<TypeAttr>:$accum_type);
  let results = (outs Hjx_NumArray:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`batching` `=` $lhs_batching^ `x` $rhs_batching)?
    `contracting` `=` $lhs_contracting `x` $rhs_contracting
    (`accum` `=` $accum_type^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // HJX_CONTRACTION_TD
