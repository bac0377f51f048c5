#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vitrine-statsd with a real engine and real receivers of datagrams.

Usage: statsd_test.py BUILD SOURCE"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = SOURCE = None
PATIENCE_S = 60
DONE = "vitrine_partitions_finished_total.proof_kind.demo.result.done"


class Sent(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="vitrine-test-", dir="/dev/shm")
        self.path = pathlib.Path(self.folder.name)
        self.segment = self.path / "main.segment"
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.path),
                                XDG_STATE_HOME=str(self.path))
        self.processes = []
        self.sums, self.gauges = {}, {}

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.folder.cleanup()

    def start(self, *words):
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.processes.append(process)
        return process

    def start_statsd(self, to):
        return self.start(BUILD / "bin/vitrine-statsd", "--segment", self.segment, "--to", to,
                          "--interval", "100ms")

    def start_engine(self):
        circuit = SOURCE / "tests/data/bn128/demo/circuit.zkey"
        (self.path / "empty.toml").touch()
        return self.start(BUILD / "bin/vitrined", "--config", self.path / "empty.toml",
                          "--instance", "main", "--segment", self.segment, "--socket",
                          self.path / "api.sock", "--spool-directory", self.path / "spool",
                          "--log-level", "off", "--memory-budget", "256MiB", "--circuit",
                          f"demo={circuit}")

    def submit(self):
        witnesses = [word for number in range(10) for word in
                     ("--wtns", SOURCE / f"tests/data/bn128/demo/witness.{number}.wtns")]
        subprocess.run([BUILD / "bin/vitrine", "submit", "--instance", "main", "--segment",
                        self.segment, "--circuit", "demo", *witnesses], check=True,
                       timeout=PATIENCE_S, env=self.environment, stdout=subprocess.DEVNULL)

    def receiver(self, family=socket.AF_INET, address=("127.0.0.1", 0)):
        receiver = socket.socket(family, socket.SOCK_DGRAM)
        self.addCleanup(receiver.close)
        receiver.bind(address)
        receiver.settimeout(PATIENCE_S)
        return receiver

    def read_until(self, receiver, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            self.add(receiver.recv(65536))

    def add(self, datagram):
        self.assertLessEqual(len(datagram), 1432)
        for line in datagram.decode("ascii").split("\n"):
            name, rest = line.split(":")
            value, kind = rest.split("|")
            self.assertRegex(value, r"^-?[0-9]+(\.[0-9]+)?$")
            self.assertIn(kind, ("c", "g"))
            if kind == "g":
                self.gauges[name] = float(value)
            else:
                self.assertGreater(float(value), 0)
                self.sums[name] = self.sums.get(name, 0) + float(value)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0, log)
        return log

    def test_counters_add_up_over_a_restart_of_the_engine(self):
        """X11 X13"""
        receiver = self.receiver()
        statsd = self.start_statsd(f"udp://127.0.0.1:{receiver.getsockname()[1]}")
        self.read_until(receiver, lambda: self.gauges.get("vitrine_up") == 0)
        for total in (10, 20):
            engine = self.start_engine()
            self.read_until(receiver, lambda: self.gauges.get("vitrine_ready") == 1)
            self.submit()
            self.read_until(receiver, lambda: self.sums.get(DONE, 0) >= total)
            self.assertEqual(self.sums[DONE], total)
            engine.kill()
            self.read_until(receiver, lambda: self.gauges["vitrine_up"] == 0)
            self.gauges.clear()
            (self.path / "main.segment").unlink(missing_ok=True)
        self.assertIn(" 0 counters fell", self.stop(statsd))

    def test_a_server_may_be_away_and_come_back(self):
        """X11"""
        for family, address in ((socket.AF_INET, ("127.0.0.1", 0)),
                                (socket.AF_UNIX, str(self.path / "statsd.sock"))):
            receiver = self.receiver(family, address)
            bound = receiver.getsockname()
            to = f"unix:{bound}" if family == socket.AF_UNIX else f"udp://127.0.0.1:{bound[1]}"
            statsd = self.start_statsd(to)
            receiver.recv(65536)
            receiver.close()
            if family == socket.AF_UNIX:
                os.unlink(bound)
            while "cannot send" not in statsd.stderr.readline():
                self.assertIsNone(statsd.poll())
            receiver = self.receiver(family, bound)
            while "the server is back" not in statsd.stderr.readline():
                self.assertIsNone(statsd.poll())
            self.gauges.clear()
            self.read_until(receiver, lambda: "vitrine_up" in self.gauges)
            self.stop(statsd)

    def test_a_name_that_is_not_found_ends_nothing(self):
        """X11"""
        statsd = self.start_statsd("udp://no-such-host.invalid:8125")
        self.assertIn("the name is not resolved", statsd.stderr.readline())
        self.assertNotIn("not resolved", self.stop(statsd))

    def test_what_is_no_address_is_refused(self):
        """X13"""
        for to in ("udp://:1", "udp://host", "udp://host:0", "udp://a:b:1", "tcp://a:1", "unix:x"):
            statsd = self.start_statsd(to)
            _, said = statsd.communicate(timeout=PATIENCE_S)
            self.assertEqual(statsd.returncode, 2)
            self.assertIn(f"--to '{to}' is not", said)


if __name__ == "__main__":
    BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    os.environ.pop("VITRINE_SEGMENT", None)
    unittest.main(argv=sys.argv[:1], verbosity=2)
