// SPDX-License-Identifier: Apache-2.0
//
// Operations on hi-types: calls of primitives, and the two that look inside a
// value. The types and primitives themselves are objects (HiTypes.h).
#ifndef HJX_HITYPES_TD
#define HJX_HITYPES_TD

include "dialects/hjx/Base.td"

def Hjx_CallPrimitiveOp : Hjx_Op<"call_primitive", Hjx_PureButForRefs> {
  let summary = "A user's operation";
  let description = [{
    `params` are static.

    Constraints: (C1) the primitive is known. (C2) the primitive accepts
    operands and parameters, and results have the types that it infers.
    ```mlir
    %q = hjx.call_primitive "quantize"(%x) params {bits = 8} : (tensor<2x3xf32>) -> !hjx.q8<2x3>
    ```
  }];
  let arguments = (ins StrAttr:$primitive, Variadic<Hjx_Value>:$operands, OptionalAttr<DictionaryAttr>:$params);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = [{
    $primitive `(` $operands `)` (`params` $params^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = refEffects # [{
    /// The definition; verified IR has it.
    const PrimitiveDef &getDef();
    /// What its rules see.
    PrimitiveCall getCall();
  }];
}

def Hjx_RaiseOp : Hjx_Op<"raise", [Pure]> {
  let summary = "A value of a hi-type from its components";
  let description = [{
    Constraints: (C1) operands have the component types of the result's type.
    ```mlir
    %q = hjx.raise %values, %scales : (tensor<2x3xi8>, tensor<2xf32>) -> !hjx.q8<2x3>
    ```
  }];
  let arguments = (ins Variadic<Hjx_Data>:$components);
  let results = (outs Hjx_HiType:$result);
  let assemblyFormat = "$components attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Hjx_LowerOp : Hjx_Op<"lower", [Pure]> {
  let summary = "The components of a value of a hi-type";
  let description = [{
    Constraints: (C1) results have the component types of the operand's type.
    ```mlir
    %values, %scales = hjx.lower %q : (!hjx.q8<2x3>) -> (tensor<2x3xi8>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins Hjx_HiType:$operand);
  let results = (outs Variadic<Hjx_Data>:$components);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // HJX_HITYPES_TD
