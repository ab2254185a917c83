// SPDX-License-Identifier: Apache-2.0
//
// Control flow. Regions are isolated and name every value they use: constants,
// carries and per-iteration slices are explicit operands, so that each
// transform sees the role of every value. Functions are func.func; calls are
// func.call.
#ifndef HJX_HIGHERORDER_TD
#define HJX_HIGHERORDER_TD

include "dialects/hjx/Base.td"

def Hjx_YieldOp : Hjx_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["ScanOp", "WhileOp", "CondOp"]>]> {
  let summary = "The values a region gives back";
  let arguments = (ins Variadic<Hjx_Data>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins)>];
}

def Hjx_ScanOp : Hjx_Op<"scan", Hjx_PureButForRefs # [IsolatedFromAbove, AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "A loop of known length that carries values and maps over slices";
  let description = [{
    The body takes (consts, carries, slices of xs) and yields (carries, slices of
    ys). Iteration i takes slice i of every xs and makes slice i of every ys;
    with `reverse` i runs from length - 1 down to 0. Results are the last
    carries, then the stacked ys. A ref among the xs is seen by iteration i as a
    ref of its slice i.

    Constraints: (C1) every xs has leading dimension `length`, which is not
    negative. (C2) the body's arguments have the types of consts, inits and the
    slices of xs. (C3) the body yields the carries, with their types, then the
    slices of ys. (C4) results are the carries' types, then the ys' slices with
    a leading `length`.
    ```mlir
    %sum, %partial = hjx.scan consts() inits(%zero) xs(%x) length = 3 : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
    ^bb0(%c: tensor<f32>, %xi: tensor<f32>):
      %s = hjx.add %c, %xi : tensor<f32>
      hjx.yield %s, %s : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<Hjx_Value>:$consts, Variadic<Hjx_Data>:$inits, Variadic<Hjx_Value>:$xs,
                       I64Attr:$length, UnitAttr:$reverse);
  let results = (outs Variadic<Hjx_Data>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `consts` `(` $consts `)` `inits` `(` $inits `)` `xs` `(` $xs `)` `length` `=` $length (`reverse` $reverse^)?
    attr-dict-with-keyword `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = refEffects # [{
    unsigned getNumConsts() { return getConsts().size(); }
    unsigned getNumCarries() { return getInits().size(); }
    unsigned getNumXs() { return getXs().size(); }
    unsigned getNumYs() { return getNumResults() - getNumCarries(); }
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::ValueRange getCarryResults() { return getResults().take_front(getNumCarries()); }
    ::mlir::ValueRange getYsResults() { return getResults().drop_front(getNumCarries()); }
    YieldOp getYield();
  }];
}

def Hjx_WhileOp : Hjx_Op<"while", Hjx_PureButForRefs # [IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "A loop that runs while a predicate of its carries holds";
  let description = [{
    `cond` takes (cond_consts, carries) and yields a bool scalar; `body` takes
    (body_consts, carries) and yields the next carries. `max_trip`, when given,
    promises an upper bound of the number of iterations, which reverse mode
    needs; a loop that would run longer stops there.

    Constraints: (C1) cond's arguments are the types of cond_consts and inits;
    it yields one bool scalar. (C2) body's arguments are the types of
    body_consts and inits; it yields inits' types. (C3) results have inits'
    types. (C4) `max_trip` is not negative.
    ```mlir
    %n = hjx.while cond_consts(%limit) body_consts() inits(%zero) : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
    ^bb0(%l: tensor<i32>, %i: tensor<i32>): ...
    } body {
    ^bb0(%i: tensor<i32>): ...
    }
    ```
  }];
  let arguments = (ins Variadic<Hjx_Value>:$cond_consts, Variadic<Hjx_Value>:$body_consts, Variadic<Hjx_Data>:$inits,
                       OptionalAttr<I64Attr>:$max_trip);
  let results = (outs Variadic<Hjx_Data>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `cond_consts` `(` $cond_consts `)` `body_consts` `(` $body_consts `)` `inits` `(` $inits `)` (`max_trip` `=` $max_trip^)?
    attr-dict-with-keyword `:` functional-type(operands, results) `cond` $cond `body` $body
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = refEffects # [{
    YieldOp getCondYield();
    YieldOp getBodyYield();
  }];
}

def Hjx_CondOp : Hjx_Op<"cond", Hjx_PureButForRefs # [IsolatedFromAbove]> {
  let summary = "One of several branches, chosen at run time";
  let description = [{
    An i32 index k takes branch k, clamped to the last (and the first); a bool
    takes branch 0 when false and branch 1 when true. All branches take the
    same inputs.

    Constraints: (C1) at least one branch; a bool index has exactly two. (C2)
    every branch takes the inputs' types. (C3) every branch yields the
    results' types.
    ```mlir
    %y = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
    ^bb0(%a: tensor<f32>): ...   // false
    }, {
    ^bb0(%a: tensor<f32>): ...   // true
    }
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyTypeOf<[I1, I32]>]>:$index, Variadic<Hjx_Value>:$inputs);
  let results = (outs Variadic<Hjx_Data>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = [{
    $index `,` `inputs` `(` $inputs `)` attr-dict-with-keyword `:` functional-type(operands, results) $branches
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = refEffects # [{
    YieldOp getYield(unsigned branch);
  }];
}

def Hjx_OptBarrierOp : Hjx_InferredOp<"opt_barrier"> {
  let summary = "The operands, through which no optimisation may look";
  let description = [{
    Keeps recomputation (checkpoint) from being merged with the original
    computation. Removed before code generation.
    Constraints: (C1) results have the operands' types.
    ```mlir
    %a, %b = hjx.opt_barrier %x, %y : tensor<2xf32>, tensor<3xf32>
    ```
  }];
  let arguments = (ins Variadic<Hjx_Value>:$operands);
  let results = (outs Variadic<Hjx_Value>:$results);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // HJX_HIGHERORDER_TD
