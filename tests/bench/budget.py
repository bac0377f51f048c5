# SPDX-License-Identifier: Apache-2.0
"""What a memory budget bounds: the resident memory of an engine under mixes of a large and a small
circuit, and what a long row of jobs leaves behind."""

import os
import pathlib
import statistics
import subprocess
import tempfile

from process_cost import row
from running_engine import RunningEngine

SMALL_LOG2 = 13
# Of ten jobs, so many of the large circuit.
MIXES = (0, 3, 5, 7, 10)
JOBS = 20
LONG_JOBS = int(os.environ.get("BENCH_JOBS", "2000"))
WARM_JOBS = 200
ALLOWED = 1.15  # resident, as a part of the budget
SLOPE_BYTES = 1024  # of resident memory a job


def circuit(arguments, log2):
    folder = arguments.build / f"sha256-bn128-{log2}"
    if not (folder / "witness.wtns").exists():
        subprocess.run([arguments.bin / "vitrine-genkey", "--circuit", "sha256", "--log2",
                        str(log2), "--curve", "bn128", "--insecure", "--out", folder],
                       check=True, stdout=subprocess.DEVNULL)
    return folder


def needs(arguments, folder):
    """Bytes that an engine holds before its first job, and that one partition of the circuit
    reserves at most, its key included."""
    with RunningEngine(arguments, {"one": folder}) as engine:
        idle = engine.status_bytes("VmRSS")
        engine.wait(engine.submit("one", folder))
        return idle, engine.memory()["reserved_peak_bytes"]


def peak_of_mix(arguments, budget, circuits, large_of_ten):
    """Highest resident and reserved bytes of a run of JOBS jobs."""
    with RunningEngine(arguments, circuits, ["--memory-budget", str(budget)]) as engine:
        jobs = []
        for number in range(JOBS):
            name = "large" if number % 10 < large_of_ten else "small"
            jobs.append(engine.submit(name, circuits[name], 2))
        for job in jobs:
            engine.wait(job)
        return engine.status_bytes("VmHWM"), engine.memory()["reserved_peak_bytes"]


def measure_budget(arguments):
    circuits = {"large": circuit(arguments, arguments.log2),
                "small": circuit(arguments, SMALL_LOG2)}
    # Room for the engine, the large circuit and a second partition of it, and not much more.
    idle, reserved = needs(arguments, circuits["large"])
    budget = idle + int(1.3 * reserved)
    yield row("budget: resident before the first job", idle / 2**20, "MiB")
    yield row("budget: bytes", budget / 2**20, "MiB")
    for large in MIXES:
        resident, reserved = peak_of_mix(arguments, budget, circuits, large)
        label = f"budget: {large} of 10 jobs large"
        yield row(f"{label}: peak reserved / budget", reserved / budget, "x", at_most=1)
        yield row(f"{label}: peak resident / budget", resident / budget, "x", at_most=ALLOWED)


def slope(points):
    """Of a straight line through (x, y), by least squares."""
    x_mean = statistics.fmean(x for x, _ in points)
    y_mean = statistics.fmean(y for _, y in points)
    return (sum((x - x_mean) * (y - y_mean) for x, y in points) /
            sum((x - x_mean) ** 2 for x, _ in points))


def measure_long_row(arguments):
    tests = pathlib.Path(__file__).resolve().parent.parent / "data" / "bn128" / "multiplier"
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder)
        (small / "circuit.zkey").symlink_to(tests / "circuit.zkey")
        (small / "witness.wtns").symlink_to(tests / "witness.0.wtns")
        with RunningEngine(arguments, {"tiny": small}) as engine:
            points, descriptors = [], []
            for number in range(1, WARM_JOBS + LONG_JOBS + 1):
                engine.wait(engine.submit("tiny", small))
                if number > WARM_JOBS and number % 50 == 0:
                    points.append((number, engine.status_bytes("VmRSS")))
                    descriptors.append(engine.descriptors())
    # Rows of the status plane fill up at first: jobs stay in memory until their rows are needed.
    later = points[len(points) // 3:]
    yield row("long row: jobs", WARM_JOBS + LONG_JOBS, "")
    yield row("long row: resident bytes a job, later two thirds", slope(later), "B",
              at_most=SLOPE_BYTES)
    yield row("long row: descriptors, last - first", descriptors[-1] - descriptors[0], "")


def measure(arguments):
    yield from measure_budget(arguments)
    yield from measure_long_row(arguments)
