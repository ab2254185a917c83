#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# signal.sh SIGNAL RUN COMMAND...: starts a training command, sends it a signal once it has made
# some steps, and leaves with its exit status.
signal=$1 run=$2
shift 2
"$@" &
pid=$!
until [ "$(wc -l 2>/dev/null < "$run/metrics.jsonl" || echo 0)" -ge 5 ]; do
  kill -0 "$pid" || exit 99
  sleep 0.05
done
kill "-$signal" "$pid"
wait "$pid"
