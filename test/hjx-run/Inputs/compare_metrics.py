# SPDX-License-Identifier: Apache-2.0
"""compare_metrics.py A B KEY=TOLERANCE...: every training record of A has a twin in B whose values
differ by the relative tolerance at most; prints the largest differences."""
import json
import sys

runs = [[record for record in map(json.loads, open(path)) if record["kind"] == "train"] for path in sys.argv[1:3]]
assert len(runs[0]) == len(runs[1]) > 0, f"{len(runs[0])} and {len(runs[1])} records"
for key, tolerance in (argument.split("=") for argument in sys.argv[3:]):
    worst = max(abs(a[key] - b[key]) / max(abs(a[key]), 1e-30) for a, b in zip(*runs))
    print(f"{key}: {worst:.2e}")
    assert worst <= float(tolerance), f"{key} differs by {worst}, more than {tolerance}"
