#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernels of a training step use on a GPU, as ptxas says: registers, shared memory, spills,
and how full a multiprocessor can be. Needs ptxas and no GPU.

  bench/gpu/kernels.py build/release/bin --config examples/gpt2/configs/gpt2-small.json > docs/generated/gpu-kernels.md

With nvdisasm (HJX_NVDISASM, PATH or /usr/local/cuda/bin) it also counts the tensor core instructions of the machine code.
Exits with 1 if a kernel spills, with 77 if there is no ptxas.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Per multiprocessor: warps, blocks, bytes of shared memory. CUDA programming guide, technical specifications.
LIMITS = {"sm_80": (64, 32, 164 << 10), "sm_90a": (64, 32, 228 << 10)}
REGISTERS = 65536


# What the configuration of the model says; the others are asked of the compiler.
PRECISIONS = {"f32": {}, "tf32": {}, "bf16": {"dtype": "bfloat16"}}


def find_tool(name):
    """HJX_PTXAS or HJX_NVDISASM, which "none" hides; else what is installed."""
    named = os.environ.get(f"HJX_{name.upper()}", "")
    if named:
        return None if named == "none" else named
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def round_up(value, unit):
    return -(-value // unit) * unit


def occupancy(chip, threads, registers, shared):
    """Resident warps in percent of the most: registers go to warps in units of 256, each block takes 1 KiB more."""
    most_warps, most_blocks, shared_bytes = LIMITS[chip]
    warps = -(-threads // 32)
    per_warp = round_up(registers * 32, 256)
    blocks = min(most_blocks, most_warps // warps, REGISTERS // per_warp // warps, shared_bytes // (shared + 1024))
    return 100 * blocks * warps // most_warps


def inner_loop(body):
    """The instructions of the smallest loop of a PTX body that has a product of tensor cores, or none."""
    lines = body.splitlines()
    at = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"(\$\w+):", line))}
    loops = [lines[at[m[1]]:i] for i, line in enumerate(lines) if (m := re.search(r"bra(?:\.uni)?\s+(\$\w+);", line)) and at[m[1]] < i]
    loops = [loop for loop in loops if re.search(r"\bw?g?mma\.", " ".join(loop))]
    return "\n".join(min(loops, key=len, default=[]))


def count_instructions(text, names):
    counts = {name: len(re.findall(pattern, text)) for name, pattern in names.items()}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "-"


PTX = {"mma": r"\bmma\.sync", "wgmma": r"\bwgmma\.mma_async", "ldmatrix": r"\bldmatrix", "cp.async": r"\bcp\.async\.c[ag]",
       "TMA copies": r"\bcp\.async\.bulk\.tensor"}
SASS = {name: rf"\b{name}\." for name in ("HMMA", "HGMMA", "IMMA", "IGMMA")}


def read_kernels(chip, ptx, log, sass):
    """The rows of the table in the order of the names, and how many kernels spill."""
    bodies = dict(re.findall(r"\.entry (\w+)\((.*?)(?=^(?:\.visible )?\.entry|\Z)", ptx, re.S | re.M))
    dynamic = {name: int(size) for name, size in re.findall(r"^// (\w+): (\d+) bytes of dynamic shared", ptx, re.M)}
    codes = dict(re.findall(r"^\.text\.(\w+):(.*?)(?=^\.text|\Z)", sass, re.S | re.M))
    rows, spilled = [], 0
    for name, text in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", log, re.S):
        body = bodies[name]
        threads = int(re.search(r"\.(?:reqntid|maxntid) (\d+)", body)[1])
        registers = int(re.search(r"Used (\d+) registers", text)[1])
        static = re.search(r"(\d+) bytes smem", text)
        shared = (int(static[1]) if static else 0) + dynamic.get(name, 0)
        spills = sum(map(int, re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", text).groups()))
        stack = int(re.search(r"(\d+) bytes stack frame", text)[1])
        spilled += spills > 0 or stack > 0
        code = codes.get(name, "")
        # What the assembler makes of a product is not left to belief.
        for instruction, needed in (("wgmma", "HGMMA|IGMMA"), ("mma", "HMMA|IMMA")):
            if code and re.search(PTX[instruction], body) and not re.search(rf"\b({needed})\.", code):
                raise SystemExit(f"kernels.py: {chip}: {name} has {instruction} and its machine code no {needed}")
        rows.append(f"| {name} | {threads} | {registers} | {shared} | {spills + stack} | {occupancy(chip, threads, registers, shared)} % | "
                    f"{count_instructions(inner_loop(body), PTX)} | {count_instructions(code, SASS)} |")
    return sorted(rows), spilled


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin", help="folder of hjx-run and gpt2")
    parser.add_argument("--config", required=True)
    parser.add_argument("--function", default="step")
    args = parser.parse_args()
    ptxas, nvdisasm = find_tool("ptxas"), find_tool("nvdisasm")
    if not ptxas:
        print("kernels.py: there is no ptxas: install the CUDA toolkit or set HJX_PTXAS", file=sys.stderr)
        return 77

    spilled = 0
    name = os.path.basename(args.config).removesuffix(".json")
    print(f"# Kernels of {name}\n\nMade by `bench/gpu/kernels.py`; do not edit. `{args.function}` of `{name}`, assembled by ptxas. Shared memory is in "
          "bytes of a\nblock, spills are bytes of a thread in local memory; occupancy is how many of a multiprocessor's 64 warps can be\nresident. "
          "The inner loop is that of the PTX; machine code counts the whole kernel"
          f"{', as nvdisasm prints it' if nvdisasm else ' (there was no nvdisasm)'}.\n")
    with tempfile.TemporaryDirectory() as folder:
        for precision, settings in PRECISIONS.items():
            config, graph = f"{folder}/config.json", f"{folder}/graph.mlir"
            with open(config, "w") as file:
                json.dump({**json.load(open(args.config)), **settings}, file)
            subprocess.run([f"{args.bin}/gpt2", config, graph], check=True)
            for chip in LIMITS:
                ptx_path, cubin = f"{folder}/step.ptx", f"{folder}/step.cubin"
                matmul = "f32" if settings else precision
                subprocess.run([f"{args.bin}/hjx-run", "call", graph, "--function", args.function, "--compile-only", f"--target=ptx:{chip}",
                                f"--matmul-precision={matmul}", "--output", ptx_path],
                               check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HJX_PTXAS": "none"})
                log = subprocess.run([ptxas, "-v", f"-arch={chip}", ptx_path, "-o", cubin], check=True, capture_output=True, text=True)
                sass = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout if nvdisasm else ""
                rows, more = read_kernels(chip, open(ptx_path).read(), log.stderr, sass)
                spilled += more
                print(f"## Products in {precision} on {chip}\n\n| kernel | threads | registers | shared | spills | occupancy | inner loop | "
                      "machine code |\n|---|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n")
    print(f"{spilled} kernels spill." if spilled else "No kernel spills.")
    return 1 if spilled else 0


if __name__ == "__main__":
    sys.exit(main())
