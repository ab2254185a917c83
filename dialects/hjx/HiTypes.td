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
    operands and parameters, and results have the types that it infers. A ref among
    the operands counts as read and written.
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
  let hasCanonicalizer = 1;
  let extraClassDeclaration = refEffects # [{
    /// The definition; verified IR has it.
    const PrimitiveDef &getDef();
    /// What its rules see.
    PrimitiveCall getCall();
  }];
}

def Hjx_PrimitiveLinOp : Hjx_Op<"primitive_lin", Hjx_PureButForRefs # [AttrSizedOperandSegments]> {
  let summary = "The linear map whose transpose is a primitive's pull-back";
  let description = [{
    Stands in a linear program for a call of a primitive with rules for
    cotangents: `signature` is the call's type, and `residuals` are what the
    forward rule kept. It can be transposed, which runs the backward rule, but not
    evaluated. `active` has one entry per operand of the call, true where a tangent
    is given.
    Constraints: (C1) the primitive is known and has the rules. (C2) `active` has
    one entry per operand of the signature; tangents have the tangent types of the
    active ones. (C3) results have the tangent types of the signature's results,
    those that have one.
    ```mlir
    %y_dot = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%x_dot) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$primitive, TypeAttrOf<FunctionType>:$signature, Variadic<Hjx_Value>:$residuals,
                       Variadic<Hjx_Tangent>:$tangents, DenseBoolArrayAttr:$active, OptionalAttr<DictionaryAttr>:$params);
  let results = (outs Variadic<Hjx_Tangent>:$results);
  let assemblyFormat = [{
    $primitive `:` $signature `residuals` `(` $residuals `)` `tangents` `(` $tangents `)` `active` `=` $active
    (`params` $params^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = refEffects # [{
    const PrimitiveDef &getDef();
    /// The call that was linearized.
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
