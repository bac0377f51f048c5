#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine that is not ours, as a process: the example docs/examples/publish_jobs.c, seen through
every tool; and ours, which must keep the same rules. Usage: other_engine_test.py BUILD SOURCE"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from engine_case import BUILD, PATIENCE_S, SOURCE, EngineCase, free_port, until

OWN_WORDS = {"in_line", "folding", "committing", "wrapping"}


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)
    except OSError:
        return None


class OtherEngine(EngineCase):
    def setUp(self):
        super().setUp()
        self.segment = self.path / "other.segment"
        self.engine = self.start(BUILD / "docs/examples/publish_jobs", "other", self.segment,
                                 stderr=subprocess.PIPE)
        until(lambda: self.segment.exists() and self.json("show")["jobs"])

    def vitrine(self, *words):
        return subprocess.run([BUILD / "bin/vitrine", *words, "--segment", self.segment],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def json(self, *words):
        done = self.vitrine(*words, "--json")
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return json.loads(done.stdout)

    def stage_names_in(self, snapshot):
        return {row["stage_name"] for row in snapshot["partitions"] if row["stage_name"]}

    def test_is_shown_by_the_command_line(self):
        until(lambda: self.stage_names_in(self.json("show")) & OWN_WORDS)
        snapshot = self.json("show")
        self.assertEqual(snapshot["engine"]["instance"], "other")
        self.assertEqual(snapshot["engine"]["engine_version"], "example 1.0")
        self.assertIn(snapshot["engine"]["verdict"], ("busy", "idle"))
        job = self.json("jobs")["jobs"][0]
        self.assertEqual(job["circuit"], "tower")
        self.assertGreaterEqual(job["x_fee_cents"], 250)
        self.assertEqual(self.json("workers")["devices"][0]["name"], "example lathe")
        memory = self.json("memory")
        self.assertEqual(memory["memory"]["srs_bytes"], 128 << 20)
        self.assertEqual(memory["allocations"][0]["circuit"], "tower")
        until(lambda: any(row["x_layer"] == "upper" for row in self.json("show")["partitions"]))
        events = [json.loads(line) for line in self.vitrine("events", "--json").stdout.splitlines()]
        self.assertLessEqual({"start", "submit", "admit"}, {event["type"] for event in events})

    def test_has_its_own_words_on_the_screen(self):
        until(lambda: any(word in self.vitrine("show").stdout for word in OWN_WORDS))
        until(lambda: any(word in self.vitrine("workers").stdout
                          for word in ("committing", "wrapping")))

    def test_is_served_over_http(self):
        port = free_port()
        self.start(BUILD / "bin/vitrine-http", "--segment", self.segment, "--listen",
                   f"127.0.0.1:{port}")
        url = f"http://127.0.0.1:{port}"
        snapshot = until(lambda: get(url + "/api/v1/snapshot"))
        self.assertGreaterEqual(snapshot["jobs"][0]["x_fee_cents"], 250)
        until(lambda: self.stage_names_in(get(url + "/api/v1/snapshot") or {"partitions": []})
              & OWN_WORDS)
        status = get(url + "/status")
        self.assertGreaterEqual(len(status["pipelines"]), 1)

    def test_conforms(self):
        report = self.json("conform", "--for", "2s")
        self.assertEqual(report["violations"], [])
        self.assertTrue(report["conforms"])
        self.assertGreater(report["snapshots_consistent"], 0)
        self.assertGreater(report["checks"]["events"], 0)

    def test_that_stands_and_has_a_damaged_header_does_not_conform(self):
        reserved_word = 20  # in the fixed header (shm/layout.h)
        self.engine.send_signal(signal.SIGSTOP)
        with open(self.segment, "r+b") as file:
            file.seek(reserved_word)
            file.write(b"x")
        done = self.vitrine("conform", "--for", "3500ms", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        texts = [violation["text"] for violation in json.loads(done.stdout)["violations"]]
        self.assertTrue(any(text.startswith("header: reserved words") for text in texts), texts)
        self.assertTrue(any(text.startswith("heartbeat: ") for text in texts), texts)

    def test_is_read_through_the_library(self):
        done = subprocess.run([BUILD / "docs/examples/read_status", "other", self.segment],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tower", done.stdout)
        self.assertIn("event", done.stdout)

    def test_ends_well_and_leaves_its_last_state(self):
        self.engine.send_signal(signal.SIGTERM)
        self.assertEqual(self.engine.wait(PATIENCE_S), 0)
        self.assertEqual(self.engine.stderr.read(), "")
        done = self.vitrine("show", "--json")
        self.assertEqual(done.returncode, 4)
        snapshot = json.loads(done.stdout)
        self.assertEqual(snapshot["engine"]["verdict"], "exited")
        self.assertTrue(all(job["state"] == "done" for job in snapshot["jobs"]))
        self.assertEqual(self.vitrine("conform", "--for", "1s").returncode, 4)

    def test_that_was_killed_is_dead_and_readable(self):
        self.engine.kill()
        self.engine.wait(PATIENCE_S)
        done = self.vitrine("show", "--json")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(json.loads(done.stdout)["engine"]["verdict"], "dead")


class OurEngine(unittest.TestCase):
    def test_conforms_while_it_proves(self):
        circuit = SOURCE / "tests/data/bn128/demo"
        with tempfile.TemporaryDirectory(prefix="vitrine-test-", dir="/dev/shm") as folder:
            folder = pathlib.Path(folder)
            (folder / "empty.toml").touch()
            environment = dict(os.environ, XDG_RUNTIME_DIR=str(folder),
                               XDG_STATE_HOME=str(folder))
            flags = ["--instance", "ours", "--segment", folder / "ours.segment"]
            engine = subprocess.Popen(
                [BUILD / "bin/vitrined", "--config", folder / "empty.toml", *flags, "--socket",
                 folder / "api.sock", "--spool-directory", folder / "spool", "--memory-budget",
                 "256MiB", "--circuit", f"demo={circuit / 'circuit.zkey'}"],
                env=environment, stderr=subprocess.DEVNULL)
            try:
                witnesses = [word for number in range(10)
                             for word in ("--wtns", circuit / f"witness.{number}.wtns")]
                until(lambda: (folder / "api.sock").exists())
                subprocess.run([BUILD / "bin/vitrine", "submit", *flags, "--circuit", "demo",
                                *witnesses], check=True, timeout=PATIENCE_S,
                               env=environment, stdout=subprocess.DEVNULL)
                done = subprocess.run([BUILD / "bin/vitrine", "conform", *flags, "--for", "1s",
                                       "--json"], check=False, capture_output=True, text=True,
                                      timeout=PATIENCE_S, env=environment)
                violations = json.loads(done.stdout)["violations"]
            finally:
                engine.terminate()
                engine.wait(PATIENCE_S)
            # A loaded machine may keep the heart from beating in its time; all else is ours.
            self.assertEqual([violation for violation in violations
                              if not violation["text"].startswith("heartbeat: ")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
