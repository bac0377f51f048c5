# SPDX-License-Identifier: Apache-2.0
"""What publishing and reading the status cost, each contender in turn, several rounds; a ratio is
the median of the ratios within a round. Single operations are timed by the machine's finest clock
(tests/bench/tick_clock.h says how its own cost is taken off), so a p50 is a whole number of its
steps; a `mean` is that of batches, and a ratio to memcpy compares the batches' medians."""

import json
import pathlib
import statistics
import subprocess
import time

import process_cost
from process_cost import row

LS_RUNS = 20
READY_SECONDS = 30
DEMO_KEY = pathlib.Path(__file__).parents[1] / "data/bn128/demo/circuit.zkey"
UNDISTURBED = "no window without another program on the core"


def measurements(arguments, program):
    """{key: {round: line}}; the key is what the line says beside round and results."""
    output = subprocess.run([arguments.bin / f"vitrine-bench-{program}", str(arguments.rounds)],
                            check=True, capture_output=True, text=True).stdout
    found = {}
    for line in map(json.loads, output.splitlines()):
        names = ("group", "contender", "bytes", "beside", "jobs", "partitions", "rate")
        key = tuple(line[name] for name in names if name in line)
        found.setdefault(key, {})[line["round"]] = line
    return found


def values(lines, name):
    """Of the rounds in which something was measured."""
    return {number: line["cost"].get(name, line.get(name)) for number, line in lines.items()
            if "p50" in line["cost"]}


def median_row(name, lines, value, unit, **target):
    found = values(lines, value)
    if not found:
        return row(name, None, unit, why=UNDISTURBED, **target)
    return row(name, statistics.median(found.values()), unit, **target)


def ratio_row(name, ours, theirs, value, **target):
    """Ours divided by theirs, (lines, value) pairs of the same rounds."""
    above, below = values(ours, value), values(theirs, value)
    ratios = [above[number] / below[number] for number in above
              if below.get(number)]
    if not ratios:
        return row(name, None, "x", why=UNDISTURBED, **target)
    return row(name, statistics.median(ratios), "x", **target)


def kept_row(name, found):
    """How much of the time counted: what other programs took is left out."""
    lines = [line["cost"] for rounds in found.values() for line in rounds.values()]
    kept = sum(cost["windows_kept"] for cost in lines) / sum(cost["windows"] for cost in lines)
    return row(f"{name}: share of windows that count", kept, "")


def publish_rows(arguments):
    found = measurements(arguments, "publish")
    for (group, contender, size, beside), lines in found.items():
        other = "reader" if group == "publish" else "writer"
        label = f"{group} {size} B, {beside} {other}: {contender}"
        watched = (group, contender, size, beside) == ("publish", "vitrine", 128, 1)
        yield median_row(f"{label} mean", lines, "mean", "ns")
        yield median_row(f"{label} p50", lines, "p50", "ns",
                         **({"at_most": 120} if watched else {}))
        yield median_row(f"{label} p99", lines, "p99", "ns",
                         **({"at_most": 400} if watched else {}))
    for group in ("publish", "read"):
        for size in (64, 128, 256, 512):
            target = {"at_most": 3.5} if (group, size) == ("publish", 128) else {}
            yield ratio_row(f"{group} {size} B: vitrine / memcpy", found[group, "vitrine", size, 0],
                            found[group, "memcpy", size, 0], "typical", **target)
    yield kept_row("publish", found)


def transaction_rows(arguments):
    found = measurements(arguments, "transaction")
    by_name = {}
    for (group, contender, size, beside), lines in found.items():
        by_name[group, contender, beside] = lines
        label = (f"transaction {size} B, {beside} poller: {contender}" if group == "transaction"
                 else f"2,000 jobs, {beside} poller: {contender}")
        for value in ("mean", "p50", "p99"):
            yield median_row(f"{label} {value}", lines, value, "ns")
        if beside:
            yield median_row(f"{label} polls", lines, "polls_per_second", "1/s")
    yield ratio_row("transaction: vitrine / memcpy", by_name["transaction", "vitrine", 0],
                    by_name["transaction", "memcpy", 0], "typical", at_most=16)
    yield ratio_row("transaction, 1 poller: tracker p50 / vitrine p50",
                    by_name["transaction", "tracker", 1], by_name["transaction", "vitrine", 1],
                    "p50", at_least=15)
    for beside in (0, 1):
        yield ratio_row(f"2,000 jobs, {beside} poller: tracker mean / vitrine mean",
                        by_name["tracker", "tracker", beside],
                        by_name["tracker", "vitrine", beside], "mean")
    yield kept_row("transaction", found)


def snapshot_rows(arguments):
    found = measurements(arguments, "snapshot")
    for (_, jobs, partitions, rate), lines in found.items():
        label = f"snapshot {jobs}x{partitions} at {rate}/s:"
        is_goal = (jobs, rate) == (64, 10_000)
        for value in ("p50", "p99"):
            target = {"at_most": 50} if is_goal and value == "p50" else {}
            in_us = {number: line | {"cost": {name: cost / 1000 if name in ("p50", "p99") else cost
                                              for name, cost in line["cost"].items()}}
                     for number, line in lines.items()}
            yield median_row(f"{label} {value}", in_us, value, "us", **target)
        everything = lines.values()
        yield row(f"{label} tries", statistics.mean(line["tries"] for line in everything), "")
        yield row(f"{label} share consistent",
                  statistics.mean(line["consistent"] for line in everything), "",
                  **({"at_least": 1} if is_goal else {}))
        if rate:
            yield row(f"{label} transactions made", statistics.median(
                line["transactions_per_second"] for line in everything), "1/s")
    yield kept_row("snapshot", found)


def ls_rows(arguments):
    """User and system time of whole `vitrine ls` processes, beside one live instance."""
    instance = "bench-ls"
    vitrine = arguments.bin / "vitrine"
    daemon = subprocess.Popen([arguments.bin / "vitrined", "--instance", instance, "--circuit",
                               f"demo={DEMO_KEY}", "--durability", "none", "--log-level", "warn"])
    try:
        deadline = time.monotonic() + READY_SECONDS
        show = [vitrine, "show", "--instance", instance]
        while subprocess.run(show, capture_output=True, check=False).returncode != 0:
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"vitrined did not become ready within {READY_SECONDS} s")
            time.sleep(0.05)
        costs = [process_cost.run([vitrine, "ls"]) for _ in range(LS_RUNS + 1)][1:]
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)
        for left in pathlib.Path("/dev/shm").glob(f"vitrine.{instance}*"):
            left.unlink()
    yield row("vitrine ls: process time", process_cost.median(costs, "cpu_seconds") * 1000, "ms",
              at_most=10)


def measure(arguments):
    yield from publish_rows(arguments)
    yield from transaction_rows(arguments)
    yield from snapshot_rows(arguments)
    yield from ls_rows(arguments)
