#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what lies on the tracks of a trace, and how many copies begin while a step runs."""
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
tracks = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
spans = {}
for event in events:
    if event["ph"] == "X":
        assert event["ts"] >= 0 and event["dur"] >= 0
        spans.setdefault(tracks[event["tid"]], []).append(event)
steps = spans.pop("host")
print("host:", ", ".join(step["name"] for step in steps))
for track, row in sorted(spans.items(), key=lambda item: item[0].endswith("copies")):
    inside = sum(any(step["ts"] <= copy["ts"] <= step["ts"] + step["dur"] for step in steps) for copy in row)
    print(f"{track}: {len(row)} events, {inside} within a step")
