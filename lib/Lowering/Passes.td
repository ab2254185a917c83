// SPDX-License-Identifier: Apache-2.0
//
// The passes from first-order hjx to the tensor stage, in the order in which the
// pipelines hjx-to-lo and hjx-to-tensor run them.

#ifndef HJX_LOWERING_PASSES
#define HJX_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def LowerRandom : Pass<"hjx-lower-random", "mlir::ModuleOp"> {
  let summary = "Turn key arrays into their words, and random ops into Threefry";
  let description = [{
    `tensor<4x!hjx.key<threefry2x32>>` becomes `tensor<4x2xui32>` everywhere:
    signatures, regions, operands. Ops that move keys move pairs of words; ops
    that make keys or bits become `hjx.threefry2x32` on counters, bit-exact with
    JAX's partitionable layout.
  }];
  let dependentDialects = ["::hjx::ir::HjxDialect"];
}

def JoinPads : Pass<"hjx-join-pads", "mlir::func::FuncOp"> {
  let summary = "Concatenate what is added up from disjoint padded parts";
  let description = [{
    A sum of arrays that are zero outside of disjoint ranges of one dimension, the
    form that the gradient of slices takes, becomes one concatenation.
  }];
  let dependentDialects = ["::hjx::ir::HjxDialect"];
}

def ConvertHjxToLinalg : Pass<"convert-hjx-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lower array programs to linalg, tensor, arith, math and scf";
  let description = [{
    Every function is rebuilt in one walk; see Lowering.h. Unsigned elements
    become signless. Elementwise ops that serve one consumer are computed inside
    its `linalg.generic`; broadcasts, constants and iotas are read through
    indexing maps and never stored.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", /*default=*/"true",
           "Compute elementwise ops inside the op that uses them">,
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::math::MathDialect",
    "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
}

#endif // HJX_LOWERING_PASSES
