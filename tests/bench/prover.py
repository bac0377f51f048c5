# SPDX-License-Identifier: Apache-2.0
"""Whole-process cost of one proof against the peers, on the same key, witness and cores."""

import os
import subprocess

from process_cost import interleaved, median, median_ratio, row


def make_circuit(arguments, curve):
    """Key and witness of the synthetic SHA-256 circuit, made once with vitrine-genkey."""
    folder = arguments.build / f"sha256-{curve}-{arguments.log2}"
    if not (folder / "circuit.zkey").exists() or not (folder / "witness.wtns").exists():
        subprocess.run([arguments.bin / "vitrine-genkey", "--circuit", "sha256", "--log2",
                        str(arguments.log2), "--curve", curve, "--insecure", "--out", folder],
                       check=True, stdout=subprocess.DEVNULL)
    return folder / "circuit.zkey", folder / "witness.wtns"


def commands_for(arguments, curve, zkey, wtns):
    """{prover: argv}; rapidsnark knows BN254 only."""
    out = arguments.build / f"out-{curve}"
    out.mkdir(exist_ok=True)
    commands = {"vitrine": [arguments.bin / "vitrine-prove", zkey, wtns, out / "proof.json",
                            out / "public.json"]}
    if curve == "bn128" and "rapidsnark" in arguments.peers:
        commands["rapidsnark"] = [arguments.peers["rapidsnark"], zkey, wtns,
                                  out / "peer_proof.json", out / "peer_public.json"]
    if "snarkjs" in arguments.peers:
        commands["snarkjs"] = ["node", arguments.peers["snarkjs"], "groth16", "prove", zkey, wtns,
                               out / "slow_proof.json", out / "slow_public.json"]
    return {name: [os.fspath(word) for word in argv] for name, argv in commands.items()}


def compare(costs, label):
    ours = costs["vitrine"]
    yield row(f"{label} wall", median(ours, "wall_seconds"), "s")
    yield row(f"{label} cpu", median(ours, "cpu_seconds"), "s")
    yield row(f"{label} peak memory", median(ours, "peak_bytes") / 2**20, "MiB")
    if "rapidsnark" in costs:
        theirs = costs["rapidsnark"]
        yield row(f"{label} wall / rapidsnark", median_ratio(ours, theirs, "wall_seconds"), "x",
                  at_most=1.3)
        yield row(f"{label} cpu / rapidsnark", median_ratio(ours, theirs, "cpu_seconds"), "x")
        yield row(f"{label} peak memory / rapidsnark", median_ratio(ours, theirs, "peak_bytes"),
                  "x", at_most=1.3)
    elif label.endswith("bn128"):
        yield row(f"{label} wall / rapidsnark", None, "x", at_most=1.3, why="no --peer rapidsnark")
    if "snarkjs" in costs:
        yield row(f"{label} times faster than snarkjs",
                  1 / median_ratio(ours, costs["snarkjs"], "wall_seconds"), "x", at_least=4)
    else:
        yield row(f"{label} times faster than snarkjs", None, "x", at_least=4,
                  why="no --peer snarkjs")


def measure(arguments):
    for curve in ("bn128", "bls12381"):
        zkey, wtns = make_circuit(arguments, curve)
        costs = interleaved(arguments.rounds, commands_for(arguments, curve, zkey, wtns))
        yield from compare(costs, f"sha256 2^{arguments.log2} {curve}")
