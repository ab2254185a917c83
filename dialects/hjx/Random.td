// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from splittable keys: Threefry-2x32 (Salmon et al. 2011), laid
// out as JAX does with jax_threefry_partitionable, so that bits are equal.
#ifndef HJX_RANDOM_TD
#define HJX_RANDOM_TD

include "dialects/hjx/Base.td"

def Hjx_Threefry2x32Op : Hjx_Op<"threefry2x32", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "The Threefry-2x32 hash, 20 rounds, element by element";
  let description = [{
    Constraints: (C1) all operands and results have one type.
    ```mlir
    %y0, %y1 = hjx.threefry2x32 %k0, %k1, %x0, %x1 : tensor<4xui32>
    ```
  }];
  let arguments = (ins Hjx_UI32Array:$key0, Hjx_UI32Array:$key1, Hjx_UI32Array:$count0, Hjx_UI32Array:$count1);
  let results = (outs Hjx_UI32Array:$bits0, Hjx_UI32Array:$bits1);
  let assemblyFormat = "$key0 `,` $key1 `,` $count0 `,` $count1 attr-dict `:` type($bits0)";
  let builders = [OpBuilder<(ins "::mlir::Value":$key0, "::mlir::Value":$key1, "::mlir::Value":$count0, "::mlir::Value":$count1)>];
  let skipDefaultBuilders = 1;
}

def Hjx_RandomWrapOp : Hjx_InferredOp<"random_wrap"> {
  let summary = "Keys from their two words";
  let description = [{
    Constraints: (C1) the operand's last dimension is 2; the result drops it.
    ```mlir
    %k = hjx.random_wrap %w : tensor<4x2xui32> -> tensor<4x!hjx.key<threefry2x32>>
    ```
  }];
  let arguments = (ins Hjx_UI32Array:$operand);
  let results = (outs Hjx_KeyArray:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Hjx_RandomUnwrapOp : Hjx_InferredOp<"random_unwrap"> {
  let summary = "The two words of each key, as a trailing dimension";
  let description = [{
    Constraints: (C1) the result has the operand's shape and a last dimension 2.
    ```mlir
    %w = hjx.random_unwrap %k : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x2xui32>
    ```
  }];
  let arguments = (ins Hjx_KeyArray:$operand);
  let results = (outs Hjx_UI32Array:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Hjx_RandomSeedOp : Hjx_InferredOp<"random_seed"> {
  let summary = "Keys from integer seeds";
  let description = [{
    The key's words are the high and the low half of the 64-bit seed; the high
    word of a seed of at most 32 bits is 0.
    Constraints: (C1) the result has the operand's shape.
    ```mlir
    %k = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
    ```
  }];
  let arguments = (ins Hjx_IntArray:$seed);
  let results = (outs Hjx_KeyArray:$result);
  let assemblyFormat = "$seed attr-dict `:` type($seed) `->` type($result)";
}

def Hjx_RandomSplitOp : Hjx_InferredOp<"random_split"> {
  let summary = "New keys from each key";
  let description = [{
    Key number i (row-major in `shape`) is the hash of the 64-bit counter i.
    Constraints: (C1) the result's shape is the operand's followed by `shape`,
    whose entries are not negative.
    ```mlir
    %k2 = hjx.random_split %k shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
    ```
  }];
  let arguments = (ins Hjx_KeyArray:$keys, DenseI64ArrayAttr:$shape);
  let results = (outs Hjx_KeyArray:$result);
  let assemblyFormat = "$keys `shape` `=` $shape attr-dict `:` type($keys) `->` type($result)";
}

def Hjx_RandomFoldInOp : Hjx_InferredOp<"random_fold_in"> {
  let summary = "A new key from a key and a number";
  let description = [{
    The new key is the hash, under `keys`, of the pair (0, data).
    Constraints: (C1) keys and data have one shape.
    ```mlir
    %k2 = hjx.random_fold_in %k, %i : (tensor<!hjx.key<threefry2x32>>, tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>
    ```
  }];
  let arguments = (ins Hjx_KeyArray:$keys, Hjx_UI32Array:$data);
  let results = (outs Hjx_KeyArray:$result);
  let assemblyFormat = "$keys `,` $data attr-dict `:` functional-type(operands, results)";
}

def Hjx_RandomBitsOp : Hjx_InferredOp<"random_bits"> {
  let summary = "Uniform random bits";
  let description = [{
    Element i (row-major in `shape`) hashes the 64-bit counter i: 32 bits are
    the exclusive or of the two words, 64 bits the first word above the second,
    8 and 16 bits the low bits of the 32.
    Constraints: (C1) `width` is 8, 16, 32 or 64. (C2) the result's shape is the
    keys' followed by `shape`; its elements are unsigned of `width`.
    ```mlir
    %b = hjx.random_bits %k width = 32 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui32>
    ```
  }];
  let arguments = (ins Hjx_KeyArray:$keys, I64Attr:$width, DenseI64ArrayAttr:$shape);
  let results = (outs Hjx_IntArray:$result);
  let assemblyFormat = "$keys `width` `=` $width `shape` `=` $shape attr-dict `:` type($keys) `->` type($result)";
}

#endif // HJX_RANDOM_TD
