# SPDX-License-Identifier: Apache-2.0
"""What being watched costs: the same 64-partition job with a reader taking snapshots flat through
it, and without, in turn."""

import json
import pathlib
import statistics
import subprocess
import time

from process_cost import row
from prover import make_circuit

PARTITIONS = 64
SNAPSHOTS = 10_000
DEADLINE_SECONDS = 600


class Engine:
    """A vitrined of its own instance, drained at the end."""

    def __init__(self, arguments, zkey):
        self.bin = arguments.bin
        self.segment = pathlib.Path("/dev/shm/vitrine.bench")
        self.process = subprocess.Popen(
            [self.bin / "vitrined", "--instance", "bench", "--circuit", f"bench={zkey}",
             "--durability", "none", "--log-level", "warn"])
        deadline = time.monotonic() + 30
        show = [self.bin / "vitrine", "show", "--instance", "bench"]
        while subprocess.run(show, capture_output=True, check=False).returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit("vitrined did not become ready within 30 s")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def prove(self, wtns):
        """Seconds from submit to the end of a job of PARTITIONS equal witnesses."""
        command = [self.bin / "vitrine", "submit", "--instance", "bench", "--circuit", "bench"]
        begin = time.monotonic()
        job = subprocess.run(command + ["--wtns", wtns] * PARTITIONS, check=True,
                             capture_output=True, text=True).stdout.strip()
        subprocess.run([self.bin / "vitrine", "wait", job, "--instance", "bench"], check=True,
                       timeout=DEADLINE_SECONDS, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin

    def start_reader(self, interval_us):
        return subprocess.Popen(
            [self.bin / "vitrine-snapshot-reader", self.segment, str(SNAPSHOTS), str(interval_us)],
            stdout=subprocess.PIPE, text=True)


def finish_reader(reader):
    output, _ = reader.communicate(timeout=DEADLINE_SECONDS)
    return json.loads(output)


def measure(arguments):
    zkey, wtns = make_circuit(arguments, "bn128")
    alone, watched, summaries = [], [], []
    with Engine(arguments, zkey) as engine:
        interval_us = int(engine.prove(wtns) / SNAPSHOTS * 1e6)  # also loads the key
        for _ in range(arguments.rounds):
            alone.append(engine.prove(wtns))
            reader = engine.start_reader(interval_us)
            watched.append(engine.prove(wtns))
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
