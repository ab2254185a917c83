#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes JAX's values as lit tests: test/run/evaluate/jax_*.mlir.

Each case is one function: constants, one op (or a few), what JAX 0.10.2 on a CPU
gives for it, and a check. The files are committed; tests never run this script.

    python bench/jax/goldens.py            # rewrites the files
"""
import os

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.scipy.special import erfinv

OUT = os.path.join(os.path.dirname(__file__), "..", "..", "test", "run", "evaluate")
NAN, INF = float("nan"), float("inf")

ELEMENT = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}
KEY = "!hjx.key<threefry2x32>"


def shape_of(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def type_of(array):
    return shape_of(array.shape, ELEMENT[array.dtype.name])


def scalar(value):
    """One element as MLIR spells it; floats read back to the same bits."""
    if value.dtype == np.bool_:
        return "true" if value else "false"
    if np.issubdtype(value.dtype, np.integer):
        return str(int(value))
    number = float(value)
    if not np.isfinite(number):
        bits = value.tobytes()[::-1].hex().upper()
        return "0x" + bits
    text = repr(number) if value.dtype != np.float32 else str(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent
    elif "." not in text:
        text += ".0"
    assert np.array(float(text)).astype(value.dtype).tobytes() == value.tobytes(), (text, value)
    return text


def elements(array):
    if array.ndim == 0:
        return scalar(array[()])
    return "[" + ", ".join(elements(row) for row in array) + "]"


def dense(array):
    return "" if array.size == 0 else elements(array)


class File:
    def __init__(self, name, what):
        self.name = name
        self.lines = [
            "// RUN: hjx-opt %s --hjx-interpret",
            f"// {what}",
            "// Made by bench/jax/goldens.py with JAX 0.10.2 on a CPU; edit that instead.",
        ]
        self.cases = set()

    def case(self, name, inputs, body, results, check="eq"):
        """`body` names inputs by %name and defines %r0, %r1, ...: JAX's `results`."""
        assert name not in self.cases, name
        self.cases.add(name)
        self.lines += ["", f"func.func @{name}() {{"]
        for key, value in inputs.items():
            value = np.asarray(value)
            self.lines.append(f"  %{key} = hjx.constant dense<{dense(value)}> : {type_of(value)}")
        self.lines += ["  " + line.strip() for line in body.strip().splitlines()]
        for i, result in enumerate(results if isinstance(results, (list, tuple)) else [results]):
            result = np.asarray(result)
            self.lines.append(f"  %e{i} = hjx.constant dense<{dense(result)}> : {type_of(result)}")
            tolerance = check.removeprefix("close ") + " " if check.startswith("close") else ""
            op = "expect_close" if check.startswith("close") else "expect_eq"
            self.lines.append(f"  check.{op} %r{i}, %e{i} {tolerance}: {type_of(result)}")
        self.lines += ["  return", "}"]

    def write(self):
        with open(os.path.join(OUT, self.name), "w") as f:
            f.write("\n".join(self.lines) + "\n")


# ------------------------------------------------------------------------------
def random():
    out = File("jax_random.mlir", "Random keys and bits are JAX's, bit for bit (partitionable threefry).")
    data = jax.random.key_data

    def keys_case(name, inputs, body, keys):
        words = np.asarray(data(keys))
        out.case(name, inputs, body + f"\n%r0 = hjx.random_unwrap %k : {shape_of(keys.shape, KEY)} -> {type_of(words)}", words)

    for seed in (0, 1701, -1, 2**31 - 1):
        keys_case(f"seed_i32_{seed}".replace("-", "minus_"), {"s": np.int32(seed)},
                  f"%k = hjx.random_seed %s : tensor<i32> -> tensor<{KEY}>", jax.random.key(np.int32(seed)))
    for seed in (-1, 2**40 + 7):
        keys_case(f"seed_i64_{seed}".replace("-", "minus_"), {"s": np.int64(seed)},
                  f"%k = hjx.random_seed %s : tensor<i64> -> tensor<{KEY}>", jax.random.key(np.int64(seed)))
    keys_case("seed_ui32", {"s": np.uint32(2**32 - 5)}, f"%k = hjx.random_seed %s : tensor<ui32> -> tensor<{KEY}>",
              jax.random.key(np.uint32(2**32 - 5)))
    keys_case("seed_i8", {"s": np.int8(-3)}, f"%k = hjx.random_seed %s : tensor<i8> -> tensor<{KEY}>", jax.random.key(np.int8(-3)))
    keys_case("seed_many", {"s": np.array([[1, 2, 3], [4, 5, 6]], np.int32)},
              f"%k = hjx.random_seed %s : tensor<2x3xi32> -> tensor<2x3x{KEY}>",
              jax.vmap(jax.vmap(jax.random.key))(np.array([[1, 2, 3], [4, 5, 6]], np.int32)))

    seed = f"%k0 = hjx.random_seed %s : tensor<i32> -> tensor<{KEY}>\n"
    key = jax.random.key(np.int32(42))
    one = {"s": np.int32(42)}
    for shape in ((2,), (5,), (2, 3)):
        keys_case("split_" + "x".join(map(str, shape)), one,
                  seed + f"%k = hjx.random_split %k0 shape = {list(shape)} : tensor<{KEY}> -> {shape_of(shape, KEY)}",
                  jax.random.split(key, shape))
    for number in (0, 1, 2**32 - 1):
        keys_case(f"fold_in_{number}", one | {"n": np.uint32(number)},
                  seed + f"%k = hjx.random_fold_in %k0, %n : (tensor<{KEY}>, tensor<ui32>) -> tensor<{KEY}>",
                  jax.random.fold_in(key, np.uint32(number)))
    for width in (8, 16, 32, 64):
        for shape in ((), (7,), (2, 3)):
            name = "x".join(map(str, shape)) or "scalar"
            out.case(f"bits_{width}_{name}", one,
                     seed + f"%r0 = hjx.random_bits %k0 width = {width} shape = {list(shape)} : tensor<{KEY}> -> "
                     + shape_of(shape, f"ui{width}"),
                     jax.random.bits(key, shape, dtype=f"uint{width}"))
    batch = jax.random.split(key, 2)
    out.case("bits_of_many_keys", one,
             seed + f"%k = hjx.random_split %k0 shape = [2] : tensor<{KEY}> -> tensor<2x{KEY}>\n"
             f"%r0 = hjx.random_bits %k width = 32 shape = [3] : tensor<2x{KEY}> -> tensor<2x3xui32>",
             jax.vmap(lambda k: jax.random.bits(k, (3,), dtype="uint32"))(batch))
    keys_case("split_many_keys", one,
              seed + f"%k1 = hjx.random_split %k0 shape = [2] : tensor<{KEY}> -> tensor<2x{KEY}>\n"
              f"%k = hjx.random_split %k1 shape = [3] : tensor<2x{KEY}> -> tensor<2x3x{KEY}>",
              jax.vmap(lambda k: jax.random.split(k, 3))(batch))
    keys_case("fold_in_many", one | {"n": np.array([7, 8], np.uint32)},
              seed + f"%k1 = hjx.random_split %k0 shape = [2] : tensor<{KEY}> -> tensor<2x{KEY}>\n"
              f"%k = hjx.random_fold_in %k1, %n : (tensor<2x{KEY}>, tensor<2xui32>) -> tensor<2x{KEY}>",
              jax.vmap(jax.random.fold_in)(batch, np.array([7, 8], np.uint32)))

    # jax.random.uniform in f32, op by op: the mantissa from the bits, minus 1.
    uniform = seed + """%bits = hjx.random_bits %k0 width = 32 shape = [6] : tensor<!hjx.key<threefry2x32>> -> tensor<6xui32>
        %nine = hjx.constant dense<9> : tensor<6xui32>
        %exponent = hjx.constant dense<1065353216> : tensor<6xui32>
        %mantissa = hjx.shift_right_logical %bits, %nine : tensor<6xui32>
        %word = hjx.or %mantissa, %exponent : tensor<6xui32>
        %float = hjx.bitcast %word : tensor<6xui32> -> tensor<6xf32>
        %one = hjx.constant dense<1.0> : tensor<6xf32>
        """
    out.case("uniform", one, uniform + "%r0 = hjx.sub %float, %one : tensor<6xf32>", jax.random.uniform(key, (6,), np.float32))
    lo = np.nextafter(np.float32(-1), np.float32(0))
    out.case("normal", one | {"lo": np.full(6, lo), "span": np.full(6, np.float32(1) - lo), "sqrt2": np.full(6, np.sqrt(2), np.float32)},
             uniform + """%unit = hjx.sub %float, %one : tensor<6xf32>
             %scaled = hjx.mul %unit, %span : tensor<6xf32>
             %shifted = hjx.add %scaled, %lo : tensor<6xf32>
             %u = hjx.max %shifted, %lo : tensor<6xf32>
             %z = hjx.erf_inv %u : tensor<6xf32>
             %r0 = hjx.mul %sqrt2, %z : tensor<6xf32>""", jax.random.normal(key, (6,), np.float32), "close ulps = 8")
    # The vectors of Random123's kat_vectors, which JAX's own tests use.
    u = lambda *words: np.array(words, np.uint32)
    out.case("threefry2x32_known_answers",
             {"k0": u(0, 0xFFFFFFFF, 0x13198A2E), "k1": u(0, 0xFFFFFFFF, 0x03707344),
              "x0": u(0, 0xFFFFFFFF, 0x243F6A88), "x1": u(0, 0xFFFFFFFF, 0x85A308D3)},
             "%r0, %r1 = hjx.threefry2x32 %k0, %k1, %x0, %x1 : tensor<3xui32>",
             [u(0x6B200159, 0x1CB996FC, 0xC4923A9C), u(0x99BA4EFE, 0xBB002BE7, 0x483DF7A0)])
    out.write()


# ------------------------------------------------------------------------------
def elementwise():
    out = File("jax_elementwise.mlir", "Elementwise ops give JAX's values, special values included.")
    f32 = lambda *values: np.array(values, np.float32)
    wide = f32(-INF, -80, -10, -1.5, -1, -0.5, -1e-3, -0.0, 0.0, 1e-3, 0.5, 1, 1.5, 3, 10, 88.5, INF, NAN)
    unit = f32(-1.5, -1, -0.999999, -0.9, -0.5, -1e-4, -0.0, 0.0, 1e-4, 0.5, 0.9, 0.999999, 1, 1.5, NAN)

    def unary(op, fn, x, check, name=None, spelling=None):
        out.case(name or op, {"x": x}, f"%r0 = hjx.{spelling or op} %x : {type_of(x)}", fn(x), check)

    close = "close ulps = 4"
    for op, fn in dict(exp=lax.exp, expm1=lax.expm1, log=lax.log, log1p=lax.log1p, sin=lax.sin, cos=lax.cos, tan=lax.tan,
                       tanh=lax.tanh, erf=lax.erf, sqrt=lax.sqrt, rsqrt=lax.rsqrt).items():
        unary(op, fn, wide, close)
    # XLA's logistic is 0.5 + 0.5 tanh(x / 2): close to 0 only absolutely.
    unary("logistic", lax.logistic, wide, "close rtol = 1.0e-6 atol = 1.0e-7")
    unary("erf_inv", erfinv, unit, "close rtol = 3.0e-6")
    wide64 = wide.astype(np.float64)
    for op, fn in dict(exp=lax.exp, expm1=lax.expm1, log=lax.log, log1p=lax.log1p, sin=lax.sin, tanh=lax.tanh, erf=lax.erf).items():
        unary(op, fn, wide64, "close rtol = 1.0e-13 atol = 1.0e-16", op + "_f64")
    unary("erf_inv", erfinv, unit.astype(np.float64), "close rtol = 1.0e-12", "erf_inv_f64")
    halves = f32(-2.5, -1.5, -0.5, -0.4, -0.0, 0.0, 0.4, 0.5, 1.5, 2.5, 8388609.0, INF, NAN)
    for op, fn in dict(sign=lax.sign, abs=lax.abs, neg=lax.neg, floor=lax.floor, ceil=lax.ceil).items():
        unary(op, fn, halves, "eq")
    unary("", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), halves, "eq", "round_away", "round away_from_zero,")
    unary("", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), halves, "eq", "round_even", "round to_nearest_even,")
    out.case("is_finite", {"x": halves}, f"%r0 = hjx.is_finite %x : {type_of(halves)} -> {shape_of(halves.shape, 'i1')}", lax.is_finite(halves))
    for dtype in (np.int8, np.uint8, np.int32):
        info = np.iinfo(dtype)
        x = np.array([info.min, 0, 1, info.max], dtype)
        for op, fn in dict(sign=lax.sign, abs=lax.abs if info.min else lambda x: x, neg=lax.neg, **{"not": lax.bitwise_not}).items():
            unary(op, fn, x, "eq", f"{op}_{ELEMENT[x.dtype.name]}")
    # The narrow floats compute wide and round once.
    for dtype in (ml_dtypes.bfloat16, np.float16):
        x = np.array([-1.5, -0.3333, 0.1, 1, 2.25, 300], np.float32).astype(dtype)
        for op, fn in dict(exp=lax.exp, tanh=lax.tanh, sin=lax.sin).items():
            unary(op, fn, x, "close ulps = 1", f"{op}_{ELEMENT[x.dtype.name]}")

    def binary(op, fn, x, y, check="eq", name=None):
        pairs = np.array(np.meshgrid(x, y, indexing="ij")).reshape(2, -1).astype(x.dtype)
        a, b = pairs[0], pairs[1]
        out.case(name or op, {"x": a, "y": b}, f"%r0 = hjx.{op} %x, %y : {type_of(a)}", fn(a, b), check)

    special = f32(-INF, -2, -0.5, -0.0, 0.0, 1, 2.5, INF, NAN)
    binary("pow", lax.pow, special, f32(-INF, -2, -0.5, -0.0, 0.0, 0.5, 1, 2, 3, INF, NAN), "close ulps = 4")
    binary("rem", lax.rem, f32(-INF, -7.5, -0.0, 0.0, 5.25, INF, NAN), f32(-INF, -2, 0.0, 0.75, 3, INF, NAN))
    finite = f32(-INF, -3, -0.1, 0.1, 3, 1e30, INF, NAN)
    for op, fn in dict(add=lax.add, sub=lax.sub, mul=lax.mul, div=lax.div, max=lax.max, min=lax.min).items():
        binary(op, fn, finite, finite)
    for op, fn in dict(add=lax.add, mul=lax.mul, div=lax.div).items():
        for dtype in (ml_dtypes.bfloat16, np.float16):
            x = np.array([-3, -0.1, 0.3333, 7], np.float32).astype(dtype)
            binary(op, fn, x, x, "eq", f"{op}_{ELEMENT[x.dtype.name]}")
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64):
        info, suffix = np.iinfo(dtype), ELEMENT[np.dtype(dtype).name]
        x = np.array(sorted({info.min, -7 % 2**8 if info.min == 0 else -7, 0, 1, 7, info.max}), dtype)
        y = np.array(sorted({info.min, 250 if info.min == 0 else -1, 0, 1, 3, info.max}), dtype)
        ops = dict(div=lax.div, rem=lax.rem, max=lax.max, min=lax.min)
        if info.bits == 8:
            ops |= dict(add=lax.add, sub=lax.sub, mul=lax.mul, xor=lax.bitwise_xor, **{"and": lax.bitwise_and, "or": lax.bitwise_or})
        for op, fn in ops.items():
            binary(op, fn, x, y, "eq", f"{op}_{suffix}")
        bits = info.bits
        amounts = np.array([0, 1, bits - 1, bits, bits + 1, 255 if info.min == 0 else -1], dtype)
        for op, fn in dict(shift_left=lax.shift_left, shift_right_logical=lax.shift_right_logical,
                           shift_right_arithmetic=lax.shift_right_arithmetic).items():
            binary(op, fn, x, amounts, "eq", f"{op}_{suffix}")

    for direction, fn in dict(eq=lax.eq, ne=lax.ne, lt=lax.lt, le=lax.le, gt=lax.gt, ge=lax.ge).items():
        for x in (f32(-INF, -0.0, 0.0, 1, NAN), np.array([0, 1, 255], np.uint8), np.array([False, True])):
            pairs = np.array(np.meshgrid(x, x, indexing="ij")).reshape(2, -1).astype(x.dtype)
            out.case(f"compare_{direction}_{ELEMENT[x.dtype.name]}", {"x": pairs[0], "y": pairs[1]},
                     f"%r0 = hjx.compare {direction}, %x, %y : {type_of(pairs[0])} -> {shape_of(pairs[0].shape, 'i1')}",
                     fn(pairs[0], pairs[1]))
    x = f32(-INF, -2, 0.5, 3, INF, NAN)
    out.case("clamp", {"lo": np.float32(-1), "x": x, "hi": np.float32(1)},
             "%r0 = hjx.clamp %lo, %x, %hi : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>",
             lax.clamp(np.float32(-1), x, np.float32(1)))
    out.case("clamp_crossed", {"lo": np.float32(2), "x": x, "hi": np.float32(1)},
             "%r0 = hjx.clamp %lo, %x, %hi : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>",
             lax.clamp(np.float32(2), x, np.float32(1)))
    which = np.array([0, 1, 2, 1], np.int32)
    a = f32(1, 2, 3, 4)
    out.case("select_n", {"w": which, "a": a, "b": a * 10, "c": a * 100},
             "%r0 = hjx.select_n %w, %a, %b, %c : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
             lax.select_n(which, a, a * 10, a * 100))

    floats = f32(-INF, -3e9, -129, -1.9, -0.5, -0.0, 0.0, 0.5, 1.9, 127.5, 255.9, 300, 3e9, 1e20, INF, NAN)
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.bool_, ml_dtypes.bfloat16, np.float16, np.float64):
        name = ELEMENT[np.dtype(dtype).name]
        out.case(f"convert_f32_{name}", {"x": floats}, f"%r0 = hjx.convert %x : {type_of(floats)} -> {shape_of(floats.shape, name)}",
                 lax.convert_element_type(floats, dtype))
    # Not here: 1 + 2^-8 + 2^-30 to bf16, where JAX rounds twice (through f32) and hjx once.
    doubles = np.array([1 + 2.0**-8, 1 + 2.0**-24 + 2.0**-50, 65519.99, 65520, 1e300, -1e-300])
    for dtype in (ml_dtypes.bfloat16, np.float16, np.float32, np.int32):
        name = ELEMENT[np.dtype(dtype).name]
        out.case(f"convert_f64_{name}", {"x": doubles}, f"%r0 = hjx.convert %x : tensor<6xf64> -> tensor<6x{name}>",
                 np.array(lax.convert_element_type(doubles, dtype)))
    longs = np.array([-2**63, -2**31 - 1, -129, -1, 0, 1, 255, 2**31, 2**53 + 1, 2**54 + 2**30 + 1, 2**63 - 1], np.int64)
    for dtype in (np.int8, np.uint8, np.int32, np.uint64, np.bool_, np.float32, np.float64):
        name = ELEMENT[np.dtype(dtype).name]
        out.case(f"convert_i64_{name}", {"x": longs}, f"%r0 = hjx.convert %x : {type_of(longs)} -> {shape_of(longs.shape, name)}",
                 lax.convert_element_type(longs, dtype))
    ulongs = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    for dtype in (np.int32, np.float32):
        name = ELEMENT[np.dtype(dtype).name]
        out.case(f"convert_ui64_{name}", {"x": ulongs}, f"%r0 = hjx.convert %x : tensor<4xui64> -> tensor<4x{name}>",
                 lax.convert_element_type(ulongs, dtype))
    out.case("convert_i1_f32", {"x": np.array([True, False])}, "%r0 = hjx.convert %x : tensor<2xi1> -> tensor<2xf32>", f32(1, 0))
    x = f32(1, -2.5, NAN)
    out.case("bitcast_narrower", {"x": x}, "%r0 = hjx.bitcast %x : tensor<3xf32> -> tensor<3x2xui16>", lax.bitcast_convert_type(x, np.uint16))
    y = np.array([[1, 2], [3, 0xBFF0]], np.uint32)
    out.case("bitcast_wider", {"x": y}, "%r0 = hjx.bitcast %x : tensor<2x2xui32> -> tensor<2xui64>", lax.bitcast_convert_type(y, np.uint64))
    out.write()


# ------------------------------------------------------------------------------
def reductions():
    out = File("jax_reduction.mlir", "Reductions, contractions and running sums give JAX's values.")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)
    small = rng.integers(-100, 100, (2, 3), dtype=np.int8)
    close = "close rtol = 1.0e-6 atol = 1.0e-6"

    def reduce(name, op, fn, x, axes, check="eq"):
        result = np.asarray(fn(x, axes))
        out.case(name, {"x": x}, f"%r0 = hjx.{op} %x axes = {list(axes)} : {type_of(x)} -> {type_of(result)}", result, check)

    ops = dict(sum=lax.reduce_sum, prod=lax.reduce_prod, max=lax.reduce_max, min=lax.reduce_min)
    for op, fn in ops.items():
        for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
            reduce(f"{op}_{'_'.join(map(str, axes))}", f"reduce_{op}", fn, x, axes, close if op in ("sum", "prod") else "eq")
        reduce(f"{op}_i8", f"reduce_{op}", fn, small, (1,))
        reduce(f"{op}_ui8", f"reduce_{op}", fn, small.astype(np.uint8), (0,))
        reduce(f"{op}_empty", f"reduce_{op}", fn, np.zeros((2, 0), np.float32), (1,))
        reduce(f"{op}_empty_i8", f"reduce_{op}", fn, np.zeros((2, 0), np.int8), (1,))
    nans = np.array([[1, NAN, 3], [-INF, 5, 4]], np.float32)
    reduce("max_nan", "reduce_max", lax.reduce_max, nans, (1,))
    reduce("min_nan", "reduce_min", lax.reduce_min, nans, (1,))
    for op, fn in {"and": lax.reduce_and, "or": lax.reduce_or}.items():
        reduce(f"{op}_i1", f"reduce_{op}", fn, np.array([[True, False], [True, True]]), (1,))
        reduce(f"{op}_i8", f"reduce_{op}", fn, small, (0,))
        reduce(f"{op}_empty_ui8", f"reduce_{op}", fn, np.zeros((2, 0), np.uint8), (1,))

    ties = np.array([[1, 3, 3, 2], [NAN, 1, NAN, 5], [-INF, -INF, -INF, -INF], [2, NAN, 9, 9]], np.float32)
    for op, fn in dict(argmax=lax.argmax, argmin=lax.argmin).items():
        for name, array in dict(f32=ties, i8=small, i1=np.array([[False, True, True], [False, False, False]])).items():
            for axis in (0, 1):
                result = np.asarray(fn(array, axis, np.int32))
                out.case(f"{op}_{name}_{axis}", {"x": array}, f"%r0 = hjx.{op} %x axis = {axis} : {type_of(array)} -> {type_of(result)}", result)

    for reverse in (False, True):
        word, tail = (" reverse", "_reverse") if reverse else ("", "")
        for axis in (0, 1, 2):
            out.case(f"cumsum_{axis}{tail}", {"x": x}, f"%r0 = hjx.cumsum %x axis = {axis}{word} : {type_of(x)}",
                     lax.cumsum(x, axis, reverse=reverse), close)
        out.case(f"cumsum_i8{tail}", {"x": small}, f"%r0 = hjx.cumsum %x axis = 1{word} : {type_of(small)}",
                 lax.cumsum(small, 1, reverse=reverse))

    def dot(name, lhs, rhs, contracting, batching, accum=None, check="eq"):
        result = np.asarray(lax.dot_general(lhs, rhs, (contracting, batching), preferred_element_type=accum))
        (lc, rc), (lb, rb) = contracting, batching
        batch = f"batching = {list(lb)} x {list(rb)} " if lb else ""
        to = f" accum = {ELEMENT[np.dtype(accum).name]}" if accum else ""
        out.case(name, {"x": lhs, "y": rhs},
                 f"%r0 = hjx.dot_general %x, %y {batch}contracting = {list(lc)} x {list(rc)}{to} : "
                 f"({type_of(lhs)}, {type_of(rhs)}) -> {type_of(result)}", result, check)

    a, b = rng.standard_normal((2, 3)).astype(np.float32), rng.standard_normal((3, 4)).astype(np.float32)
    dot("dot", a, b, ((1,), (0,)), ((), ()), check=close)
    dot("dot_outer", a, b[0], ((), ()), ((), ()), check=close)
    p, q = rng.standard_normal((5, 2, 3)).astype(np.float32), rng.standard_normal((3, 4, 5)).astype(np.float32)
    dot("dot_batch", p, q, ((2,), (0,)), ((0,), (2,)), check=close)
    r, s = rng.standard_normal((2, 3, 4)).astype(np.float32), rng.standard_normal((4, 5, 3)).astype(np.float32)
    dot("dot_two_contractions", r, s, ((1, 2), (2, 0)), ((), ()), check=close)
    dot("dot_i8", small, small.T.copy(), ((1,), (0,)), ((), ()))
    dot("dot_i8_i32", small, small.T.copy(), ((1,), (0,)), ((), ()), np.int32)
    half = a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)
    dot("dot_bf16_f32", *half, ((1,), (0,)), ((), ()), np.float32, close)
    dot("dot_bf16", *half, ((1,), (0,)), ((), ()), check="close ulps = 1")
    dot("dot_empty", np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32), ((1,), (0,)), ((), ()))
    out.write()


# ------------------------------------------------------------------------------
def movement():
    out = File("jax_movement.mlir", "Movement, gather and scatter give JAX's values, out of bounds included.")
    x = np.arange(24, dtype=np.float32).reshape(4, 6)

    def op(name, inputs, text, result, check="eq"):
        result = np.asarray(result)
        types = [type_of(np.asarray(v)) for v in inputs.values()]
        out.case(name, inputs, f"%r0 = hjx.{text} : ({', '.join(types)}) -> {type_of(result)}", result, check)

    def one(name, text, x, result):
        result = np.asarray(result)
        out.case(name, {"x": x}, f"%r0 = hjx.{text} : {type_of(x)} -> {type_of(result)}", result)

    out.case("iota_i8_wraps", {}, "%r0 = hjx.iota dim = 0 : tensor<130x1xi8>", np.arange(130).astype(np.int8).reshape(130, 1))
    out.case("iota_f32", {}, "%r0 = hjx.iota dim = 1 : tensor<2x3xf32>", lax.broadcasted_iota(np.float32, (2, 3), 1))
    one("broadcast", "broadcast_in_dim %x shape = [2, 6, 3] dims = [1]", x[0], lax.broadcast_in_dim(x[0], (2, 6, 3), (1,)))
    one("broadcast_unit", "broadcast_in_dim %x shape = [4, 6] dims = [0, 1]", x[:, :1], lax.broadcast_in_dim(x[:, :1], (4, 6), (0, 1)))
    one("reshape", "reshape %x shape = [3, 8]", x, lax.reshape(x, (3, 8)))
    y = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    one("transpose", "transpose %x permutation = [1, 2, 0]", y, lax.transpose(y, (1, 2, 0)))
    out.case("rev", {"x": y}, "%r0 = hjx.rev %x dims = [0, 2] : tensor<2x3x4xi16>", lax.rev(y, (0, 2)))
    op("concatenate", {"x": x, "y": x[:, :1], "z": x[:, :0]}, "concatenate %x, %y, %z dim = 1", lax.concatenate([x, x[:, :1], x[:, :0]], 1))
    for name, config in dict(plain=((1, 2, 0), (0, 1, 0)), interior=((0, 0, 2), (1, 0, 1)), negative=((-1, -2, 0), (2, -3, 0)),
                             mixed=((-2, 1, 1), (3, -1, 2))).items():
        (l0, h0, i0), (l1, h1, i1) = config
        op(f"pad_{name}", {"x": x, "v": np.float32(-1)}, f"pad %x, %v low = [{l0}, {l1}] high = [{h0}, {h1}] interior = [{i0}, {i1}]",
           lax.pad(x, np.float32(-1), config))
    one("slice", "slice %x start = [1, 0] limit = [4, 6] strides = [2, 4]", x, lax.slice(x, (1, 0), (4, 6), (2, 4)))
    # Traced, and without the Python layer's wrapping of negative indices: the op clamps.
    slice_at = jax.jit(lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3), allow_negative_indices=False))
    update_at = jax.jit(lambda x, i: lax.dynamic_update_slice(x, -x[:2, :3], (i, i), allow_negative_indices=False))
    for start in (-3, 1, 3, 9):
        tag = str(start).replace("-", "minus_")
        i = np.int32(start)
        op(f"dynamic_slice_{tag}", {"x": x, "i": i, "j": i}, "dynamic_slice %x[%i, %j] sizes = [2, 3]", slice_at(x, i))
        op(f"dynamic_update_slice_{tag}", {"x": x, "u": -x[:2, :3], "i": i, "j": i}, "dynamic_update_slice %x, %u[%i, %j]",
           update_at(x, i))
    big = np.uint32(2**32 - 1)
    op("dynamic_slice_unsigned", {"x": x[0], "i": big}, "dynamic_slice %x[%i] sizes = [2]", lax.dynamic_slice(x[0], (big,), (2,)))

    modes = {"clip": 0, "fill_or_drop": 1, "promise_in_bounds": 2}
    jax_mode = {"clip": "clip", "fill_or_drop": "fill", "promise_in_bounds": "promise_in_bounds"}
    arrays = lambda d: ", ".join(f"{k} = array<i64: {', '.join(map(str, v))}>" if v else f"{k} = array<i64>" for k, v in d.items())

    def gather(name, x, i, dnums, sizes, mode):
        result = lax.gather(x, i, dnums, sizes, mode=jax_mode[mode])
        attributes = arrays(dict(offset_dims=dnums.offset_dims, collapsed_slice_dims=dnums.collapsed_slice_dims,
                                 operand_batching_dims=dnums.operand_batching_dims,
                                 start_indices_batching_dims=dnums.start_indices_batching_dims,
                                 start_index_map=dnums.start_index_map, slice_sizes=sizes))
        op(f"gather_{name}_{mode}", {"x": x, "i": i}, f"gather %x, %i {{{attributes}, mode = {modes[mode]} : i32}}", result)

    def scatter(name, kind, x, i, u, dnums, mode):
        fn = lax.scatter_add if kind == "add" else lax.scatter
        result = fn(x, i, u, dnums, mode=jax_mode[mode])
        attributes = arrays(dict(update_window_dims=dnums.update_window_dims, inserted_window_dims=dnums.inserted_window_dims,
                                 operand_batching_dims=dnums.operand_batching_dims,
                                 scatter_indices_batching_dims=dnums.scatter_indices_batching_dims,
                                 scatter_dims_to_operand_dims=dnums.scatter_dims_to_operand_dims))
        op(f"scatter_{kind}_{name}_{mode}", {"x": x, "i": i, "u": u},
           f"scatter {kind}, %x, %i, %u {{{attributes}, mode = {modes[mode]} : i32}}", result)

    G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
    rows = np.array([[1], [-1], [3], [4], [2]], np.int32)
    points = np.array([[[0, 1], [3, 5]], [[-2, 2], [2, 7]]], np.int32)  # 2x2 index vectors (row, column)
    batched = np.arange(30, dtype=np.float32).reshape(2, 5, 3)
    for mode in ("clip", "fill_or_drop"):
        gather("rows", x, rows, G((1,), (0,), (0,)), (1, 6), mode)
        gather("windows", x, rows, G((0, 2), (), (0,)), (2, 3), mode)
        gather("points", x, points, G((), (0, 1), (0, 1)), (1, 1), mode)
        gather("swapped", x, points, G((1,), (0,), (1, 0)), (1, 2), mode)
        gather("unsigned", x.astype(np.uint8), rows.astype(np.uint8), G((1,), (0,), (0,)), (1, 6), mode)
        gather("signed", x.astype(np.int16), rows.astype(np.int64), G((1,), (0,), (0,)), (1, 6), mode)
        gather("bools", x > 7, rows, G((1,), (0,), (0,)), (1, 6), mode)
        gather("batching", batched, np.array([[[1], [7]], [[4], [0]]], np.int32), G((2,), (1,), (1,), (0,), (0,)), (1, 1, 3), mode)
        gather("batching_inner", batched, np.array([[[1], [2]], [[4], [0]], [[-1], [5]]], np.int32),
               G((0,), (1,), (1,), (0,), (1,)), (1, 1, 3), mode)
        for kind in ("set", "add"):
            updates = -np.arange(1, 31, dtype=np.float32).reshape(5, 6)
            scatter("rows", kind, x, rows, updates, S((1,), (0,), (0,)), mode)
            scatter("repeated", kind, x, np.array([[1], [1], [2]], np.int32), updates[:3], S((1,), (0,), (0,)), mode)
            scatter("windows", kind, x, rows, updates.reshape(5, 2, 3), S((1, 2), (), (0,)), mode)
            scatter("points", kind, x, points, updates[0, :4].reshape(2, 2), S((), (0, 1), (0, 1)), mode)
            scatter("batching", kind, batched, np.array([[[1], [7]], [[4], [0]]], np.int32), updates.reshape(-1)[:12].reshape(2, 2, 3),
                    S((2,), (1,), (1,), (0,), (0,)), mode)
        scatter("integers", "add", x.astype(np.int8), rows, np.full((5, 6), 100, np.int8), S((1,), (0,), (0,)), mode)
    gather("rows", x, np.array([[1], [3]], np.int32), G((1,), (0,), (0,)), (1, 6), "promise_in_bounds")
    out.write()


if __name__ == "__main__":
    assert jax.__version__ == "0.10.2", f"these files hold the values of JAX 0.10.2, not {jax.__version__}"
    assert jax.config.jax_threefry_partitionable
    for make in (random, elementwise, reductions, movement):
        make()
    print("wrote", os.path.normpath(OUT))
