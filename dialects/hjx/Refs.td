// SPDX-License-Identifier: Apache-2.0
//
// Refs: mutable cells that hold one value. They are second-class, so that two
// refs in scope never are the same cell: no op returns a ref but ref_new and
// ref_empty, nothing carries one around a loop, no call gets one twice. A
// function or region touches only refs that are passed to it; an op that takes
// a ref reads and writes it, in program order. hjx-discharge-refs turns all of
// this into values.
//
// An access names a part of the array. In brackets stand one entry for each
// dimension, or nothing for the whole value:
//
//   :        all of the dimension              4        one element, dimension dropped
//   1:7:2    start:stop:step, static           %i       the same, at run time
//   %i +: 4  4 elements from %i on (clamped)   %ids     an integer array: gathers
//
// Integer arrays have one shape, whose dimensions go in the result where NumPy
// puts them. Scalars and starts at run time are clamped; so are integer arrays
// that read, while writes of theirs beyond the ends are dropped. Negative indices
// are not special here.
#ifndef HJX_REFS_TD
#define HJX_REFS_TD

include "dialects/hjx/Base.td"

def Hjx_RefNewOp : Hjx_Op<"ref_new"> {
  let summary = "A new cell that holds a value";
  let description = [{
    Constraints: (C1) the result is a ref of the operand's type.
    ```mlir
    %r = hjx.ref_new %x : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
    ```
  }];
  let arguments = (ins Hjx_Data:$init);
  let results = (outs Res<Hjx_RefType, "", [MemAlloc]>:$ref);
  let assemblyFormat = "$init attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Hjx_RefEmptyOp : Hjx_Op<"ref_empty"> {
  let summary = "A new cell whose content is unspecified";
  let description = [{
    ```mlir
    %r = hjx.ref_empty : !hjx.ref<tensor<3xf32>>
    ```
  }];
  let results = (outs Res<Hjx_RefType, "", [MemAlloc]>:$ref);
  let assemblyFormat = "attr-dict `:` qualified(type($ref))";
}

/// Ops that access a part of a ref.
class Hjx_RefAccess<string mnemonic> : Hjx_Op<mnemonic> {
  code accessors = [{
    /// The part that is accessed.
    RefIndex getIndex() { return {getIndices(), getStarts(), getSizes(), getStrides()}; }
    mlir::Type getValueType() { return getRef().getType().getValueType(); }
  }];
}

def Hjx_RefGetOp : Hjx_RefAccess<"ref_get"> {
  let summary = "Read a ref";
  let description = [{
    Constraints: (C1) the index has one entry for each dimension of an array, in
    range where static, and is empty for the whole value; the author of a hi-type
    says which dimensions an index of its refs has, if any; (C2) the result has the
    type of the part.
    ```mlir
    %y = hjx.ref_get %r[%i, :] : (!hjx.ref<tensor<4x3xf32>>, tensor<i32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Arg<Hjx_RefType, "", [MemRead]>:$ref, Variadic<Hjx_IntArray>:$indices,
                       DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Hjx_Data:$result);
  let assemblyFormat = [{
    $ref `` custom<RefIndex>($indices, $starts, $sizes, $strides) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = accessors;
}

def Hjx_RefSwapOp : Hjx_RefAccess<"ref_swap"> {
  let summary = "Write a ref and return what was there";
  let description = [{
    A write is a swap whose result is not used. Where integer arrays name one
    element twice, one of the values stays.
    Constraints: (C1) as for ref_get; (C2) value and result have the type of the
    part.
    ```mlir
    %old = hjx.ref_swap %r[2, 0:2], %x : (!hjx.ref<tensor<4x3xf32>>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Arg<Hjx_RefType, "", [MemRead, MemWrite]>:$ref, Variadic<Hjx_IntArray>:$indices, Hjx_Data:$value,
                       DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Hjx_Data:$result);
  let assemblyFormat = [{
    $ref `` custom<RefIndex>($indices, $starts, $sizes, $strides) `,` $value attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = accessors;
}

def Hjx_RefAddOp : Hjx_RefAccess<"ref_add"> {
  let summary = "Add to a ref in place";
  let description = [{
    Where integer arrays name one element twice, both values are added.
    Constraints: (C1) as for ref_get; (C2) the value has the type of the part;
    (C3) values can be added: arrays of numbers, or a hi-type with a sum.
    ```mlir
    hjx.ref_add %r[%ids, :], %x : (!hjx.ref<tensor<4x3xf32>>, tensor<7xi32>, tensor<7x3xf32>) -> ()
    ```
  }];
  let arguments = (ins Arg<Hjx_RefType, "", [MemRead, MemWrite]>:$ref, Variadic<Hjx_IntArray>:$indices, Hjx_Data:$value,
                       DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    $ref `` custom<RefIndex>($indices, $starts, $sizes, $strides) `,` $value attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = accessors;
}

def Hjx_RefFreezeOp : Hjx_Op<"ref_freeze"> {
  let summary = "End a ref's life and return what it holds";
  let description = [{
    Constraints: (C1) the ref was made in the same block, by ref_new or
    ref_empty. (C2) nothing uses the ref afterwards. (C3) the result has the
    type of the ref's value.
    ```mlir
    %x = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Arg<Hjx_RefType, "", [MemRead, MemFree]>:$ref);
  let results = (outs Hjx_Data:$result);
  let assemblyFormat = "$ref attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // HJX_REFS_TD
