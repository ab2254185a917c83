# SPDX-License-Identifier: Apache-2.0
"""The kernels of bench-gpu, and a GPT's training step, in PyTorch and JAX: whichever are installed.

    python3 bench/gpu/peers.py                       # sizes of bench-gpu
    python3 bench/gpu/peers.py --quick --device cpu  # small ones, to see that all of it works
    python3 bench/gpu/peers.py --step config.json    # only the step of that model

Prints rows of one table, kernel, microseconds, speed and peer; of a step, milliseconds and tokens per
second. Best of several rounds on the device, random inputs, results stay there. float32 products are
full float32 where a row says f32. PyTorch runs eagerly and, for steps, also under torch.compile.
"""
import argparse
import functools
import importlib.util
import json
import pathlib
import time

ROUNDS = 10


def best_seconds(run, wait, quick):
    """The best of several rounds of a few runs each."""
    run(), run(), wait()
    begin = time.perf_counter()
    run(), wait()
    once = max(time.perf_counter() - begin, 1e-6)
    runs, best = (1 if quick else max(1, min(200, int(0.02 / once)))), once
    for _ in range(1 if quick else ROUNDS):
        begin = time.perf_counter()
        for _ in range(runs):
            run()
        wait()
        best = min(best, (time.perf_counter() - begin) / runs)
    return best


def row(name, seconds, work, unit, peer):
    scale = {"TFLOP/s": 1e12, "GB/s": 1e9, "tok/s": 1}[unit]
    print(f"| {name} | {seconds * 1e6:.2f} | {work / seconds / scale:.1f} {unit} | {peer} |", flush=True)


def sizes(quick):
    if quick:
        return [(128, 128, 64), (65, 130, 40)], (2, 70, 64), (33, 96, 257)
    products = [(4096, 4096, 4096), (8192, 8192, 8192), (8192, 2304, 768), (8192, 768, 3072), (8192, 50304, 768)]
    return products, (96, 1024, 64), (8192, 768, 50257)


# PyTorch


def torch_kernels(torch, device, quick):
    import torch.nn.functional as F

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    products, (heads, length, width), (count, features, classes) = sizes(quick)
    normal = lambda *shape, dtype=torch.float32: torch.randn(*shape, device=device).to(dtype)
    measure = lambda name, run, work, unit: row(name, best_seconds(run, wait, quick), work, unit, f"PyTorch {torch.__version__}")

    kinds = {"bf16": (torch.bfloat16, False), "f16": (torch.float16, False), "tf32": (torch.float32, True), "f32": (torch.float32, False)}
    for m, n, k in products:
        for kind, (dtype, tf32) in kinds.items():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            x, y = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
            measure(f"product {kind} {m}x{n}x{k}", lambda: x @ y, 2.0 * m * n * k, "TFLOP/s")
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind in ("bf16", "f32"):
        q, k, v, bar = (normal(1, heads, length, width, dtype=kinds[kind][0]) for _ in range(4))
        attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
        forward = 2.0 * heads * length * length * width
        measure(f"attention {kind} {heads}x{length}x{width}", lambda: attend(q, k, v), forward, "TFLOP/s")
        for leaf in (q, k, v):
            leaf.requires_grad_()
        measure(f"attention and gradients {kind} {heads}x{length}x{width}", lambda: torch.autograd.grad(attend(q, k, v), (q, k, v), bar), 3.5 * forward, "TFLOP/s")
    x, y, size = normal(count, features), normal(count, features), 4.0 * count * features
    measure("x * y + 1", lambda: torch.addcmul(torch.ones((), device=device), x, y), 3 * size, "GB/s")
    measure("gelu", lambda: F.gelu(x, approximate="tanh"), 2 * size, "GB/s")
    measure("sum of all", lambda: (x * x).sum(), size, "GB/s")
    measure("transpose", lambda: (x.T + 0.5).contiguous(), 2 * size, "GB/s")
    measure("softmax", lambda: F.softmax(x, -1), 2 * size, "GB/s")
    scale, bias = normal(features), normal(features)
    measure("layer norm", lambda: F.layer_norm(x, (features,), scale, bias), 2 * size, "GB/s")
    logits, labels = normal(count, classes).requires_grad_(), torch.randint(classes, (count,), device=device)
    measure("cross entropy and gradient", lambda: torch.autograd.grad(F.cross_entropy(logits, labels), logits), 8.0 * count * classes, "GB/s")
    table, ids = normal(classes, features).requires_grad_(), torch.randint(classes, (count,), device=device)
    measure("gradient of embedding", lambda: torch.autograd.grad(F.embedding(ids, table), table, x), size + 4.0 * classes * features, "GB/s")
    table.grad = normal(classes, features)
    optimizer = torch.optim.AdamW([table], lr=1e-3, weight_decay=0.1, fused=device == "cuda")
    measure("AdamW", optimizer.step, 28.0 * classes * features, "GB/s")


def torch_step(torch, device, c, quick):
    import torch.nn as nn
    import torch.nn.functional as F

    width, heads = c["emb_dim"], c["n_heads"]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.ffn_in, self.ffn_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, h):
            rows, length, _ = h.shape
            q, k, v = (a.view(rows, length, heads, -1).transpose(1, 2) for a in self.qkv(self.ln_1(h)).split(width, 2))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(rows, length, width)
            h = h + self.out(mixed)
            return h + self.ffn_out(F.gelu(self.ffn_in(self.ln_2(h)), approximate="tanh"))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(c["vocab_size"], width), nn.Embedding(c["context_length"], width)
            self.blocks = nn.ModuleList(Block() for _ in range(c["n_layers"]))
            self.ln_f = nn.LayerNorm(width)

        def forward(self, x, y):
            h = self.wte(x) + self.wpe.weight
            for block in self.blocks:
                h = block(h)
            logits = self.ln_f(h) @ self.wte.weight.T
            return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    rows, length = c["batch_size"], c["context_length"]
    tokens = torch.randint(c["vocab_size"], (rows, length + 1), device=device)
    x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    for kind in ("f32", "tf32", "bf16"):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        for compiled in (False, True):
            model = Gpt().to(device)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=device == "cuda")
            call = torch.compile(model) if compiled else model

            def step():
                with torch.autocast(device, torch.bfloat16, enabled=kind == "bf16"):
                    loss = call(x, y)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()

            peer = f"PyTorch {torch.__version__}" + (" compile" if compiled else "")
            try:
                row(f"training step {kind}", best_seconds(step, wait, quick), rows * length, "tok/s", peer)
            except Exception as error:  # A machine without the compiler that torch.compile calls.
                print(f"| training step {kind} | failed: {str(error).splitlines()[0][:80]} | | {peer} |", flush=True)


# JAX


def jax_kernels(jax, quick):
    import jax.numpy as jnp

    products, (heads, length, width), (count, features, classes) = sizes(quick)
    keys = iter(jax.random.split(jax.random.key(int(time.time())), 200))
    normal = lambda *shape, dtype=jnp.float32: jax.random.normal(next(keys), shape).astype(dtype)

    def measure(name, f, work, unit, *args):
        f, last = jax.jit(f), [None]

        def run():
            last[0] = f(*args)

        row(name, best_seconds(run, lambda: jax.block_until_ready(last[0]), quick), work, unit, f"JAX {jax.__version__}")

    kinds = {"bf16": (jnp.bfloat16, None), "f16": (jnp.float16, None), "tf32": (jnp.float32, "tensorfloat32"), "f32": (jnp.float32, "float32")}
    for m, n, k in products:
        for kind, (dtype, precision) in kinds.items():
            with jax.default_matmul_precision(precision or "default"):
                measure(f"product {kind} {m}x{n}x{k}", jnp.matmul, 2.0 * m * n * k, "TFLOP/s", normal(m, k, dtype=dtype), normal(k, n, dtype=dtype))
    for kind in ("bf16", "f32"):
        q, k, v, bar = (normal(1, length, heads, width, dtype=kinds[kind][0]) for _ in range(4))
        attend = functools.partial(jax.nn.dot_product_attention, is_causal=True)
        forward = 2.0 * heads * length * length * width
        with jax.default_matmul_precision("float32"):
            measure(f"attention {kind} {heads}x{length}x{width}", attend, forward, "TFLOP/s", q, k, v)
            measure(f"attention and gradients {kind} {heads}x{length}x{width}", lambda q, k, v, bar: jax.vjp(attend, q, k, v)[1](bar), 3.5 * forward, "TFLOP/s", q, k, v, bar)
    x, y, size = normal(count, features), normal(count, features), 4.0 * count * features
    measure("x * y + 1", lambda x, y: x * y + 1, 3 * size, "GB/s", x, y)
    measure("gelu", jax.nn.gelu, 2 * size, "GB/s", x)
    measure("sum of all", lambda x: jnp.sum(x * x), size, "GB/s", x)
    measure("transpose", lambda x: x.T + 0.5, 2 * size, "GB/s", x)
    measure("softmax", jax.nn.softmax, 2 * size, "GB/s", x)

    def norm(scale, bias, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + bias

    scale, bias = normal(features), normal(features)
    measure("layer norm", norm, 2 * size, "GB/s", scale, bias, x)
    measure("gradients of layer norm", lambda s, b, x, bar: jax.vjp(norm, s, b, x)[1](bar), 3 * size, "GB/s", scale, bias, x, y)
    labels = jax.random.randint(next(keys), (count,), 0, classes)
    loss = lambda z, y: (jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[:, None], -1)[:, 0]).mean()
    measure("cross entropy and gradient", jax.value_and_grad(loss), 8.0 * count * classes, "GB/s", normal(count, classes), labels)
    measure("gradient of embedding", lambda t, i, bar: jax.vjp(lambda t: t[i], t)[1](bar), size + 4.0 * classes * features, "GB/s", normal(classes, features), labels, x)


def jax_step(jax, c, quick):
    import jax.numpy as jnp

    place = pathlib.Path(__file__).parent.parent / "jax" / "gpt2.py"
    spec = importlib.util.spec_from_file_location("gpt2", place)
    gpt2 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gpt2)
    rows, length = c["batch_size"], c["context_length"]
    tokens = jax.random.randint(jax.random.key(0), (rows, length + 1), 0, c["vocab_size"])
    for kind, precision in {"f32": "float32", "tf32": "tensorfloat32"}.items():
        with jax.default_matmul_precision(precision):
            params = gpt2.init(jax.random.key(0), c)
            zeros = lambda: jax.tree.map(jnp.zeros_like, params)
            state = [(params, zeros(), zeros(), jnp.int32(0))]
            step = jax.jit(functools.partial(gpt2.step, c=c), donate_argnums=0)

            def run():
                state[0], _ = step(state[0], tokens[:, :-1], tokens[:, 1:], jnp.float32(1e-4))

            row(f"training step {kind}", best_seconds(run, lambda: jax.block_until_ready(state[0]), quick), rows * length, "tok/s", f"JAX {jax.__version__}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--step", metavar="CONFIG", help="time the training step of this model instead of kernels")
    args = parser.parse_args()
    config = None
    if args.step:
        config = {"beta1": 0.9, "beta2": 0.95, "weight_decay": 0.1, "clip_norm": 1.0} | json.load(open(args.step))
    print("| kernel | microseconds | speed | peer |\n|---|---|---|---|")
    for name in ("torch", "jax"):
        try:
            library = importlib.import_module(name)
        except ImportError as error:
            print(f"| none | | | {name} is not installed: {error} |")
            continue
        has_gpu = library.cuda.is_available() if name == "torch" else library.default_backend() == "gpu"
        if args.device == "cuda" and not has_gpu:
            print(f"| none | | | {name} finds no GPU |")
            continue
        if name == "torch":
            torch_step(library, args.device, config, args.quick) if config else torch_kernels(library, args.device, args.quick)
        else:
            jax_step(library, config, args.quick) if config else jax_kernels(library, args.quick)


if __name__ == "__main__":
    main()
