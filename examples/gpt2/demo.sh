#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The demo: a byte-level GPT learns to write from six novels by Jane Austen.
#   demo.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
data=data/austen.txt run=runs/demo graph=runs/demo/graph.mlir

if [ ! -f "$data" ]; then
  # Debian packages the novels (public domain) for R; R itself is not needed.
  mkdir -p data
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  (cd "$work" && apt-get download -qq r-cran-janeaustenr && dpkg-deb -x ./*.deb .)
  "$build/bin/hjx-tokenize" extract-austen --out="$data" "$work/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
fi

# The model, its loss, gradients and optimizer as one training graph (docs/training-graph.md).
mkdir -p "$run"
[ -f "$graph" ] || "$build/bin/gpt2" examples/gpt2/configs/demo.json "$graph"

# A finished or stopped run goes on where it was; remove the folder to begin anew.
resume=()
[ ! -e "$run/checkpoints/latest" ] || resume=(--resume)
"$build/bin/hjx-run" train "$graph" "$data" --run "$run" --sample-every 500 --prompt "It was " "${resume[@]}"

printf '\nThe model writes:\n\n'
"$build/bin/hjx-run" generate "$graph" --run "$run" --prompt "It is a truth universally acknowledged, that " --tokens 400
