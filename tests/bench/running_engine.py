# SPDX-License-Identifier: Apache-2.0
"""A vitrined of a benchmark: started, given work, asked what it holds."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

INSTANCE = "bench"
SEGMENT = pathlib.Path(f"/dev/shm/vitrine.{INSTANCE}")
DEADLINE_SECONDS = 600


class RunningEngine:
    """A vitrined with a folder of its own; killed at the end if it does not drain."""

    def __init__(self, arguments, circuits, more=()):
        self.bin = arguments.bin
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": self.folder.name,
                            "XDG_STATE_HOME": self.folder.name}
        words = [self.bin / "vitrined", "--instance", INSTANCE, "--log-level", "warn", *more]
        for name, folder in circuits.items():
            words += ["--circuit", f"{name}={folder / 'circuit.zkey'}"]
        self.process = subprocess.Popen(words, env=self.environment)
        deadline = time.monotonic() + 30
        while self.run("show").returncode not in (0, 1):
            if time.monotonic() > deadline:
                raise SystemExit("vitrined did not become ready within 30 s")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=120)
        self.folder.cleanup()

    def run(self, *words):
        return subprocess.run([self.bin / "vitrine", *words, "--instance", INSTANCE],
                              env=self.environment, capture_output=True, text=True, check=False,
                              timeout=DEADLINE_SECONDS)

    def submit(self, name, folder, partitions=1):
        done = self.run("submit", "--circuit", name,
                        *["--wtns", folder / "witness.wtns"] * partitions)
        if done.returncode != 0:
            raise SystemExit(f"submit failed: {done.stderr}")
        return done.stdout.strip()

    def wait(self, job):
        done = self.run("wait", job)
        if done.returncode != 0:
            raise SystemExit(f"job {job} ended in {done.returncode}: {done.stderr}")

    def memory(self):
        return json.loads(self.run("memory", "--json").stdout)["memory"]

    def status_bytes(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        for line in text.splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
        raise SystemExit(f"no {name}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
