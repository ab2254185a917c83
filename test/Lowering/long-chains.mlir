// A chain of a thousand functions is cut into nests, and these into kernels, that compile in linear time.
// RUN: awk 'BEGIN { print "func.func @main(%%x0: tensor<8x32xf32>) -> tensor<8x32xf32> {"; for (i = 0; i < 1000; ++i) printf "%%%%x%%d = hjx.sin %%%%x%%d : tensor<8x32xf32>\n", i + 1, i; print "return %%x1000 : tensor<8x32xf32>\n}" }' > %t.mlir
// RUN: hjx-opt %t.mlir --convert-hjx-to-linalg | grep -c linalg.generic | FileCheck %s --check-prefix=NESTS
// NESTS: 7
// RUN: hjx-opt %t.mlir --convert-hjx-to-linalg --hjx-to-kernel | FileCheck %s
// CHECK-COUNT-2: call @
