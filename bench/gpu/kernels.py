#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernels of a training step use on a GPU, as ptxas says: registers, shared memory, spills,
and how full a multiprocessor can be. Needs ptxas and no GPU.

  bench/gpu/kernels.py build/release/bin --config examples/gpt2/configs/gpt2-small.json > docs/generated/gpu-kernels.md

Exits with 1 if a kernel spills, with 77 if there is no ptxas.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Per multiprocessor: warps, blocks, bytes of shared memory. CUDA programming guide, technical specifications.
LIMITS = {"sm_80": (64, 32, 164 << 10), "sm_90a": (64, 32, 228 << 10)}
REGISTERS = 65536


def find_ptxas():
    named = os.environ.get("HJX_PTXAS", "")
    if named:
        return None if named == "none" else named
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def round_up(value, unit):
    return -(-value // unit) * unit


def occupancy(chip, threads, registers, shared):
    """Resident warps in percent of the most: registers go to warps in units of 256, each block takes 1 KiB more."""
    most_warps, most_blocks, shared_bytes = LIMITS[chip]
    warps = -(-threads // 32)
    per_warp = round_up(registers * 32, 256)
    blocks = min(most_blocks, most_warps // warps, REGISTERS // per_warp // warps, shared_bytes // (shared + 1024))
    return 100 * blocks * warps // most_warps


def read_kernels(ptx, log):
    """(name, threads, registers, shared, spills, has dynamic shared memory) in the order of the names."""
    bodies = dict(re.findall(r"\.entry (\w+)\((.*?)^\}", ptx, re.S | re.M))
    kernels = []
    for name, text in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", log, re.S):
        body = bodies[name]
        threads = int(re.search(r"\.(?:reqntid|maxntid) (\d+)", body)[1])
        spills = sum(map(int, re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", text).groups()))
        shared = re.search(r"(\d+) bytes smem", text)
        kernels.append((name, threads, int(re.search(r"Used (\d+) registers", text)[1]), int(shared[1]) if shared else 0,
                        spills, "hjx_dynamic_shared" in body))
    return sorted(kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin", help="folder of hjx-run and gpt2")
    parser.add_argument("--config", required=True)
    parser.add_argument("--function", default="step")
    args = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("kernels.py: there is no ptxas: install the CUDA toolkit or set HJX_PTXAS", file=sys.stderr)
        return 77

    spilled = 0
    name = os.path.basename(args.config).removesuffix(".json")
    print(f"# Kernels of {name}\n\nMade by `bench/gpu/kernels.py`; do not edit. `{args.function}` of `{name}`, assembled by ptxas. Shared memory is "
          "static, in bytes\nof a block; occupancy is how many of a multiprocessor's 64 warps can be resident.\n")
    with tempfile.TemporaryDirectory() as folder:
        graph = f"{folder}/graph.mlir"
        subprocess.run([f"{args.bin}/gpt2", args.config, graph], check=True)
        for precision in ("f32", "tf32"):
            ptx_path = f"{folder}/{precision}.ptx"
            subprocess.run([f"{args.bin}/hjx-run", "call", graph, "--function", args.function, "--compile-only", "--target=ptx:sm_80",
                            f"--matmul-precision={precision}", "--output", ptx_path],
                           check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HJX_PTXAS": "none"})
            ptx = open(ptx_path).read()
            table = {}
            for chip in LIMITS:
                log = subprocess.run([ptxas, "-v", f"-arch={chip}", ptx_path, "-o", "/dev/null"], check=True, capture_output=True, text=True)
                for kernel, threads, registers, shared, spills, dynamic in read_kernels(ptx, log.stderr):
                    full = "?" if dynamic else f"{occupancy(chip, threads, registers, shared)} %"
                    table.setdefault((kernel, threads), []).append(
                        (registers, f"{shared}{' + dynamic' if dynamic else ''}", spills, full))
                    spilled += spills > 0
            print(f"## Products in {precision}\n\n| kernel | threads | " +
                  " | ".join(f"registers {chip} | shared | spills | occupancy" for chip in LIMITS) +
                  " |\n|---|---|" + "---|" * 4 * len(LIMITS))
            for (kernel, threads), rows in table.items():
                print(f"| {kernel} | {threads} | " + " | ".join(f"{r} | {s} | {p} | {o}" for r, s, p, o in rows) + " |")
            print()
    print(f"{spilled} kernels spill." if spilled else "No kernel spills.")
    return 1 if spilled else 0


if __name__ == "__main__":
    sys.exit(main())
