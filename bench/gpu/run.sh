#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that is worth knowing of a GPU, in one table, in one command:
#
#   bench/gpu/run.sh                                  # the first CUDA device; about five minutes
#   bench/gpu/run.sh --quick --target sim:sm_80       # a rehearsal on the simulated device
#
# It checks each kernel against the processor on fresh random numbers, times kernels and the training
# step of GPT-2 124M, and beside them PyTorch (eager and compile) and JAX, where they are installed.
#
#   --target T     cuda, cuda:1, sim:sm_80, ...
#   --output DIR   where the table (results.md) and the parts of it go; default: runs/gpu
#   --build DIR    a build or an unpacked pack; default: build/release, built if it lacks a program
#   --quick        small sizes, and peers on the processor if there is no GPU: a rehearsal
#   --pack FILE    only write the programs and the libraries that they need to FILE.tar.xz, for a machine
#                  without a compiler (glibc 2.36 or later):
#                      tar xf FILE.tar.xz && bench/gpu/run.sh --build pack
# PYTHON names the interpreter that has the peers; default: python3. Tiles of products are measured first and kept in
# the output folder, unless HJX_AUTOTUNE=0 leaves them to the model.
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { printf 'run.sh: %s\n' "$*" >&2; exit 2; }

target=cuda output=runs/gpu build=build/release quick= pack= python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
  case "$1" in
    --quick) quick=1; shift; continue ;;
    --target | --output | --build | --pack) [ $# -ge 2 ] || die "$1: expected a value" ;;
    *) die "expected --target, --output, --build, --quick or --pack, got '$1'" ;;
  esac
  declare "${1#--}=$2"
  shift 2
done

for program in bench-gpu gpt2 hjx-run; do
  [ -x "$build/bin/$program" ] && continue
  [ "$build" = build/release ] || die "$build/bin/$program: no such program; build it, or leave --build out"
  HJX_PRESET=release ./dev build "$program"
done

if [ -n "$pack" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/pack/bin" "$work/pack/lib"
  cp "$build"/bin/{bench-gpu,gpt2,hjx-run} "$work/pack/bin"
  cp -P "$build"/lib/lib*.so* "$work/pack/lib"
  # All but the C library, which belongs to the machine's loader.
  ldd "$work"/pack/bin/* "$work"/pack/lib/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(libc|libm|libdl|librt|libpthread)\.so' | xargs cp -nL -t "$work/pack/lib"
  strip "$work"/pack/bin/* "$work"/pack/lib/*
  tar -C "$work" -c pack | xz -T0 --x86 --lzma2=preset=6 > "$pack.tar.xz"
  ls -l "$pack.tar.xz"
  exit
fi
[ ! -d "$build/lib" ] || export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

mkdir -p "$output"
export HJX_AUTOTUNE="${HJX_AUTOTUNE:-1}" HJX_CACHE_DIR="${HJX_CACHE_DIR:-$output/cache}"
config=bench/gpu/step${quick:+-quick}.json tokens=$output/tokens.bin
failed=
{
  printf '# hjx on %s\n\n' "$target"
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader 2> /dev/null || printf 'no nvidia-smi\n'
  printf '\n## Kernels\n\n'
} > "$output/results.md"

"$build/bin/bench-gpu" "$target" ${quick:+--quick} --markdown "$output/kernels.md" || failed="a kernel is wrong"
[ ! -e "$output/kernels.md" ] || cat "$output/kernels.md" >> "$output/results.md"

# Tokens without meaning: what a step costs does not depend on them.
"$python" -c '
import array, json, random, sys
c = json.load(open(sys.argv[1]))
ids = [random.randrange(c["vocab_size"]) for _ in range(64 * c["context_length"])]
array.array("H", ids).tofile(open(sys.argv[2], "wb"))' "$config" "$tokens"

printf '\n## Training step\n\n| step | tokens per second | last loss |\n|---|---|---|\n' | tee -a "$output/results.md"
for precision in f32 tf32 bf16; do
  graph=$output/$precision.mlir flags=
  case $precision in
    bf16) sed 's/{/{"dtype": "bfloat16",/' "$config" > "$output/$precision.json" ;;
    *) cp "$config" "$output/$precision.json"; flags=--matmul-precision=$precision ;;
  esac
  "$build/bin/gpt2" "$output/$precision.json" "$graph"
  rm -rf "$output/$precision"
  if "$build/bin/hjx-run" train "$graph" "$tokens" --validation-fraction 0 --run "$output/$precision" --target="$target" $flags \
      > "$output/$precision.log" 2>&1; then
    "$python" -c '
import json, sys
steps = [json.loads(line) for line in open(sys.argv[1])]
steps = [s for s in steps if s["kind"] == "train"]
print("| %s | %.0f | %.4f |" % (sys.argv[2], max(s["tokens_per_second"] for s in steps), steps[-1]["loss"]))' \
      "$output/$precision/metrics.jsonl" "$precision"
  else
    printf '| %s | failed: see %s | |\n' "$precision" "$output/$precision.log"
    failed="a training step failed"
  fi
done | tee -a "$output/results.md"

device=cuda
[ -z "$quick" ] || nvidia-smi > /dev/null 2>&1 || device=cpu
printf '\n## Peers\n\n' | tee -a "$output/results.md"
for what in "" "--step $config"; do
  "$python" bench/gpu/peers.py --device $device ${quick:+--quick} $what 2> "$output/peers.log" | tee -a "$output/results.md" ||
    printf '\nfailed: see %s\n' "$output/peers.log"
done
printf '\n%s/results.md%s\n' "$output" "${failed:+: $failed}"
[ -z "$failed" ]
