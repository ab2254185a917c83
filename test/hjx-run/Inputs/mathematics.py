# SPDX-License-Identifier: Apache-2.0
#
# mathematics.py TYPE: a function of no arguments that returns every elementwise function at 65536 numbers of TYPE, all there
# are if it has 16 bits, else from everywhere: subnormals, infinities, NaN. A result that is no number is 0: NaNs have many bits.
import sys

element = sys.argv[1]
integer, stride = {"f16": ("ui16", 1), "bf16": ("ui16", 1), "f32": ("ui32", 2**16 + 1), "f64": ("ui64", 2**48 + 2**32 + 2**16 + 1)}[element]
names = "cos div erf erf_inv exp expm1 log log1p logistic pow rsqrt sin sqrt tan tanh".split()
of = "tensor<65536x%s>"
floats, mask = of % element, of % "i1"
results = [f'{floats} {{hjx.name = "{name}"}}' for name in names]
print(f"func.func @f() -> ({', '.join(results)}) {{")
print(f"  %iota = hjx.iota dim = 0 : {of % integer}")
print(f"  %stride = hjx.constant dense<{stride}> : {of % integer}")
print(f"  %bits = hjx.mul %iota, %stride : {of % integer}")
print(f"  %x = hjx.bitcast %bits : {of % integer} -> {floats}")
print(f"  %w = hjx.rev %x dims = [0] : {floats}")
print(f"  %zero = hjx.constant dense<0.0> : {floats}")
for name in names:
    print(f"  %value_{name} = hjx.{name} %x{', %w' if name in ('div', 'pow') else ''} : {floats}")
    print(f"  %is_nan_{name} = hjx.compare ne, %value_{name}, %value_{name} : {floats} -> {mask}")
    print(f"  %{name} = hjx.select_n %is_nan_{name}, %value_{name}, %zero : ({mask}, {floats}, {floats}) -> {floats}")
print(f"  return {', '.join('%' + name for name in names)} : {', '.join([floats] * len(names))}")
print("}")
