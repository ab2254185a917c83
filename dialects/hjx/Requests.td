// SPDX-License-Identifier: Apache-2.0
//
// Requests: transforms of functions, written as calls on symbols. Their result
// types follow from the callee's type, so that tracing goes on before anything
// is expanded; `hjx-expand-transforms` replaces them, innermost first, by calls
// of new private functions. Closures are explicit operands (inactive or
// unmapped), which is what makes nested levels safe.
//
// Float arrays have a tangent, of their own type, and values of hi-types that
// say so, of the type that they say. `active` has one entry per primal operand;
// an active operand must have a tangent. "Float" below means having a tangent,
// and "with its type" having its tangent's type.
#ifndef HJX_REQUESTS_TD
#define HJX_REQUESTS_TD

include "dialects/hjx/Base.td"

class Hjx_Request<string mnemonic, list<Trait> traits = []>
    : Hjx_Op<mnemonic, traits # Hjx_PureButForRefs # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let extraClassDeclaration = refEffects;
}

def Hjx_JvpOp : Hjx_Request<"jvp", [AttrSizedOperandSegments]> {
  let summary = "A function's value and its directional derivative";
  let description = [{
    Results: the callee's results, then one tangent for each float result.
    Constraints: (C1) `callee` names a function with the primals' types. (C2)
    `active` has one entry per primal; active primals are float arrays. (C3)
    tangents has one operand per active primal, with its type. (C4) result types
    as above.
    ```mlir
    %y, %y_dot = hjx.jvp @f(%x, %w) tangents(%x_dot) active = [true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Hjx_Value>:$primals, Variadic<Hjx_Tangent>:$tangents,
                       DenseBoolArrayAttr:$active);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = "$callee `(` $primals `)` `tangents` `(` $tangents `)` `active` `=` $active attr-dict `:` functional-type(operands, results)";
}

def Hjx_VjpOp : Hjx_Request<"vjp", [AttrSizedOperandSegments]> {
  let summary = "A function's value and the pull-back of cotangents";
  let description = [{
    Results: the callee's results, then one cotangent for each active primal.
    With `in_place`, an entry for each active primal, the cotangent of a primal
    whose entry is true is added to the next of `accumulators` instead of
    returned.
    Constraints: (C1) `callee` names a function with the primals' types. (C2)
    `active` has one entry per primal; active primals are float arrays. (C3)
    cotangents has one operand per float result, with its type. (C4) result
    types as above. (C5) `in_place` has one entry per active primal, and there
    is an accumulator, a ref of the cotangent's type, for each that is true.
    ```mlir
    %y, %x_bar = hjx.vjp @f(%x, %w) cotangents(%y_bar) active = [true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Hjx_Value>:$primals, Variadic<Hjx_Tangent>:$cotangents,
                       Variadic<Hjx_RefType>:$accumulators, DenseBoolArrayAttr:$active, OptionalAttr<DenseBoolArrayAttr>:$in_place);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = [{
    $callee `(` $primals `)` `cotangents` `(` $cotangents `)` `active` `=` $active
    (`accumulators` `(` $accumulators^ `)` `in_place` `=` $in_place)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::llvm::StringRef":$callee,
      "::mlir::ValueRange":$primals, "::mlir::ValueRange":$cotangents, "::llvm::ArrayRef<bool>":$active)>];
}

def Hjx_LinearizeOp : Hjx_Request<"linearize"> {
  let summary = "A function's value and its derivative as a linear map";
  let description = [{
    Results: the callee's results, then the linear map from the tangents of the
    active primals to the tangents of the float results.
    Constraints: (C1), (C2) as for jvp. (C3) result types as above. (C4) the map
    is only used by apply_linear and apply_transpose in the same block or below.
    ```mlir
    %y, %lin = hjx.linearize @f(%x) active = [true] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Hjx_Value>:$primals, DenseBoolArrayAttr:$active);
  let results = (outs Variadic<Hjx_Value>:$results);
  let assemblyFormat = "$callee `(` $primals `)` `active` `=` $active attr-dict `:` functional-type(operands, results)";
}

def Hjx_ApplyLinearOp : Hjx_Op<"apply_linear", [Pure]> {
  let summary = "Push tangents through a linear map";
  let description = [{
    Constraints: (C1) tangents have the map's input types. (C2) results have its
    result types.
    ```mlir
    %y_dot = hjx.apply_linear %lin(%x_dot) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Hjx_LinearType:$linear, Variadic<Hjx_Tangent>:$tangents);
  let results = (outs Variadic<Hjx_Tangent>:$results);
  let assemblyFormat = "$linear `(` $tangents `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Hjx_ApplyTransposeOp : Hjx_Op<"apply_transpose", Hjx_PureButForRefs # [AttrSizedOperandSegments]> {
  let summary = "Pull cotangents back through a linear map";
  let description = [{
    Results: one cotangent for each of the map's inputs. With `wanted`, only for
    those whose entry is true; the others are not computed. With `in_place`, an
    entry for each wanted input, as in vjp.
    Constraints: (C1) cotangents have the map's result types. (C2) results have
    its input types. (C3) `wanted` has one entry per input. (C4) `in_place` has
    one entry per wanted input, and there is an accumulator, a ref of the
    cotangent's type, for each that is true.
    ```mlir
    %x_bar = hjx.apply_transpose %lin(%y_bar) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<f32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Hjx_LinearType:$linear, Variadic<Hjx_Tangent>:$cotangents, Variadic<Hjx_RefType>:$accumulators,
                       OptionalAttr<DenseBoolArrayAttr>:$wanted, OptionalAttr<DenseBoolArrayAttr>:$in_place);
  let results = (outs Variadic<Hjx_Tangent>:$results);
  let assemblyFormat = [{
    $linear `(` $cotangents `)` (`wanted` `=` $wanted^)? (`accumulators` `(` $accumulators^ `)` `in_place` `=` $in_place)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = refEffects;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::Value":$linear, "::mlir::ValueRange":$cotangents)>];
}

def Hjx_VmapOp : Hjx_Request<"vmap"> {
  let summary = "A function mapped over an axis of its arguments";
  let description = [{
    Entry i of `in_axes` is the mapped axis of operand i, or -1 for an operand
    that every call shares; `out_axes` says where each result's mapped axis
    goes, or -1 for a result that does not depend on the mapped operands. For a
    hi-type an entry is a mapping spec, an attribute that its author defines.
    Constraints: (C1) `in_axes` has one entry per operand, in range. (C2) mapped
    axes have size `axis_size`, which is not negative. (C3) without the mapped axes, operands have the
    callee's argument types. (C4) `out_axes` has one entry per result, in range;
    results have the callee's result types with the mapped axis inserted.
    ```mlir
    %ys = hjx.vmap @f(%xs, %w) in_axes = [0, -1] out_axes = [0] size = 8 : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Hjx_Value>:$operands,
                       ArrayAttr:$in_axes, ArrayAttr:$out_axes, I64Attr:$axis_size);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::llvm::StringRef":$callee, "::mlir::ValueRange":$operands,
      "::llvm::ArrayRef<int64_t>":$in_axes, "::llvm::ArrayRef<int64_t>":$out_axes, "int64_t":$size)>];
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `in_axes` `=` $in_axes `out_axes` `=` $out_axes `size` `=` $axis_size attr-dict `:` functional-type(operands, results)";
}

def Hjx_CheckpointPolicy : I32EnumAttr<"CheckpointPolicy", "what a checkpointed function may save", [
    I32EnumAttrCase<"NothingSaveable", 0, "nothing_saveable">,
    I32EnumAttrCase<"DotsSaveable", 1, "dots_saveable">,
    I32EnumAttrCase<"DotsWithNoBatchDimsSaveable", 2, "dots_with_no_batch_dims_saveable">,
    I32EnumAttrCase<"EverythingSaveable", 3, "everything_saveable">]> {
  let cppNamespace = "::hjx::ir";
}

def Hjx_CheckpointOp : Hjx_Request<"checkpoint"> {
  let summary = "A call whose intermediate values reverse mode recomputes";
  let description = [{
    The same values as a call. When linearized, only what `policy` allows is
    saved; the rest is computed again in the linear program.
    Constraints: (C1) `callee` names a function with the operands' types. (C2)
    results have its result types.
    ```mlir
    %y = hjx.checkpoint @f(%x) policy = dots_saveable : (tensor<3xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Hjx_Value>:$operands,
                       DefaultValuedAttr<Hjx_CheckpointPolicy, "::hjx::ir::CheckpointPolicy::NothingSaveable">:$policy);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = "$callee `(` $operands `)` (`policy` `=` $policy^)? attr-dict `:` functional-type(operands, results)";
}

def Hjx_CustomJvpOp : Hjx_Request<"custom_jvp"> {
  let summary = "A call whose derivative the user gives";
  let description = [{
    `rule` takes the operands, then a tangent for each float operand; it returns
    the results, then a tangent for each float result.
    Constraints: (C1) `callee` names a function with the operands' and results'
    types. (C2) `rule` names a function of the types above.
    ```mlir
    %y = hjx.custom_jvp @f(%x) rule = @f_jvp : (tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, FlatSymbolRefAttr:$rule, Variadic<Hjx_Value>:$operands);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `rule` `=` $rule attr-dict `:` functional-type(operands, results)";
}

def Hjx_CustomVjpOp : Hjx_Request<"custom_vjp"> {
  let summary = "A call whose pull-back the user gives";
  let description = [{
    `fwd` takes the operands and returns the results, then any residuals; `bwd`
    takes the operands that are refs, the residuals, then a cotangent for each
    float result, and returns a cotangent for each operand that is float or a ref
    of one: for a ref, of what it held before the call, which counts only where
    the function that is differentiated makes the ref itself.
    Constraints: (C1) `callee` names a function with the operands' and results'
    types. (C2) `fwd` and `bwd` name functions of the types above.
    ```mlir
    %y = hjx.custom_vjp @f(%x) fwd = @f_fwd bwd = @f_bwd : (tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, FlatSymbolRefAttr:$fwd, FlatSymbolRefAttr:$bwd, Variadic<Hjx_Value>:$operands);
  let results = (outs Variadic<Hjx_Data>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `fwd` `=` $fwd `bwd` `=` $bwd attr-dict `:` functional-type(operands, results)";
}

def Hjx_CustomLinOp : Hjx_Request<"custom_lin", [AttrSizedOperandSegments]> {
  let summary = "The linear map whose transpose is a user's pull-back";
  let description = [{
    Stands for custom_vjp in a linear program. It can be transposed, which calls
    `bwd` on (residuals, cotangents), but not evaluated. `active` has one entry
    per cotangent that `bwd` returns, true where a tangent is given.
    Constraints: (C1) `bwd` names a function that takes the residuals, then the
    results' types. (C2) tangents have the types of bwd's results where `active`.
    ```mlir
    %y_dot = hjx.custom_lin @f_bwd residuals(%r) tangents(%x_dot) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$bwd, Variadic<Hjx_Value>:$residuals, Variadic<Hjx_Tangent>:$tangents,
                       DenseBoolArrayAttr:$active);
  let results = (outs Variadic<Hjx_Tangent>:$results);
  let assemblyFormat = "$bwd `residuals` `(` $residuals `)` `tangents` `(` $tangents `)` `active` `=` $active attr-dict `:` functional-type(operands, results)";
}

#endif // HJX_REQUESTS_TD
