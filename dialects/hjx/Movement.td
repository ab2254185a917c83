// SPDX-License-Identifier: Apache-2.0
//
// Movement: ops that create, place, pick or reorder elements without
// computing with them (scatter's combination apart).
#ifndef HJX_MOVEMENT_TD
#define HJX_MOVEMENT_TD

include "dialects/hjx/Base.td"

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

def Hjx_ConstantOp : Hjx_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "An array known at compile time";
  let description = [{
    Constraints: (C1) the value has the result's type.
    ```mlir
    %c = hjx.constant dense<1.0> : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Hjx_ScalarArray:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Hjx_IotaOp : Hjx_Op<"iota", [Pure]> {
  let summary = "Each element's index along one dimension";
  let description = [{
    Constraints: (C1) `dimension` is in range.
    ```mlir
    %i = hjx.iota dim = 1 : tensor<2x3xi32>   // [[0,1,2],[0,1,2]]
    ```
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Hjx_NumArray:$result);
  let assemblyFormat = "`dim` `=` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Hjx_BroadcastInDimOp : Hjx_InferredOp<"broadcast_in_dim"> {
  let summary = "Repeat an array along new or unit dimensions";
  let description = [{
    Operand dimension i becomes result dimension dims[i]; other result
    dimensions, and those where the operand has size 1, repeat it.
    Constraints: (C1) one entry of `dims` for each operand dimension, strictly
    ascending and in range; no size in `shape` is negative. (C2) operand
    dimension i is 1 or equals result dimension dims[i].
    ```mlir
    %y = hjx.broadcast_in_dim %x shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$dims);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `shape` `=` $shape `dims` `=` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

def Hjx_ReshapeOp : Hjx_InferredOp<"reshape"> {
  let summary = "The same elements, in row-major order, in another shape";
  let description = [{
    Constraints: (C1) operand and result have equally many elements.
    ```mlir
    %y = hjx.reshape %x shape = [6] : tensor<2x3xf32> -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, DenseI64ArrayAttr:$shape);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `shape` `=` $shape attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Hjx_TransposeOp : Hjx_InferredOp<"transpose"> {
  let summary = "Permute the dimensions";
  let description = [{
    Result dimension i is operand dimension permutation[i].
    Constraints: (C1) `permutation` permutes the operand's dimensions.
    ```mlir
    %y = hjx.transpose %x permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `permutation` `=` $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Hjx_RevOp : Hjx_Op<"rev", [Pure, SameOperandsAndResultType]> {
  let summary = "Reverse the order along dimensions";
  let description = [{
    Constraints: (C1) `dims` are in range and distinct. (C2) operand and result
    have one type.
    ```mlir
    %y = hjx.rev %x dims = [1] : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `dims` `=` $dims attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hjx_ConcatenateOp : Hjx_InferredOp<"concatenate"> {
  let summary = "Join arrays along a dimension";
  let description = [{
    Constraints: (C1) at least one operand. (C2) `dimension` is in range. (C3)
    the operands agree in element type and in every other dimension.
    ```mlir
    %z = hjx.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Hjx_Array>:$inputs, I64Attr:$dimension);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$inputs `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Hjx_PadOp : Hjx_InferredOp<"pad"> {
  let summary = "Surround and intersperse an array with a value";
  let description = [{
    `interior[i]` values go between neighbours of dimension i, `low[i]` before
    and `high[i]` after; negative low or high remove elements.
    Constraints: (C1) low, high and interior have one entry per dimension,
    interior none below 0. (C2) the padding value is a scalar of the operand's
    element type. (C3) no result dimension is negative.
    ```mlir
    %y = hjx.pad %x, %v low = [0, 1] high = [0, 2] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, Hjx_Array:$padding_value,
      DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `,` $padding_value `low` `=` $low `high` `=` $high `interior` `=` $interior attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

def Hjx_SliceOp : Hjx_InferredOp<"slice"> {
  let summary = "A strided box with bounds known at compile time";
  let description = [{
    Constraints: (C1) start, limit and strides have one entry per dimension.
    (C2) 0 <= start <= limit <= size. (C3) strides are positive.
    ```mlir
    %y = hjx.slice %x start = [0, 1] limit = [2, 3] strides = [1, 1] : tensor<2x3xf32> -> tensor<2x2xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, DenseI64ArrayAttr:$start, DenseI64ArrayAttr:$limit, DenseI64ArrayAttr:$strides);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `start` `=` $start `limit` `=` $limit `strides` `=` $strides attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Hjx_DynamicSliceOp : Hjx_InferredOp<"dynamic_slice"> {
  let summary = "A box of fixed size at a start known at run time";
  let description = [{
    Each start is clamped so that the box lies inside the operand.
    Constraints: (C1) one scalar integer start per dimension. (C2) one size per
    dimension, between 0 and the dimension.
    ```mlir
    %y = hjx.dynamic_slice %x [%i, %j] sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, Variadic<Hjx_IntArray>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `[` $start_indices `]` `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Hjx_DynamicUpdateSliceOp : Hjx_InferredOp<"dynamic_update_slice"> {
  let summary = "The operand with a box replaced, at a start known at run time";
  let description = [{
    Each start is clamped so that the box lies inside the operand.
    Constraints: (C1) one scalar integer start per dimension. (C2) the update
    has the operand's rank and element type and fits inside it.
    ```mlir
    %y = hjx.dynamic_update_slice %x, %u [%i, %j] : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, Hjx_Array:$update, Variadic<Hjx_IntArray>:$start_indices);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `,` $update `[` $start_indices `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

def Hjx_IndexingMode : I32EnumAttr<"IndexingMode", "what an index out of bounds does", [
    I32EnumAttrCase<"Clip", 0, "clip">, I32EnumAttrCase<"FillOrDrop", 1, "fill_or_drop">,
    I32EnumAttrCase<"PromiseInBounds", 2, "promise_in_bounds">]> {
  let cppNamespace = "::hjx::ir";
}

def Hjx_GatherOp : Hjx_InferredOp<"gather"> {
  let summary = "Slices of the operand at many start indices";
  let description = [{
    XLA's gather. The last dimension of `start_indices` holds index vectors;
    component k is the start along operand dimension start_index_map[k]. The
    other dimensions of `start_indices` are the batch dimensions: result
    dimensions not in `offset_dims`, in order. Slice dimensions that are neither
    collapsed nor batching become result dimensions `offset_dims`, in order.
    Operand dimension operand_batching_dims[k] is indexed by the position along
    start_indices dimension start_indices_batching_dims[k].

    `mode`: `clip` moves a start so that the slice is inside; `fill_or_drop`
    gives a whole slice of the fill value when any part is outside: NaN for
    floats, the least value for signed integers, the greatest for unsigned,
    true for bool, both words all ones for keys; `promise_in_bounds` is `clip` whose user vouches.

    Constraints: (C1) `slice_sizes` has one entry per operand dimension, between
    0 and the dimension. (C2) collapsed_slice_dims and operand_batching_dims are
    ascending, distinct and disjoint, with slice size 1. (C3) the batching lists
    have one length and equal dimension sizes. (C4) `start_index_map` has as
    many entries as the index vector, distinct and not batching. (C5)
    `offset_dims` is ascending and has one entry per remaining slice dimension.
    ```mlir
    // rows of a table
    %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
         start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$operand, Hjx_IntArray:$start_indices,
      DenseI64ArrayAttr:$offset_dims, DenseI64ArrayAttr:$collapsed_slice_dims,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$operand_batching_dims,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start_indices_batching_dims,
      DenseI64ArrayAttr:$start_index_map, DenseI64ArrayAttr:$slice_sizes,
      DefaultValuedAttr<Hjx_IndexingMode, "::hjx::ir::IndexingMode::Clip">:$mode);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$operand `,` $start_indices attr-dict `:` functional-type(operands, results)";
}

def Hjx_ScatterKind : I32EnumAttr<"ScatterKind", "how updates combine", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">]> {
  let cppNamespace = "::hjx::ir";
}

def Hjx_ScatterOp : Hjx_InferredOp<"scatter"> {
  let summary = "The operand with slices set or added to at many start indices";
  let description = [{
    The inverse walk of gather: update dimensions `update_window_dims` are the
    window, in operand order without inserted and batching dimensions; the other
    update dimensions walk `scatter_indices`. Updates apply in row-major order of
    the updates: `set` keeps the last one, a float `add` rounds after each.
    `mode`: `clip` moves a start so that the window is inside; `fill_or_drop`
    skips a window of which any part is outside; `promise_in_bounds` is `clip`.

    Constraints: (C1) operand, updates and result agree in element type, which
    is a number for `add`. (C2)
    inserted_window_dims and operand_batching_dims are ascending, distinct and
    disjoint. (C3) the batching lists have one length and equal dimension sizes.
    (C4) `scatter_dims_to_operand_dims` has as many entries as the index vector,
    distinct and not batching. (C5) `update_window_dims` is ascending and with
    the dimensions of (C2) makes the operand's rank. (C6) windows are not larger
    than the operand. (C7) the update's other dimensions are those of
    `scatter_indices` without the last.
    ```mlir
    // add rows to a table
    %y = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    ```
  }];
  let arguments = (ins Hjx_ScatterKind:$kind, Hjx_Array:$operand, Hjx_IntArray:$scatter_indices, Hjx_Array:$updates,
      DenseI64ArrayAttr:$update_window_dims, DenseI64ArrayAttr:$inserted_window_dims,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$operand_batching_dims,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scatter_indices_batching_dims,
      DenseI64ArrayAttr:$scatter_dims_to_operand_dims,
      DefaultValuedAttr<Hjx_IndexingMode, "::hjx::ir::IndexingMode::Clip">:$mode,
      UnitAttr:$unique_indices);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$kind `,` $operand `,` $scatter_indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

#endif // HJX_MOVEMENT_TD
