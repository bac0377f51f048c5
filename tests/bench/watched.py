# SPDX-License-Identifier: Apache-2.0
"""What being watched costs: the same 64-partition job with a reader taking snapshots flat through
it, and without, in turn."""

import json
import statistics
import subprocess
import time

from process_cost import row
from prover import make_circuit
from running_engine import DEADLINE_SECONDS, SEGMENT, RunningEngine

PARTITIONS = 64
SNAPSHOTS = 10_000


def prove(engine, zkey_folder):
    """Seconds from submit to the end of a job of PARTITIONS equal witnesses."""
    begin = time.monotonic()
    engine.wait(engine.submit("bench", zkey_folder, PARTITIONS))
    return time.monotonic() - begin


def start_reader(arguments, interval_us):
    return subprocess.Popen(
        [arguments.bin / "vitrine-snapshot-reader", SEGMENT, str(SNAPSHOTS), str(interval_us)],
        stdout=subprocess.PIPE, text=True)


def finish_reader(reader):
    output, _ = reader.communicate(timeout=DEADLINE_SECONDS)
    return json.loads(output)


def measure(arguments):
    zkey, _ = make_circuit(arguments, "bn128")
    alone, watched, summaries = [], [], []
    with RunningEngine(arguments, {"bench": zkey.parent}, ["--durability", "none"]) as engine:
        interval_us = int(prove(engine, zkey.parent) / SNAPSHOTS * 1e6)  # also loads the key
        for _ in range(arguments.rounds):
            alone.append(prove(engine, zkey.parent))
            reader = start_reader(arguments, interval_us)
            watched.append(prove(engine, zkey.parent))
            summaries.append(finish_reader(reader))
    yield from report(alone, watched, summaries)


def report(alone, watched, summaries):
    minute = PARTITIONS * 60
    ratios = [a / w for a, w in zip(alone, watched)]
    noise = max(max(times) / min(times) for times in (alone, watched)) - 1
    yield row("watched: proofs per minute alone", minute / statistics.median(alone), "1/min")
    yield row("watched: proofs per minute with a reader", minute / statistics.median(watched),
              "1/min")
    yield row("watched: ratio of proofs per minute", statistics.median(ratios), "x",
              at_least=round(1 - max(noise, 0.005), 4), why=f"noise of the runs {noise:.1%}")
    total = sum(summary["snapshots"] for summary in summaries)
    yield row("watched: snapshots", total, "")
    yield row("watched: share consistent",
              sum(summary["consistent"] for summary in summaries) / total, "")
    yield row("watched: invariant violations",
              float(sum(summary["violations"] for summary in summaries)), "")
    for key in ("p50_us", "p99_us"):
        yield row(f"watched: snapshot {key[:3]}",
                  statistics.median(summary[key] for summary in summaries), "us")
