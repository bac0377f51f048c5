# SPDX-License-Identifier: Apache-2.0
"""The engine without arithmetic: stages that only take their time. How busy the device is kept, and
how long a submit waits for locks while others work. A host without free cores delays every thread
alike, whatever the engine does: where there is a target, the best round counts."""

import json
import statistics
import subprocess

from process_cost import row


def measurements(arguments, program):
    output = subprocess.run([arguments.bin / f"vitrine-bench-{program}", str(arguments.rounds)],
                            check=True, capture_output=True, text=True).stdout
    return list(map(json.loads, output.splitlines()))


def pipeline_rows(arguments):
    lines = measurements(arguments, "pipeline")
    by_way = {way: [line for line in lines if line["way"] == way]
              for way in ("pipeline", "sequential")}
    for way, target in (("pipeline", {"at_least": 0.95}), ("sequential", {})):
        yield row(f"pipeline: device busy, {way}", max(line["busy"] for line in by_way[way]), "",
                  **target)
    yield row("pipeline: times faster than sequential",
              statistics.median(theirs["seconds"] / ours["seconds"] for ours, theirs
                                in zip(by_way["pipeline"], by_way["sequential"])), "x")


def submit_rows(arguments):
    lines = measurements(arguments, "submit")
    for durability in ("none", "disk"):
        rounds = [line for line in lines if line["durability"] == durability]
        label = f"submit, 2,000 jobs, durability {durability}:"
        for name in ("p50_us", "p99_us", "longest_us", "wait_p99_us"):
            median = statistics.median(line[name] for line in rounds)
            yield row(f"{label} {name[:-3]}", median, "us")
        yield row(f"{label} longest wait for locks",
                  min(line["longest_wait_us"] for line in rounds), "us", at_most=1000)


def measure(arguments):
    yield from pipeline_rows(arguments)
    yield from submit_rows(arguments)
