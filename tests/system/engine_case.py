# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: BUILD and SOURCE, the first two arguments of each; waiting; and a
test case that starts engines and other programs in a folder of its own."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PATIENCE_S = 60
os.environ.pop("VITRINE_SEGMENT", None)


def until(condition):
    """The first true answer of condition(); fails the test after a minute."""
    end = time.monotonic() + PATIENCE_S
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class EngineCase(unittest.TestCase):
    """What a test starts is gone when it ends."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="vitrine-test-", dir="/dev/shm")
        self.path = pathlib.Path(self.folder.name)
        self.segment = self.path / "main.segment"
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.path),
                                XDG_STATE_HOME=str(self.path))
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.folder.cleanup()

    def start(self, *words, **options):
        process = subprocess.Popen([str(word) for word in words],
                                   **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
                                      "stderr": subprocess.DEVNULL, "text": True,
                                      "env": self.environment, **options})
        self.processes.append(process)
        return process

    def start_engine(self):
        """A vitrined at `segment` with the circuit demo."""
        circuit = SOURCE / "tests/data/bn128/demo/circuit.zkey"
        (self.path / "empty.toml").touch()
        return self.start(BUILD / "bin/vitrined", "--config", self.path / "empty.toml",
                          "--instance", "main", "--segment", self.segment, "--socket",
                          self.path / "api.sock", "--spool-directory", self.path / "spool",
                          "--memory-budget", "256MiB", "--circuit", f"demo={circuit}")

    def submit(self):
        """A job of ten partitions."""
        witnesses = [word for number in range(10) for word in
                     ("--wtns", SOURCE / f"tests/data/bn128/demo/witness.{number}.wtns")]
        subprocess.run([BUILD / "bin/vitrine", "submit", "--instance", "main", "--segment",
                        self.segment, "--circuit", "demo", *witnesses], check=True,
                       timeout=PATIENCE_S, env=self.environment, stdout=subprocess.DEVNULL)
