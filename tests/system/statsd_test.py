#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vitrine-statsd with a real engine and real receivers of datagrams.

Usage: statsd_test.py BUILD SOURCE"""

import os
import signal
import socket
import subprocess
import sys
import time
import unittest

from engine_case import BUILD, PATIENCE_S, EngineCase

DONE = "vitrine_partitions_finished_total.proof_kind.demo.result.done"


class Sent(EngineCase):
    def setUp(self):
        super().setUp()
        self.sums, self.gauges = {}, {}

    def start_statsd(self, to):
        return self.start(BUILD / "bin/vitrine-statsd", "--segment", self.segment, "--to", to,
                          "--interval", "100ms", stderr=subprocess.PIPE)

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
    unittest.main(argv=sys.argv[:1], verbosity=2)
