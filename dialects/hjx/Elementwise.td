// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: each result element depends on the elements at the same
// place. Operands and result have one shape; there is no implicit broadcast.
#ifndef HJX_ELEMENTWISE_TD
#define HJX_ELEMENTWISE_TD

include "dialects/hjx/Base.td"

class Hjx_Unary<string mnemonic, Type array, string what, list<Trait> traits = []>
    : Hjx_Op<mnemonic, traits # [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = what;
  let description = what # [{.
    Constraints:
    (C1) operand and result have the same type.
    ```mlir
    %y = hjx.}] # mnemonic # [{ %x : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins array:$operand);
  let results = (outs array:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Hjx_Binary<string mnemonic, Type array, string what, list<Trait> traits = []>
    : Hjx_Op<mnemonic, traits # [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = what;
  let description = what # [{.
    Constraints:
    (C1) both operands and the result have the same type.
    ```mlir
    %z = hjx.}] # mnemonic # [{ %x, %y : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins array:$lhs, array:$rhs);
  let results = (outs array:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Unary arithmetic and math
//===----------------------------------------------------------------------===//

def Hjx_NegOp : Hjx_Unary<"neg", Hjx_NumArray, "Negation; unsigned integers wrap"> { let hasFolder = 1; }
def Hjx_AbsOp : Hjx_Unary<"abs", Hjx_NumArray, "Absolute value; the least signed integer wraps to itself">;
def Hjx_SignOp : Hjx_Unary<"sign", Hjx_NumArray,
    "Sign: -1, 0 or 1; for floats a zero keeps its sign and NaN stays NaN">;
def Hjx_FloorOp : Hjx_Unary<"floor", Hjx_FloatArray, "Round towards negative infinity">;
def Hjx_CeilOp : Hjx_Unary<"ceil", Hjx_FloatArray, "Round towards positive infinity">;
def Hjx_RoundAway : I32EnumAttrCase<"AwayFromZero", 0, "away_from_zero">;
def Hjx_RoundEven : I32EnumAttrCase<"ToNearestEven", 1, "to_nearest_even">;
def Hjx_RoundingMethod : I32EnumAttr<"RoundingMethod", "what happens to halves", [Hjx_RoundAway, Hjx_RoundEven]> {
  let cppNamespace = "::hjx::ir";
}
def Hjx_RoundOp : Hjx_Op<"round", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "Round to the nearest integer";
  let description = [{
    Halves go away from zero or to the even neighbour (`rounding_method`).
    Constraints: (C1) operand and result have the same type.
    ```mlir
    %y = hjx.round to_nearest_even, %x : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_RoundingMethod:$rounding_method, Hjx_FloatArray:$operand);
  let results = (outs Hjx_FloatArray:$result);
  let assemblyFormat = "$rounding_method `,` $operand attr-dict `:` type($result)";
}
def Hjx_SqrtOp : Hjx_Unary<"sqrt", Hjx_FloatArray, "Square root">;
def Hjx_RsqrtOp : Hjx_Unary<"rsqrt", Hjx_FloatArray, "Reciprocal square root">;
def Hjx_ExpOp : Hjx_Unary<"exp", Hjx_FloatArray, "Exponential">;
def Hjx_Expm1Op : Hjx_Unary<"expm1", Hjx_FloatArray, "exp(x) - 1, accurate near zero">;
def Hjx_LogOp : Hjx_Unary<"log", Hjx_FloatArray, "Natural logarithm">;
def Hjx_Log1pOp : Hjx_Unary<"log1p", Hjx_FloatArray, "log(1 + x), accurate near zero">;
def Hjx_SinOp : Hjx_Unary<"sin", Hjx_FloatArray, "Sine of radians">;
def Hjx_CosOp : Hjx_Unary<"cos", Hjx_FloatArray, "Cosine of radians">;
def Hjx_TanOp : Hjx_Unary<"tan", Hjx_FloatArray, "Tangent of radians">;
def Hjx_TanhOp : Hjx_Unary<"tanh", Hjx_FloatArray, "Hyperbolic tangent">;
def Hjx_ErfOp : Hjx_Unary<"erf", Hjx_FloatArray, "Error function">;
def Hjx_ErfInvOp : Hjx_Unary<"erf_inv", Hjx_FloatArray, "Inverse of the error function">;
def Hjx_LogisticOp : Hjx_Unary<"logistic", Hjx_FloatArray, "1 / (1 + exp(-x))">;
def Hjx_NotOp : Hjx_Unary<"not", Hjx_IntOrBoolArray, "Bitwise complement; logical for bool"> { let hasFolder = 1; }
def Hjx_StopGradientOp : Hjx_Unary<"stop_gradient", Hjx_Array, "The operand, with a zero derivative">;

def Hjx_IsFiniteOp : Hjx_InferredOp<"is_finite", [Elementwise, SameOperandsAndResultShape]> {
  let summary = "True where the element is neither infinite nor NaN";
  let description = [{
    Constraints: (C1) the result has the operand's shape and bool elements.
    ```mlir
    %p = hjx.is_finite %x : tensor<2x3xf32> -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Hjx_FloatArray:$operand);
  let results = (outs Hjx_BoolArray:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Binary arithmetic and bits
//===----------------------------------------------------------------------===//

def Hjx_AddOp : Hjx_Binary<"add", Hjx_NumArray, "Sum; integers wrap", [Commutative]> { let hasFolder = 1; }
def Hjx_SubOp : Hjx_Binary<"sub", Hjx_NumArray, "Difference; integers wrap"> { let hasFolder = 1; }
def Hjx_MulOp : Hjx_Binary<"mul", Hjx_NumArray, "Product; integers wrap", [Commutative]> { let hasFolder = 1; }
def Hjx_DivOp : Hjx_Binary<"div", Hjx_NumArray,
    "Quotient; integers truncate towards zero, x / 0 is all ones (-1) and the least integer over -1 is itself">
    { let hasFolder = 1; }
def Hjx_RemOp : Hjx_Binary<"rem", Hjx_NumArray,
    "Remainder with the dividend's sign, as C's fmod; for integers x rem 0 is x">;
def Hjx_MaxOp : Hjx_Binary<"max", Hjx_ScalarArray, "Greater of the two; NaN if either is NaN; or for bool", [Commutative]>;
def Hjx_MinOp : Hjx_Binary<"min", Hjx_ScalarArray, "Lesser of the two; NaN if either is NaN; and for bool", [Commutative]>;
def Hjx_PowOp : Hjx_Binary<"pow", Hjx_FloatArray, "lhs raised to the power rhs, as C's pow">;
def Hjx_AndOp : Hjx_Binary<"and", Hjx_IntOrBoolArray, "Bitwise and; logical for bool", [Commutative]> { let hasFolder = 1; }
def Hjx_OrOp : Hjx_Binary<"or", Hjx_IntOrBoolArray, "Bitwise or; logical for bool", [Commutative]> { let hasFolder = 1; }
def Hjx_XorOp : Hjx_Binary<"xor", Hjx_IntOrBoolArray, "Bitwise exclusive or; logical for bool", [Commutative]>;
def Hjx_ShiftLeftOp : Hjx_Binary<"shift_left", Hjx_IntArray, "Left shift; 0 when the amount is not below the width">;
def Hjx_ShiftRightLogicalOp : Hjx_Binary<"shift_right_logical", Hjx_IntArray,
    "Right shift that fills with zeros; 0 when the amount is not below the width">;
def Hjx_ShiftRightArithmeticOp : Hjx_Binary<"shift_right_arithmetic", Hjx_IntArray,
    "Right shift that fills with the sign; amounts not below the width count as width - 1">;

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

def Hjx_ComparisonDirection : I32EnumAttr<"ComparisonDirection", "which comparison", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
    I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::hjx::ir";
}

def Hjx_CompareOp : Hjx_InferredOp<"compare", [Elementwise, SameOperandsAndResultShape, SameTypeOperands]> {
  let summary = "Comparison of two arrays";
  let description = [{
    With NaN every direction but `ne` is false.
    Constraints: (C1) both operands have the same type. (C2) the result has
    their shape and bool elements.
    ```mlir
    %p = hjx.compare lt, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Hjx_ComparisonDirection:$direction, Hjx_ScalarArray:$lhs, Hjx_ScalarArray:$rhs);
  let results = (outs Hjx_BoolArray:$result);
  let assemblyFormat = "$direction `,` $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Hjx_SelectNOp : Hjx_InferredOp<"select_n"> {
  let summary = "Choose between cases, element by element";
  let description = [{
    `which` false takes `cases[0]`, true `cases[1]`; an i32 `which` k takes
    `cases[k]`, clamped to the last (and the first) case.
    Constraints: (C1) at least one case. (C2) all cases have the type of the
    result. (C3) `which` is bool (at most two cases) or i32, and is a scalar or
    has the cases' shape.
    ```mlir
    %z = hjx.select_n %p, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyTypeOf<[I1, I32]>]>:$which, Variadic<Hjx_Array>:$cases);
  let results = (outs Hjx_Array:$result);
  let assemblyFormat = "$which `,` $cases attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Hjx_ClampOp : Hjx_InferredOp<"clamp"> {
  let summary = "min(max(operand, lo), hi)";
  let description = [{
    Constraints: (C1) `lo` and `hi` are scalars of the operand's element type or
    have its type. (C2) the result has the operand's type.
    ```mlir
    %y = hjx.clamp %lo, %x, %hi : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_NumArray:$lo, Hjx_NumArray:$operand, Hjx_NumArray:$hi);
  let results = (outs Hjx_NumArray:$result);
  let assemblyFormat = "$lo `,` $operand `,` $hi attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Element type changes
//===----------------------------------------------------------------------===//

def Hjx_ConvertOp : Hjx_Op<"convert", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "Convert the elements to another type";
  let description = [{
    Float to integer truncates towards zero, saturates, and sends NaN to 0;
    anything to bool is `x != 0`; integer to narrower integer wraps.
    Constraints: (C1) operand and result have the same shape.
    ```mlir
    %y = hjx.convert %x : tensor<2x3xf32> -> tensor<2x3xbf16>
    ```
  }];
  let arguments = (ins Hjx_ScalarArray:$operand);
  let results = (outs Hjx_ScalarArray:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Hjx_BitcastOp : Hjx_Op<"bitcast", [Pure]> {
  let summary = "Read the elements' bits as another type";
  let description = [{
    Constraints: (C1) equal widths keep the shape; a k times narrower result
    type adds a trailing dimension of k; a k times wider one removes a trailing
    dimension of k. The least significant part comes first.
    ```mlir
    %y = hjx.bitcast %x : tensor<2x3xf32> -> tensor<2x3xui32>
    ```
  }];
  let arguments = (ins Hjx_NumArray:$operand);
  let results = (outs Hjx_NumArray:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif // HJX_ELEMENTWISE_TD
