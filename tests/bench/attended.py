# SPDX-License-Identifier: Apache-2.0
"""What everything attached at once costs: the same 64-partition job with an exporter that is
scraped, a follower of events and twenty pollers, and without, in turn."""

import contextlib
import statistics
import subprocess
import threading
import time
import urllib.request

from process_cost import row
from prover import make_circuit
from running_engine import INSTANCE, SEGMENT, RunningEngine
from watched import PARTITIONS, prove

POLLERS = 20
POLL_US = 1_000_000  # each takes a whole snapshot so often
SCRAPE_SECONDS = 1
SETTLE_SECONDS = 2
ADDRESS = "127.0.0.1:19821"
ALLOWED = 0.995


class Scraper:
    """Asks the exporter for the whole state again and again."""

    def __init__(self):
        self.is_over = threading.Event()
        self.answers = 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.is_over.wait(SCRAPE_SECONDS):
            with urllib.request.urlopen(f"http://{ADDRESS}/api/v1/snapshot", timeout=10) as answer:
                answer.read()
            self.answers += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


@contextlib.contextmanager
def attached(arguments):
    commands = [[arguments.bin / "vitrine-http", "--instance", INSTANCE, "--listen", ADDRESS],
                [arguments.bin / "vitrine", "events", "-f", "--instance", INSTANCE]]
    commands += [[arguments.bin / "vitrine-snapshot-reader", SEGMENT, "1000000", str(POLL_US),
                  "unchecked"]
                 for _ in range(POLLERS)]
    programs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for command in commands]
    try:
        time.sleep(SETTLE_SECONDS)  # what their start costs is not what being there costs
        with Scraper() as scraper:
            yield scraper
        gone = [program.args[0] for program in programs if program.poll() is not None]
        if gone:
            raise SystemExit(f"ended while the engine proved: {gone}")
    finally:
        for program in programs:
            program.kill()
            program.wait()


def measure(arguments):
    zkey, _ = make_circuit(arguments, "bn128")
    alone, attended, answers = [], [], 0
    with RunningEngine(arguments, {"bench": zkey.parent}, ["--durability", "none"]) as engine:
        prove(engine, zkey.parent)  # loads the key
        for _ in range(arguments.rounds):
            alone.append(prove(engine, zkey.parent))
            with attached(arguments) as scraper:
                attended.append(prove(engine, zkey.parent))
            answers += scraper.answers
            alone.append(prove(engine, zkey.parent))
    minute = PARTITIONS * 60
    # Each run beside the mean of the runs before and after it: what drifts cancels out.
    ratios = [(alone[2 * i] + alone[2 * i + 1]) / 2 / attended[i] for i in range(len(attended))]
    yield row("attended: proofs per minute alone", minute / statistics.median(alone), "1/min")
    yield row("attended: proofs per minute with all attached", minute / statistics.median(attended),
              "1/min")
    yield row("attended: scrapes answered", answers, "")
    yield row("attended: ratio of proofs per minute", statistics.median(ratios), "x",
              at_least=ALLOWED, why=f"rounds {min(ratios):.4f} to {max(ratios):.4f}, noise alone "
              f"{max(alone) / min(alone) - 1:.1%}")
