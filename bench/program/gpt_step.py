#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Prints a GPT-2 training step (loss, hjx.vjp, AdamW in place) as hjx text:
#
#   gpt_step.py LAYERS HEADS CHANNELS VOCABULARY BATCH TOKENS > step.mlir
#   hjx-opt step.mlir --hjx-to-pure --hjx-to-lo --hjx-to-tensor > step.tensor.mlir
#   bench-program step.tensor.mlir
#
# The configuration "small" of the comparison with other frameworks is 6 6 384 8192 4 256.
import sys

L, H, C, V, B, T = (int(x) for x in sys.argv[1:7])
D, M = C // H, 4 * C
lines, count = [], [0]


class Array:
    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, list(shape), element

    @property
    def type(self):
        return "tensor<" + "".join(f"{d}x" for d in self.shape) + self.element + ">"


def new(shape, element="f32"):
    count[0] += 1
    return Array(f"%v{count[0]}", shape, element)


def emit(result, text):
    lines.append(f"  {result.name} = hjx.{text}")
    return result


def const(value, shape=()):
    r = new(shape)
    return emit(r, f"constant dense<{value:e}> : {r.type}")


def broadcast(x, shape, dims):
    r = new(shape, x.element)
    return emit(r, f"broadcast_in_dim {x.name} shape = {list(shape)} dims = {list(dims)} : {x.type} -> {r.type}")


def binary(op, a, b):
    if not b.shape and a.shape:
        b = broadcast(b, a.shape, [])
    if not a.shape and b.shape:
        a = broadcast(a, b.shape, [])
    r = new(a.shape, a.element)
    return emit(r, f"{op} {a.name}, {b.name} : {a.type}")


def add(a, b): return binary("add", a, b)
def sub(a, b): return binary("sub", a, b)
def mul(a, b): return binary("mul", a, b)
def div(a, b): return binary("div", a, b)


def unary(op, a):
    return emit(new(a.shape, a.element), f"{op} {a.name} : {a.type}")


def reduce(op, a, axes):
    r = new([d for i, d in enumerate(a.shape) if i not in axes])
    return emit(r, f"reduce_{op} {a.name} axes = {list(axes)} : {a.type} -> {r.type}")


def rows(x, like): return broadcast(x, like.shape, range(len(like.shape) - 1))
def columns(x, like): return broadcast(x, like.shape, [len(like.shape) - 1])


def dot(a, b, ca, cb, ba=(), bb=()):
    r = new([a.shape[i] for i in ba] + [d for i, d in enumerate(a.shape) if i not in [*ca, *ba]] +
            [d for i, d in enumerate(b.shape) if i not in [*cb, *bb]])
    batching = f"batching = {list(ba)} x {list(bb)} " if ba else ""
    return emit(r, f"dot_general {a.name}, {b.name} {batching}contracting = {list(ca)} x {list(cb)} : "
                   f"({a.type}, {b.type}) -> {r.type}")


def reshape(a, shape):
    r = new(shape, a.element)
    return emit(r, f"reshape {a.name} shape = {list(shape)} : {a.type} -> {r.type}")


def transpose(a, p):
    r = new([a.shape[i] for i in p], a.element)
    return emit(r, f"transpose {a.name} permutation = {list(p)} : {a.type} -> {r.type}")


def slice_last(a, start, limit):
    n = len(a.shape)
    r = new(a.shape[:-1] + [limit - start], a.element)
    return emit(r, f"slice {a.name} start = {[0] * (n - 1) + [start]} limit = {a.shape[:-1] + [limit]} "
                   f"strides = {[1] * n} : {a.type} -> {r.type}")


def iota(shape, dim):
    r = new(shape, "i32")
    return emit(r, f"iota dim = {dim} : {r.type}")


def compare(kind, a, b):
    r = new(a.shape, "i1")
    return emit(r, f"compare {kind}, {a.name}, {b.name} : {a.type} -> {r.type}")


def select(which, no, yes):
    r = new(no.shape)
    return emit(r, f"select_n {which.name}, {no.name}, {yes.name} : ({which.type}, {no.type}, {yes.type}) -> {r.type}")


def table_rows(table, ids):
    r = new(ids.shape[:-1] + [table.shape[1]])
    return emit(r, f"gather {table.name}, {ids.name} {{offset_dims = array<i64: {len(ids.shape) - 1}>, "
                   f"collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, "
                   f"slice_sizes = array<i64: 1, {table.shape[1]}>}} : ({table.type}, {ids.type}) -> {r.type}")


def layer_norm(x, w, b):
    last = [len(x.shape) - 1]
    mean = mul(reduce("sum", x, last), const(1 / C))
    d = sub(x, rows(mean, x))
    variance = mul(reduce("sum", mul(d, d), last), const(1 / C))
    scale = unary("rsqrt", add(variance, const(1e-5)))
    return add(mul(mul(d, rows(scale, x)), columns(w, x)), columns(b, x))


def linear(x, w, b):
    y = dot(x, w, [len(x.shape) - 1], [0])
    return add(y, columns(b, y))


def gelu(x):
    u = mul(const(0.7978845608), add(x, mul(const(0.044715), mul(x, mul(x, x)))))
    return mul(mul(const(0.5), x), add(const(1.0), unary("tanh", u)))


def attention(x, p):
    qkv = linear(layer_norm(x, p["ln1w"], p["ln1b"]), p["qkvw"], p["qkvb"])
    q, k, v = (transpose(reshape(slice_last(qkv, i * C, (i + 1) * C), [B, T, H, D]), [0, 2, 1, 3])
               for i in range(3))
    s = mul(dot(q, k, [3], [3], [0, 1], [0, 1]), const(1 / D ** 0.5))
    causal = broadcast(compare("ge", iota([T, T], 0), iota([T, T], 1)), s.shape, [2, 3])
    s = select(causal, broadcast(const(-1e30), s.shape, []), s)
    e = unary("exp", sub(s, rows(unary("stop_gradient", reduce("max", s, [3])), s)))
    a = div(e, rows(reduce("sum", e, [3]), e))
    o = reshape(transpose(dot(a, v, [3], [2], [0, 1], [0, 1]), [0, 2, 1, 3]), [B, T, C])
    return add(x, linear(o, p["projw"], p["projb"]))


def mlp(x, p):
    h = linear(layer_norm(x, p["ln2w"], p["ln2b"]), p["upw"], p["upb"])
    return add(x, linear(gelu(h), p["downw"], p["downb"]))


def loss(ids, targets):
    x = add(table_rows(wte, ids), broadcast(wpe, [B, T, C], [1, 2]))
    for p in layers:
        x = mlp(attention(x, p), p)
    logits = dot(layer_norm(x, lnfw, lnfb), wte, [2], [1])
    shifted = sub(logits, rows(unary("stop_gradient", reduce("max", logits, [2])), logits))
    log_sum = unary("log", reduce("sum", unary("exp", shifted), [2]))
    hit = compare("eq", iota([B, T, V], 2), broadcast(reshape(targets, [B, T]), [B, T, V], [0, 1]))
    picked = reduce("sum", select(hit, broadcast(const(0.0), [B, T, V], []), shifted), [2])
    return mul(reduce("sum", sub(log_sum, picked), [0, 1]), const(1 / (B * T)))


params = []


def param(name, shape):
    params.append(Array("%" + name, shape))
    return params[-1]


wte, wpe = param("wte", [V, C]), param("wpe", [T, C])
shapes = {"ln1w": [C], "ln1b": [C], "qkvw": [C, 3 * C], "qkvb": [3 * C], "projw": [C, C], "projb": [C],
          "ln2w": [C], "ln2b": [C], "upw": [C, M], "upb": [M], "downw": [M, C], "downb": [C]}
layers = [{k: param(f"{k}{i}", s) for k, s in shapes.items()} for i in range(L)]
lnfw, lnfb = param("lnfw", [C]), param("lnfb", [C])
ids, targets = Array("%ids", [B, T, 1], "i32"), Array("%targets", [B, T, 1], "i32")
arguments = params + [ids, targets]


def names(arrays): return ", ".join(a.name for a in arrays)
def types(arrays): return ", ".join(a.type for a in arrays)


value = loss(ids, targets)
print(f"func.func private @loss({', '.join(f'{a.name}: {a.type}' for a in arguments)}) -> tensor<f32> {{")
print("\n".join(lines))
print(f"  return {value.name} : tensor<f32>\n}}")

lines.clear()
grads = [Array(p.name + "_bar", p.shape) for p in params]
firsts = [Array(p.name + "_m", p.shape) for p in params]
seconds = [Array(p.name + "_v", p.shape) for p in params]
rate, one = Array("%rate", []), const(1.0)
active = ", ".join(["true"] * len(params) + ["false"] * 2)
lines.append(f"  %loss, {names(grads)} = hjx.vjp @loss({names(arguments)}) cotangents({one.name}) "
             f"active = [{active}] : ({types(arguments)}, tensor<f32>) -> (tensor<f32>, {types(params)})")
new_params, new_firsts, new_seconds = [], [], []
for p, m, v, g in zip(params, firsts, seconds, grads):
    m = add(mul(const(0.9), m), mul(const(0.1), g))
    v = add(mul(const(0.95), v), mul(const(0.05), mul(g, g)))
    step = add(div(m, add(unary("sqrt", v), const(1e-8))), mul(const(0.1), p))
    new_params.append(sub(p, mul(rate, step)))
    new_firsts.append(m)
    new_seconds.append(v)
state = params + firsts + seconds
takes = [f"{a.name}: {a.type} {{hjx.alias = {k + 1} : i64, hjx.donated}}" for k, a in enumerate(state)]
takes += [f"{a.name}: {a.type}" for a in (ids, targets, rate)]
results = new_params + new_firsts + new_seconds
print(f"func.func @main({', '.join(takes)}) -> (tensor<f32>, {types(results)}) {{")
print("\n".join(lines))
print(f"  return %loss, {names(results)} : tensor<f32>, {types(results)}\n}}")
