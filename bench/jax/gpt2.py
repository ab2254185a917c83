# SPDX-License-Identifier: Apache-2.0
"""The twin of examples/gpt2 in JAX: same model, same keys, same data.

Prints the loss of each step, then tokens per second of the fastest step, so that
hjx's losses and speed can be set against them in one run:

    python -m venv venv && venv/bin/pip install jax
    venv/bin/python bench/jax/gpt2.py examples/gpt2/configs/demo.json data/austen.txt --steps 50

Not part of the tests. Windows are taken in order (hjx-run train --order sequential).
"""
import argparse
import functools
import json
import math
import time

import jax
import jax.numpy as jnp
import numpy as np


def init(key, c):
    """N(0, 0.02), residual projections scaled by 1/sqrt(2 layers); one key per matrix."""
    layers, width = c["n_layers"], c["emb_dim"]
    keys = jax.random.split(key, 2 + 4 * layers)
    normal = lambda k, shape, std=0.02: jax.random.normal(k, shape) * std
    linear = lambda k, i, o, std=0.02: {"kernel": normal(k, (i, o), std), "bias": jnp.zeros(o)}
    norm = lambda: {"scale": jnp.ones(width), "bias": jnp.zeros(width)}
    residual = 0.02 / math.sqrt(2 * layers)
    return {
        "wte": normal(keys[0], (c["vocab_size"], width)),
        "wpe": normal(keys[1], (c["context_length"], width)),
        "blocks": [
            {"ln_1": norm(), "attn_qkv": linear(keys[2 + 4 * l], width, 3 * width),
             "attn_out": linear(keys[3 + 4 * l], width, width, residual),
             "ln_2": norm(), "ffn_in": linear(keys[4 + 4 * l], width, 4 * width),
             "ffn_out": linear(keys[5 + 4 * l], 4 * width, width, residual)}
            for l in range(layers)],
        "ln_f": norm(),
    }


def apply_linear(p, x):
    return x @ p["kernel"] + p["bias"]


def layer_norm(p, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["bias"]


def attention(qkv, heads):
    rows, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = (a.reshape(rows, length, heads, width // heads).swapaxes(1, 2) for a in jnp.split(qkv, 3, -1))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e10)
    return (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(rows, length, width)


def logits(p, tokens, c):
    h = p["wte"][tokens] + p["wpe"]
    for b in p["blocks"]:
        h = h + apply_linear(b["attn_out"], attention(apply_linear(b["attn_qkv"], layer_norm(b["ln_1"], h)), c["n_heads"]))
        h = h + apply_linear(b["ffn_out"], jax.nn.gelu(apply_linear(b["ffn_in"], layer_norm(b["ln_2"], h))))
    return layer_norm(p["ln_f"], h) @ p["wte"].T


def loss(p, inputs, targets, c):
    z = logits(p, inputs, c)
    return (jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, targets[..., None], -1)[..., 0]).mean()


def step(state, inputs, targets, learning_rate, c):
    """AdamW with decoupled decay of matrices, after clipping by global norm."""
    p, mu, nu, count = state
    value, g = jax.value_and_grad(loss)(p, inputs, targets, c)
    norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    scale = jnp.where(norm > c["clip_norm"], c["clip_norm"] / norm, 1.0)
    g = jax.tree.map(lambda a: a * scale, g)
    count = count + 1
    b1, b2 = c["beta1"], c["beta2"]
    mu = jax.tree.map(lambda m, a: b1 * m + (1 - b1) * a, mu, g)
    nu = jax.tree.map(lambda v, a: b2 * v + (1 - b2) * a * a, nu, g)
    t = count.astype(jnp.float32)
    def update(p, m, v):
        decay = c["weight_decay"] * p if p.ndim >= 2 else 0
        return p - learning_rate * (m / (1 - b1**t) / (jnp.sqrt(v / (1 - b2**t)) + 1e-8) + decay)
    return (jax.tree.map(update, p, mu, nu), mu, nu, count), value


def schedule(i, c):
    """optax's warmup_cosine_decay_schedule from 0, decay_steps counting the warm-up."""
    peak, warmup, total = c["learning_rate"], c["warmup_steps"], c["steps"]
    if i < warmup:
        return peak * i / warmup
    alpha = c["final_lr_fraction"]
    cosine = 0.5 * (1 + math.cos(math.pi * min(i - warmup, total - warmup) / (total - warmup)))
    return peak * ((1 - alpha) * cosine + alpha)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("text")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--eval", type=int, default=0, help="every N steps, the loss on the held-out tail")
    args = parser.parse_args()
    c = json.load(open(args.config))
    text = np.fromfile(args.text, np.uint8)
    train, held_out = np.split(text, [int(len(text) * 0.9)])
    rows, length = c["batch_size"], c["context_length"]

    params = init(jax.random.key(args.seed), c)
    zeros = lambda: jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros(), zeros(), jnp.int32(0))
    jitted = jax.jit(functools.partial(step, c=c), donate_argnums=0)
    jitted_loss = jax.jit(functools.partial(loss, c=c))

    def batch(data, i):
        starts = (np.arange(rows) + i * rows) * length % (len(data) - length - 1)
        windows = np.stack([data[s : s + length + 1] for s in starts]).astype(np.int32)
        return windows[:, :-1], windows[:, 1:]

    print("parameters", sum(a.size for a in jax.tree.leaves(params)))
    best = math.inf
    for i in range(args.steps):
        inputs, targets = batch(train, i)
        begin = time.perf_counter()
        state, value = jitted(state, inputs, targets, jnp.float32(schedule(i, c)))
        value.block_until_ready()
        if i > 1:
            best = min(best, time.perf_counter() - begin)
        line = f"step {i} loss {float(value):.7f}"
        if args.eval and (i + 1) % args.eval == 0:
            line += f" val {np.mean([float(jitted_loss(state[0], *batch(held_out, j))) for j in range(8)]):.4f}"
        print(line, flush=True)
    print(f"tokens/s {rows * length / best:.0f}")


if __name__ == "__main__":
    main()
