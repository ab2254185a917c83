// RUN: hjx-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hjx-verify-stage{stage=tensor})'
// The tensor stage: no hjx op but the barrier, no sign, no sharding.

// expected-error@+1 {{has the type 'tensor<2xui32>', which is not allowed at the tensor stage: integers are signless}}
func.func @unsigned(%x: tensor<2xui32>) { return }

// -----

func.func @op(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{is not allowed at the tensor stage: expected ops of arith, func, linalg, math, scf and tensor only}}
  %y = hjx.neg %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error@+1 {{which is not allowed at the tensor stage: shardings are gone}}
func.func @sharded(%x: tensor<2xf32, "x">) { return }

// -----

// expected-error@+1 {{which is not allowed at the tensor stage: shapes are static}}
func.func @dynamic(%x: tensor<?xf32>) { return }

// -----

func.func @fine(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = hjx.opt_barrier %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
