# SPDX-License-Identifier: Apache-2.0
"""What one run of a program costs, as the kernel accounts for it, and rows for the report."""

import dataclasses
import os
import statistics
import subprocess
import time


@dataclasses.dataclass
class Cost:
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


def run(argv):
    """Runs a program to its end; a failing one stops the benchmark with its last words."""
    begin = time.monotonic()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{argv[0]} failed ({process.returncode}): {output.decode()[-400:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def interleaved(rounds, commands):
    """{name: [Cost]} of `rounds` runs of each command in turn, after one uncounted round."""
    costs = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, argv in commands.items():
            cost = run(argv)
            if number > 0:
                costs[name].append(cost)
    return costs


def median_ratio(ours, theirs, attribute):
    return statistics.median(getattr(a, attribute) / getattr(b, attribute)
                             for a, b in zip(ours, theirs))


def median(costs, attribute):
    return statistics.median(getattr(cost, attribute) for cost in costs)


def row(name, value, unit, at_most=None, at_least=None, why=""):
    """A line of the report; `holds` is null without a target or without a value."""
    target = f"<= {at_most}" if at_most else f">= {at_least}" if at_least else ""
    holds = None
    if value is not None and target:
        holds = value <= at_most if at_most else value >= at_least
    return {"name": name, "value": value, "unit": unit, "target": target, "holds": holds,
            **({"why": why} if why else {})}
