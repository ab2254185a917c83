// SPDX-License-Identifier: Apache-2.0
//
// Reductions over axes and running sums along an axis.
#ifndef HJX_REDUCTION_TD
#define HJX_REDUCTION_TD

include "dialects/hjx/Base.td"

class Hjx_Reduce<string kind, Type array, string what> : Hjx_InferredOp<"reduce_" # kind> {
  let summary = what;
  let description = what # [{ over `axes`, which the result drops. An empty
    reduction gives the identity. The order of combination is unspecified but
    fixed: the same program gives the same bits.
    Constraints: (C1) axes are in range, ascending and distinct.
    ```mlir
    %y = hjx.reduce_}] # kind # [{ %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins array:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs array:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Hjx_ReduceSumOp : Hjx_Reduce<"sum", Hjx_NumArray, "Sum">;
def Hjx_ReduceProdOp : Hjx_Reduce<"prod", Hjx_NumArray, "Product">;
def Hjx_ReduceMaxOp : Hjx_Reduce<"max", Hjx_NumArray, "Maximum, NaN if any is NaN,">;
def Hjx_ReduceMinOp : Hjx_Reduce<"min", Hjx_NumArray, "Minimum, NaN if any is NaN,">;
def Hjx_ReduceAndOp : Hjx_Reduce<"and", Hjx_IntOrBoolArray, "Bitwise and">;
def Hjx_ReduceOrOp : Hjx_Reduce<"or", Hjx_IntOrBoolArray, "Bitwise or">;

class Hjx_ArgReduce<string mnemonic, string what> : Hjx_Op<mnemonic, [Pure]> {
  let summary = what;
  let description = what # [{ along `axis`, which the result drops; the first
    such index on ties; the first NaN counts as the extreme value, as in NumPy.
    Constraints: (C1) axis is in range and its dimension is not empty. (C2) the
    result drops the axis; its elements are the index type.
    ```mlir
    %i = hjx.}] # mnemonic # [{ %x axis = 1 : tensor<2x3xf32> -> tensor<2xi32>
    ```
  }];
  let arguments = (ins Hjx_ScalarArray:$operand, I64Attr:$axis);
  let results = (outs Hjx_IntArray:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Hjx_ArgmaxOp : Hjx_ArgReduce<"argmax", "Index of the maximum">;
def Hjx_ArgminOp : Hjx_ArgReduce<"argmin", "Index of the minimum">;

def Hjx_CumsumOp : Hjx_Op<"cumsum", [Pure, SameOperandsAndResultType]> {
  let summary = "Running sum along an axis";
  let description = [{
    result[i] is the sum of operand[0..i], or of operand[i..] with `reverse`.
    Constraints: (C1) axis is in range. (C2) operand and result have one type.
    ```mlir
    %y = hjx.cumsum %x axis = 1 : tensor<2x3xf32>
    %y = hjx.cumsum %x axis = 1 reverse : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_NumArray:$operand, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Hjx_NumArray:$result);
  let assemblyFormat = "$operand `axis` `=` $axis (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // HJX_REDUCTION_TD
