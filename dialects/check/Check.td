// SPDX-License-Identifier: Apache-2.0
//
// Numbers in lit tests: ops that compare two arrays. `hjx-opt --hjx-interpret`
// evaluates them on the reference interpreter; a compiled program returns their
// operands and the runner compares. The idea is from StableHLO's check dialect.
#ifndef HJX_CHECK_TD
#define HJX_CHECK_TD

include "dialects/hjx/Base.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::hjx::check";
  let summary = "Expectations about the values of a program";
  let description = [{
    Check ops stand in the body of a function (not in a region of another op,
    which would evaluate them many times or never), so that every backend can
    hand their operands out.
  }];
}

class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, traits # [HasParent<"::mlir::func::FuncOp">]>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "Two arrays are equal, bit for bit";
  let description = [{
    Every NaN equals every NaN; -0 and +0 differ.
    Constraints: (C1) both arrays have one type.
    ```mlir
    check.expect_eq %got, %expected : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_Array:$got, Hjx_Array:$expected);
  let assemblyFormat = "$got `,` $expected attr-dict `:` type($got)";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Two float arrays are close";
  let description = [{
    An element passes when it is equal, when |got - expected| <= atol + rtol *
    |expected|, or when at most `ulps` representable numbers lie between. NaN
    matches NaN, an infinity itself.
    Constraints: (C1) both arrays have one type. (C2) some tolerance is given,
    none is negative or NaN.
    ```mlir
    check.expect_close %got, %expected rtol = 1.0e-6 atol = 1.0e-7 : tensor<2x3xf32>
    check.expect_close %got, %expected ulps = 2 : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Hjx_FloatArray:$got, Hjx_FloatArray:$expected,
      OptionalAttr<F64Attr>:$rtol, OptionalAttr<F64Attr>:$atol, OptionalAttr<I64Attr>:$ulps);
  let assemblyFormat = [{
    $got `,` $expected (`rtol` `=` $rtol^)? (`atol` `=` $atol^)? (`ulps` `=` $ulps^)? attr-dict `:` type($got)
  }];
  let hasVerifier = 1;
}

def Check_ExpectTrueOp : Check_Op<"expect_true"> {
  let summary = "Every element is true";
  let description = [{
    ```mlir
    check.expect_true %p : tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Hjx_BoolArray:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // HJX_CHECK_TD
