#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, as ratios side by side in one run: bench.py BIN [NAME]... [options].

  NAME               shm, prover, watched, attended, budget, pipeline (all without)
  --json FILE        also write the rows: [{name, value, unit, target, holds, why}]
  --peer NAME=PATH   rapidsnark=its prover program, snarkjs=its command-line script
  --rounds N         interleaved rounds (default 5; the median counts)
  --log2 N           size of the prover's circuit (default 16)
  --build DIR        where keys and witnesses are kept between runs (default build/bench)
A row whose peer is not there has holds null and says why.
"""

import argparse
import json
import pathlib
import platform
import sys

import attended
import budget
import pipeline
import prover
import shm
import watched

BENCHES = {"shm": shm.measure, "prover": prover.measure, "watched": watched.measure,
           "attended": attended.measure, "budget": budget.measure,
           "pipeline": pipeline.measure}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="/".join(BENCHES))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--log2", type=int, default=16)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/bench"))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHES]
    if unknown:
        parser.error(f"no benchmark '{unknown[0]}'; there are {', '.join(BENCHES)}")
    if any("=" not in peer for peer in arguments.peer):
        parser.error("--peer takes NAME=PATH")
    arguments.bin = arguments.bin.resolve()
    arguments.peers = dict(peer.split("=", 1) for peer in arguments.peer)
    arguments.build.mkdir(parents=True, exist_ok=True)
    return arguments


def show(row):
    value = "-" if row["value"] is None else f"{row['value']:.4g}"
    verdict = {True: "holds", False: "MISSED", None: ""}[row["holds"]]
    target = row["target"] or ""
    print(f"{row['name']:<58} {value:>10} {row['unit']:<6} {target:<10} {verdict} "
          f"{row.get('why', '')}".rstrip(), flush=True)


def main():
    arguments = parse_arguments()
    print(f"machine: {platform.machine()}, {processor()}")
    rows = []
    for name in arguments.names or BENCHES:
        for row in BENCHES[name](arguments):
            show(row)
            rows.append(row)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["holds"] is False for row in rows) else 0


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


if __name__ == "__main__":
    sys.exit(main())
